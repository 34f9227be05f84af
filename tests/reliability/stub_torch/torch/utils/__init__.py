"""torch.utils, of which only `data` is here."""

from torch.utils import data as data
