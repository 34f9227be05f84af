"""What is stored in a name or attribute that says where things are moved, if no other code can store there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, Frame, Library, Module, Value

Source = tuple[cst.BaseExpression, Frame]
# Objects that hold nothing but what options and stores give them.
_NAMESPACES = ("argparse.ArgumentParser.parse_args", "argparse.Namespace", "types.SimpleNamespace")
_BY_NAME = ("exec", "globals", "setattr", "vars")
# Functions that take a device for themselves, and keep it nowhere.
_TAKING = ("torch.", "np.")
# `x.device = ...`, `device = ...` below something, and `setattr(x, "device", ...)`.
_STORE = r"(?:\.|^[ \t]+){0}[ \t]*=(?!=)|[\"']{0}[\"']"


def stores_of(ev: Evaluator, node: cst.Attribute, frame: Frame) -> list[Source]:
    """What `self.device`, `args.device`, `Config.device` or `config.device` can be; nothing if unsure."""
    module = frame.scope.module
    klass = classes.class_of(frame.scope)
    if klass is not None and dotted(node.value) == classes.receiver_name(frame.scope):
        return [] if module.calls_named("setattr") else _stores_in(ev, module, node.attr.value)
    holders = ev.values(node.value, frame)
    if not holders:
        return []
    if all(isinstance(each, Module) for each in holders):
        scopes = [each.scope for each in holders if isinstance(each, Module)]
        found = [_of_module(ev, scope, node.attr.value) for scope in scopes]
        return [each for stores in found for each in stores] if all(found) else []
    if not all(_is_made_in(ev, each, module) for each in holders) or not _is_stored_to_only(
        ev, module, node.attr.value
    ):
        return []
    if any(_is_namespace(each) for each in holders) and not _is_always_stored(module, node):
        return []
    return _stores_in(ev, module, node.attr.value)


def may_be_set(ev: Evaluator, binding: Binding) -> bool:
    """True if a name of a module may be set by its text, or from another file."""
    module = binding.scope.module
    if any(module.calls_named(name) for name in _BY_NAME):
        return True
    return _is_set_elsewhere(ev, module, binding.name)


def _is_set_elsewhere(ev: Evaluator, module: ModuleFacts, name: str) -> bool:
    """True if a file that imports the module stores something under the name, in an object or a class."""
    store = re.compile(_STORE.format(name), re.MULTILINE)
    key = (f"set elsewhere: {name}", id(module.root))
    return module.tree.once(
        key, lambda: any(store.search(each.tree.code) for each in ev.project.importers(module, [name]))
    )


def _of_module(ev: Evaluator, scope: Scope, name: str) -> list[Source]:
    """What a name of another module of the project can be."""
    found: list[Source] = []
    if "*" in bindings_of(scope):
        return []
    for binding in bindings_of(scope).get(name, ()):
        if binding.kind is not Kind.VALUE or binding.value is None or binding.path or may_be_set(ev, binding):
            return []
        found.append((binding.value, ev.frame_of(function_scope(binding.scope))))
    return found


def _is_made_in(ev: Evaluator, value: Value, module: ModuleFacts) -> bool:
    """True for a class of a file, and for what the file makes of one, or of the options of its users."""
    if isinstance(value, CallResult):
        if value.frame is None or value.frame.scope.module is not module:
            return False
        if isinstance(value.by, Library):
            return _is_namespace(value) and value.call is not None and all(_is_plain(each) for each in value.call.args)
        value = value.by
    if not isinstance(value, Class) or value.scope.module is not module or value.node.decorators:
        return False
    bases = ev.bases(value)
    return bases.complete and set(bases.libraries) <= {"object"} and not _has_own_access(ev, bases.classes)


def _is_plain(arg: cst.Arg) -> bool:
    """True for the arguments of `parse_args` that hold no values of options."""
    return not arg.star and arg.keyword is None


def _has_own_access(ev: Evaluator, bases: tuple[Class, ...]) -> bool:
    names = ("__getattr__", "__getattribute__", "__setattr__")
    return any(classes.find_method(ev, bases, each) is not None for each in names)


def _is_namespace(value: Value) -> bool:
    return isinstance(value, CallResult) and value.library in _NAMESPACES


def _is_always_stored(module: ModuleFacts, node: cst.Attribute) -> bool:
    """True if the attribute is stored under no condition, so that it is not what an option says."""
    tree = module.tree
    for scope in module.root.descend():
        for assign in scope.own(cst.Assign):
            line = tree.parent(assign)
            block = tree.parent(line) if line is not None else None
            above = tree.parent(block) if block is not None else None
            is_plain = isinstance(block, cst.Module) or isinstance(above, cst.FunctionDef) or _is_guard(above)
            if is_plain and any(
                isinstance(each.target, cst.Attribute) and each.target.attr.value == node.attr.value
                for each in assign.targets
            ):
                return True
    return False


def _is_guard(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.If) and isinstance(node.test, cst.Comparison) and dotted(node.test.left) == "__name__"


def _is_stored_to_only(ev: Evaluator, module: ModuleFacts, name: str) -> bool:
    """True if nothing in a file sets the attribute in another way than by a store: by its text, or by a keyword."""
    tree = module.tree

    def asked() -> bool:
        if any(module.calls_named(each) for each in (*_BY_NAME, "parse_known_args")) or "__dict__" in tree.code:
            return False
        texts = (each.evaluated_value for each in tree.find(tree.module, cst.SimpleString))
        if any(isinstance(each, str) and each.lstrip("-") == name for each in texts):
            return False
        return not any(_is_kept(tree.parent(arg)) for arg in _arguments_named(module, name))

    return tree.once((f"stored to only: {name}", id(module.root)), asked)


def _arguments_named(module: ModuleFacts, name: str) -> Iterator[cst.Arg]:
    if name in module.tree.code:
        found = module.tree.find(module.tree.module, cst.Arg)
        yield from (each for each in found if each.keyword is not None and each.keyword.value == name)


def _is_kept(call: cst.CSTNode | None) -> bool:
    """True if a call may keep what it is given by a keyword in an object: `args.update(device=...)`."""
    if not isinstance(call, cst.Call):
        return True
    return last_name(call.func) != "to" and not dotted(call.func).startswith(_TAKING)


def _stores_in(ev: Evaluator, module: ModuleFacts, name: str) -> list[Source]:
    """All that is stored under an attribute's name in a file; nothing if unsure."""
    tree = module.tree
    if any(_is_bound(tree, each) for each in tree.find(tree.module, cst.Attribute) if each.attr.value == name):
        return []
    found: list[Source] = []
    for scope in module.root.descend():
        in_class = 0
        for assign in scope.own(cst.Assign):
            for each in assign.targets:
                target = each.target
                is_name = scope.is_class and isinstance(target, cst.Name) and target.value == name
                if is_name or (isinstance(target, cst.Attribute) and target.attr.value == name):
                    found.append((assign.value, ev.frame_of(function_scope(scope))))
                    in_class += is_name
                elif isinstance(target, cst.Tuple | cst.List) and name in tree.words(target).split():
                    return []
        others = [each.target for each in scope.own(cst.AnnAssign)] + [each.target for each in scope.own(cst.AugAssign)]
        if name in map(last_name, (*others, *(each.name for each in scope.own(cst.FunctionDef)))):
            return []
        if scope.is_class and len(bindings_of(scope).get(name, ())) != in_class:
            return []  # by a loop, an import, a class, ...
    return [] if _is_set_elsewhere(ev, module, name) else found


def _is_bound(tree: Tree, node: Node) -> bool:
    """True for a target of anything but a plain assignment: `for self.device in devices`, `with x as args.device`."""
    above = tree.parent(node)
    while isinstance(above, cst.Element | cst.StarredElement | cst.Tuple | cst.List):
        node, above = above, tree.parent(above)
    if isinstance(above, cst.For | cst.CompFor):
        return above.target is node
    return isinstance(above, cst.AsName | cst.Del)
