from torch.utils.data import DataLoader


def train(data, update, library):
    loader = DataLoader(data, num_workers=2)
    for epoch in library.range(2, unroll=True):
        for batch in loader:
            update(batch)
    for epoch in range(True):
        for batch in loader:
            update(batch)
    for epoch in range(*[1]):
        for batch in loader:
            update(batch)
