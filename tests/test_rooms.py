"""Every module stands in the room of those who ask it: one rule, one family, or several families."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import dataloader_lint

PACKAGE = Path(dataloader_lint.__file__).parent
FAMILIES = {path.name for path in (PACKAGE / "rules").iterdir() if any(path.glob("dl[1-9]*"))} - {"engine"}

# These know everything below them: who imports one of them asks for what it uses of it, and not for all of that.
HUBS = {"pipeline.file", "pipeline.session"}

# Asked by one family itself, and by others through a hub; the list may only get shorter.
HELD_DOWN = {
    "pipeline.project_facts": "`File.session` is one, for all",
    "pipeline.workers.worker_steps": "`File.steps_to` asks it for rules of four families",
}


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(path): path for path in PACKAGE.rglob("*.py")}


@cache
def imported(module: str) -> frozenset[str]:
    """The modules of this package that a module imports, wherever the statement stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dataloader_lint"):
            base = node.module.removeprefix("dataloader_lint").removeprefix(".")
            found |= {each if (each := f"{base}.{name.name}".strip(".")) in MODULES else base for name in node.names}
    return frozenset(found & MODULES.keys() - {"", module})


def asked_by() -> dict[str, set[str]]:
    """The rules, as `family.rule`, that lead to each module by imports."""
    askers: dict[str, set[str]] = {module: set() for module in MODULES}
    for start in MODULES:
        room, _, rest = start.partition(".")
        family, _, rule = rest.partition(".")
        if room != "rules" or family not in FAMILIES or not rule.startswith("dl"):
            continue
        reached, waiting = {start}, [start]
        while waiting:
            for each in imported(waiting.pop()) - reached:
                reached.add(each)
                waiting += [each] if each not in HUBS else []
        for each in reached:
            askers[each].add(f"{family}.{rule.partition('.')[0]}")
    return askers


ASKED_BY = asked_by()


def test_lower_rooms_hold_what_two_families_ask() -> None:
    wrong = {
        module: sorted(rules)
        for module, rules in ASKED_BY.items()
        if module.startswith(("semantics.", "pipeline."))
        and module not in HELD_DOWN
        and len({rule.partition(".")[0] for rule in rules}) == 1
    }
    assert not wrong, f"these belong to the only family that asks them: {wrong}"


def test_a_family_shares_what_two_of_its_rules_ask() -> None:
    wrong = {module: sorted(rules) for module, rules in ASKED_BY.items() if "._shared." in module and len(rules) < 2}
    assert not wrong, f"these stand beside the only rule that asks them: {wrong}"


def test_no_body_imports_the_page_of_its_rule() -> None:
    wrong = [
        module
        for module in MODULES
        if module.startswith("rules.") and module.count(".") == 3 and module.rpartition(".")[0] in imported(module)
    ]
    assert not wrong, f"what these need from the page's file belongs in them: {wrong}"
