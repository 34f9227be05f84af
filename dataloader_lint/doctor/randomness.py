"""Random generators that samples may draw from, and digests that tell states and samples apart."""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from dataloader_lint.doctor.inert import is_array, is_container, named, state_of, torch_functions_off

_MOST_OBJECTS = 2_000
_DEEPEST = 6
_MOST_ITEMS = 50  # of one container
_SHOWN = 8  # parts of a batch of which the kinds are told
_EDGE = 1_024  # elements of an array that are looked at, at each end


def generator_states(dataset: object) -> dict[str, str]:
    """Digests of the states of all random generators: the global ones, and those that the Dataset holds, by path."""
    states = {"random": _digest(random.getstate())}
    # NumPy loads this module when it is first asked for. A process that is forked meanwhile would wait for it forever.
    numpy = sys.modules.get("numpy.random")
    if numpy is not None and hasattr(numpy, "get_state"):
        states["numpy.random"] = _digest(numpy.get_state())
    torch = sys.modules.get("torch")
    if torch is not None:
        states["torch"] = _digest(torch.get_rng_state().numpy().tobytes())
    for path, generator in _held(dataset):
        state = _state_of(generator)
        if state is not None:
            states[path] = _digest(state)
    return states


def _digest(state: object) -> str:
    return blake2b(pickle.dumps(state), digest_size=8).hexdigest()


def _state_of(generator: Any) -> object:
    """The state of a random generator, or None for any other object."""
    kind = type(generator)
    if issubclass(kind, random.Random):
        return None if issubclass(kind, random.SystemRandom) else random.Random.getstate(generator)
    if kind.__module__.startswith("numpy.random"):
        if hasattr(generator, "bit_generator"):
            return generator.bit_generator.state
        return generator.get_state() if hasattr(generator, "get_state") else None
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(kind, torch.Generator) and generator.device.type == "cpu":
        return generator.get_state().numpy().tobytes()
    return None


def is_generator(value: object) -> bool:
    """True for the generators of `random`, NumPy and torch."""
    return issubclass(type(value), random.Random) or (
        type(value).__name__ in ("Generator", "RandomState")
        and type(value).__module__.partition(".")[0] in ("numpy", "torch", "torch._C")
    )


def _held(dataset: object) -> Iterator[tuple[str, object]]:
    """The generators that an object holds, by the path that leads there; bounded in depth and number."""
    pending: list[tuple[str, Any, int]] = [("dataset", dataset, 0)]
    seen: set[int] = set()
    while pending and len(seen) < _MOST_OBJECTS:
        path, value, depth = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if is_generator(value):
            yield path, value
            continue
        if depth >= _DEEPEST or isinstance(value, (str, bytes, int, float, type(None))):
            continue
        if is_container(value, dict):
            if len(value) <= _MOST_ITEMS:
                pending += [(f"{path}[{named(key)}]", each, depth + 1) for key, each in value.items()]
        elif is_container(value, list, tuple):
            if len(value) <= _MOST_ITEMS:
                pending += [(f"{path}[{number}]", each, depth + 1) for number, each in enumerate(value)]
        else:
            pending += [(f"{path}.{name}", each, depth + 1) for name, each in state_of(value).items()]


def sample_digest(sample: object) -> str | None:
    """A digest of the numbers, texts and ends of arrays in a sample, or None if it holds anything else."""
    digest = blake2b(digest_size=8)
    return digest.hexdigest() if _feed(digest.update, sample, 0) else None


def _feed(update: Any, value: Any, depth: int) -> bool:
    if depth > _DEEPEST:
        return False
    if isinstance(value, (str, bytes, int, float, bool, type(None))):
        update(repr(value[:_EDGE] if isinstance(value, (str, bytes)) else value).encode("utf-8", "backslashreplace"))
        return True
    if is_container(value, list, tuple):
        return all([_feed(update, each, depth + 1) for each in value[:_EDGE]])
    if is_container(value, dict):
        return all([_feed(update, item, depth + 1) for item in list(value.items())[:_EDGE]])
    if not is_array(value):
        return False
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(type(value), torch.Tensor):
        with torch_functions_off():
            if value.device.type != "cpu" or value.is_sparse:
                return False
            try:
                value = value.detach().numpy()
            except (TypeError, RuntimeError):  # a type that NumPy does not have
                return False
    if hasattr(type(value), "tobytes"):
        if value.dtype == object:
            return False
        flat = value.reshape(-1) if value.ndim else value
        update(repr((str(value.dtype), value.shape)).encode())
        update(flat[:_EDGE].tobytes() + flat[-_EDGE:].tobytes() if value.ndim else value.tobytes())
        return True
    return False


def kind_of(sample: object, depth: int = 0) -> str:
    """Of what a sample or a batch is made: `[float32, {'name': str}]`."""
    if is_array(sample):
        return str(getattr(sample, "dtype", "")).removeprefix("torch.")
    if depth < _DEEPEST and is_container(sample, dict) and isinstance(sample, dict):
        items = list(sample.items())[:_SHOWN]
        return f"{{{', '.join(f'{named(key)}: {kind_of(each, depth + 1)}' for key, each in items)}}}"
    if depth < _DEEPEST and is_container(sample, list, tuple) and isinstance(sample, (list, tuple)):
        kinds = [kind_of(each, depth + 1) for each in sample[:_SHOWN]]
        return f"[{', '.join(kinds[:1] if len(set(kinds)) == 1 else kinds)}]"
    return type(sample).__name__
