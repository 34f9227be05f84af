"""Stores of many samples: `h5py`, `lmdb`, `pyarrow` and other files of records, databases and their clients."""

from __future__ import annotations

from dataclasses import replace

from dataloader_lint.semantics.libraries.rows import Call

# A store that it is given may be an archive, and zarr 2 makes one of a path that ends so.
_ZARR = Call(
    opens="an open zip archive",
    archive=".zip",
    shared="archive",
    pickles=True,
    wraps_handle=True,
    stores_arguments=True,
)

ROWS = {
    "adlfs.AzureBlobFileSystem": Call(forked="loop"),
    "azure.storage.blob.BlobServiceClient": Call(opens="an Azure storage client"),
    "boto3.Session.client": Call(opens="a boto3 client"),
    "boto3.Session.resource": Call(opens="a boto3 resource"),
    "boto3.client": Call(opens="a boto3 client"),
    "boto3.resource": Call(opens="a boto3 resource"),
    "boto3.session.Session.client": Call(opens="a boto3 client"),
    "boto3.session.Session.resource": Call(opens="a boto3 resource"),
    "duckdb.connect": Call(opens="a DuckDB connection"),
    "fitsio.FITS": Call(opens="an open FITS file", shared="position"),
    "fsspec.filesystem": Call(forked="loop"),
    "fsspec.implementations.asyn_wrapper.AsyncFileSystemWrapper": Call(forked="loop"),
    "fsspec.implementations.http.HTTPFileSystem": Call(forked="loop"),
    "gcsfs.GCSFileSystem": Call(forked="loop"),
    "h5py.Dataset": Call(opens="a dataset of an open HDF5 file", shared="HDF5"),
    "h5py.File": Call(opens="an open HDF5 file", shared="HDF5", streams="source"),
    "h5py.File.items": Call(streams="source"),
    "h5py.File.keys": Call(streams="source"),
    "h5py.File.values": Call(streams="source"),
    "lmdb.Environment": Call(opens="an LMDB environment", shared="lock table"),
    "lmdb.Environment.begin": Call(opens="an LMDB transaction"),
    "lmdb.Environment.begin.cursor": Call(streams="source"),
    "lmdb.open": Call(opens="an LMDB environment", shared="lock table"),
    "lmdb.open.begin": Call(opens="an LMDB transaction"),
    "lmdb.open.begin.cursor": Call(streams="source"),
    "netCDF4.Dataset": Call(opens="an open netCDF file"),
    "pyarrow.memory_map": Call(opens="a memory-mapped Arrow file"),
    "pyarrow.parquet.ParquetFile": Call(opens="an open Parquet file"),
    "pyfaidx.Fasta": Call(opens="an open FASTA file", shared="position"),
    "google.cloud.bigquery.Client": Call(opens="a Google Cloud client"),
    "google.cloud.storage.Client": Call(opens="a Google Cloud client"),
    "pymongo.MongoClient": Call(opens="a MongoDB client"),
    "pysam.AlignmentFile": Call(opens="an open alignment file"),
    "pysam.FastaFile": Call(opens="an open FASTA file"),
    "redis.Redis": Call(opens="a Redis client"),
    "redis.StrictRedis": Call(opens="a Redis client"),
    "s3fs.S3FileSystem": Call(forked="loop"),
    "sqlalchemy.create_engine": Call(opens="a SQLAlchemy engine"),
    "tables.openFile": Call(opens="an open HDF5 file"),
    "tables.open_file": Call(opens="an open HDF5 file"),
    "zarr.ZipStore": Call(opens="an open zip archive", shared="archive", pickles=True),
    "zarr.group": _ZARR,
    "zarr.open": replace(_ZARR, maps_file=True),
    "zarr.open_array": _ZARR,
    "zarr.open_group": _ZARR,
    "zarr.storage.ZipStore": Call(opens="an open zip archive", shared="archive", pickles=True),
    "pyarrow.dataset.dataset.to_batches": Call(streams="source"),
    "pyarrow.parquet.ParquetFile.iter_batches": Call(streams="source"),
    "pysam.AlignmentFile.fetch": Call(streams="source"),
}
