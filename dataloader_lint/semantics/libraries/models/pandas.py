"""pandas."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call

ROWS = {
    "pandas.DataFrame.to_dict": Call(gives="dict"),
    "pandas.HDFStore": Call(opens="an open HDF5 file"),
    "pandas.read_csv": Call(reads=("path",), streams="source"),
    "pandas.read_excel": Call(reads=("path",)),
    "pandas.read_feather": Call(reads=("path",)),
    "pandas.read_hdf": Call(reads=("path",)),
    "pandas.read_json": Call(reads=("path",)),
    "pandas.read_parquet": Call(reads=("path",)),
    "pandas.read_pickle": Call(reads=("path",)),
    "pandas.read_table": Call(reads=("path",)),
    "polars.read_csv": Call(forked="pool"),
    "polars.read_ipc": Call(forked="pool"),
    "polars.read_ndjson": Call(forked="pool"),
    "polars.read_parquet": Call(forked="pool"),
}
