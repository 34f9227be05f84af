"""The programs of `benchmarks/handles.py` for handles of libraries: how each is prepared, opened and read."""

from __future__ import annotations

from benchmarks.handle_programs import Handle

# With noise the file is larger than what is read ahead.
_FILM = """import av
noise = np.random.default_rng(0)
with av.open("a.mp4", "w") as out:
    stream = out.add_stream("mpeg4", rate=25, options={"qscale": "2"})
    stream.width = stream.height = 128
    stream.bit_rate = 20_000_000
    for i in range(COUNT):
        picture = (i + noise.integers(0, 40, (128, 128, 3))).astype("uint8")
        out.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
    out.mux(stream.encode())"""

HANDLES = [
    Handle(
        "requests.Session",
        "requests",
        "pass",
        "import requests\nreturn requests.Session()",
        "return index if handle.headers else -1",
    ),
    Handle(
        "h5py.File",
        "h5py",
        'import h5py\nwith h5py.File("a.h5", "w") as file:\n    file["x"] = np.arange(COUNT)',
        'import h5py\nreturn h5py.File("a.h5")',
        'return int(handle["x"][index])',
    ),
    Handle(
        "lmdb.open",
        "lmdb",
        'import lmdb\nbase = lmdb.open("a.lmdb")\nwith base.begin(write=True) as txn:\n    for i in range(COUNT):\n'
        "        txn.put(str(i).encode(), str(i).encode())\nbase.close()",
        'import lmdb\nreturn lmdb.open("a.lmdb", readonly=True)',
        "with handle.begin() as txn:\n    return int(txn.get(str(index).encode()))",
    ),
    Handle(
        "duckdb.connect",
        "duckdb",
        'import duckdb\nbase = duckdb.connect("a.duck")\nbase.execute("create table t as select range as i from '
        'range(200)")\nbase.close()',
        'import duckdb\nreturn duckdb.connect("a.duck", read_only=True)',
        'return handle.execute("select i from t where i = ?", [index]).fetchone()[0]',
    ),
    Handle(
        "boto3.client",
        "boto3",
        "pass",
        'import boto3\nreturn boto3.client("s3", region_name="us-east-1", aws_access_key_id="a", '
        'aws_secret_access_key="b")',
        'return index if handle.generate_presigned_url("get_object", Params={"Bucket": "b", "Key": "k"}) else -1',
    ),
    Handle(
        "pymongo.MongoClient",
        "pymongo",
        "pass",
        'import pymongo\nreturn pymongo.MongoClient("127.0.0.1", serverSelectionTimeoutMS=10)',
        "return index if handle.HOST else -1",
    ),
    Handle(
        "redis.Redis",
        "redis",
        "pass",
        "import redis\nreturn redis.Redis()",
        "return index if handle.connection_pool else -1",
    ),
    Handle(
        "soundfile.SoundFile",
        "soundfile",
        'import soundfile\nsoundfile.write("a.wav", np.arange(COUNT, dtype="int16"), 8000)',
        'import soundfile\nreturn soundfile.SoundFile("a.wav")',
        'handle.seek(index)\nreturn int(handle.read(1, dtype="int16")[0])',
    ),
    Handle(
        "tifffile.TiffFile",
        "tifffile",
        'import tifffile\ntifffile.imwrite("a.tif", np.arange(COUNT, dtype="int32").reshape(COUNT, 1, 1).repeat(64, 1)'
        '.repeat(64, 2), photometric="minisblack")',
        'import tifffile\nreturn tifffile.TiffFile("a.tif")',
        "return int(handle.pages[index].asarray()[0, 0])",
    ),
    Handle(
        "pyarrow.parquet.ParquetFile",
        "pyarrow",
        'import pyarrow, pyarrow.parquet\npyarrow.parquet.write_table(pyarrow.table({"x": list(range(COUNT))}), '
        '"a.parquet", row_group_size=1)',
        'import pyarrow.parquet\nreturn pyarrow.parquet.ParquetFile("a.parquet")',
        'return handle.read_row_group(index)["x"][0].as_py()',
    ),
    Handle(
        "pyarrow.dataset.dataset",
        "pyarrow",
        'import pyarrow, pyarrow.parquet\npyarrow.parquet.write_table(pyarrow.table({"x": list(range(COUNT))}), '
        '"a.parquet")',
        'import pyarrow.dataset\nreturn pyarrow.dataset.dataset("a.parquet")',
        'return handle.take([index])["x"][0].as_py()',
    ),
    Handle(
        "netCDF4.Dataset",
        "netCDF4",
        'import netCDF4\nwith netCDF4.Dataset("a.nc", "w") as file:\n    file.createDimension("i", COUNT)\n'
        '    file.createVariable("x", "i4", ("i",))[:] = np.arange(COUNT)',
        'import netCDF4\nreturn netCDF4.Dataset("a.nc")',
        'return int(handle["x"][index])',
    ),
    Handle(
        "xarray.open_dataset",
        "xarray",
        'import xarray\nxarray.Dataset({"x": ("i", np.arange(COUNT))}).to_netcdf("a.nc")',
        'import xarray\nreturn xarray.open_dataset("a.nc")',
        'return int(handle["x"][index])',
    ),
    Handle(
        "av.open",
        "av",
        _FILM,
        'import av\nreturn av.open("a.mp4")',
        "video = handle.streams.video[0]\nwanted = int(index / 25 / video.time_base)\n"
        "handle.seek(wanted, stream=video)\n"
        "for frame in handle.decode(video):\n    if frame.pts >= wanted:\n"
        '        return index if abs(int(frame.to_ndarray(format="rgb24").mean()) - 19 - index) < 12 else -1',
    ),
    *(
        Handle(
            f"torchcodec.decoders.VideoDecoder{more}",
            "torchcodec",
            _FILM,
            f'from torchcodec.decoders import VideoDecoder\nreturn VideoDecoder("a.mp4"{threads})',
            "return index if abs(int(handle[index].float().mean()) - 19 - index) < 12 else -1",
        )
        for more, threads in (("", ""), (" (4 threads)", ", num_ffmpeg_threads=4"))
    ),
    Handle(
        "torchcodec.decoders.AudioDecoder",
        "torchcodec",
        'import wave\nwith wave.open("a.wav", "wb") as out:\n    out.setparams((1, 2, 8000, 0, "NONE", ""))\n'
        '    out.writeframes(np.repeat(np.arange(COUNT) * 100, 800).astype("<i2").tobytes())',
        'from torchcodec.decoders import AudioDecoder\nreturn AudioDecoder("a.wav")',
        "heard = handle.get_samples_played_in_range(index / 10 + 0.04, index / 10 + 0.06).data\n"
        "return round(float(heard.mean()) * 32768 / 100)",
    ),
    Handle(
        "zarr.open (a folder)",
        "zarr",
        'import zarr\nzarr.save("a.zarr", np.arange(COUNT))',
        'import zarr\nreturn zarr.open("a.zarr", mode="r")',
        "return int(handle[index])",
    ),
    Handle(
        "zarr.open (a zip file)",
        "zarr",
        'import zarr\nstore = zarr.storage.ZipStore("a.zarr.zip", mode="w")\narray = zarr.create_array(store, '
        "data=np.arange(COUNT), chunks=(1,))\nstore.close()",
        'import zarr\nreturn zarr.open(zarr.storage.ZipStore("a.zarr.zip", mode="r"), mode="r")',
        "return int(handle[index])",
    ),
    Handle(
        "fitsio.FITS",
        "fitsio",
        'import fitsio\nfitsio.write("a.fits", np.arange(COUNT * 2000).reshape(COUNT, 2000) // 2000, clobber=True)',
        'import fitsio\nreturn fitsio.FITS("a.fits")',
        "return int(handle[0][index : index + 1, :].max())",
    ),
    Handle(
        "pyfaidx.Fasta",
        "pyfaidx",
        'open("a.fa", "w").write("".join(f">{i}\\n{chr(65 + i % 26) * 60}\\n" for i in range(COUNT)))\n'
        'import pyfaidx\npyfaidx.Fasta("a.fa")',
        'import pyfaidx\nreturn pyfaidx.Fasta("a.fa")',
        "return index if str(handle[str(index)][:1]) == chr(65 + index % 26) else -1",
    ),
    Handle(
        "pysam.FastaFile",
        "pysam",
        'open("a.fa", "w").write("".join(f">{i}\\n{chr(65 + i % 26) * 60}\\n" for i in range(COUNT)))\n'
        'import pysam\npysam.FastaFile("a.fa")',
        'import pysam\nreturn pysam.FastaFile("a.fa")',
        "return index if handle.fetch(str(index), 0, 1) == chr(65 + index % 26) else -1",
    ),
    Handle(
        "PIL.Image.open",
        "pillow",
        'from PIL import Image\nImage.fromarray(np.arange(COUNT, dtype="uint8").reshape(1, COUNT)).save("a.png")',
        'from PIL import Image\nreturn Image.open("a.png")',
        "return handle.getpixel((index, 0))",
    ),
    Handle(
        "diskcache.Cache",
        "diskcache",
        'import diskcache\nwith diskcache.Cache("a.cache") as cache:\n    for i in range(COUNT):\n        cache[i] = i',
        'import diskcache\nreturn diskcache.Cache("a.cache")',
        "return handle[index]",
    ),
    Handle(
        "cv2.VideoCapture",
        "opencv-python-headless",
        'import cv2\nout = cv2.VideoWriter("a.avi", cv2.VideoWriter_fourcc(*"MJPG"), 25, (64, 64))\n'
        "for i in range(COUNT):\n    out.write(np.full((64, 64, 3), i, dtype='uint8'))\nout.release()",
        'import cv2\nreturn cv2.VideoCapture("a.avi")',
        "import cv2\nhandle.set(cv2.CAP_PROP_POS_FRAMES, index)\nok, frame = handle.read()\n"
        "return index if ok and abs(int(frame.mean()) - index) < 4 else -1",
    ),
    Handle(
        "sqlalchemy.create_engine",
        "sqlalchemy",
        'import sqlite3\nbase = sqlite3.connect("a.db")\nbase.execute("create table t (i integer)")\n'
        'base.executemany("insert into t values (?)", [(i,) for i in range(COUNT)])\nbase.commit()\nbase.close()',
        'import sqlalchemy\nfound = sqlalchemy.create_engine("sqlite:///a.db")\nfound.connect().close()\nreturn found',
        "import sqlalchemy\nwith handle.connect() as link:\n"
        '    return link.execute(sqlalchemy.text(f"select i from t where rowid = {index + 1}")).fetchone()[0]',
    ),
    Handle(
        "tables.open_file",
        "tables",
        'import tables\nwith tables.open_file("a.h5", "w") as file:\n    file.create_array("/", "x", np.arange(COUNT))',
        'import tables\nreturn tables.open_file("a.h5")',
        "return int(handle.root.x[index])",
    ),
    Handle(
        "h5py.File (compressed, 200 MB)",
        "h5py",
        'import h5py\nwith h5py.File("a.h5", "w") as file:\n    made = file.create_dataset("x", (COUNT, 250_000), '
        '"i4", chunks=(1, 250_000), compression="gzip", compression_opts=1)\n    noise = np.random.default_rng(0)\n'
        "    for i in range(COUNT):\n        made[i] = noise.integers(0, 9, 250_000)\n        made[i, 0] = i",
        'import h5py\nreturn h5py.File("a.h5")',
        'return int(handle["x"][index][0])',
    ),
    Handle(
        "lmdb.open (lock=False)",
        "lmdb",
        'import lmdb\nbase = lmdb.open("a.lmdb")\nwith base.begin(write=True) as txn:\n    for i in range(COUNT):\n'
        "        txn.put(str(i).encode(), str(i).encode())\nbase.close()",
        'import lmdb\nreturn lmdb.open("a.lmdb", readonly=True, lock=False)',
        "with handle.begin() as txn:\n    return int(txn.get(str(index).encode()))",
    ),
    Handle(
        "zarr.open (a zip file, by name)",
        "zarr<3",
        'import zarr\nstore = zarr.ZipStore("a.zip", mode="w")\narray = zarr.create(store=store, shape=COUNT, '
        'chunks=1, dtype="i4")\narray[:] = np.arange(COUNT)\nstore.close()',
        'import zarr\nreturn zarr.open("a.zip", mode="r")',
        "return int(handle[index])",
    ),
    Handle(
        "zarr.open_group (a zip file, by name)",
        "zarr<3",
        'import zarr\nstore = zarr.ZipStore("a.zip", mode="w")\ngroup = zarr.group(store=store)\n'
        'group.create_dataset("x", data=np.arange(COUNT), chunks=1)\nstore.close()',
        'import zarr\nreturn zarr.open_group("a.zip", mode="r")',
        'return int(handle["x"][index])',
    ),
    Handle(
        "pysam.AlignmentFile",
        "pysam",
        'import pysam\nheader = pysam.AlignmentHeader.from_dict({"SQ": [{"SN": "one", "LN": 100000}]})\n'
        'with pysam.AlignmentFile("a.bam", "wb", header=header) as file:\n    for i in range(COUNT):\n'
        "        read = pysam.AlignedSegment(header)\n        read.query_name = str(i)\n"
        '        read.query_sequence = "".join("ACGT"[(i * j) % 4] for j in range(100))\n        read.flag = 0\n'
        "        read.reference_id = 0\n        read.reference_start = 200 * i\n        read.cigar = ((0, 100),)\n"
        '        file.write(read)\npysam.index("a.bam")',
        'import pysam\nreturn pysam.AlignmentFile("a.bam")',
        'return int(next(handle.fetch("one", 200 * index, 200 * index + 100)).query_name)',
    ),
    Handle(
        "decord.VideoReader",
        "decord",
        _FILM,
        'import decord\nreturn decord.VideoReader("a.mp4")',
        "return index if abs(int(handle[index].asnumpy().mean()) - 19 - index) < 12 else -1",
    ),
    Handle(
        "imageio.get_reader (a video)",
        "imageio",
        'import cv2\nout = cv2.VideoWriter("a.avi", cv2.VideoWriter_fourcc(*"MJPG"), 25, (64, 64))\n'
        "for i in range(COUNT):\n    out.write(np.full((64, 64, 3), i, dtype='uint8'))\nout.release()",
        'import imageio\nreturn imageio.get_reader("a.avi", "ffmpeg")',
        "return index if abs(int(handle.get_data(index).mean()) - index) < 4 else -1",
    ),
    Handle(
        "rasterio.open",
        "rasterio",
        "import rasterio, warnings\nwarnings.simplefilter('ignore')\n"
        'with rasterio.open("a.tif", "w", driver="GTiff", height=64 * COUNT, width=64, count=1, dtype="int32", '
        'tiled=True, blockxsize=64, blockysize=64, compress="deflate") as file:\n'
        '    file.write(np.arange(COUNT, dtype="int32").repeat(64)[:, None].repeat(64, 1), 1)',
        "import rasterio, warnings\nwarnings.simplefilter('ignore')\nreturn rasterio.open(\"a.tif\")",
        "from rasterio.windows import Window\nreturn int(handle.read(1, window=Window(0, 64 * index, 64, 64))[0, 0])",
    ),
    Handle(
        "openslide.OpenSlide",
        "openslide-python",
        "import tifffile\nrows = np.arange(COUNT, dtype='uint8').repeat(64)[:, None, None]\n"
        'tifffile.imwrite("a.tif", rows.repeat(128, 1).repeat(3, 2), tile=(64, 64), compression="deflate", '
        'photometric="rgb")',
        'import openslide\nreturn openslide.OpenSlide("a.tif")',
        "return handle.read_region((0, 64 * index), 0, (64, 64)).getpixel((9, 9))[0]",
    ),
    Handle(
        "pandas.HDFStore",
        "pandas",
        'import pandas as pd\npd.DataFrame({"x": range(COUNT)}).to_hdf("a.h5", key="t", format="table")',
        'import pandas as pd\nreturn pd.HDFStore("a.h5", mode="r")',
        'return int(handle.select("t", start=index, stop=index + 1)["x"].iloc[0])',
    ),
    Handle(
        "pandas.read_csv (chunksize)",
        "pandas",
        'import pandas as pd\npd.DataFrame({"x": range(COUNT)}).to_csv("a.csv")',
        'import pandas as pd\nreturn pd.read_csv("a.csv", chunksize=1)',
        "next(handle, None)\nreturn index",
    ),
    Handle(
        "pyarrow.memory_map",
        "pyarrow",
        'np.arange(COUNT, dtype="<i4").tofile("a.bin")',
        'import pyarrow\nreturn pyarrow.memory_map("a.bin")',
        'return int(np.frombuffer(handle.read_at(4, 4 * index), "<i4")[0])',
    ),
    Handle(
        "polars.scan_parquet",
        "polars",
        'import polars\npolars.DataFrame({"x": range(COUNT)}).write_parquet("a.parquet")',
        'import polars\nreturn polars.scan_parquet("a.parquet")',
        'return handle.slice(index, 1).collect()["x"][0]',
    ),
]
