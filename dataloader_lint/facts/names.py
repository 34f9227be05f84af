"""Which bindings a name can have at a place: scopes, imports, branches and loops; never "the first of a set"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Protocol, TypeVar

import libcst as cst

from dataloader_lint.facts.tree import COMPREHENSIONS, LOOPS, Node, Scope, Tree, parameters


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


STAR = -1  # in a path: the starred rest of an unpacking


class Placed(Protocol):
    """Anything that stands at a node."""

    @property
    def node(self) -> Node: ...


P = TypeVar("P", bound=Placed)


@dataclass(frozen=True, slots=True, eq=False)
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


def bindings_of(scope: Scope) -> dict[str, list[Binding]]:
    """All bindings of the scope's own names, each list in document order. Star imports stand under `*`."""
    if scope.bindings is None:
        scope.bindings = _collect(scope)
    return scope.bindings


def _collect(scope: Scope) -> dict[str, list[Binding]]:
    found: list[Binding] = []
    elsewhere = {
        item.name.value
        for kind in (cst.Global, cst.Nonlocal)
        for statement in scope.own(kind)
        for item in statement.names  # type: ignore[attr-defined]
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
    for assign in scope.own(cst.Assign):
        for target in assign.targets:
            yield from _targets(target.target, Kind.VALUE, assign, scope, assign.value)
    for annotated in scope.own(cst.AnnAssign):
        if annotated.value is not None and isinstance(annotated.target, cst.Name):
            yield Binding(annotated.target.value, Kind.VALUE, annotated, scope, annotated.value)
    for augmented in scope.own(cst.AugAssign):
        if isinstance(augmented.target, cst.Name):
            yield Binding(augmented.target.value, Kind.AUGMENTED, augmented, scope, augmented.value)
    for walrus in scope.own(cst.NamedExpr):
        yield from _targets(walrus.target, Kind.VALUE, walrus, scope, walrus.value)
    for inner in scope.inner:
        if isinstance(inner.node, COMPREHENSIONS) and not isinstance(scope.node, cst.ClassDef):
            for walrus in inner.within(cst.NamedExpr):
                yield from _targets(walrus.target, Kind.VALUE, walrus, scope, walrus.value)
    for loop in scope.own(cst.For):
        yield from _targets(loop.target, Kind.ELEMENT, loop, scope, loop.iter)
    for clause in scope.own(cst.CompFor):
        yield from _targets(clause.target, Kind.ELEMENT, clause, scope, clause.iter)
    for block in scope.own(cst.With):
        for item in block.items:
            if item.asname is not None:
                yield from _targets(item.asname.name, Kind.ENTERED, block, scope, item.item)
    for function in scope.own(cst.FunctionDef):
        yield Binding(function.name.value, Kind.FUNCTION, function, scope)
    for klass in scope.own(cst.ClassDef):
        yield Binding(klass.name.value, Kind.CLASS, klass, scope)
    imports: list[cst.Import | cst.LazyImport] = [*scope.own(cst.Import), *scope.own(cst.LazyImport)]
    for plain in imports:
        yield from _imports(plain, scope)
    members: list[cst.ImportFrom | cst.LazyImportFrom] = [*scope.own(cst.ImportFrom), *scope.own(cst.LazyImportFrom)]
    for member in members:
        yield from _from_imports(member, scope)
    for handler in scope.own(cst.ExceptHandler):
        if handler.name is not None and isinstance(handler.name.name, cst.Name):
            yield Binding(handler.name.name.value, Kind.OTHER, handler, scope)
    for pattern in scope.own(cst.MatchAs):
        if pattern.name is not None:
            yield Binding(pattern.name.value, Kind.OTHER, pattern, scope)
    for deleted in scope.own(cst.Del):
        if isinstance(deleted.target, cst.Name):
            yield Binding(deleted.target.value, Kind.OTHER, deleted, scope)


def _targets(
    target: cst.CSTNode, kind: Kind, node: Node, scope: Scope, value: cst.BaseExpression, path: tuple[int, ...] = ()
) -> Iterable[Binding]:
    if isinstance(target, cst.Name):
        yield Binding(target.value, kind, node, scope, value, path)
    elif isinstance(target, cst.Tuple | cst.List):
        starred = False
        for position, element in enumerate(target.elements):
            if isinstance(element, cst.StarredElement):
                starred = True
                yield from _targets(element.value, kind, node, scope, value, (*path, STAR))
            else:
                # After a star the position from the front is not known.
                yield from _targets(element.value, kind, node, scope, value, (*path, STAR if starred else position))


def target_paths(target: cst.CSTNode, path: tuple[int, ...] = ()) -> Iterable[tuple[cst.CSTNode, tuple[int, ...]]]:
    """Every target inside an assignment's target, names and attributes alike, with its unpacking path."""
    if isinstance(target, cst.Tuple | cst.List):
        starred = False
        for position, element in enumerate(target.elements):
            starred = starred or isinstance(element, cst.StarredElement)
            yield from target_paths(element.value, (*path, STAR if starred else position))
    else:
        yield target, path


def dotted(node: cst.CSTNode | None) -> str:
    """`a.b.c` for a chain of names and attributes, else an empty string."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    parts.append(node.value)
    return ".".join(reversed(parts))


def _imports(statement: cst.Import | cst.LazyImport, scope: Scope) -> Iterable[Binding]:
    for alias in statement.names:
        full = dotted(alias.name)
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            yield Binding(alias.asname.name.value, Kind.IMPORT, statement, scope, imported=full)
        else:
            # `import a.b.c` binds `a`; that `a.b.c` is loaded as well matters to nobody here.
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
    """The bindings that a name can have where it stands, in document order; empty for builtins and unknown names."""
    scope: Scope | None = tree.scope_of(name)
    inside = True
    while scope is not None:
        # A class body is seen by its own statements only, not by its methods.
        if inside or not isinstance(scope.node, cst.ClassDef):
            candidates = bindings_of(scope).get(name.value)
            if candidates:
                if len(candidates) == 1 and not isinstance(scope.node, cst.ClassDef):
                    return candidates  # the usual case: where it is bound once, it has that value or none
                if inside:
                    reached = reaching(name, candidates, tree)
                    # A class body falls back to the outer scope; elsewhere a name bound only later stays itself.
                    if reached or not isinstance(scope.node, cst.ClassDef):
                        return reached
                else:
                    return candidates
        if not isinstance(scope.node, COMPREHENSIONS) and not isinstance(scope.node, cst.ClassDef):
            inside = False
        scope = scope.parent
    return []


def star_imports(scope: Scope) -> list[Binding]:
    """The `from x import *` statements of a module."""
    while scope.parent is not None:
        scope = scope.parent
    return bindings_of(scope).get("*", [])


class _Flow(Generic[P]):
    """Backward search through structured code for the placed things (all in one scope) that reach a place."""

    def __init__(self, tree: Tree, placed: Sequence[P]) -> None:
        self.tree = tree
        # Every node around a thing, so that "is it in this block" is a look-up.
        self.around: list[tuple[P, set[int]]] = [
            (item, {id(item.node), *(id(above) for above in tree.ancestors(item.node))}) for item in placed
        ]

    def inside(self, node: Node) -> list[P]:
        return [item for item, around in self.around if id(node) in around]

    def before(self, use: Node, stop: Node) -> tuple[list[P], bool]:
        """What reaches `use` from within the scope node `stop`, and whether one of it surely does."""
        reached: list[P] = []
        child = use
        for above in self.tree.ancestors(use):
            body = getattr(above, "body", None)
            if isinstance(above, cst.IndentedBlock | cst.Module | cst.SimpleStatementSuite):
                if self._backwards(above.body, child, reached):
                    return reached, True
            elif isinstance(above, cst.SimpleStatementLine):
                if self._backwards(above.body, child, reached):
                    return reached, True
            elif isinstance(above, cst.For) and child is body:
                self._carried(above, use, reached)
                if self._own(above, reached):
                    return reached, True
            elif isinstance(above, cst.While) and child is body:
                self._carried(above, use, reached)
            elif isinstance(above, cst.With) and child is body:
                if self._own(above, reached):
                    return reached, True
            elif isinstance(above, cst.Try | cst.TryStar) and child is not above.body:
                # Handlers, else and finally come after (a part of) the body.
                surely = self._statement(above.body, reached)
                if surely and child is above.orelse:
                    return reached, True
            elif isinstance(above, cst.For | cst.While) and child is above.orelse:
                self._statement(above.body, reached)
            elif isinstance(above, COMPREHENSIONS):
                own = [item for item in self.inside(above) if item not in reached]
                if own:
                    reached.extend(own)
                    return reached, True
            if above is stop:
                break
            child = above
        own = [item for item, _ in self.around if isinstance(item.node, cst.Param) and item not in reached]
        reached.extend(own)
        return reached, bool(own)

    def _own(self, statement: Node, reached: list[P]) -> bool:
        """Things that the head of a compound statement places (`for x in`, `with ... as x`)."""
        own = [item for item, _ in self.around if item.node is statement]
        reached.extend(own)
        return bool(own)

    def _carried(self, loop: Node, use: Node, reached: list[P]) -> None:
        """Things later in a loop's body reach its next round."""
        order = self.tree.order(use)
        for item in self.inside(loop):
            if item not in reached and item.node is not loop and self.tree.order(item.node) > order:
                reached.append(item)

    def _backwards(self, statements: Iterable[Node], child: Node, reached: list[P]) -> bool:
        earlier: list[Node] = []
        for statement in statements:
            if statement is child:
                break
            earlier.append(statement)
        return any(self._statement(statement, reached) for statement in reversed(earlier))

    def _statement(self, statement: Node, reached: list[P]) -> bool:
        """Add what leaves a statement alive; True if nothing from before it survives."""
        within = self.inside(statement)
        if not within:
            return False
        if isinstance(statement, cst.If | cst.Match):
            return self._branches(statement, reached)
        if isinstance(statement, cst.IndentedBlock | cst.SimpleStatementSuite | cst.SimpleStatementLine):
            return any(self._statement(inner, reached) for inner in reversed(statement.body))
        if isinstance(statement, cst.With):
            return self._statement(statement.body, reached) or self._own(statement, reached)
        if isinstance(statement, cst.Try | cst.TryStar):
            if statement.finalbody is not None and self._statement(statement.finalbody.body, reached):
                return True
            arms: list[Node] = [handler.body for handler in statement.handlers]
            sure = all([self._arm(arm, reached) for arm in arms])
            if statement.orelse is not None and self._statement(statement.orelse.body, reached):
                self._leave(statement.body, reached, bool(arms))
                return sure
            return self._statement(statement.body, reached) and sure
        if isinstance(statement, LOOPS):
            reached.extend(item for item in within if item not in reached)
            return False
        reached.extend(item for item in within if item not in reached)
        if isinstance(statement, cst.FunctionDef | cst.ClassDef):
            return any(item.node is statement for item in within)  # the others are set when the function runs
        return True

    def _leave(self, body: Node, reached: list[P], handlers: bool) -> None:
        if handlers:
            self._statement(body, reached)

    def _arm(self, body: Node, reached: list[P]) -> bool:
        """One of several alternatives; an arm that leaves the function lets nothing through."""
        return leaves(body) or self._statement(body, reached)

    def _branches(self, statement: cst.If | cst.Match, reached: list[P]) -> bool:
        if isinstance(statement, cst.Match):
            for case in statement.cases:
                self._arm(case.body, reached)
            return False
        sure = self._arm(statement.body, reached)
        if isinstance(statement.orelse, cst.If):
            return self._branches(statement.orelse, reached) and sure
        if isinstance(statement.orelse, cst.Else):
            return self._arm(statement.orelse.body, reached) and sure
        return False


def leaves(body: Node) -> bool:
    """Whether control never comes out at the end of a body: it returns, raises, or goes on with the loop."""
    statements = getattr(body, "body", None)
    if not isinstance(statements, Sequence) or not statements:
        return False
    last = statements[-1]
    if isinstance(last, cst.SimpleStatementLine):
        return bool(last.body) and isinstance(last.body[-1], cst.Return | cst.Raise | cst.Continue | cst.Break)
    if isinstance(last, cst.If) and isinstance(last.orelse, cst.Else):
        return leaves(last.body) and leaves(last.orelse.body)
    return isinstance(last, cst.Return | cst.Raise | cst.Continue | cst.Break)


def reaching(use: Node, placed: Sequence[P], tree: Tree) -> list[P]:
    """Those of `placed` (all in the scope of `use`) whose effect can be in force at `use`, in document order."""
    return reaching_or_not(use, placed, tree)[0]


def reaching_or_not(use: Node, placed: Sequence[P], tree: Tree) -> tuple[list[P], bool]:
    """As `reaching`, with whether one of them is surely in force."""
    scope = tree.scope_of(use)
    while isinstance(scope.node, COMPREHENSIONS) and scope.parent is not None:
        scope = scope.parent
    found, surely = _Flow(tree, placed).before(use, scope.node)
    found.sort(key=lambda item: tree.order(item.node) if item.node in tree else -1)
    return found, surely


def enclosing(node: Node, tree: Tree, test: Callable[[Node], bool]) -> Node | None:
    """The nearest node around `node` that meets `test`."""
    return next((above for above in tree.ancestors(node) if test(above)), None)
