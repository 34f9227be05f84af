"""PyTorch's data pipeline: loaders, Datasets, workers, moves to devices. It has no opinions."""
