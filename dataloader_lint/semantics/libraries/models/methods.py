"""Methods of values of a known kind, as `kind.method`; a method of `any` means the same whatever it is called on.

A kind is what the column `gives` holds, or the class that made the object, without its package. Of tensors,
`gives_argument` says that a method returns the same memory.
"""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call


def _rows(kind: str, names: str, row: Call) -> dict[str, Call]:
    return {f"{kind}.{name}": row for name in names.split()}


# Methods of tensors that convert to a data type, which return the tensor itself if it has that type already.
_CASTS = {
    "bfloat16": "bfloat16",
    "bool": "bool",
    "byte": "uint8",
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
}

ROWS = {
    **_rows("any", "fetchall getmembers getnames infolist namelist readlines splitlines", Call(gives="list")),
    **_rows("any", "to_list to_pylist tolist", Call(gives="list")),
    **_rows("array", "astype clip copy flatten ravel repeat reshape round", Call(gives="array")),
    **_rows("array", "squeeze swapaxes transpose view", Call(gives="array")),
    **_rows("image", "convert copy crop filter quantize reduce resize rotate transpose", Call(gives="image")),
    **_rows("list", "count index", Call(gives="int")),
    **_rows("tuple", "count index", Call(gives="int")),
    **_rows("path", "absolute joinpath resolve with_suffix", Call(gives="path")),
    **_rows("path", "glob iterdir rglob", Call(gives="paths")),
    **_rows("path", "open", Call(opens="an open file")),
    **_rows("str", "as_posix decode format join read_text removeprefix removesuffix title zfill", Call(gives="str")),
    **_rows("str", "lower lstrip replace rstrip strip upper", Call(gives="str")),
    **_rows("tensor", "clamp clone contiguous cpu cuda expand pin_memory", Call(gives="tensor")),
    **_rows("tensor", "repeat share_memory_ t to transpose type xpu", Call(gives="tensor")),
    **{f"tensor.{name}": Call(gives="tensor", dtype=dtype) for name, dtype in _CASTS.items()},
    **_rows("tensor", "as_subclass detach flatten permute", Call(gives="tensor", gives_argument=True)),
    **_rows("tensor", "requires_grad_ reshape squeeze unsqueeze", Call(gives="tensor", gives_argument=True)),
    **_rows("tensor", "view view_as", Call(gives="tensor", gives_argument=True)),
    # All that an index of annotations knows, and what a pool has made of each of many things.
    **_rows("COCO", "getAnnIds getImgIds", Call(gives="list")),
    **_rows("LVIS", "get_ann_ids get_img_ids", Call(gives="list")),
    **_rows("Generator", "permutation", Call(gives="array")),
    **_rows("RandomState", "permutation", Call(gives="array")),
    **_rows("default_rng", "permutation", Call(gives="array")),
    **_rows("Pool", "map starmap", Call(gives="list")),
    **_rows("ThreadPool", "map starmap", Call(gives="list")),
}
