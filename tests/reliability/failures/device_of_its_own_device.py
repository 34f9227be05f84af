import torch
from torch.utils.data import Dataset


class Tensors(Dataset):
    def __getitem__(self, index):
        device = None
        for value in torch.zeros(2):
            other = torch.device(device)
            device = torch.device(other)
        return value.to(device)
