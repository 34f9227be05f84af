"""NumPy."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call

ROWS = {
    "numpy.arange": Call(gives="array"),
    "numpy.argsort": Call(gives="array"),
    "numpy.array": Call(gives="array", from_elements=True, as_random_as_arguments=True, copies_to_cpu=True),
    "numpy.asanyarray": Call(from_elements=True),
    "numpy.asarray": Call(gives="array", from_elements=True, as_random_as_arguments=True, copies_to_cpu=True),
    "numpy.concatenate": Call(gives="array"),
    "numpy.empty": Call(gives="array"),
    "numpy.fromfile": Call(gives="array", loads_array="file"),
    "numpy.fromiter": Call(from_elements=True),
    "numpy.genfromtxt": Call(reads=("path",), loads_array="file"),
    "numpy.hstack": Call(gives="array"),
    "numpy.int64": Call(as_random_as_arguments=True),
    "numpy.lib.format.open_memmap": Call(loads_array="memmap"),
    "numpy.linspace": Call(gives="array"),
    "numpy.load": Call(
        opens="an open .npz archive",
        archive=".npz",
        shared="archive",
        reads=("path",),
        loads_array="file",
        streams="source",
    ),
    "numpy.load.item": Call(gives="object"),
    "numpy.loadtxt": Call(gives="array", reads=("path",), loads_array="file"),
    "numpy.memmap": Call(gives="array", maps_file=True, loads_array="memmap"),
    "numpy.ones": Call(gives="array"),
    "numpy.random.Generator": Call(gives="rng"),
    "numpy.random.RandomState": Call(gives="rng", seeds="own"),
    "numpy.random.SeedSequence": Call(as_random_as_arguments=True),
    "numpy.random.default_rng": Call(gives="rng", seeds="own"),
    "numpy.random.mtrand.RandomState": Call(gives="rng"),
    "numpy.random.permutation": Call(gives="array"),
    "numpy.random.seed": Call(seeds="global"),
    "numpy.save": Call(copies_to_cpu=True),
    "numpy.stack": Call(gives="array"),
    "numpy.uint32": Call(as_random_as_arguments=True),
    "numpy.unique": Call(gives="array"),
    "numpy.vectorize": Call(stores_arguments=True),
    "numpy.vstack": Call(gives="array"),
    "numpy.where": Call(gives="array"),
    "numpy.zeros": Call(gives="array"),
}
