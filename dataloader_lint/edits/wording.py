"""Names for the functions that lambdas become: by what they do if that is clear, else by where they are used."""

from __future__ import annotations

import re

import libcst as cst

from dataloader_lint.edits.editor import Editor
from dataloader_lint.edits.repair import RefusedError
from dataloader_lint.semantics.syntax.expressions import last_name, parameters
from dataloader_lint.semantics.syntax.names import dotted

_VERBS = {"collate_fn": "collate", "func": "transform", "function": "transform"}
_CONVERSIONS = {  # what a function or method makes of what it is given
    **{kind: kind for kind in ("array", "bytes", "double", "float", "half", "int", "list", "long", "numpy", "tensor")},
    "asarray": "array", "from_numpy": "tensor", "str": "text", "tolist": "list",
}  # fmt: skip
_SHORTEST_NOUN = 3  # letters: `img` says what it is, `x` does not
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def name_for(editor: Editor, node: cst.Lambda, role: str) -> str:
    """A private name for the function that a lambda becomes. `role` is the argument that it is passed as.

    Refused where another lambda that does something else would be called so as well: numbers tell nothing.
    """
    others = editor.once("lambdas", lambda: list(editor.tree.find(editor.tree.module, cst.Lambda)))
    for wanted in _names_for(editor, node, role):
        rest = ((each, _role_of(editor, each) or role) for each in others if each is not node)
        same = (each for each, its_role in rest if wanted in _names_for(editor, each, its_role)[:1])
        if all(editor.code(each) == editor.code(node) for each in same):
            return wanted
    raise RefusedError("no names tell the lambdas apart")


def _role_of(editor: Editor, node: cst.Lambda) -> str:
    """The argument of a loader or of `transforms.Lambda` that a lambda is passed as; empty for others."""
    arg = editor.tree.parent(node)
    call = editor.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(arg, cst.Arg) or not isinstance(call, cst.Call):
        return ""
    keyword = arg.keyword.value if arg.keyword is not None else ""
    if keyword in ("collate_fn", "worker_init_fn"):
        return keyword
    return "transform" if last_name(call.func) == "Lambda" else ""


def _names_for(editor: Editor, node: cst.Lambda, role: str) -> list[str]:
    """What the function that a lambda becomes can be called, the best name first."""
    if role == "worker_init_fn":
        callee = _snake(last_name(node.body.func)) if isinstance(node.body, cst.Call) else ""
        return [f"{callee}_worker" if callee and "worker" not in callee else "init_worker"]
    verb = _VERBS.get(role, role)
    place = _place(editor, node)
    by_place = f"{verb}_for_{place}" if place and place != verb else f"{verb}_samples" if verb == "collate" else verb
    by_body = _by_any_body(node) or (_by_body(node) if role == "collate_fn" else _by_step(node))
    is_clear = "_" in verb and verb not in _VERBS  # `transform_rainfall`, an attribute, says enough
    return [name for name in (by_body, verb if is_clear else "", by_place) if name]


def _by_any_body(node: cst.Lambda) -> str:
    """A name for a lambda that returns what it is given, or that only says yes."""
    names = [param.name.value for param in parameters(node)]
    if len(names) == 1 and dotted(node.body) == names[0]:
        return "identity"
    return "keep_all" if names and dotted(node.body) == "True" else ""


def _by_body(node: cst.Lambda) -> str:
    """A name for what a lambda does with its list of samples; empty if that is not clear."""
    names = [param.name.value for param in parameters(node)]
    body = node.body
    if not names:
        return ""
    if isinstance(body, cst.Subscript) and dotted(body.value) == names[0] and len(body.slice) == 1:
        index = body.slice[0].slice
        written = index.value if isinstance(index, cst.Index) else None
        if isinstance(written, cst.Integer) and written.evaluated_value == 0:
            return "take_first"
        is_minus_one = (
            isinstance(written, cst.UnaryOperation)
            and isinstance(written.operator, cst.Minus)
            and isinstance(written.expression, cst.Integer)
            and written.expression.evaluated_value == 1
        )
        return "take_last" if is_minus_one else ""
    if isinstance(body, cst.Call):
        return _by_call(body, names[0])
    return ""


def _by_step(node: cst.Lambda) -> str:
    """A name for what a lambda does with one thing that it is given; empty if that is not clear."""
    names = [param.name.value for param in parameters(node)]
    if not names:
        return ""
    body: cst.BaseExpression = node.body
    if isinstance(body, cst.IfExp) and dotted(body.orelse) == names[0]:
        body = body.body
    body = _unwrapped(body)
    if _is_scaled(body, names[0]):
        return "rescale"
    if _is_normalized(body, names[0]):
        return "normalize"
    if isinstance(body, cst.BinaryOperation) and dotted(body.left) == names[0] and last_name(body.right):
        verb = {cst.Multiply: "scale_by", cst.Divide: "divide_by"}.get(type(body.operator))
        return f"{verb}_{_snake(last_name(body.right)).strip('_')}" if verb else ""
    key = _key_of(body)
    if key and _reads(body, names[0]):
        return f"take_{key}"
    if not isinstance(body, cst.Call):
        return ""
    is_method = isinstance(body.func, cst.Attribute) and dotted(body.func.value) == names[0]
    is_given = any(_reads(arg.value, names[0]) and not arg.star for arg in body.args[:1])
    if last_name(body.func) == "astype":
        dtype = _dtype_of(body)
        return f"to_{dtype}" if dtype else ""
    callee = _snake(last_name(body.func)).strip("_") if is_method or is_given else ""
    if callee.endswith("_tensor"):
        return "to_tensor"
    if callee == "convert" and len(body.args) == 1 and isinstance(body.args[0].value, cst.SimpleString):
        mode = body.args[0].value.raw_value.lower()  # of an image: "RGB"
        return f"to_{mode}" if mode.isalpha() else "convert_image"
    if callee in _CONVERSIONS:
        return f"to_{_CONVERSIONS[callee]}"
    noun = names[0] if len(names[0]) >= _SHORTEST_NOUN else "sample"
    return f"{callee}_{noun}" if len(callee) >= _SHORTEST_NOUN and noun not in callee else ""


def _unwrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """The call of a function behind attributes and methods without arguments: `pad(x, 4)` of `pad(x, 4).squeeze()`."""
    inner = node
    while isinstance(inner, cst.Attribute) or (isinstance(inner, cst.Call) and not inner.args):
        inner = inner.value if isinstance(inner, cst.Attribute) else inner.func
    return inner if isinstance(inner, cst.Call) else node


def _key_of(node: cst.BaseExpression) -> str:
    """The key of `thing["key"]`, if it can be part of a name."""
    if not isinstance(node, cst.Subscript) or len(node.slice) != 1:
        return ""
    index = node.slice[0].slice
    written = index.value if isinstance(index, cst.Index) else None
    text = written.raw_value if isinstance(written, cst.SimpleString) else ""
    return text.lower() if text.isidentifier() else ""


def _dtype_of(call: cst.Call) -> str:
    """The dtype of `array.astype("float32")` or `array.astype(np.float32)`."""
    given = call.args[0].value if call.args else None
    name = given.raw_value if isinstance(given, cst.SimpleString) else last_name(given) if given is not None else ""
    return name.lower() if name.isidentifier() else ""


def _reads(node: cst.BaseExpression, name: str) -> bool:
    """True if an expression is a name, or a call that is given it: `BytesIO(x)`."""
    while isinstance(node, cst.Subscript | cst.Attribute):
        node = node.value
    if isinstance(node, cst.Call):
        return any(_reads(arg.value, name) for arg in node.args[:1]) or _reads(node.func, name)
    return dotted(node) == name


def _is_scaled(node: cst.BaseExpression, name: str) -> bool:
    """True for what is multiplied or divided, and perhaps shifted, by numbers: `x / 127.5 - 1`."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.right, cst.Integer | cst.Float):
        return False
    if isinstance(node.operator, cst.Multiply | cst.Divide):
        return dotted(node.left) == name or _is_scaled(node.left, name)
    return isinstance(node.operator, cst.Add | cst.Subtract) and _is_scaled(node.left, name)


def _is_normalized(node: cst.BaseExpression, name: str) -> bool:
    """True for `(x - mean) / std`."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Divide):
        return False
    left = node.left
    return (
        isinstance(left, cst.BinaryOperation) and isinstance(left.operator, cst.Subtract) and dotted(left.left) == name
    )


def _by_call(call: cst.Call, batch: str) -> str:
    callee = last_name(call.func)
    if callee in ("tuple", "list") and len(call.args) == 1 and isinstance(call.args[0].value, cst.Call):
        inner = call.args[0].value
        return _by_call(inner, batch) if last_name(inner.func) == "zip" else ""
    takes_batch = any(_goes_over(arg.value) == batch or dotted(arg.value) == batch for arg in call.args[:1])
    if callee == "zip":
        return "transpose_samples" if takes_batch and call.args[0].star == "*" else ""
    if not takes_batch or call.args[0].star:
        return ""
    return f"{_snake(callee)}_{'batch' if 'collate' in callee.lower() else 'samples'}" if callee else ""


def _goes_over(node: cst.BaseExpression) -> str:
    """What a comprehension with one loop and no condition goes over: `rows` of `[row[0] for row in rows]`."""
    if not isinstance(node, cst.ListComp | cst.GeneratorExp):
        return ""
    loop = node.for_in
    return "" if loop.ifs or loop.inner_for_in is not None else dotted(loop.iter)


def _place(editor: Editor, node: cst.Lambda) -> str:
    """The enclosing function, or the class of a constructor, or the name that the loader is assigned to."""
    assigned = ""
    for above in editor.tree.ancestors(node):
        if isinstance(above, cst.Assign) and not assigned:
            assigned = last_name(above.targets[0].target)
        elif isinstance(above, cst.FunctionDef) and above.name.value == "main":
            break
        elif isinstance(above, cst.FunctionDef) and not above.name.value.startswith("__"):
            return _snake(above.name.value).strip("_")
        elif isinstance(above, cst.ClassDef):
            return _snake(above.name.value).strip("_")
    return _snake(assigned).strip("_")


def _snake(name: str) -> str:
    return _HUMP.sub("_", name).lower()
