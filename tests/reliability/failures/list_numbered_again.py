from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def numbered(self):
        self.files = enumerate(self.files)

    def __init__(self, files):
        self.files = files
        self.pairs = sorted(self.files)

    def __getitem__(self, index):
        return self.pairs[index]


loader = DataLoader(Files(("a", "b")), num_workers=4)
