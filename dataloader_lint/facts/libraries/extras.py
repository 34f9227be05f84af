"""The names that the settings add: which callables make a DataLoader of torch, which classes are its Datasets."""

from __future__ import annotations

from dataloader_lint.facts.libraries.catalogue import canonical
from dataloader_lint.facts.libraries.datasets import EXTRA_DATASET, EXTRA_ITERABLE
from dataloader_lint.settings import Settings

_DATALOADER = "torch.utils.data.DataLoader"
# Of a class whose source is in sight nothing is hidden, so its base is torch's own.
_IN_SIGHT = {EXTRA_DATASET: "torch.utils.data.Dataset", EXTRA_ITERABLE: "torch.utils.data.IterableDataset"}


class Extras:
    """The added names of one project. `loader_words` are the last parts of those that make loaders."""

    __slots__ = ("_last_parts", "_names", "loader_words")

    def __init__(self, settings: Settings) -> None:
        self._names = {
            **dict.fromkeys(settings.extend_iterable_datasets, EXTRA_ITERABLE),
            **dict.fromkeys(settings.extend_datasets, EXTRA_DATASET),
            **dict.fromkeys(settings.extend_dataloaders, _DATALOADER),
        }
        self._last_parts = frozenset(name.rpartition(".")[2] for name in self._names)
        self.loader_words = frozenset(name.rpartition(".")[2] for name in settings.extend_dataloaders)

    def library_name(self, name: str) -> str:
        """What stands for a name of a library: an added one for what it is of torch, others under their public name."""
        return self._names.get(name) or canonical(name)

    def makes_loader(self, path: str, name: str) -> str:
        """The library's name for a function or class at the top of a module of the project that makes loaders."""
        found = self._defined(path, name)
        return found if found == _DATALOADER else ""

    def dataset_base(self, path: str, name: str) -> str:
        """The base that a class at the top of a module of the project has by the settings; empty for none."""
        return _IN_SIGHT.get(self._defined(path, name), "")

    def _defined(self, path: str, name: str) -> str:
        """What an added name means that the module at a path defines: the path ends in the name's own modules."""
        if name not in self._last_parts:
            return ""
        module = "/" + path.replace("\\", "/").removesuffix(".py").removesuffix("/__init__")
        for added, meaning in self._names.items():
            package, _, last = added.rpartition(".")
            if last == name and module.endswith("/" + package.replace(".", "/")):
                return meaning
        return ""
