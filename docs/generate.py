"""Makes `rules.md`, `errors.md`, `answers.md`, `errors.json`, `settings.md` and `pitfalls.md`, and parts of README.

The rule files and the table of settings are the only source.

python -m docs.generate            writes all of them
python -m docs.generate --check    writes nothing; exits 1 and names the file that is out of step
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks import processes
from dataloader_lint.output.page import in_reading_order, sections_of
from dataloader_lint.rules.base import FixLevel, Rule
from dataloader_lint.rules.messages import error_messages
from dataloader_lint.rules.registry import FoundRule, found_rules
from dataloader_lint.rules.symptoms import GROUPS
from docs import errors_data, pitfalls_page, settings_page
from docs.badges import render_badges

ROOT = Path(__file__).resolve().parent.parent
RULES_PAGE = ROOT / "docs" / "rules.md"
ERRORS_PAGE = ROOT / "docs" / "errors.md"
ANSWERS_PAGE = ROOT / "docs" / "answers.md"
ERRORS_DATA = ROOT / "docs" / "errors.json"
SETTINGS_PAGE = ROOT / "docs" / "settings.md"
PITFALLS_PAGE = ROOT / "docs" / "pitfalls.md"
README = ROOT / "README.md"
# What lies between two such lines of the README is made here.
TABLE = ("<!-- rules: made by docs/generate.py -->", "<!-- end of rules -->")
OUTPUT = ("<!-- output: made by docs/generate.py -->", "<!-- end of output -->")
MADE_FROM_SYMPTOMS = (
    "<!-- Made by docs/generate.py from dataloader_lint/rules, its docstrings and symptoms/: edit those. -->"
)
SHOWN = ["--select", "DL202", "examples/"]

# The headings of a rule's docstring, below its summary line, in this order.
HEADINGS = (
    "What it does",
    "Why is this bad?",
    "Known limits",
    "Example",
    "Use instead",
    "Fix safety",
    "When to ignore it",
    "Error messages",
    "References",
)
PROOFS = ROOT / "tests" / "evidence"
PROVEN_BY_EVIDENCE = "Why is this bad?"
# Folder → title, in the order of the hundreds of the codes.
FAMILIES = {
    "engine": "The linter itself",
    "memory": "Memory of workers",
    "processes": "Pickling and start methods",
    "arguments": "DataLoader arguments",
    "transfers": "Moving batches to the device",
    "threads": "Threads in workers",
    "samples": "Samples, samplers and Datasets",
}
# What the README says of a family.
ABOUT = {
    "memory": "lists, dicts, object arrays and caches that every worker copies",
    "processes": "what fails when workers start: lambdas, handles, CUDA, scripts without a main guard",
    "arguments": "options that raise, are ignored, or restart workers again and again",
    "transfers": "copies to the GPU that wait, or that are read too early",
    "threads": "OpenCV and BLAS threads in every worker, thread limits that come too late",
    "samples": "samples that come twice, are None or repeat random numbers; samplers that never reshuffle",
}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in docs/evidence, which `benchmarks.evidence` draws, and the rules that it belongs to."""

    file: str
    caption: str
    rules: tuple[str, ...]


PICTURES = (
    Picture(
        "memory.svg",
        "Memory of the main process and two workers over an epoch, by how names are kept and how workers are started.",
        ("DL101", "DL102", "DL103", "DL105", "DL106"),
    ),
    Picture("workers.svg", "Time per epoch by the number of workers, for three kinds of samples.", ("DL306",)),
    Picture("restarts.svg", "Time per epoch with restarted and with persistent workers.", ("DL309",)),
    Picture("repairs.svg", "Time of four programs before and after the fix.", ("DL308", "DL605", "DL606", "DL607")),
    Picture("batching.svg", "Time of an epoch by batch size, and of a batch by how it is collated.", ("DL606",)),
)


@dataclass(frozen=True, slots=True)
class Page:
    """One rule's file, taken apart: `sections` maps each heading to its text."""

    rule: Rule
    module: str
    checks: bool
    summary: str
    sections: dict[str, str]

    @property
    def family(self) -> str:
        """The name of the folder that the rule lies in."""
        return self.module.split(".")[-2]

    @property
    def anchor(self) -> str:
        """How GitHub spells the link to this rule's heading."""
        return f"{self.rule.code}-{self.rule.name}".lower()

    def blocks(self, heading: str) -> list[str]:
        """Returns the Python code blocks below a heading."""
        return re.findall(r"^```python\n(.*?)^```$", self.sections.get(heading, ""), re.MULTILINE | re.DOTALL)


def read_page(found: FoundRule) -> Page:
    """Takes a rule's docstring apart; headings are lines that begin with `## `, outside of code blocks."""
    texts = sections_of(found.page)
    summary = texts.pop("")
    return Page(found.rule, found.module, found.check is not None, summary, texts)


def read_pages() -> list[Page]:
    """Reads every rule file, in the order of the codes."""
    return [read_page(found) for found in found_rules().values()]


def render_table(pages: list[Page], target: str) -> str:
    """Renders one row per rule; links lead to `target`, which is empty on the rules page itself."""
    rows = ["| Code | Name | What it finds | Level | Fix | On by default |", "|---|---|---|---|---|---|"]
    for page in pages:
        rule = page.rule
        link = f"[{rule.code}]({target}#{page.anchor})"
        default = "yes" if rule.is_on else ""
        fix = "" if rule.fix is FixLevel.NONE else rule.fix.value
        rows.append(f"| {link} | {rule.name} | {page.summary} | {rule.level.value} | {fix} | {default} |")
    return "\n".join(rows)


def render_families(pages: list[Page], target: str) -> str:
    """Renders one row per family: its codes with a link to the first, how many rules it has, and what they find."""
    rows = ["| Family | Codes | What it finds |", "|---|---|---|"]
    for family, title in FAMILIES.items():
        members = [page for page in pages if page.family == family]
        if members:
            codes = f"{members[0].rule.code} to {members[-1].rule.code}, {len(members)} rules"
            rows.append(f"| [{title}]({target}#{anchor_of(title)}) | {codes} | {ABOUT[family]} |")
    return "\n".join(rows)


def anchor_of(title: str) -> str:
    """How GitHub spells the link to a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def render_state(page: Page) -> str:
    """Renders the line below a rule's summary: level, whether it is on, its fix, and what it takes to report it."""
    rule = page.rule
    state = "On by default" if rule.is_on else f"Opt-in: `--extend-select {rule.code}`"
    state = "In preview: `--preview`" if rule.preview else state
    fix = "no autofix" if rule.fix is FixLevel.NONE else f"fix: {rule.fix.value}"
    claim = f" {rule.claim.value}." if page.checks else ""
    return f"Level: {rule.level.value}. {state}; {fix}.{claim}"


def render_rule(page: Page) -> str:
    """Renders one rule's part of the page: its docstring, one level down."""
    rule = page.rule
    parts = [f"## {rule.code} {rule.name}", page.summary, render_state(page)]
    for heading in in_reading_order(page.sections):
        parts += [f"### {heading}", page.sections[heading]]
        if heading == PROVEN_BY_EVIDENCE:
            parts += render_evidence(page)
    return "\n\n".join(parts)


def render_evidence(page: Page, folder: str = "") -> list[str]:
    """Renders the way to a rule's proof, and its pictures; `folder` is the way to the folder of docs/evidence.md."""
    code = page.rule.code
    if not (PROOFS / f"test_{code.lower()}.py").exists():
        return []
    pictures = [f"![{each.caption}]({folder}evidence/{each.file})" for each in PICTURES if code in each.rules]
    return [f"Evidence: [measured before and after the fix]({folder}evidence.md#{code.lower()}).", *pictures]


def render_rules_page(pages: list[Page]) -> str:
    """Renders docs/rules.md."""
    parts = [
        "<!-- Made by docs/generate.py from the docstrings in dataloader_lint/rules: edit those. -->",
        "# Rules",
        render_table(pages, target=""),
    ]
    for family, title in FAMILIES.items():
        members = [page for page in pages if page.family == family]
        if members:
            parts += [f"# {title}", *(render_rule(page) for page in members)]
    return "\n\n".join(parts) + "\n"


@cache
def render_output() -> str:
    """Renders a session at a terminal: a command on the examples and what it prints."""
    command = [sys.executable, "-m", "dataloader_lint", "--exit-zero", *SHOWN]
    done = processes.run(command, cwd=ROOT, check=True)
    return f"```console\n$ dataloader-lint {' '.join(SHOWN)}\n{done.stdout.strip()}\n```"


def replace_between(text: str, marks: tuple[str, str], content: str) -> str:
    """Replaces what lies between two marker lines.

    Raises:
        ValueError: a marker is missing.
    """
    head, begin, rest = text.partition(marks[0])
    _, end, tail = rest.partition(marks[1])
    if not (begin and end):
        raise ValueError(f"README.md needs the lines {marks[0]} and {marks[1]}")
    return f"{head}{begin}\n{content}\n{end}{tail}"


def listed_messages(pages: list[Page]) -> dict[str, list[str]]:
    """The messages that the pages of the rules list, with the codes of these rules."""
    found: dict[str, list[str]] = {}
    for page in pages:
        for message in error_messages(f"## Error messages\n{page.sections.get('Error messages', '')}"):
            found.setdefault(message, []).append(page.rule.code)
    return dict(sorted(found.items(), key=lambda each: each[0].lower()))


def render_errors_page(pages: list[Page]) -> str:
    """Renders docs/errors.md: a row for each thing that people see or ask, with a link to its answer and its rules."""
    links = _links_by_code(pages)
    parts = [
        MADE_FROM_SYMPTOMS,
        "# Error messages and questions",
        "What you see, what it means in a few words, and the rules that find the cause. The link leads to the answer.",
        "In a terminal `dataloader-lint --explain TEXT` answers the same; `--explain -` reads a traceback from stdin.",
        "[errors.json](errors.json) holds the same as data.",
    ]
    for title, symptoms in GROUPS.items():
        rows = ["| What you see | What it means | Rules |", "|---|---|---|"]
        for one in symptoms:
            rules = ", ".join(links[code] for code in one.rules) or "none"
            rows.append(f"| [{one.title}](answers.md#{anchor_of(one.title)}) | {one.in_short} | {rules} |")
        parts += [f"## {title}", "\n".join(rows)]
    parts += [
        "## Messages by rule",
        "\n".join(
            f"- `{message}`: {', '.join(links[code] for code in codes)}"
            for message, codes in listed_messages(pages).items()
        ),
    ]
    return "\n\n".join(parts) + "\n"


def render_answers_page(pages: list[Page]) -> str:
    """Renders docs/answers.md: what each symptom means, what to measure and to do, and the rules that find it."""
    links = _links_by_code(pages)
    names = {page.rule.code: page.rule.name for page in pages}
    parts = [
        MADE_FROM_SYMPTOMS,
        "# Answers in full",
        "What [error messages and questions](errors.md) mean, what to measure, and what to do.",
    ]
    for title, symptoms in GROUPS.items():
        parts.append(f"## {title}")
        for one in symptoms:
            text = "\n".join(textwrap.wrap(one.page, 120, break_on_hyphens=False, break_long_words=False))
            rules = ", ".join(f"{links[code]} {names[code]}" for code in one.rules)
            parts += [f"### {one.title}", text, *([f"Rules: {rules}."] if rules else [])]
    return "\n\n".join(parts) + "\n"


def _links_by_code(pages: Iterable[Page]) -> dict[str, str]:
    return {page.rule.code: f"[{page.rule.code}](rules.md#{page.anchor})" for page in pages}


def render_readme(pages: list[Page], readme: str) -> str:
    """Renews the made parts of the README: the rules that look at code by family, and an example's output."""
    table = render_families([page for page in pages if page.checks], target="docs/rules.md")
    return replace_between(replace_between(readme, TABLE, table), OUTPUT, render_output())


def render_all() -> dict[Path, str]:
    """Renders every made file: its path and what it should hold."""
    pages = read_pages()
    anchors = {each.title: anchor_of(each.title) for symptoms in GROUPS.values() for each in symptoms}
    return {
        RULES_PAGE: render_rules_page(pages),
        ERRORS_PAGE: render_errors_page(pages),
        ANSWERS_PAGE: render_answers_page(pages),
        ERRORS_DATA: errors_data.render(pages, listed_messages(pages), anchors),
        SETTINGS_PAGE: settings_page.render(),
        PITFALLS_PAGE: pitfalls_page.render({page.rule.code: (page.rule, f"rules.md#{page.anchor}") for page in pages}),
        README: render_readme(pages, README.read_text(encoding="utf-8")),
        **render_badges([page.rule for page in pages if page.checks]),
    }


def main() -> int:
    """Writes what is out of step, or, with `--check`, only says so."""
    parser = argparse.ArgumentParser(description="Make the documentation of the rules.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is out of step")
    check: bool = parser.parse_args().check
    stale = [
        path
        for path, content in render_all().items()
        if not path.exists() or path.read_text(encoding="utf-8") != content
    ]
    for path in stale:
        if check:
            print(f"{path.relative_to(ROOT)} is out of step with the rules: run python -m docs.generate")
        else:
            path.write_text(render_all()[path], encoding="utf-8", newline="\n")
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
