"""The walk goes into every part of every node of LibCST that means something: read from the classes themselves."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Iterator

import libcst as cst
import pytest

from dataloader_lint.semantics.syntax.children import CHILDREN
from dataloader_lint.semantics.syntax.tree import SCOPES, Tree

Place = tuple[type[cst.CSTNode], str]

# Nodes that say how code is laid out, and signs that say nothing but what the type of the node around them says.
LAYOUT = (
    cst.BaseParenthesizableWhitespace,
    cst.TrailingWhitespace,
    cst.EmptyLine,
    cst.Newline,
    cst.Comment,
    cst.LeftParen,
    cst.RightParen,
    cst.LeftSquareBracket,
    cst.RightSquareBracket,
    cst.LeftCurlyBrace,
    cst.RightCurlyBrace,
    cst.Comma,
    cst.Semicolon,
    cst.Colon,
    cst.Dot,
    cst.AssignEqual,
    cst.ParamStar,
    cst.ParamSlash,
)
# Keywords and operators: they hold blank space only, and whoever needs them reads the field.
SIGNS = (cst.Asynchronous, cst.BaseBinaryOp, cst.BaseBooleanOp, cst.BaseUnaryOp, cst.BaseCompOp, cst.BaseAugOp)

BINDS = "a name that is bound here, which bindings read from the field"
LABEL = "an attribute, a keyword or a module: no variable, read from the field"
NOT_WALKED: dict[Place, str] = {
    (cst.Arg, "keyword"): LABEL,
    (cst.Attribute, "attr"): LABEL,
    (cst.ClassDef, "name"): BINDS,
    (cst.FunctionDef, "name"): BINDS,
    (cst.Global, "names"): "declares names",
    (cst.Import, "names"): BINDS,
    (cst.ImportAlias, "asname"): BINDS,
    (cst.ImportAlias, "name"): LABEL,
    (cst.ImportFrom, "module"): LABEL,
    (cst.ImportFrom, "names"): BINDS,
    (cst.LazyImport, "names"): BINDS,
    (cst.LazyImportFrom, "module"): LABEL,
    (cst.LazyImportFrom, "names"): BINDS,
    (cst.MatchAs, "name"): BINDS,
    (cst.MatchKeywordElement, "key"): LABEL,
    (cst.MatchMapping, "rest"): BINDS,
    (cst.MatchStar, "name"): BINDS,
    (cst.NameItem, "name"): "declares a name",
    (cst.Nonlocal, "names"): "declares names",
    (cst.Param, "name"): BINDS,
    (cst.ParamSpec, "name"): BINDS,
    (cst.TypeAlias, "name"): BINDS,
    (cst.TypeVar, "name"): BINDS,
    (cst.TypeVarTuple, "name"): BINDS,
}
# What `Tree` does by itself, for nodes that open a scope.
OF_SCOPES: frozenset[Place] = frozenset(
    {
        *((cst.FunctionDef, field) for field in ("decorators", "type_parameters", "params", "returns", "body")),
        *((cst.ClassDef, field) for field in ("decorators", "type_parameters", "bases", "keywords", "body")),
        *((cst.Lambda, field) for field in ("params", "body")),
        *((cst.DictComp, field) for field in ("key", "value", "for_in")),
        *((cst.StarredDictComp, field) for field in ("value", "for_in")),
        *((kind, field) for kind in (cst.ListComp, cst.SetComp, cst.GeneratorExp) for field in ("elt", "for_in")),
        *((cst.Parameters, f"{sort}params") for sort in ("", "kwonly_", "posonly_")),
        *((cst.Parameters, field) for field in ("star_arg", "star_kwarg")),
    }
)


def node_types(base: type[cst.CSTNode] = cst.CSTNode) -> Iterator[type[cst.CSTNode]]:
    """The classes of nodes that LibCST's parser makes."""
    for each in base.__subclasses__():
        if each.__module__.startswith("libcst._nodes") and not inspect.isabstract(each):
            yield each
        yield from node_types(each)


def parts(hint: object) -> Iterator[type[cst.CSTNode]]:
    """The node classes in the type of a field."""
    if isinstance(hint, type) and issubclass(hint, cst.CSTNode):
        yield hint
    for each in typing.get_args(hint):
        yield from parts(each)


def meaningful(kind: type[cst.CSTNode]) -> Iterator[str]:
    """The fields of a node class whose type can hold more than layout and signs."""
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if any(not issubclass(each, (*LAYOUT, *SIGNS)) for each in parts(hints[field.name])):
            yield field.name


# LibCST keeps for each class with fields one without slots, of the same name, that nobody uses.
KINDS = {
    each.__name__: getattr(cst, each.__name__, each)
    for each in node_types()
    if not issubclass(each, (*LAYOUT, *SIGNS)) and hasattr(cst, each.__name__)
}


def test_no_node_class_is_left_out() -> None:
    """Those that are not exported are parts of others or only bases."""
    inner = {each.__name__ for each in node_types() if not hasattr(cst, each.__name__)}
    assert all(name.startswith(("_", "Base")) for name in inner), inner
    assert len(KINDS) > 90


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_every_field_is_walked_or_known(kind: type[cst.CSTNode]) -> None:
    walked = {field for field in meaningful(kind) if field in CHILDREN.get(kind, ()) or (kind, field) in OF_SCOPES}
    known = {field for owner, field in NOT_WALKED if owner is kind}
    assert walked | known == set(meaningful(kind))
    assert not walked & known
    assert set(CHILDREN.get(kind, ())) <= walked


def test_what_is_listed_exists() -> None:
    fields = {(kind, field.name) for kind in KINDS.values() for field in dataclasses.fields(kind)}
    assert set(NOT_WALKED) <= fields
    assert fields >= OF_SCOPES
    assert {kind for kind, _ in OF_SCOPES} - {cst.Parameters} == SCOPES
    assert not set(CHILDREN) & SCOPES


@pytest.mark.parametrize("sign", [*LAYOUT, *SIGNS], ids=lambda each: each.__name__)
def test_signs_hold_layout_only(sign: type[cst.CSTNode]) -> None:
    for kind in (sign, *node_types(sign)):
        assert not list(meaningful(kind))


CODE = """
@n0(n1)
async def f1[T2: n2 = n3, *T3, **T4](a, b: n4 = n5, /, *c: n6, e: n7 = n8, **g: n9) -> n10:
    with n11 as n12[n13], n14 as (n15, n16.p): pass
    async with n17: pass
    try: n18
    except n19 as n20: n21
    else: n22
    finally: n23
    try: n24
    except* n25 as n26: n27
    match n28:
        case n29(n30.p, q=n31.q): n32
        case {"k": n33.r, n34.k: [n35.s, *s1], **rest} if n36: n37
        case n38.x | n39.y as z: n40
        case (None, *_): n41
    return f"{n42:{n43}.{n44!r:>{n45}}}" f"{n46=}", (yield n47), await n48
@n49
class C[T50: n50](n51, *n52, metaclass=n53, **n54):
    x: n55 = n56
type A[T57: n57] = n58
del n59, n60[n61]
n62, [n63, *n64] = n65 = n66
n67 += n68; assert n69, n70; n71: n72
for n73 in n74: n75
else: n76
while n77: n78
else: n79
lambda a=n80, *b: n81
[n82 async for n83 in n84 if n85 for n86 in n87]
{n88: n89 for n90 in n91}, {n92 for n93 in n94}, (n95 for n96 in n97), {**n98, n99: n100, **n101}
n102[n103:n104:n105, *n106], n107 if n108 else n109, not n110, n111 < n112 in n113, n114 + n115, n116 and n117
n118(n119, *n120, k=n121, **n122).p, (n123 := n124), {n125, *n126}, [n127, *n128], (*n129,)
if n130: n131
elif n132: n133
else: n134
def g():
    raise n135 from n136
    return (yield from n137)
"""


def below(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """All nodes that mean something at or below a node, from the fields of their classes and what is listed above."""
    if not isinstance(node, cst.Parameters):
        yield node
    for field in meaningful(type(node)):
        if (type(node), field) not in NOT_WALKED:
            value = getattr(node, field)
            for each in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(each, cst.CSTNode) and not isinstance(each, (*LAYOUT, *SIGNS)):
                    yield from below(each)


def test_the_walk_reaches_all_of_it() -> None:
    tree = Tree(cst.parse_module(CODE), CODE)
    walked = list(tree.walk(tree.module))
    assert {id(each) for each in walked} == {id(each) for each in below(tree.module)}
    assert len({type(each) for each in walked}) > 80
    names = {each.value for each in tree.find(tree.module, cst.Name) if each.value.startswith("n")}
    assert names == {f"n{number}" for number in range(138)}
    assert not {each.value for each in tree.find(tree.module, cst.Name)} & {"k", "p", "q", "r", "s", "s1", "rest", "z"}
