"""Expressions that shorten a path to the name of its file, which still identifies the file.

`os.path.basename(path)`, `os.path.splitext(name)[0]`, `Path(path).stem`, `path.split("/")[-1]`, `name[:-4]`.
"""

from __future__ import annotations

import re

import libcst as cst

from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted

# Records of which there are as many as the data set is large: not the cameras, speakers or sequences that they share.
_RECORDED = (
    "accession|ann|annotation|article|audio|caption|case|clip|conversation|crop|dialog|dialogue|doc|document|episode"
    "|example|exam|file|frame|image|img|molecule|movie|paragraph|passage|patch|pdb|photo|plot|post|product|protein"
    "|query|question|record|recording|review|sample|scan|scene|sent|sentence|shape|shot|slide|snippet|song|story"
    "|structure|study|text|tile|trajectory|tweet|utt|utterance|vid|video|volume|wav"
)
_FILE_FIELD = re.compile(
    r"(?:file|image|img|video|vid|audio|wav)s?"
    r"|(?:\w+_)?(?:file|image|img|video|vid|audio|wav)_?(?:id|key|name|path)"
    r"|(?:\w+_)?path"
    rf"|(?:{_RECORDED})_?(?:id|key|token|uid|uuid|hash)"
    r"|(?:uid|uuid|guid)",
    re.IGNORECASE,
)
_METHODS = frozenset({"lstrip", "removeprefix", "removesuffix", "replace", "rstrip", "with_suffix"})
_SEPARATORS = ("/", "\\", "//", "\\\\")


def path_behind(node: cst.CSTNode) -> cst.BaseExpression | None:
    """The path or name that an expression shortens to a name which is no less unique; None for any other."""
    if isinstance(node, cst.Attribute):
        is_path = node.attr.value == "stem" or (node.attr.value == "name" and _makes_path(node.value))
        return node.value if is_path else None
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        name = node.func.attr.value
        if name == "basename" and len(node.args) == 1:
            return node.args[0].value
        return node.func.value if name in _METHODS and dotted(node.func.value) != "os" else None
    if isinstance(node, cst.Subscript) and len(node.slice) == 1:
        return _of_part(node.value, node.slice[0].slice)
    return None


def unpacked(value: cst.BaseExpression, path: tuple[int, ...]) -> cst.BaseExpression | None:
    """The path of which an unpacking gives such a name: `stem, suffix = os.path.splitext(name)`."""
    return _of_cut(value, path[0]) if len(path) == 1 and isinstance(value, cst.Call) else None


def field_of(node: cst.Subscript) -> str:
    """The field that a record is asked for, `row["image_id"]`; empty where it is none that is written out."""
    part = node.slice[0].slice if len(node.slice) == 1 else None
    key = part.value if isinstance(part, cst.Index) else None
    return str(key.evaluated_value) if isinstance(key, cst.SimpleString) else ""


def names_file(field: str) -> bool:
    """True if a field of a record, by what it is called, identifies a file, or what one shows: a scan, a document.

    There are as many of these as there are files, give or take a few records for each; a plain `id` or `name` may as
    well be that of a class.
    """
    return _FILE_FIELD.fullmatch(field) is not None


def _makes_path(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and last_name(node.func) in ("Path", "PurePath")


def _of_part(owner: cst.BaseExpression, part: cst.BaseSlice) -> cst.BaseExpression | None:
    if isinstance(part, cst.Slice):  # without `.jpg`; what cuts off more may leave a speaker or a scene
        is_end_cut = part.lower is None and part.step is None and _number(part.upper) == -4
        return owner if is_end_cut else None
    if isinstance(owner, cst.Call) and isinstance(part, cst.Index):
        return _of_cut(owner, _number(part.value)) if isinstance(part.value, _NUMBERS) else None
    return None


def _of_cut(call: cst.Call, place: int) -> cst.BaseExpression | None:
    """What a call takes apart, where the part at one place is the name of the file, or that without its suffix."""
    name = last_name(call.func)
    if name == "splitext":
        return call.args[0].value if call.args and place == 0 else None
    if name not in ("rsplit", "split") or not isinstance(call.func, cst.Attribute) or not call.args:
        return None
    if dotted(call.func.value).endswith("path") and len(call.args) == 1:  # `os.path.split(path)[1]`
        is_given = not isinstance(call.args[0].value, cst.SimpleString)
        if is_given and dotted(call.args[0].value) not in _SEPARATOR_NAMES:
            return call.args[0].value if place in (1, -1) else None
    separator = call.args[0].value
    if isinstance(separator, cst.SimpleString):
        text = separator.evaluated_value
        is_name = (text in _SEPARATORS and place == -1) or (text == "." and place == 0)
    else:
        is_name = dotted(separator) in _SEPARATOR_NAMES and place == -1
    return call.func.value if is_name else None


_SEPARATOR_NAMES = ("os.sep", "os.path.sep", "sep", "path.sep")
_NUMBERS = (cst.Integer, cst.UnaryOperation)


def _number(node: cst.BaseExpression | None) -> int:
    """A whole number as written; 0 for anything else."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        return -_number(node.expression)
    return node.evaluated_value if isinstance(node, cst.Integer) else 0
