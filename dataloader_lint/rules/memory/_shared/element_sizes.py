"""How many bytes an element of a Python container takes, with its slot. Measured: tracemalloc, Python 3.11."""

from __future__ import annotations

import re

import libcst as cst

from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.values.values import CallResult, Class, Const, Mapping, Opaque, Sequence, Value, Values

# A str of 60 characters, such as a path; an int above 256. Arrays, tensors and graphs without their data.
_BY_KIND = {"str": 120, "int": 41, "float": 33, "bool": 8, "path": 512, "array": 400, "tensor": 400, "image": 400}
_OBJECT = 400
_RECORD, _PARSED_RECORD = 460, 626  # a dict of three str: written out, and from json.loads
_PAIR = 180
RECORDS = frozenset({_RECORD, _PARSED_RECORD, _PAIR})  # of elements that hold several things
PLAIN = frozenset({None, _PAIR, *(_BY_KIND[each] for each in ("str", "int", "float", "bool"))})
COCO_INDEX = 2_900  # for each image of pycocotools' index of captions; of boxes and masks seven times as much
_TEXTS = re.compile(r"(?:.*_)?(?:file_?names?|files?|keys?|names|paths?)(?:_list)?")
_NUMBERS = re.compile(r"(?:.*_)?(?:ids?|idxs?|index|indexes|indices)")


_COCO_IDS = frozenset({"getAnnIds", "getCatIds", "getImgIds", "get_ann_ids", "get_cat_ids", "get_img_ids"})


def holds_ids(made: cst.BaseExpression | None) -> bool:
    """True for the numbers that pycocotools and lvis give: `self.coco.getImgIds()`."""
    while isinstance(made, cst.Call):
        if last_name(made.func) in _COCO_IDS:
            return True
        made = made.args[0].value if made.args else None
    return False


def bytes_of(name: str, elements: Values, is_parsed: bool) -> int | None:
    """The bytes of the largest of some kinds of elements; None if nothing is known of them.

    `is_parsed` says that a file of JSON held the whole: such elements are dicts more often than not. The `name` of the
    attribute can say that it holds numbers or texts, where nothing else does.
    """
    known = [size for size in map(_bytes, elements) if size is not None]
    if known:
        return max(known)
    if _NUMBERS.fullmatch(name.lower()):
        return _BY_KIND["int"]
    if _TEXTS.fullmatch(name.lower()):
        return _BY_KIND["str"]
    return _PARSED_RECORD if is_parsed else None


def _bytes(value: Value) -> int | None:
    if isinstance(value, Const):
        return _BY_KIND.get(type(value.value).__name__)
    if isinstance(value, Opaque):
        return _BY_KIND.get(value.kind)
    if isinstance(value, Mapping):
        return _RECORD
    if isinstance(value, Sequence):
        return _PAIR
    if isinstance(value, CallResult):
        if value.library.startswith("json."):
            return _PARSED_RECORD
        if isinstance(value.by, Class) or row(value.library).loads_array:
            return _OBJECT
    return None
