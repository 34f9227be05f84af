"""Functions of libraries that read files of which nobody knows what is in them."""

from __future__ import annotations

# Functions that return whatever object a file holds: a dict, a list, an array, an object of any class.
OBJECT_READERS = frozenset(
    {
        "cPickle.load",
        "cloudpickle.load",
        "compress_pickle.load",
        "dill.load",
        "joblib.load",
        "mmcv.load",
        "mmengine.fileio.load",
        "mmengine.load",
        "numpy.load.item",  # `np.load(path, allow_pickle=True).item()`
        "pickle.load",
        "pickle.loads",
        "torch.load",
        "torch.serialization.load",
        "yaml.full_load",
        "yaml.load",
        "yaml.safe_load",
        "yaml.unsafe_load",
    }
)
