"""What the language server keeps between sessions, so that a keystroke costs only what depends on it.

It is given to one session at a time: `begin`, then the session, then `rest`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from dataloader_lint.gate import Gate
from dataloader_lint.semantics.project.answers import Answers
from dataloader_lint.semantics.project.dependencies import Dependencies
from dataloader_lint.semantics.project.text_store import LookedAt
from dataloader_lint.semantics.project.texts import Texts
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.settings import Settings


class Kept:
    """Modules with what follows from their texts alone, and what was read of a project while its files stay the same.

    `room` is how many characters all kept modules may have; the oldest are forgotten first.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._size = 0
        self._modules: OrderedDict[str, ModuleFacts] = OrderedDict()
        self._given: set[str] = set()
        self._gone: list[ModuleFacts] = []
        self._looked: LookedAt | None = None
        self._project_key: tuple[tuple[str, ...], ...] = ()

    def begin(self, settings: Settings, unsaved: Mapping[str, bytes]) -> Answers:
        """The answers for a new session: nothing was asked yet, but what they come from need not be read again.

        `unsaved` are the files that hold something else in an editor.
        """
        before = self._looked
        if before is None or self._project_key != settings.project_key or not before.begin(unsaved):
            looked = LookedAt(Gate(settings.extra_words), Dependencies(is_noting=True).disk, settings.roots)
            looked.disk.unsaved = unsaved
            if before is not None:
                texts = before.disk.texts
                looked.disk.load_texts = lambda context: Texts(texts[context].used) if context in texts else Texts()
            self._looked, self._project_key = looked, settings.project_key
        assert self._looked is not None
        return self._looked.answers(settings.src)

    def take(self, path: str, text: str) -> ModuleFacts | None:
        """The module of a file with this text, if it is kept and was not given to this session before."""
        known = self._modules.get(path)
        if known is None or path in self._given or known.tree.text != text:
            return None
        self._modules.move_to_end(path)
        self._given.add(path)
        return known

    def put(self, module: ModuleFacts) -> None:
        """Keep a module that was made in this session."""
        self._remove(module.path)
        self._modules[module.path] = module
        self._given.add(module.path)
        self._size += len(module.tree.text)

    def rest(self) -> None:
        """The session is over: forget what was inferred in it."""
        while self._size > self._room:
            self._remove(next(iter(self._modules)))
        for module in self._modules.values():
            module.tree.forget()
        for module in self._gone:
            module.tree.take_apart()
        self._gone.clear()
        self._given.clear()

    def clear(self) -> None:
        """Keep nothing of what there is, as something that was being made may be incomplete."""
        self._modules.clear()
        self._gone.clear()
        self._given.clear()
        self._size = 0
        self._looked = None

    def _remove(self, path: str) -> None:
        module = self._modules.pop(path, None)
        if module is not None:
            self._gone.append(module)
            self._size -= len(module.tree.text)
