"""The same program as `train_pitfalls.py`, repaired: it runs under every start method, also with `--debug`."""

import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, default_collate

# At module level, so that spawned workers, which import this file again, get it too.
cv2.setNumThreads(0)

CLASSES = 4
SIZE = 24
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def draw_images(folder, count):
    """Writes images of a bright bar whose place is their class."""
    rng = np.random.default_rng(0)
    for number in range(count):
        label = number % CLASSES
        image = rng.integers(0, 100, (SIZE, SIZE, 3), dtype=np.uint8)
        left = label * SIZE // CLASSES
        cv2.rectangle(image, (left, 0), (left + SIZE // CLASSES - 1, SIZE), (255, 255, 255), thickness=-1)
        cv2.imwrite(f"{folder}/{number:05}_{label}.png", image)


class Bars(Dataset):
    """Images from a folder, with their labels."""

    def __init__(self, folder):
        paths = sorted(str(path) for path in Path(folder).glob("*.png"))
        # One block of memory each instead of one object per image: forked workers share it for good.
        self.paths = np.array(paths, dtype=np.dtypes.StringDType())
        self.labels = torch.tensor([int(Path(path).stem.split("_")[1]) for path in paths])

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        image = cv2.cvtColor(cv2.imread(self.paths[index]), cv2.COLOR_BGR2RGB)
        return torch.from_numpy(image).permute(2, 0, 1).float() / 255, self.labels[index]


def flip_some(samples):
    """Makes a batch in which about half of the images are upside down."""
    images, labels = default_collate(samples)
    flipped = torch.rand(len(images)) < 0.5
    images[flipped] = images[flipped].flip(2)
    return images, labels


def make_loaders(folder):
    """Makes a loader for training and one for validation, which get different images."""
    train_set, val_set = Bars(f"{folder}/train"), Bars(f"{folder}/val")
    train_loader = DataLoader(
        train_set,
        batch_size=32,
        shuffle=True,
        num_workers=2,
        pin_memory=torch.cuda.is_available(),
        collate_fn=flip_some,
    )
    val_loader = DataLoader(val_set, batch_size=32, num_workers=2)
    return train_loader, val_loader


def debug(folder):
    """Loads one batch in this process, so that a breakpoint in the Dataset is reached."""
    loader = DataLoader(Bars(f"{folder}/train"), batch_size=4, num_workers=0)
    images, labels = next(iter(loader))
    print(f"a batch of {tuple(images.shape)} with labels {labels.tolist()}")


def train(folder, epochs):
    """Trains and prints the accuracy after each epoch."""
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * SIZE * SIZE, CLASSES)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    train_loader, val_loader = make_loaders(folder)

    for epoch in range(epochs):
        for images, labels in train_loader:
            images = images.to(device, non_blocking=True)
            labels = labels.to(device, non_blocking=True)
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        right = 0
        with torch.no_grad():
            for images, labels in val_loader:
                right += (model(images.to(device)).argmax(1).cpu() == labels).sum().item()
        print(f"epoch {epoch}: accuracy {right / len(val_loader.dataset):.2f}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for part, count in (("train", 256), ("val", 64)):
            Path(folder, part).mkdir()
            draw_images(f"{folder}/{part}", count)
        if "--debug" in sys.argv:
            debug(folder)
        else:
            train(folder, epochs=2)


if __name__ == "__main__":
    main()
