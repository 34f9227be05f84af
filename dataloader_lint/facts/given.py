"""Which loaders get the objects of a Dataset class, as far as they are in sight."""

from __future__ import annotations

from dataloader_lint.facts.loaders import Loader
from dataloader_lint.facts.values import Class, Library, Made, Sequence, Value
from dataloader_lint.facts.workers import Workers

MAX_DEPTH = 3


def loaders_of(workers: Workers, klass: Class) -> list[Loader]:
    """The loaders of the project that are given an object of the class (or of one that inherits it), wrapped or not."""
    module = klass.scope.module
    names = workers.names_that_use(module, {klass.node.name.value})
    found = []
    for each in (module, *workers.users(module, names)):
        for loader in workers.loaders(each):
            if any(holds(workers, value, klass) for value in loader.values("dataset")):
                found.append(loader)
    return found


def holds(workers: Workers, value: Value, klass: Class, depth: int = 0) -> bool:
    """Whether a value is an object of the class, or one of a library or the project that was made from one."""
    if depth > MAX_DEPTH:
        return False
    if isinstance(value, Sequence):
        return any(holds(workers, each, klass, depth + 1) for each in workers.ev.element(value))
    if not isinstance(value, Made):
        return False
    if isinstance(value.by, Class) and any(each.scope is klass.scope for each in workers.ev.bases(value.by).classes):
        return True
    if value.call is None or value.frame is None:
        return False
    if isinstance(value.by, Library) and not value.by.name.startswith(("torch.utils.data.", "method.")):
        return False
    frame = value.frame
    made_from = (inner for arg in value.call.args for inner in workers.ev.values(arg.value, frame))
    return any(holds(workers, inner, klass, depth + 1) for inner in made_from)
