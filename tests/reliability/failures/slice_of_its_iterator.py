import os

from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __init__(self, root):
        self.files = os.listdir(root)
        while self.files:
            self.rest = self.files[1:]
            self.files = iter(self.rest)

    def __getitem__(self, index):
        return self.files[index]


loader = DataLoader(Files("images"), num_workers=4)
