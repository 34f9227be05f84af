"""What an expression, a call or a definition says by itself, without looking around it."""

from __future__ import annotations

import libcst as cst

Function = cst.FunctionDef | cst.Lambda


def parameters(node: Function) -> list[cst.Param]:
    """All parameters in the order in which they are written, `*args` and `**kwargs` among them."""
    params = node.params
    starred = [params.star_arg] if isinstance(params.star_arg, cst.Param) else []
    keywords = [params.star_kwarg] if params.star_kwarg is not None else []
    return [*params.posonly_params, *params.params, *starred, *params.kwonly_params, *keywords]


def split_by_scope(node: cst.CSTNode) -> tuple[list[cst.CSTNode], list[cst.CSTNode]]:
    """The children of a node that opens a scope: those that belong to the scope around it, and those in its own."""
    if isinstance(node, cst.FunctionDef | cst.Lambda):
        outside = [] if isinstance(node, cst.Lambda) else [*node.decorators, *([node.returns] if node.returns else [])]
        return [*outside, *_type_parameters(node), *parameters(node)], [node.body]
    if isinstance(node, cst.ClassDef):
        return [*node.decorators, *_type_parameters(node), *node.bases, *node.keywords], [node.body]
    if isinstance(node, cst.StarredDictComp):
        return [], [node.for_in, node.value]
    if isinstance(node, cst.DictComp):
        return [], [node.for_in, node.key, node.value]
    assert isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp)
    return [], [node.for_in, node.elt]


def _type_parameters(node: cst.CSTNode) -> list[cst.CSTNode]:
    found = getattr(node, "type_parameters", None)  # bare trees have none
    return [] if found is None else [found]


def decorators(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """What decorates a definition, without the calls: `registry.register` for `@registry.register("name")`."""
    found = [each.decorator for each in node.decorators] if isinstance(node, cst.ClassDef | cst.FunctionDef) else []
    return [each.func if isinstance(each, cst.Call) else each for each in found]


def type_parameter_names(node: cst.CSTNode) -> frozenset[str]:
    """The names in the brackets of a generic function, class or type alias."""
    found = getattr(node, "type_parameters", None)
    return frozenset() if found is None else frozenset(each.param.name.value for each in found.params)


def keyword_of(call: cst.Call, name: str) -> cst.BaseExpression | None:
    """What a call passes by a name."""
    return next((arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def positional_of(call: cst.Call) -> list[cst.BaseExpression]:
    """What a call passes by place."""
    return [arg.value for arg in call.args if arg.keyword is None and not arg.star]


def last_name(node: cst.CSTNode) -> str:
    """The last part of a name or attribute chain; empty for other expressions."""
    kind = type(node)  # quicker than `isinstance`, which LibCST's abstract classes make slow
    if kind is cst.Attribute:
        return str(node.attr.value)  # type: ignore[attr-defined]
    return str(node.value) if kind is cst.Name else ""  # type: ignore[attr-defined]


def word_of(node: cst.CSTNode) -> str:
    """What a node itself says: its name, its text or its keyword."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    if isinstance(node, cst.Arg):
        return node.star + (node.keyword.value if node.keyword is not None else "")
    if isinstance(node, cst.Param):
        return node.name.value
    value = getattr(node, "value", "")
    return value if isinstance(value, str) else ""


def written_key(node: cst.Subscript) -> str | None:
    """The text that an item is asked for: `"image"` for `sample["image"]`; None for any other index."""
    index = node.slice[0].slice
    if len(node.slice) != 1 or not isinstance(index, cst.Index) or not isinstance(index.value, cst.SimpleString):
        return None
    key = index.value.evaluated_value
    return key if isinstance(key, str) else None


def written_items(node: cst.BaseExpression) -> list[tuple[str, cst.BaseExpression]] | None:
    """The items of a dict that is written out with texts as keys, `{"a": 1}` or `dict(a=1)`; None for all else."""
    items: list[tuple[str, cst.BaseExpression]] = []
    if isinstance(node, cst.Dict):
        for element in node.elements:
            key = element.key if isinstance(element, cst.DictElement) else None
            text = key.evaluated_value if isinstance(key, cst.SimpleString) else None
            if not isinstance(text, str):
                return None
            items.append((text, element.value))
        return items
    if not isinstance(node, cst.Call) or last_name(node.func) != "dict":
        return None
    for arg in node.args:
        if arg.keyword is None:
            return None
        items.append((arg.keyword.value, arg.value))
    return items
