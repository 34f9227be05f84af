"""Names that the settings add: callables that return a torch DataLoader, classes that are torch Datasets."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.catalogue import EXTRA_LOADERS, canonical
from dataloader_lint.semantics.libraries.datasets import EXTRA_DATASET, EXTRA_ITERABLE
from dataloader_lint.settings import Settings

_DATALOADER = "torch.utils.data.DataLoader"
# The source of a class in the project is known, so its base is torch's own.
_BASE_IN_PROJECT = {EXTRA_DATASET: "torch.utils.data.Dataset", EXTRA_ITERABLE: "torch.utils.data.IterableDataset"}


class Extras:
    """The added names of one project; `loader_words` are the last parts of the names of DataLoader callables."""

    __slots__ = ("_last_parts", "_names", "loader_words")

    def __init__(self, settings: Settings) -> None:
        self._names = {
            **dict.fromkeys(settings.extend_iterable_datasets, EXTRA_ITERABLE),
            **dict.fromkeys(settings.extend_datasets, EXTRA_DATASET),
            **{name: EXTRA_LOADERS.get(name, _DATALOADER) for name in settings.extend_dataloaders},
        }
        self._last_parts = frozenset(name.rpartition(".")[2] for name in self._names)
        self.loader_words = frozenset(name.rpartition(".")[2] for name in settings.extend_dataloaders)

    def library_name(self, name: str) -> str:
        """Returns the torch class that an added name means, or the public name of any other library name."""
        return self._names.get(name) or canonical(name)

    def makes_loader(self, path: str, name: str) -> str:
        """Returns the name of DataLoader if a top-level function or class of the project returns loaders, or ""."""
        found = self._defined(path, name)
        return found if found == _DATALOADER else ""

    def dataset_base(self, path: str, name: str) -> str:
        """Returns the base class that the settings give a top-level class of the project; empty if there is none."""
        return _BASE_IN_PROJECT.get(self._defined(path, name), "")

    def _defined(self, path: str, name: str) -> str:
        """The meaning of an added name that a module at a path defines: the path ends with the modules of the name."""
        if name not in self._last_parts:
            return ""
        module = "/" + path.replace("\\", "/").removesuffix(".py").removesuffix("/__init__")
        for added, meaning in self._names.items():
            package, _, last = added.rpartition(".")
            if last == name and module.endswith("/" + package.replace(".", "/")):
                return meaning
        return ""
