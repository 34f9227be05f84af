"""Name resolution: the bindings a name can have at a place, in document order, never "the first of a set"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any

import libcst as cst

from dataloader_lint.semantics.syntax.expressions import parameters, type_parameter_names
from dataloader_lint.semantics.syntax.flow import reaching
from dataloader_lint.semantics.syntax.records import record
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree


class Kind(Enum):
    """How a name gets its value."""

    VALUE = "value"  # the value of `value`, after following `path`
    ELEMENT = "element"  # an element of `value` (loop, comprehension), then `path`
    ENTERED = "entered"  # what `with value as name` gives
    AUGMENTED = "augmented"  # the value before, changed by `value`
    PARAMETER = "parameter"
    FUNCTION = "function"
    CLASS = "class"
    IMPORT = "import"
    OTHER = "other"  # except ... as e, match patterns, del


STAR = -1  # in a path: what stands behind the starred rest of an unpacking
REST = -2  # in a path: the starred rest itself, a list


@record(frozen=True, slots=True, eq=False)
class Binding:
    """One place that gives a name its value.

    `path` holds the positions that an unpacking follows (`(a, (b, c)) = value` gives `c` the path `(1, 1)`).
    For an import, `imported` is the dotted name in absolute or relative form, and `member` the name taken from it.
    """

    name: str
    kind: Kind
    node: Node
    scope: Scope
    value: cst.BaseExpression | None = None
    path: tuple[int, ...] = ()
    imported: str = ""
    level: int = 0
    member: str | None = None

    @property
    def written(self) -> cst.BaseExpression | None:
        """The expression that an assignment gives the name, also one of several; None for other bindings."""
        return written_part(self.value, self.path) if self.kind is Kind.VALUE else None


def bindings_of(scope: Scope) -> dict[str, list[Binding]]:
    """All bindings of the scope's own names, each list in document order. Star imports stand under `*`."""
    return scope.module.tree.of_text(("bindings", id(scope)), lambda: _collect(scope))


def _collect(scope: Scope) -> dict[str, list[Binding]]:
    found: list[Binding] = []
    elsewhere = {
        item.name.value
        for kind in (cst.Global, cst.Nonlocal)
        for statement in scope.own(kind)
        for item in statement.names  # type: ignore[attr-defined]
        if scope.parent is not None  # at the top of a module `global args` says nothing new
    }
    node = scope.node
    if isinstance(node, cst.FunctionDef | cst.Lambda):
        found.extend(
            Binding(param.name.value, Kind.PARAMETER, param, scope, param.default) for param in parameters(node)
        )
    found.extend(binding for binding in _statements(scope) if binding.name not in elsewhere)
    if scope.parent is None:
        found.extend(_bound_by_global_statements(scope))
    tree = scope.module.tree
    # A parameter comes first whatever its place; the rest in the order of the document.
    found.sort(key=lambda binding: (binding.kind is not Kind.PARAMETER, tree.order(binding.node)))
    table: dict[str, list[Binding]] = {}
    for binding in found:
        table.setdefault(binding.name, []).append(binding)
    return table


def _statements(scope: Scope) -> Iterable[Binding]:
    for kind, nodes in scope.by_type.items():
        bind = _BINDING.get(kind)
        if bind is not None and not (scope.is_comprehension and kind is cst.NamedExpr):
            for node in nodes:
                yield from bind(node, scope)
    if not scope.is_class and not scope.is_comprehension:
        for walrus in _in_comprehensions(scope):
            yield from _targets(walrus.target, Kind.VALUE, walrus, scope, walrus.value)


def _in_comprehensions(scope: Scope) -> Iterator[cst.NamedExpr]:
    """The `name := value` of comprehensions, which bind a name of the scope around them."""
    for inner in scope.inner:
        if inner.is_comprehension:
            yield from inner.own(cst.NamedExpr)
            yield from _in_comprehensions(inner)


def _assigned(node: cst.Assign, scope: Scope) -> Iterable[Binding]:
    for target in node.targets:
        yield from _targets(target.target, Kind.VALUE, node, scope, node.value)


def _annotated(node: cst.AnnAssign, scope: Scope) -> Iterable[Binding]:
    if node.value is not None and isinstance(node.target, cst.Name):
        yield Binding(node.target.value, Kind.VALUE, node, scope, node.value)


def _augmented(node: cst.AugAssign, scope: Scope) -> Iterable[Binding]:
    if isinstance(node.target, cst.Name):
        yield Binding(node.target.value, Kind.AUGMENTED, node, scope, node.value)


def _entered(node: cst.With, scope: Scope) -> Iterable[Binding]:
    for item in node.items:
        if item.asname is not None:
            yield from _targets(item.asname.name, Kind.ENTERED, node, scope, item.item)


def _caught(node: cst.ExceptHandler | cst.ExceptStarHandler, scope: Scope) -> Iterable[Binding]:
    if node.name is not None and isinstance(node.name.name, cst.Name):
        yield Binding(node.name.name.value, Kind.OTHER, node, scope)


def _matched(node: cst.MatchAs | cst.MatchStar, scope: Scope) -> Iterable[Binding]:
    if node.name is not None:
        yield Binding(node.name.value, Kind.OTHER, node, scope)


def _matched_rest(node: cst.MatchMapping, scope: Scope) -> Iterable[Binding]:
    if node.rest is not None:
        yield Binding(node.rest.value, Kind.OTHER, node, scope)


def _deleted(node: cst.Del, scope: Scope) -> Iterable[Binding]:
    for target, _ in target_paths(node.target):
        if isinstance(target, cst.Name):
            yield Binding(target.value, Kind.OTHER, node, scope)


def _targets(
    target: cst.CSTNode, kind: Kind, node: Node, scope: Scope, value: cst.BaseExpression, path: tuple[int, ...] = ()
) -> Iterable[Binding]:
    if type(target) is cst.Name:
        yield Binding(target.value, kind, node, scope, value, path)
    elif type(target) is cst.Tuple or type(target) is cst.List:
        starred = False
        for position, element in enumerate(target.elements):
            if isinstance(element, cst.StarredElement):
                starred = True
                yield from _targets(element.value, kind, node, scope, value, (*path, REST))
            else:
                # After a star the position from the front is not known.
                yield from _targets(element.value, kind, node, scope, value, (*path, STAR if starred else position))


def target_paths(target: cst.CSTNode, path: tuple[int, ...] = ()) -> Iterable[tuple[cst.CSTNode, tuple[int, ...]]]:
    """Every target inside an assignment's target, names and attributes alike, with its unpacking path."""
    if type(target) is cst.Tuple or type(target) is cst.List:
        starred = False
        for position, element in enumerate(target.elements):
            place = REST if isinstance(element, cst.StarredElement) else STAR if starred else position
            starred = starred or place == REST
            yield from target_paths(element.value, (*path, place))
    else:
        yield target, path


def written_out(value: cst.BaseExpression, path: tuple[int, ...]) -> tuple[cst.BaseExpression, tuple[int, ...]]:
    """What an unpacking gives a name, as far as both sides are written out, and the rest of the path.

    `name, text = self.names[index], None`. What stands beside a starred element is not distinguished.
    """
    while path and isinstance(value, cst.Tuple | cst.List) and 0 <= path[0] < len(value.elements):
        if any(isinstance(each, cst.StarredElement) for each in value.elements):
            break
        value, path = value.elements[path[0]].value, path[1:]
    return value, path


def written_part(value: cst.BaseExpression | None, path: tuple[int, ...]) -> cst.BaseExpression | None:
    """The expression that an unpacking gives a name: `[]` to `a` in `a, b = [], {}`; None where it is not written."""
    if value is None:
        return None
    found, rest = written_out(value, path)
    return None if rest else found


def dotted(node: cst.CSTNode | None) -> str:
    """`a.b.c` for a chain of names and attributes, else an empty string."""
    parts: list[str] = []
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name:
        return ""
    parts.append(node.value)
    return ".".join(reversed(parts))


def is_none(node: cst.CSTNode | None) -> bool:
    """True for a `None` that is written out."""
    return isinstance(node, cst.Name) and node.value == "None"


def _imports(statement: cst.Import | cst.LazyImport, scope: Scope) -> Iterable[Binding]:
    for alias in statement.names:
        full = dotted(alias.name)
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            yield Binding(alias.asname.name.value, Kind.IMPORT, statement, scope, imported=full)
        else:
            # `import a.b.c` binds `a`; that `a.b.c` is loaded as well does not matter here.
            yield Binding(full.partition(".")[0], Kind.IMPORT, statement, scope, imported=full.partition(".")[0])


def _from_imports(statement: cst.ImportFrom | cst.LazyImportFrom, scope: Scope) -> Iterable[Binding]:
    source = dotted(statement.module)
    level = len(statement.relative)
    if isinstance(statement.names, cst.ImportStar):
        yield Binding("*", Kind.IMPORT, statement, scope, imported=source, level=level, member="*")
        return
    for alias in statement.names:
        member = dotted(alias.name)
        name = member
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            name = alias.asname.name.value
        yield Binding(name, Kind.IMPORT, statement, scope, imported=source, level=level, member=member)


_BINDING: dict[type[Node], Callable[[Any, Scope], Iterable[Binding]]] = {
    cst.AnnAssign: _annotated,
    cst.Assign: _assigned,
    cst.AugAssign: _augmented,
    cst.ClassDef: lambda node, scope: (Binding(node.name.value, Kind.CLASS, node, scope),),
    cst.CompFor: lambda node, scope: _targets(node.target, Kind.ELEMENT, node, scope, node.iter),
    cst.Del: _deleted,
    cst.ExceptHandler: _caught,
    cst.ExceptStarHandler: _caught,
    cst.For: lambda node, scope: _targets(node.target, Kind.ELEMENT, node, scope, node.iter),
    cst.FunctionDef: lambda node, scope: (Binding(node.name.value, Kind.FUNCTION, node, scope),),
    cst.Import: _imports,
    cst.ImportFrom: _from_imports,
    cst.LazyImport: _imports,
    cst.LazyImportFrom: _from_imports,
    cst.MatchAs: _matched,
    cst.MatchMapping: _matched_rest,
    cst.MatchStar: _matched,
    cst.NamedExpr: lambda node, scope: _targets(node.target, Kind.VALUE, node, scope, node.value),
    cst.TypeAlias: lambda node, scope: (Binding(node.name.value, Kind.OTHER, node, scope),),
    cst.With: _entered,
}


def _bound_by_global_statements(root: Scope) -> Iterable[Binding]:
    """What functions bind at module level through `global`."""
    for scope in root.descend():
        if scope is root or not scope.own(cst.Global):
            continue
        names = {item.name.value for statement in scope.own(cst.Global) for item in statement.names}
        for binding in _statements(scope):
            if binding.name in names:
                yield binding


def resolve(name: cst.Name, tree: Tree) -> list[Binding]:
    """The bindings that a name can have where it stands, in document order; empty for builtins and unknown names.

    They do not depend on the call that is looked at, so each name is looked up once.
    """
    found: list[Binding] | None = tree.resolved.get(id(name))
    if found is None:
        found = tree.resolved[id(name)] = _look_up(name, tree)
    return found


def type_parameter_owner(name: cst.Name, tree: Tree) -> Node | None:
    """The generic function, class or type alias whose type parameter a name is; None for all other names."""
    if not tree.of_text(("generics", id(tree.module)), lambda: _has_generics(tree)):
        return None
    own = tree.scope_of(name)
    around = {id(own)} | {id(scope) for scope in _outside(own) if not scope.is_class}
    child: Node = name
    below: Node = name
    for above in tree.ancestors(name):
        inner = tree.inner_scope.get(id(above))
        if inner is not None and id(inner) in around and name.value in bindings_of(inner):
            return None
        if name.value in type_parameter_names(above):
            is_default = isinstance(child, cst.Param) and below is child.default
            if not isinstance(child, cst.Decorator) and not is_default:
                return above
        child, below = above, child
    return None


def _outside(scope: Scope) -> Iterator[Scope]:
    while scope.parent is not None:
        scope = scope.parent
        yield scope


def _has_generics(tree: Tree) -> bool:
    return any(scope.own(cst.TypeParameters) for scope in tree.root.descend())


def _look_up(name: cst.Name, tree: Tree) -> list[Binding]:
    if type_parameter_owner(name, tree) is not None:
        return []
    own = tree.scope_of(name)
    scope: Scope | None = own
    inside = True
    while scope is not None:
        is_class = scope.is_class
        # A class body is seen by its own statements only, not by its methods and comprehensions.
        if scope is own or not is_class:
            candidates = bindings_of(scope).get(name.value)
            if candidates:
                if len(candidates) == 1 and not is_class:
                    return candidates  # the usual case: where it is bound once, it has that value or none
                if not inside:
                    return candidates
                reached = reaching(name, candidates, tree, keep=True)
                # A class body falls back to the outer scope; elsewhere a name bound only later stays itself.
                if reached or not is_class:
                    return reached
        if not is_class and not scope.is_comprehension:
            inside = False
        scope = scope.parent
    return []


def star_imports(scope: Scope) -> list[Binding]:
    """The `from x import *` statements of a module."""
    while scope.parent is not None:
        scope = scope.parent
    return bindings_of(scope).get("*", [])


def uses_of(tree: Tree, binding: Binding) -> Iterator[cst.Name]:
    """Where a name is read that may have what a binding gives it."""
    for name in tree.named(binding.scope.node, binding.name):
        above = tree.parent(name)
        if isinstance(above, cst.AssignTarget | cst.Param | cst.FunctionDef):
            continue
        if any(each is binding for each in resolve(name, tree)):
            yield name
