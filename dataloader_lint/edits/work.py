"""What of a script is its work: all that a spawned worker, which imports the script again, should not run again."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node

DEFINITIONS = (cst.FunctionDef, cst.ClassDef)
IMPORTS = (cst.Import, cst.ImportFrom)
# What imports further down depend on, and what is meant for workers as well.
_PATHS = ("Path", "os.environ.get", "os.getcwd", "os.getenv", "os.path.", "pathlib.Path", "str")
_SETTINGS = ("matplotlib.use", "os.environ", "sys.path.", "warnings.")
_SETTERS = frozenset({"set_num_interop_threads", "set_num_threads", "set_sharing_strategy", "setNumThreads"})
_METHODS_OF_PATHS = frozenset({"absolute", "as_posix", "joinpath", "resolve"})


def first_work(body: Sequence[Node], start: Node) -> Node:
    """The first statement of a script, up to `start`, that a worker should not run again."""
    return next(each for each in body if each is start or not _is_inert(each))


def setting_of_process(statement: Node) -> str:
    """The word for what each process has to set for itself; empty for other statements.

    How tensors are shared, a number of threads, warnings to be ignored, or a flag of a module, which is written in
    upper case: `LOAD_TRUNCATED_IMAGES`. Such a statement can run earlier, if no other one uses its word.
    """
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return ""
    part = statement.body[0]
    if isinstance(part, cst.Assign):
        target = part.targets[0].target
        is_flag = isinstance(target, cst.Attribute) and target.attr.value.isupper() and _is_constant(part.value)
        return dotted(target).partition(".")[0] if is_flag else ""
    call = part.value if isinstance(part, cst.Expr) else None
    if not isinstance(call, cst.Call):
        return ""
    if dotted(call.func) in ("warnings.filterwarnings", "warnings.simplefilter"):
        action = call.args[0].value if call.args else None
        return "warnings" if isinstance(action, cst.SimpleString) and action.evaluated_value == "ignore" else ""
    name = last_name(call.func)
    return name if name in _SETTERS else ""


def _is_inert(statement: Node) -> bool:
    """True for what a worker may run again at no cost: imports, definitions, constants, paths and settings."""
    if isinstance(statement, DEFINITIONS):
        return True
    if isinstance(statement, cst.If | cst.Try):
        inner = (each for each in statement.body.body if not isinstance(each, IMPORTS))
        is_inert = all(_is_inert(each) for each in inner)
        if isinstance(statement, cst.If):
            return is_inert and (statement.orelse is None or _is_inert_block(statement.orelse))
        only_imports = all(_is_import(each) for each in statement.body.body)  # if one fails, handlers only say so
        is_handled = only_imports or all(_is_inert_block(each) for each in statement.handlers)
        return is_inert and is_handled and statement.finalbody is None
    return isinstance(statement, cst.SimpleStatementLine) and all(_is_inert_part(each) for each in statement.body)


def _is_import(statement: Node) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and all(isinstance(each, IMPORTS) for each in statement.body)


def _is_inert_block(block: cst.If | cst.Else | cst.ExceptHandler) -> bool:
    return all(_is_inert(each) for each in block.body.body)


def _is_inert_part(part: Node) -> bool:
    if isinstance(part, cst.Expr):
        value = part.value
        if isinstance(value, cst.Call):
            return dotted(value.func).startswith(_SETTINGS) or last_name(value.func) in _SETTERS
        return isinstance(value, cst.SimpleString | cst.ConcatenatedString)
    if isinstance(part, cst.Assign):
        target = part.targets[0].target
        if isinstance(target, cst.Subscript) and dotted(target.value) == "os.environ":
            return True
        if isinstance(target, cst.Attribute):
            return _is_constant(part.value)  # nothing above makes an object: a module's, or a class's
        is_logger = isinstance(part.value, cst.Call) and dotted(part.value.func) == "logging.getLogger"
        is_cheap = _is_constant(part.value) or _is_path(part.value) or is_logger
        return isinstance(target, cst.Name) and (is_cheap or target.value.startswith("__"))
    if isinstance(part, cst.AnnAssign):
        return part.value is None or _is_constant(part.value)
    return isinstance(part, (*IMPORTS, cst.Pass))


def _is_constant(node: cst.BaseExpression) -> bool:
    """True for an expression that is written out in full. An empty list or dict is made to be filled: it is none."""
    if isinstance(node, cst.Dict):
        pairs = [each for each in node.elements if isinstance(each, cst.DictElement)]
        known = all(_is_constant(each.key) and _is_constant(each.value) for each in pairs)
        return known and 0 < len(pairs) == len(node.elements)
    if isinstance(node, cst.Tuple | cst.List | cst.Set):
        known = all(isinstance(each, cst.Element) and _is_constant(each.value) for each in node.elements)
        return known and (isinstance(node, cst.Tuple) or len(node.elements) > 0)
    if isinstance(node, cst.UnaryOperation):
        return _is_constant(node.expression)
    if isinstance(node, cst.BinaryOperation):
        return _is_constant(node.left) and _is_constant(node.right)
    if isinstance(node, cst.Name):
        return node.value in ("None", "True", "False")
    return isinstance(node, cst.SimpleString | cst.ConcatenatedString | cst.Integer | cst.Float)


def _is_path(node: cst.BaseExpression) -> bool:
    """True for an expression that works out a path, of which the imports below may be in need."""
    if isinstance(node, cst.Call):
        if any(arg.star or not _is_path(arg.value) for arg in node.args):
            return False
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in _METHODS_OF_PATHS:
            return _is_path(node.func.value)
        return dotted(node.func).startswith(_PATHS)
    if isinstance(node, cst.Attribute):
        return _is_path(node.value)
    if isinstance(node, cst.Subscript):
        return dotted(node.value) in ("os.environ", "sys.argv", "sys.path")
    if isinstance(node, cst.BinaryOperation):
        return _is_path(node.left) and _is_path(node.right)
    return isinstance(node, cst.Name) or _is_constant(node)
