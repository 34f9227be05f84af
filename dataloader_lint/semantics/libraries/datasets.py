"""The Dataset classes of libraries, as data; nothing is imported from these."""

from __future__ import annotations

from dataclasses import dataclass

# The base of library classes that the settings declare as Datasets: unlike torch's own, their code is unknown.
EXTRA_DATASET = "torch.utils.data.extra.Dataset"
EXTRA_ITERABLE = "torch.utils.data.extra.IterableDataset"

# Base classes that make a class a map-style Dataset.
DATASET_BASES = frozenset(
    {
        EXTRA_DATASET,
        "torch.utils.data.Dataset",
        "torch.utils.data.Subset",
        "torch.utils.data.ConcatDataset",
        "torch.utils.data.TensorDataset",
        "torch.utils.data.StackDataset",
        "torch.utils.data.MapDataPipe",
        "torchdata.datapipes.map.MapDataPipe",
        "torchvision.datasets.VisionDataset",
        "torchvision.datasets.ImageFolder",
        "torchvision.datasets.DatasetFolder",
        "torchvision.datasets.CocoDetection",
        "torch_geometric.data.Dataset",
        "torch_geometric.data.InMemoryDataset",
        "monai.data.Dataset",
        "monai.data.CacheDataset",
        "monai.data.PersistentDataset",
        "torchio.SubjectsDataset",
        "torchgeo.datasets.NonGeoDataset",
        "torchgeo.datasets.GeoDataset",
        "timm.data.ImageDataset",
        "fairseq.data.FairseqDataset",
        "detectron2.data.MapDataset",
    }
)
ITERABLE_BASES = frozenset(
    {
        EXTRA_ITERABLE,
        "torch.utils.data.IterableDataset",
        "torch.utils.data.IterDataPipe",
        "torchdata.datapipes.iter.IterDataPipe",
        "monai.data.IterableDataset",
    }
)

# Calls of libraries that return an IterableDataset of torch, and those that do if an argument is True.
ITERABLE_MAKERS = frozenset({"streaming.StreamingDataset", "webdataset.DataPipeline", "webdataset.WebDataset"})
ITERABLE_IF = {"datasets.load_dataset": "streaming"}
# Those of WebDataset.
PIPELINES = frozenset({"webdataset.DataPipeline", "webdataset.WebDataset"})
# Their methods that return an IterableDataset again.
ITERABLE_STEPS = frozenset(
    {
        *("batched", "compose", "decode", "filter", "map", "map_dict", "map_tuple", "rename", "repeat", "select"),
        *("shuffle", "slice", "to_tuple", "with_epoch", "with_length"),
        *("cast", "cast_column", "remove_columns", "rename_column", "rename_columns", "select_columns", "skip", "take"),
        "with_format",
    }
)
# Calls that return a Dataset of Hugging Face, or a dict of its splits.
SEVERAL_SPLITS = frozenset({"datasets.load_dataset", "datasets.load_from_disk"})
# Others that return one, and the methods that return one again.
STREAMS = frozenset({"datasets.IterableDataset.from_generator"})
TABLES = frozenset({"datasets.load_from_disk", *(f"datasets.Dataset.from_{kind}" for kind in ("dict", "list"))})
TABLE_STEPS = ITERABLE_STEPS | {"shard", "sort", "to_iterable_dataset", "train_test_split", "with_transform"}

# Packages whose public classes are torch Datasets.
DATASET_PACKAGES = (
    "torchvision.datasets",
    "torch_geometric.datasets",
    "torchgeo.datasets",
    "torchaudio.datasets",
    "torchtext.datasets",
)

# Libraries whose public classes called `...Dataset` are torch Datasets, or `...IterableDataset` iterable ones. Projects
# often hold a copy of one of these, so an import of their names is searched in the project first.
DATASET_LIBRARIES = frozenset(
    {
        *("anomalib", "asteroid", "avalanche", "basicsr", "braindecode", "detectron2", "dgl", "espnet2", "fairseq"),
        *("kaolin", "lavis", "lerobot", "mmaction", "mmcls", "mmdet", "mmdet3d", "mmengine", "mmf", "mmocr", "mmpose"),
        *("mmpretrain", "mmrotate", "mmseg", "monai", "nemo", "ogb", "pytorchvideo", "robomimic", "speechbrain"),
        *("timm", "torch_geometric", "torchaudio", "torchdrug", "torchgeo", "torchio", "torchmeta", "torchrl"),
        *("torchvision", "torchxrayvision", "ultralytics", "unicore", "vissl", "wilds"),
    }
)
# Libraries whose classes called `...Dataset` are tables, arrays, files or remote data, and no loader of torch reads
# them: they are known here so that a class deriving from one is not taken for a Dataset by its name.
OTHER_DATASETS = frozenset(
    {
        *("aif360", "apache_beam", "azureml", "chainer", "dask", "daft", "dataset", "datasets", "deepchem", "django"),
        *("evaluate", "fiftyone", "gluonts", "google", "grain", "great_expectations", "h5netcdf", "h5py", "holoviews"),
        *("hyperspy", "intake", "iris", "kedro", "kedro_datasets", "keras", "lance", "lightgbm", "megengine", "mlx"),
        *("netCDF4", "nvtabular", "oneflow", "openml", "osgeo", "pandas", "petastorm", "polars", "pyarrow", "pydicom"),
        *("rasterio", "ray", "rdflib", "sagemaker", "sklearn", "sqlalchemy", "supervision", "surprise", "tablib"),
        *("tensorflow_datasets", "tensorlayer", "tf_keras", "tinygrad", "vaex", "xarray", "zarr"),
    }
)

# The attribute that a library Dataset indexes in `__getitem__` and measures in `__len__`, by class.
INDEXED_BY_BASES: dict[str, str] = {
    "torch.utils.data.Subset": "indices",
    "torchvision.datasets.CocoCaptions": "ids",
    "torchvision.datasets.CocoDetection": "ids",
    "torchvision.datasets.DatasetFolder": "samples",
    "torchvision.datasets.ImageFolder": "samples",
    "torchvision.datasets.ImageNet": "samples",
}

# Methods that a base class of a library calls per sample, by the prefix of the base's name.
CALLED_BY_BASES: dict[str, tuple[str, ...]] = {
    "fairseq.": ("collater",),
    "unicore.": ("collater",),
    "monai.data.": ("_transform",),
    "torch.nn.": ("forward",),
    "torchvision.transforms.": ("forward", "_transform", "transform"),
    "albumentations.": (
        "apply",
        "apply_to_mask",
        "apply_to_bboxes",
        "apply_to_bbox",
        "apply_to_keypoints",
        "apply_to_keypoint",
        "get_params",
        "get_params_dependent_on_data",
        "get_params_dependent_on_targets",
    ),
    "torchio.": ("apply_transform",),
}

# The libraries of OpenMMLab, whose Datasets share the methods that subclasses override.
_MM = ("mmaction", "mmcls", "mmdet", "mmdet3d", "mmengine", "mmocr", "mmpose", "mmpretrain", "mmrotate", "mmseg")
_MM_PREPARES = tuple(f"prepare_{mode}_{of}" for mode in ("train", "test") for of in ("data", "frames", "img"))

# Methods that a library Dataset calls per sample with its index, by the prefix of the base's name.
CALLED_WITH_INDEX: dict[str, tuple[str, ...]] = {
    "torch_geometric.": ("get",),
    "ogb.": ("get",),
    "wilds.": ("get_input",),
    **{f"{library}.": ("prepare_data", "get_data_info", "get_ann_info", *_MM_PREPARES) for library in _MM},
}

# Methods that the constructor of a library Dataset calls, by the prefix of its name.
RUN_BY_CONSTRUCTORS: dict[str, tuple[str, ...]] = {
    "torch_geometric.data.": ("download", "process"),
    "dgl.": ("download", "process", "load"),
    **{f"{library}.": ("full_init", "load_data_list", "filter_data", "load_annotations") for library in _MM},
}


@dataclass(frozen=True, slots=True)
class DatasetTaker:
    """A callable of a library that makes loaders of the Datasets that it is given.

    `positions` are its positional parameters, `datasets` those that are Datasets. `options` is the parameter whose
    object has the number of workers in `workers`; without such a parameter the callable has `workers` itself. Nothing
    is written for no workers.
    """

    positions: tuple[str, ...]
    datasets: frozenset[str]
    options: str = ""
    workers: str = "num_workers"


def _trainer(*positions: str) -> DatasetTaker:
    return DatasetTaker(positions, frozenset({"train_dataset", "eval_dataset"}), "args", "dataloader_num_workers")


_HF_TRAINER = _trainer("model", "args", "data_collator", "train_dataset", "eval_dataset")
_LIGHTNING_DATASETS = ("train_dataset", "val_dataset", "test_dataset", "predict_dataset")
_PYG_DATASETS = ("train_dataset", "val_dataset", "test_dataset", "pred_dataset")
_LIGHTNING = DatasetTaker(_LIGHTNING_DATASETS, frozenset(_LIGHTNING_DATASETS))
DATASET_TAKERS: dict[str, DatasetTaker] = {
    "sentence_transformers.SentenceTransformerTrainer": _trainer("model", "args", "train_dataset", "eval_dataset"),
    **{f"transformers.{name}": _HF_TRAINER for name in ("Trainer", "Seq2SeqTrainer")},
    **{f"trl.{name}Trainer": _HF_TRAINER for name in ("SFT", "Reward")},
    **{
        f"{package}.LightningDataModule.from_datasets": _LIGHTNING
        for package in ("lightning", "lightning.pytorch", "pytorch_lightning")
    },
    "torch_geometric.data.LightningDataset": DatasetTaker(_PYG_DATASETS, frozenset(_PYG_DATASETS)),
}

# Of torch, which give the samples of the Datasets that they are made from. `random_split` gives several of these.
SAMPLE_WRAPPERS = frozenset(
    f"torch.utils.data.{prefix}{name}"
    for name in ("Subset", "ConcatDataset", "ChainDataset", "random_split")
    for prefix in ("", "dataset.")
)

# Datasets whose samples are what is selected from another Dataset, and those whose samples are rows of tensors.
SELECTING = frozenset({"torch.utils.data.Subset", "torch.utils.data.dataset.Subset", "torch.utils.data.random_split"})
OF_TENSORS = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"})

# Datasets whose samples are an image and the number of its class.
OF_CLASSES = frozenset(
    f"torchvision.datasets.{name}"
    for name in ("CIFAR10", "CIFAR100", "DatasetFolder", "FashionMNIST", "ImageFolder", "ImageNet", "KMNIST", "MNIST")
)
