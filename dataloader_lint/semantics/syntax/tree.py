"""One module of a project: its nodes in document order, their parents and scopes, and indexes over them.

LibCST's visitors and metadata providers cost more than parsing does, so one hand-written walk over the fields that
carry meaning replaces them (DESIGN, decision 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

import libcst as cst

from dataloader_lint.semantics.syntax.children import CHILDREN, KEPT
from dataloader_lint.semantics.syntax.expressions import last_name, split_by_scope, word_of
from dataloader_lint.source.code_text import code_text

Node = cst.CSTNode
N = TypeVar("N", bound=cst.CSTNode)
T = TypeVar("T")

Block = cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite | cst.SimpleStatementLine
COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.StarredDictComp, cst.GeneratorExp)
LOOPS = (cst.For, cst.While)


class Scope:
    """A module, class, function, lambda or comprehension, with the nodes that belong to it and to no inner scope."""

    __slots__ = (
        "by_type",
        "inner",
        "is_class",
        "is_comprehension",
        "is_function",
        "methods",
        "module",
        "node",
        "parent",
    )

    def __init__(self, node: Node, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        # Told once and by the type: `isinstance` is slow with LibCST's abstract classes.
        self.is_class = type(node) is cst.ClassDef
        self.is_comprehension = type(node) in COMPREHENSIONS
        self.is_function = type(node) is cst.FunctionDef or type(node) is cst.Lambda
        self.inner: list[Scope] = []
        self.by_type: dict[type[Node], list[Node]] = {}
        self.methods: dict[str, Scope] | None = None  # for classes.py, which finds them when it is first asked
        self.module: ModuleFacts = parent.module if parent is not None else None  # type: ignore[assignment]
        if parent is not None:
            parent.inner.append(self)

    def __repr__(self) -> str:
        name = getattr(self.node, "name", None)
        return f"Scope({type(self.node).__name__} {name.value if isinstance(name, cst.Name) else ''})"

    def own(self, kind: type[N]) -> list[N]:
        """The nodes of one type that stand in this scope itself, in document order."""
        return self.by_type.get(kind, [])  # type: ignore[return-value]

    def within(self, kind: type[N]) -> Iterator[N]:
        """The nodes of one type in this scope and its comprehensions and lambdas, not in inner functions or classes."""
        yield from self.own(kind)
        for scope in self.inner:
            if scope.is_comprehension or type(scope.node) is cst.Lambda:
                yield from scope.within(kind)

    def descend(self) -> Iterator[Scope]:
        """This scope and all scopes in it."""
        yield self
        for scope in self.inner:
            yield from scope.descend()

    @property
    def function(self) -> Scope | None:
        """The nearest scope from here outwards that is a function or lambda; None at class or module level."""
        scope: Scope | None = self
        while scope is not None and not scope.is_function:
            if not scope.is_comprehension:
                return None
            scope = scope.parent
        return scope


# The numbers of nodes: the same objects in all trees, as they would take 28 bytes of the 270 for a node.
_NUMBERS: list[int] = []


class Tree:
    """A walked module. Nodes are distinguished by identity: LibCST's own hash is a slow Python function.

    `module` is the tree of `text`; it may be a bare one, which has nothing that only says how the text is laid out.
    Whoever needs that asks `layout` for it.
    """

    __slots__ = (
        "_ends",
        "_index",
        "_known",
        "_nodes",
        "_of_text",
        "_parents",
        "_scopes",
        "inner_scope",
        "module",
        "resolved",
        "root",
        "text",
    )

    def __init__(self, module: cst.Module, text: str) -> None:
        self.module = module
        self.text = text
        self._index: dict[int, int] = {}
        self._nodes: list[Node] = []
        self._parents: list[int] = []
        self._ends: list[int] = []  # worked out when first asked for
        self._scopes: list[Scope] = []
        self._known: dict[tuple[str, int], Any] = {}
        self._of_text: dict[tuple[str, int], Any] = {}
        self.inner_scope: dict[int, Scope] = {}
        self.resolved: dict[int, Any] = {}  # for names.py, which is asked most often: bindings by the `id` of a name
        self.root = Scope(module, None)
        self._walk()

    def _walk(self) -> None:
        index, nodes, parents, scopes = self._index, self._nodes, self._parents, self._scopes
        children, kept = CHILDREN, KEPT
        self.inner_scope[id(self.module)] = self.root
        stack: list[tuple[Node, int, Scope]] = [(self.module, -1, self.root)]
        pop, push = stack.pop, stack.append
        while stack:
            node, parent, scope = pop()
            if len(nodes) == len(_NUMBERS):
                _NUMBERS.extend(range(len(_NUMBERS), len(_NUMBERS) + 10_000))
            number = _NUMBERS[len(nodes)]
            index[id(node)] = number
            nodes.append(node)
            parents.append(parent)
            scopes.append(scope)
            kind = type(node)
            if kind in kept:
                found = scope.by_type.get(kind)
                if found is None:
                    scope.by_type[kind] = [node]
                else:
                    found.append(node)
            fields = children.get(kind)
            if fields is None:
                if kind in SCOPES:
                    self._open_scope(node, number, scope, stack)
                continue
            if kind is cst.CompFor and id(nodes[parent]) in self.inner_scope:
                self._open_first_loop(node, number, scope, stack)
                continue
            for name in reversed(fields):
                child = getattr(node, name)
                if child is None:
                    continue
                sort = type(child)
                if sort is list or sort is tuple:
                    for item in reversed(child):
                        push((item, number, scope))
                elif sort is not str and sort is not cst.MaybeSentinel:
                    push((child, number, scope))

    def _open_scope(self, node: Node, number: int, scope: Scope, stack: list[tuple[Node, int, Scope]]) -> None:
        """Push the children of a node that opens a scope; defaults, decorators and bases belong to the outer one."""
        inner = Scope(node, scope)
        self.inner_scope[id(node)] = inner
        outside, inside = split_by_scope(node)
        stack.extend((child, number, inner) for child in reversed(inside))
        stack.extend((child, number, scope) for child in reversed(outside))

    def _open_first_loop(self, node: Node, number: int, scope: Scope, stack: list[tuple[Node, int, Scope]]) -> None:
        """Push the children of a comprehension's first `for`: what it iterates over belongs to the outer scope."""
        assert isinstance(node, cst.CompFor) and scope.parent is not None
        if node.inner_for_in is not None:
            stack.append((node.inner_for_in, number, scope))
        stack.extend((each, number, scope) for each in reversed(node.ifs))
        stack.append((node.iter, number, scope.parent))
        stack.append((node.target, number, scope))

    def __contains__(self, node: Node) -> bool:
        return id(node) in self._index

    @property
    def code(self) -> str:
        """The text without comments: what they say is no fact about the program."""
        return self.of_text(("code", id(self.module)), lambda: code_text(self.text))

    def order(self, node: Node) -> int:
        """Where the node stands in the document; only comparisons mean something."""
        return self._index[id(node)]

    def parent(self, node: Node) -> Node | None:
        """The nearest node around this one; None for the module."""
        number = self._parents[self._index[id(node)]]
        return self._nodes[number] if number >= 0 else None

    def ancestors(self, node: Node) -> Iterator[Node]:
        """The nodes around this one, from the inside out."""
        number = self._parents[self._index[id(node)]]
        while number >= 0:
            yield self._nodes[number]
            number = self._parents[number]

    def is_inside(self, node: Node, block: Node) -> bool:
        """True if a node is another one, or a part of it."""
        return node is block or any(above is block for above in self.ancestors(node))

    def scope_of(self, node: Node) -> Scope:
        """The scope in which the node stands; for a node that opens one, the scope around it."""
        return self._scopes[self._index[id(node)]]

    def statement_of(self, node: Node) -> Node:
        """The statement (simple line or compound) that holds the node; the node itself if it is one."""
        if isinstance(node, cst.BaseCompoundStatement | cst.SimpleStatementLine | cst.Module):
            return node
        for above in self.ancestors(node):
            if isinstance(above, cst.BaseCompoundStatement | cst.SimpleStatementLine):
                return above
        return node

    def walk(self, node: Node) -> Iterator[Node]:
        """The node and all below it, in document order, into inner scopes too."""
        nodes, parents = self._nodes, self._parents
        first = self._index[id(node)]
        yield node
        for number in range(first + 1, len(nodes)):
            if parents[number] < first:  # it is below something that stands around the node
                break
            yield nodes[number]

    def once(self, key: tuple[str, int], work_out: Callable[[], T], meanwhile: T | None = None) -> T:
        """What `work_out` gives, kept under a name and the `id` of something that lives as long as this tree.

        `meanwhile` is the answer while it is being worked out, where that can lead back to the question.
        """
        if key not in self._known:
            if meanwhile is not None:
                self._known[key] = meanwhile
            self._known[key] = work_out()
        found: T = self._known[key]
        return found

    def of_text(self, key: tuple[str, int], work_out: Callable[[], T]) -> T:
        """As `once`, for what follows from the text of this tree alone: servers keep it while the text stays."""
        if key not in self._of_text:
            self._of_text[key] = work_out()
        found: T = self._of_text[key]
        return found

    def forget(self) -> None:
        """Forget what does not follow from the text alone."""
        self._known.clear()

    def exchange(self, known: dict[tuple[str, int], Any]) -> dict[tuple[str, int], Any]:
        """Go on with what another session has inferred, and give what was inferred up to now."""
        before, self._known = self._known, known
        return before

    def take_apart(self) -> None:
        """Break the reference cycles of a tree that is no longer needed: frozen objects are never collected."""
        for scope in list(self.root.descend()):
            scope.parent, scope.inner = None, []
            del scope.module
        self._known.clear()
        self._of_text.clear()
        self.resolved.clear()

    def backwards(self, block: Block, child: Node) -> Iterator[Node]:
        """The statements of a block that stand before one of them, the last one first."""
        for place in range(self.place_in(block, child) - 1, -1, -1):
            yield block.body[place]

    def place_in(self, block: Block, child: Node) -> int:
        """Which statement of a block a node is, counted from 0; their number if it is none of them."""
        places = self.of_text(("places", id(block)), lambda: {id(each): place for place, each in enumerate(block.body)})
        return places.get(id(child), len(places))

    def starts(self, block: Block) -> list[int]:
        """Where the statements of a block stand in the document."""
        return self.of_text(("starts", id(block)), lambda: [self._index[id(each)] for each in block.body])

    def end(self, node: Node) -> int:
        """Where the first node behind all that is below this one stands in the document."""
        if not self._ends:
            self._ends = list(range(1, len(self._nodes) + 1))
            for number in range(len(self._nodes) - 1, 0, -1):
                around = self._parents[number]
                self._ends[around] = max(self._ends[around], self._ends[number])
        return self._ends[self._index[id(node)]]

    def find(self, node: Node, kind: type[N]) -> Iterator[N]:
        """The nodes of one type at or below a node."""
        nodes, parents = self._nodes, self._parents
        first = self._index[id(node)]
        if type(node) is kind:
            yield node
        for number in range(first + 1, len(nodes)):  # as `walk`, without a step through it for each node
            if parents[number] < first:
                break
            found = nodes[number]
            if type(found) is kind:
                yield found

    def named(self, node: Node, name: str) -> Sequence[cst.Name]:
        """The uses of a name at or below a node, in document order; one walk for all names."""
        return self.of_text(("names", id(node)), lambda: self._by_name(node)).get(name, ())

    def _by_name(self, node: Node) -> dict[str, list[cst.Name]]:
        found: dict[str, list[cst.Name]] = {}
        for each in self.find(node, cst.Name):
            found.setdefault(each.value, []).append(each)
        return found

    def words(self, node: Node) -> str:
        """The names, keywords and texts in an expression, in document order, a space between them."""
        return " ".join(word for each in self.walk(node) if (word := word_of(each)))

    def spelling(self, node: Node) -> tuple[object, ...]:
        """What is the same for two expressions that differ in their layout only."""
        depths = {id(node): 0}
        found: list[object] = []
        for each in self.walk(node):
            depth = depths[id(each)] = depths[id(self.parent(each))] + 1 if each is not node else 0
            found.append((depth, type(each), type(getattr(each, "operator", None)), word_of(each)))
        return tuple(found)


SCOPES = frozenset({cst.FunctionDef, cst.Lambda, cst.ClassDef, *COMPREHENSIONS})


def function_scope(scope: Scope) -> Scope:
    """The scope whose frame an expression is evaluated in: comprehensions share that of the function around them."""
    while not isinstance(scope.node, cst.FunctionDef | cst.Lambda | cst.ClassDef | cst.Module):
        assert scope.parent is not None
        scope = scope.parent
    return scope


class ModuleFacts:
    """One module of a project: its path, its tree, and indexes over it."""

    __slots__ = ("_calls", "classes", "functions", "is_package", "path", "tree")

    def __init__(self, path: str, is_package: bool, source: cst.Module, text: str) -> None:
        self.path = path
        self.is_package = is_package
        self.tree = Tree(source, text)
        self._calls: dict[str, list[cst.Call]] | None = None
        self.classes: list[Scope] = []
        self.functions: set[str] = set()  # the names of all, wherever they are defined
        for scope in self.tree.root.descend():
            scope.module = self
            if scope.is_class:
                self.classes.append(scope)
            elif isinstance(scope.node, cst.FunctionDef):
                self.functions.add(scope.node.name.value)

    @property
    def root(self) -> Scope:
        return self.tree.root

    def calls_named(self, name: str) -> list[cst.Call]:
        """The calls whose callee's last part is `name`, in document order."""
        return self._calls_by_name().get(name, [])

    @property
    def called(self) -> AbstractSet[str]:
        """The last parts of the names by which something is called."""
        return self._calls_by_name().keys()

    def all_calls(self) -> list[cst.Call]:
        """Every call of the module, in document order."""
        module = self.tree.module
        return self.tree.of_text(("calls", id(module)), lambda: list(self.tree.find(module, cst.Call)))

    def _calls_by_name(self) -> dict[str, list[cst.Call]]:
        if self._calls is None:
            self._calls = {}
            for scope in self.root.descend():
                for call in scope.own(cst.Call):
                    self._calls.setdefault(last_name(call.func), []).append(call)
            for found in self._calls.values():
                found.sort(key=self.tree.order)
        return self._calls
