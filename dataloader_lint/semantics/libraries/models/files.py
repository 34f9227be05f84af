"""Files and their formats: `io`, archives, `json`, `pickle`, `yaml`, and what else reads a file."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call

ROWS = {
    "bz2.BZ2File": Call(opens="an open bz2 file", shared="position"),
    "bz2.open": Call(gives="file", opens="an open bz2 file", shared="position", streams="source"),
    "cPickle.load": Call(gives="object"),
    "cloudpickle.load": Call(gives="object"),
    "codecs.open": Call(
        gives="file", as_random_as_arguments=True, opens="an open file", shared="position", streams="source"
    ),
    "compress_pickle.load": Call(gives="object"),
    "csv.DictReader": Call(wraps_handle=True, reads=("rows",), streams="source"),
    "csv.reader": Call(stores_arguments=True, wraps_handle=True, reads=("rows",), streams="source"),
    "dill.load": Call(gives="object"),
    "fileinput.input": Call(streams="source"),
    "gzip.GzipFile": Call(opens="an open gzip file", shared="position"),
    "gzip.open": Call(
        gives="file", as_random_as_arguments=True, opens="an open gzip file", shared="position", streams="source"
    ),
    "io.BufferedReader": Call(wraps_handle=True),
    "io.TextIOWrapper": Call(wraps_handle=True),
    "io.open": Call(
        gives="file", as_random_as_arguments=True, opens="an open file", shared="position", streams="source"
    ),
    "joblib.load": Call(gives="object", reads=("path",)),
    "json.load": Call(gives="json", reads=("file",), streams="source"),
    "json.loads": Call(gives="json", reads=("text",)),
    "jsonlines.open": Call(streams="source"),
    "kaldiio.load_scp": Call(maps_file=True),
    "linecache.getlines": Call(gives="list", elements="str"),
    "lzma.LZMAFile": Call(opens="an open xz file", shared="position"),
    "lzma.open": Call(gives="file", opens="an open xz file", shared="position", streams="source"),
    "mmap.mmap": Call(opens="a memory-mapped file"),
    "mmcv.load": Call(gives="object"),
    "mmengine.fileio.load": Call(gives="object"),
    "mmengine.load": Call(gives="object"),
    "orjson.loads": Call(gives="json"),
    "pickle.load": Call(gives="object", reads=("file",), streams="source"),
    "pickle.loads": Call(gives="object", reads=("text",)),
    "safetensors.torch.load_file": Call(reads=("path",)),
    "scipy.io.loadmat": Call(reads=("path",)),
    "simplejson.load": Call(gives="json"),
    "simplejson.loads": Call(gives="json"),
    "sqlite3.connect": Call(opens="an SQLite connection"),
    "sqlite3.connect.cursor": Call(opens="a cursor of an SQLite connection", streams="source"),
    "sqlite3.connect.cursor.execute": Call(streams="source"),
    "sqlite3.connect.cursor.execute.fetchall": Call(streams="source"),
    "sqlite3.connect.cursor.fetchall": Call(streams="source"),
    "sqlite3.connect.execute": Call(streams="source"),
    "sqlite3.connect.execute.fetchall": Call(streams="source"),
    "tarfile.TarFile": Call(opens="an open tar archive", shared="offset", streams="source"),
    "tarfile.open": Call(opens="an open tar archive", shared="offset", reads=("archive",), streams="source"),
    "tarfile.open.getmembers": Call(streams="source"),
    "tarfile.open.getnames": Call(streams="source"),
    "ujson.load": Call(gives="json"),
    "ujson.loads": Call(gives="json"),
    "yaml.full_load": Call(gives="config", reads=("file", "text")),
    "yaml.load": Call(gives="config", reads=("file", "text")),
    "yaml.safe_load": Call(gives="config", reads=("file", "text")),
    "yaml.unsafe_load": Call(gives="config"),
    "xml.etree.ElementTree.iterparse": Call(streams="source"),
    "zipfile.ZipFile": Call(opens="an open zip archive", shared="archive", reads=("archive",)),
    "zipfile.ZipFile.infolist": Call(streams="source"),
    "zipfile.ZipFile.namelist": Call(streams="source"),
}
