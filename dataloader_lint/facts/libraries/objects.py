"""Facts about library objects: which store their arguments, are open handles, or have parameters."""

from __future__ import annotations

# Calls that open something that belongs to one process, with a description for users. `numpy.load` counts for .npz
# files only.
HANDLES: dict[str, str] = {
    "builtins.open": "an open file",
    "io.open": "an open file",
    "pathlib.Path.open": "an open file",
    "zipfile.ZipFile": "an open zip archive",
    "tarfile.open": "an open tar archive",
    "tarfile.TarFile": "an open tar archive",
    "numpy.load": "an open .npz archive",
    "gzip.open": "an open gzip file",
    "gzip.GzipFile": "an open gzip file",
    "bz2.open": "an open bz2 file",
    "bz2.BZ2File": "an open bz2 file",
    "lzma.open": "an open xz file",
    "lzma.LZMAFile": "an open xz file",
    "lmdb.open": "an LMDB environment",
    "lmdb.Environment": "an LMDB environment",
    "lmdb.open.begin": "an LMDB transaction",
    "lmdb.Environment.begin": "an LMDB transaction",
    "h5py.File": "an open HDF5 file",
    "h5py.Dataset": "a dataset of an open HDF5 file",
    "sqlite3.connect": "an SQLite connection",
    "sqlite3.connect.cursor": "a cursor of an SQLite connection",
    "cv2.VideoCapture": "a `cv2.VideoCapture`",
    "openslide.OpenSlide": "an open slide",
    "rasterio.open": "an open raster",
    "tables.open_file": "an open HDF5 file",
    "duckdb.connect": "a DuckDB connection",
    "boto3.client": "a boto3 client",
    "boto3.resource": "a boto3 resource",
    "pymongo.MongoClient": "a MongoDB client",
    "redis.Redis": "a Redis client",
    "redis.StrictRedis": "a Redis client",
    "soundfile.SoundFile": "an open sound file",
    "tifffile.TiffFile": "an open TIFF file",
    "pyarrow.parquet.ParquetFile": "an open Parquet file",
    "netCDF4.Dataset": "an open netCDF file",
    "av.open": "an open media file",
    "pyfaidx.Fasta": "an open FASTA file",
    "pysam.FastaFile": "an open FASTA file",
    "pysam.AlignmentFile": "an open alignment file",
    "queue.Queue": "a `queue.Queue`",
    "threading.Thread": "a `threading.Thread`",
    "concurrent.futures.ThreadPoolExecutor": "a thread pool",
    "concurrent.futures.thread.ThreadPoolExecutor": "a thread pool",
    "multiprocessing.Pool": "a pool of processes",
    "torch.multiprocessing.Pool": "a pool of processes",
    "multiprocessing.Manager": "a `multiprocessing.Manager`",
    "torch.multiprocessing.Manager": "a `multiprocessing.Manager`",
    "threading.Lock": "a `threading.Lock`",
    "threading.RLock": "a `threading.RLock`",
    "threading.Condition": "a `threading.Condition`",
    "threading.Event": "a `threading.Event`",
    "threading.Semaphore": "a `threading.Semaphore`",
    "threading.BoundedSemaphore": "a `threading.BoundedSemaphore`",
    "threading.local": "a `threading.local`",
}

# Calls that return a generator, or another iterator that cannot be pickled.
LISTED_LAZILY = frozenset({"glob.iglob", "os.scandir", "os.walk"})

# Layers that have parameters, so that their output has a graph.
LAYERS = frozenset(
    f"torch.nn.{name}"
    for name in (
        "BatchNorm1d",
        "BatchNorm2d",
        "BatchNorm3d",
        "Bilinear",
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "ConvTranspose1d",
        "ConvTranspose2d",
        "ConvTranspose3d",
        "Embedding",
        "EmbeddingBag",
        "GRU",
        "GRUCell",
        "GroupNorm",
        "LSTM",
        "LSTMCell",
        "LayerNorm",
        "Linear",
        "MultiheadAttention",
        "PReLU",
        "Parameter",
        "RNN",
        "Transformer",
        "TransformerDecoder",
        "TransformerEncoder",
        "TransformerEncoderLayer",
    )
)

# Callables with lowercase names whose result stores the arguments.
STORING_CALLABLES = frozenset(
    {"collections.defaultdict", "csv.reader", "numpy.vectorize", "torch.utils.data.random_split"}
)
# Arguments that a constructor does not store, by the last part of its name.
ARGUMENTS_NOT_STORED = frozenset({("DatasetFolder", "is_valid_file"), ("ImageFolder", "is_valid_file")})
