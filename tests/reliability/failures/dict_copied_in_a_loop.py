from torch.utils.data import DataLoader


def restored(data, n):
    keywords = {"num_workers": 0, "persistent_workers": True}
    for _ in range(n):
        old = keywords.copy()
        keywords = old
    return DataLoader(data, **keywords)


def the_other_way(data, n):
    keywords = dict(persistent_workers=True)
    while n:
        keywords = dict(old)
        old = {**keywords}
        n -= 1
    return DataLoader(data, **keywords)
