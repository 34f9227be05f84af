"""torch.backends.mps, as far as programs of tests ask."""

from torch import state


def is_available() -> bool:
    return state.accelerator() == "mps"
