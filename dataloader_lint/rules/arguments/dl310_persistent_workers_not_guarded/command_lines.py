"""What the declarations of a command line refuse: argparse and click."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.rules.arguments._shared.zero_guards import is_checked
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.values import CallResult, Evaluator, Library, Value

_NUMBERS = ((Library("builtins.int"),), (Library("builtins.float"),))


def takes_zero(ev: Evaluator, owner: Value, name: str) -> bool:
    """True if an option of a namespace may be 0, as far as the module that parses it checks."""
    if not isinstance(owner, CallResult) or owner.frame is None:
        return True
    scope = owner.frame.scope
    if is_checked(name, scope):
        return False
    return all(_argument_takes_zero(ev, call, scope.module) for call in _declarations(scope.module, name))


def _declarations(module: ModuleFacts, name: str) -> list[cst.Call]:
    def by_name() -> dict[str, list[cst.Call]]:
        found: dict[str, list[cst.Call]] = {}
        for call in module.calls_named("add_argument"):
            for each in _names(call):
                found.setdefault(each, []).append(call)
        return found

    return module.tree.once(("declared options", id(module.root)), by_name).get(name, [])


def _names(call: cst.Call) -> set[str]:
    """The attributes that an option may be kept under."""
    found: set[str] = set()
    for arg in call.args:
        if isinstance(arg.value, cst.SimpleString) and (arg.keyword is None or arg.keyword.value == "dest"):
            text = arg.value.evaluated_value
            if isinstance(text, str):
                found.add(text.lstrip("-").replace("-", "_"))
    return found


def _argument_takes_zero(ev: Evaluator, call: cst.Call, module: ModuleFacts) -> bool:
    for arg in call.args:
        keyword = arg.keyword.value if arg.keyword is not None else ""
        if keyword == "choices":
            return False
        if keyword == "type" and ev.values(arg.value, ev.frame_of(module.tree.scope_of(call))) not in _NUMBERS:
            return False
    return True


def click_takes_zero(function: cst.FunctionDef, name: str) -> bool:
    """True if click's option for a parameter has no type of its own that could refuse a 0."""
    for each in function.decorators:
        call = each.decorator
        if isinstance(call, cst.Call) and name in _names(call):
            for arg in call.args:
                if arg.keyword is not None and arg.keyword.value == "type" and not isinstance(arg.value, cst.Name):
                    return False
    return True
