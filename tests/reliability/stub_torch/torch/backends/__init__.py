"""torch.backends, as far as programs of tests ask."""

from torch.backends import mps as mps
