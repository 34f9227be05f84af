from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, data):
        self.batches = DataLoader(data, num_workers=0)
        self.batches = enumerate(self.batches)

    def fit(self):
        for batch in self.batches:
            print(batch)


Trainer(range(4)).fit()
