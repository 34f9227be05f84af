"""Libraries as data: constructors, loader classes, pass-through calls.

Nothing here is imported from these libraries. Signatures: torch 2.13.0 `torch/utils/data/dataloader.py`,
torch_geometric 2.8 `loader/dataloader.py`, torchdata 0.11 `stateful_dataloader.py`, timm 1.0 `data/loader.py`,
webdataset 1.0 `pipeline.py`, which passes all arguments on to torch's; dgl 2.1 `dataloading/dataloader.py`,
flashy 0.0.2 `distrib.py`, litdata 0.2.76 `streaming/dataloader.py`, schnetpack 2.1 `data/loader.py`,
speechbrain 1.1 `dataio/dataloader.py`, mosaicml-streaming 0.13 `base/dataloader.py`, torchio 1.2 `data/loader.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dataloader_lint.semantics.libraries.calls import KEYED, VALUE_KINDS, names_where
from dataloader_lint.semantics.libraries.datasets import DATASET_BASES, ITERABLE_BASES
from dataloader_lint.semantics.libraries.rows import Call

# Parameters of `DataLoader.__init__` after self, up to the last that can be positional, with their defaults.
DATALOADER_POSITIONS = (
    "dataset",
    "batch_size",
    "shuffle",
    "sampler",
    "batch_sampler",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "drop_last",
    "timeout",
    "worker_init_fn",
    "multiprocessing_context",
    "generator",
)
DATALOADER_DEFAULTS: dict[str, object] = {
    "batch_size": 1,
    "shuffle": None,
    "sampler": None,
    "batch_sampler": None,
    "num_workers": 0,
    "collate_fn": None,
    "pin_memory": False,
    "drop_last": False,
    "timeout": 0,
    "worker_init_fn": None,
    "multiprocessing_context": None,
    "generator": None,
    "prefetch_factor": None,
    "persistent_workers": False,
    "pin_memory_device": "",
    "in_order": True,
}


# Packages that re-export what their modules define: `torch.utils.data.dataset.Dataset` is `torch.utils.data.Dataset`.
_PUBLIC = (
    "torch.utils.data",
    "torchvision.datasets",
    "torch_geometric.data",
    "torch_geometric.loader",
    "torch_geometric.datasets",
    "torchdata.stateful_dataloader",
    "torchgeo.datasets",
    "monai.data",
    "timm.data",
    "dgl.dataloading",
    "litdata",
    "schnetpack.data",
    "speechbrain.dataio",
    "streaming",
    "torchio",
)


def canonical(name: str) -> str:
    """Returns the public name of an object that can also be reached through the module that defines it."""
    package, _, last = name.rpartition(".")
    if package and last.lower() == "tqdm":  # a project's own tqdm has the same interface
        return "tqdm.tqdm"
    for public in _PUBLIC:
        if package.startswith(f"{public}.") and last[:1].isupper():
            return f"{public}.{last}"
    return name


@dataclass(frozen=True, slots=True)
class LoaderClass:
    """A callable that returns a DataLoader: its positional parameters, and defaults that differ from torch's.

    `drops_collate` marks loaders that ignore a `collate_fn`, `moves_batches` those that may yield batches that are
    already on the device, or that torch does not pin. `spellings` says what it calls arguments of torch's that have
    another name there.
    """

    positions: tuple[str, ...] = DATALOADER_POSITIONS
    defaults: dict[str, object] = field(default_factory=dict)
    drops_collate: bool = False
    moves_batches: bool = False
    spellings: dict[str, str] = field(default_factory=dict)

    def spelling(self, name: str) -> str:
        """What it calls an argument of torch's DataLoader."""
        return self.spellings.get(name, name)


_TORCH = LoaderClass()
_MONAI = LoaderClass(("dataset", "num_workers"))
_TIMM = LoaderClass(
    ("dataset", "input_size", "batch_size"), {"num_workers": 1, "persistent_workers": True}, moves_batches=True
)
_PYG_BATCHES = LoaderClass(("dataset", "batch_size", "shuffle", "follow_batch", "exclude_keys"), drops_collate=True)
_PYG_SAMPLING = LoaderClass(("data",), drops_collate=True)
_DGL_SAMPLING = LoaderClass(
    ("graph", "indices", "graph_sampler", "device", "use_ddp", "ddp_seed", "batch_size", "drop_last", "shuffle"),
    drops_collate=True,
    moves_batches=True,
)
_SCHNETPACK = (*DATALOADER_POSITIONS[:6], "collate_fn", "pin_memory")
_PYG_SAMPLERS = (
    "NeighborLoader",
    "LinkNeighborLoader",
    "HGTLoader",
    "ClusterLoader",
    "GraphSAINTSampler",
    "GraphSAINTNodeSampler",
    "GraphSAINTEdgeSampler",
    "GraphSAINTRandomWalkSampler",
    "ShaDowKHopSampler",
    "RandomNodeLoader",
    "NeighborSampler",
    "NodeLoader",
    "LinkLoader",
    "RAGQueryLoader",
    "IBMBBatchLoader",
    "IBMBNodeLoader",
)

LOADERS: dict[str, LoaderClass] = {
    "torch.utils.data.DataLoader": _TORCH,
    "torchdata.stateful_dataloader.StatefulDataLoader": _TORCH,
    "webdataset.WebLoader": _TORCH,
    "monai.data.DataLoader": _MONAI,
    "monai.data.ThreadDataLoader": LoaderClass(("dataset", "buffer_size", "buffer_timeout", "repeats")),
    "timm.data.create_loader": _TIMM,
    "timm.data.loader.create_loader": _TIMM,
    "torch_geometric.data.DataLoader": _PYG_BATCHES,
    "torch_geometric.loader.DataLoader": _PYG_BATCHES,
    "torch_geometric.loader.DenseDataLoader": LoaderClass(("dataset", "batch_size", "shuffle"), drops_collate=True),
    "torch_geometric.loader.DataListLoader": LoaderClass(("dataset", "batch_size", "shuffle"), drops_collate=True),
    "torch_geometric.loader.TemporalDataLoader": LoaderClass(("data", "batch_size"), drops_collate=True),
    "torch_geometric.loader.ZipLoader": LoaderClass(("loaders", "filter_per_worker"), drops_collate=True),
    "dgl.dataloading.DataLoader": _DGL_SAMPLING,
    "dgl.dataloading.GraphDataLoader": LoaderClass(
        ("dataset", "collate_fn", "use_ddp", "ddp_seed"), moves_batches=True
    ),
    "flashy.distrib.loader": LoaderClass(("dataset", "batch_size"), {"shuffle": False}),
    "litdata.StreamingDataLoader": LoaderClass(("dataset",)),
    "schnetpack.data.AtomsLoader": LoaderClass(_SCHNETPACK),
    "speechbrain.dataio.SaveableDataLoader": _TORCH,
    "speechbrain.dataio.dataloader.make_dataloader": LoaderClass(("dataset", "looped_nominal_epoch")),
    "streaming.StreamingDataLoader": _TORCH,
    "torchio.SubjectsLoader": LoaderClass(("dataset", "collate_fn")),
    **{f"torch_geometric.{package}.{name}": _PYG_SAMPLING for package in ("loader", "data") for name in _PYG_SAMPLERS},
    # With the arguments of torch's and other defaults, if a project adds it.
    "torch.utils.data.extra.get_pytorch_dataloader": LoaderClass(
        defaults={
            "shuffle": False,
            "num_workers": 1,
            "timeout": None,
            "prefetch_factor": 2,
            "pin_memory_device": None,
            "in_order": False,
        }
    ),
}
# What the names that a project adds mean, where that is not torch's DataLoader.
EXTRA_LOADERS = {"spdl.dataloader.get_pytorch_dataloader": "torch.utils.data.extra.get_pytorch_dataloader"}

# Options of trainers, which construct loaders with them. They are no loaders themselves: nobody iterates over them.
_TRAINER_ARGUMENTS = LoaderClass(
    ("output_dir",),
    {"pin_memory": True},
    spellings={
        name: f"dataloader_{name}"
        for name in ("num_workers", "pin_memory", "drop_last", "persistent_workers", "prefetch_factor")
    },
)
TRAINER_OPTIONS: dict[str, LoaderClass] = {
    "sentence_transformers.SentenceTransformerTrainingArguments": _TRAINER_ARGUMENTS,
    **{f"transformers.{name}": _TRAINER_ARGUMENTS for name in ("TrainingArguments", "Seq2SeqTrainingArguments")},
    **{f"trl.{name}Config": _TRAINER_ARGUMENTS for name in ("SFT", "DPO", "GRPO", "KTO", "ORPO", "CPO", "Reward")},
}

# The trainers themselves, whose `args` these options are.
_TRAINER = LoaderClass(
    ("model", "args", "data_collator", "train_dataset"),
    spellings=_TRAINER_ARGUMENTS.spellings | {"collate_fn": "data_collator", "dataset": "train_dataset"},
)
TRAINERS: dict[str, LoaderClass] = {
    "sentence_transformers.SentenceTransformerTrainer": _TRAINER,
    **{f"transformers.{name}": _TRAINER for name in ("Trainer", "Seq2SeqTrainer")},
}

# Methods of library models that return a loader and pass their keyword arguments to it.
LOADER_METHODS = frozenset(
    f"torch_geometric.nn.{module}{name}.loader"
    for name in ("Node2Vec", "MetaPath2Vec")
    for module in ("", "models.", f"models.{name.lower()}.")
)

# Modules, and their methods that return the module itself, such as `to` and `eval`.
MODULES = frozenset(
    {
        "torch.nn.Module",
        "torch.nn.modules.module.Module",
        *(f"{name}.LightningModule" for name in ("pytorch_lightning", "lightning", "lightning.pytorch")),
        *(name.rpartition(".")[0] for name in LOADER_METHODS),
    }
)
SELF_RETURNING = frozenset(
    {
        "bfloat16",
        "cpu",
        "cuda",
        "double",
        "eval",
        "float",
        "half",
        "requires_grad_",
        "share_memory",
        "to",
        "train",
        "type",
        "xpu",
    }
)

# Methods of library objects that iterate over the loaders given to the object.
RUNNING_METHODS = frozenset(
    {
        "evaluate",
        "fine_tune",
        "fit",
        "fit_loop",
        "fit_one_cycle",
        "fit_transform",
        "learn",
        "predict",
        "run",
        "test",
        "train",
        "validate",
    }
)
# Trainer options that set the number of workers of the loaders that the trainer constructs.
TRAINER_WORKERS = frozenset({"dataloader_num_workers"})
# Other frameworks: their loaders are not torch's, whatever their names are.
FOREIGN = frozenset({"jittor", "mindspore", "mxnet", "paddle", "tensorflow"})
# Keywords by which a library's loop, its options or its data modules construct loaders with workers.
WORKER_KEYWORDS = frozenset(
    {
        "dataloader_num_workers",
        "iterator_train__num_workers",
        "iterator_valid__num_workers",
        "num_loader_workers",
        "num_workers",
    }
)


# Objects that own the loop or the device: the user need not move what they return.
MANAGED = frozenset({"prepare", "prepare_data_loader", "setup_dataloaders", "setup"})

# Objects of these are lists and dicts themselves, whatever a subclass adds.
LIST_CLASSES = frozenset({"builtins.list", "collections.UserList", "collections.deque"})
DICT_CLASSES = frozenset(
    {
        "builtins.dict",
        "builtins.set",
        "collections.Counter",
        "collections.OrderedDict",
        "collections.UserDict",
        "collections.defaultdict",
    }
)


def _is_known(call: Call) -> bool:
    return call.yields_argument or call.gives in VALUE_KINDS | KEYED | {"list"}


# Libraries of which projects often hold a copy, or whose names projects give to packages of their own.
_ALSO_IN_PROJECTS = frozenset({"dgl", "flashy", "litdata", "schnetpack", "speechbrain", "streaming"})
# Packages that are libraries wherever they are, unless the linted file belongs to them.
TOP_LEVEL = frozenset(
    name.partition(".")[0]
    for name in (*LOADERS, *TRAINER_OPTIONS, *DATASET_BASES, *ITERABLE_BASES, *names_where(_is_known))
).difference(_ALSO_IN_PROJECTS) | {
    "accelerate",
    "albumentations",
    "h5py",
    "lmdb",
    "lightning",
    "pandas",
    "pytorch_lightning",
    "scipy",
    "sklearn",
    "torchaudio",
    "transformers",
    "typing",
}
