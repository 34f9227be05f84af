from torch.utils.data import DataLoader


def copied(data, a):
    keywords = {'persistent_workers': True}
    if a == 0:
        keywords = keywords.copy()
    if a == 1:
        keywords = keywords.copy()
    if a == 2:
        keywords = keywords.copy()
    if a == 3:
        keywords = keywords.copy()
    if a == 4:
        keywords = keywords.copy()
    if a == 5:
        keywords = keywords.copy()
    if a == 6:
        keywords = keywords.copy()
    if a == 7:
        keywords = keywords.copy()
    if a == 8:
        keywords = keywords.copy()
    if a == 9:
        keywords = keywords.copy()
    if a == 10:
        keywords = keywords.copy()
    if a == 11:
        keywords = keywords.copy()
    if a == 12:
        keywords = keywords.copy()
    if a == 13:
        keywords = keywords.copy()
    if a == 14:
        keywords = keywords.copy()
    if a == 15:
        keywords = keywords.copy()
    if a == 16:
        keywords = keywords.copy()
    if a == 17:
        keywords = keywords.copy()
    if a == 18:
        keywords = keywords.copy()
    if a == 19:
        keywords = keywords.copy()
    if a == 20:
        keywords = keywords.copy()
    if a == 21:
        keywords = keywords.copy()
    if a == 22:
        keywords = keywords.copy()
    if a == 23:
        keywords = keywords.copy()
    if a == 24:
        keywords = keywords.copy()
    if a == 25:
        keywords = keywords.copy()
    return DataLoader(data, **keywords)
