"""What mkdocs asks for when it builds the site: the pages that are made from elsewhere, links, and the navigation.

A page for each rule lies where the findings link to (`output.as_json.page_url`). Pages that are added to this folder
come into the navigation by themselves.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page as SitePage

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # mkdocs loads this file by its path, from wherever it was started

from dataloader_lint.output.as_json import SITE, page_url  # noqa: E402
from dataloader_lint.output.page import in_reading_order  # noqa: E402
from dataloader_lint.rules.base import FixLevel  # noqa: E402
from docs import questions  # noqa: E402
from docs.generate import FAMILIES, PROVEN_BY_EVIDENCE, Page, read_pages, render_evidence, render_state  # noqa: E402

# Files at the root → their pages.
AT_ROOT = {"README.md": "guide.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
GUIDE = "guide.md"
# Their headings are whole messages, too long for a column at the side.
WITHOUT_CONTENTS = ("errors.md", "answers.md")
RULES = "rules/index.md"
EVIDENCE = "evidence.md"
# The order of the navigation, as far as it matters; what is not named here comes before the last two.
FIRST = (
    "index.md",
    "guide.md",
    "first-run.md",
    RULES,
    "errors.md",
    "answers.md",
    "pitfalls.md",
    "settings.md",
    "editor.md",
    "ci.md",
    "assistants.md",
    "doctor.md",
    "api.md",
)
# What was measured, and how.
RESEARCH = ("evidence.md", "performance.md", "reliability.md", "history.md")
# What pages are called in the navigation, where their own titles are too long for it.
TITLES = {
    "first-run.md": "First run",
    "editor.md": "Editors",
    "doctor.md": "Doctor",
    "evidence/handles.md": "Handles in workers",
    "evidence/text-columns.md": "Text columns in workers",
    "evidence/opencv-threads.md": "Threads of OpenCV calls",
    "api.md": "Python API",
    "assistants.md": "Coding assistants",
    "ci.md": "CI",
    "history.md": "Fixes of maintainers",
}
LAST = ("contributing.md", "changelog.md")

_FENCE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://|mailto:)([^)\s]+)\)")
_RULE_ANCHOR = re.compile(r"#(dl\d{3}-[a-z0-9-]+)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The site's address is the one that findings carry."""
    config.site_url = SITE
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the made pages, and lists all pages in the navigation."""
    pages = read_pages()
    for source, target in AT_ROOT.items():
        content = (ROOT / source).read_text(encoding="utf-8")
        if target == GUIDE:
            content = content.replace("# dataloader-lint", "# Get started", 1)
        files.append(File.generated(config, target, content=content))
    files.append(File.generated(config, RULES, content=render_index(pages)))
    files.append(File.generated(config, "assets/questions.json", content=questions.render()))
    for page in pages:
        content = render_page(page, proven=files.get_file_from_path(EVIDENCE) is not None)
        files.append(File.generated(config, path_of(page), content=content))
    config.nav = navigation(pages, [file.src_uri for file in files.documentation_pages()])
    return files


def on_page_markdown(markdown: str, page: SitePage, config: MkDocsConfig, files: Files) -> str:
    """Makes links that lead somewhere in the repository lead to the same on the site."""
    source = page.file.src_uri
    if source in WITHOUT_CONTENTS:
        page.meta["hide"] = ["toc"]
    parts = _FENCE.split(markdown)
    parts[::2] = [_LINK.sub(lambda link: f"]({site_link(link[1], source)})", part) for part in parts[::2]]
    return "".join(parts)


def site_link(target: str, source: str) -> str:
    """Where a link of a page leads: to another page of the site, or to the repository."""
    if source.startswith("rules/"):
        is_beside = (ROOT / "docs" / target.partition("#")[0]).is_file()
        return _RULE_ANCHOR.sub(r"\1.md", target) if target.startswith("#") else f"../{target}" if is_beside else target
    if target.startswith("#"):
        return target
    path, _, anchor = target.partition("#")
    folder = "" if source in AT_ROOT.values() else posixpath.join("docs", posixpath.dirname(source))
    path = posixpath.normpath(posixpath.join(folder, path))
    if path == "docs/rules.md":  # one page for all rules, where the site has one for each
        path, anchor = (f"rules/{anchor}.md" if _RULE_ANCHOR.fullmatch(f"#{anchor}") else RULES), ""
    elif path in AT_ROOT:
        path = AT_ROOT[path]
    elif path.startswith("docs/") and path.endswith((".md", ".svg", ".json")):
        path = path.removeprefix("docs/")
    else:
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"https://github.com/dataloader-lint/dataloader-lint/{kind}/main/{path}"
    link = posixpath.relpath(path, posixpath.dirname(source) or ".")
    return f"{link}#{anchor}" if anchor else link


def path_of(page: Page) -> str:
    """Where a rule's page lies among the sources, so that it is served where findings link to."""
    return page_url(page.rule.code, page.rule.name).removeprefix(SITE).rstrip("/") + ".md"


def render_index(pages: list[Page]) -> str:
    """Renders the table of all rules, which assets/filter.js filters; the linter's own codes come last."""
    rows = ["| Code | Name | What it finds | Level | Fix | Start method | Default |", "|---|---|---|---|---|---|---|"]
    for page in [page for page in pages if page.checks] + [page for page in pages if not page.checks]:
        rule = page.rule
        link = f"[{rule.code}]({posixpath.basename(path_of(page))})"
        fix = "none" if rule.fix is FixLevel.NONE else rule.fix.value
        method = "spawn" if rule.spawning else "any"
        state = "on" if rule.is_on else "opt-in"
        rows.append(f"| {link} | {rule.name} | {page.summary} | {rule.level.value} | {fix} | {method} | {state} |")
    about = (
        "[Levels](../settings.md#levels) say what a finding costs. The start method `spawn` stands for rules about "
        "code that fails only where workers are not forked: macOS, Windows and, from Python 3.14 on, Linux. Opt-in "
        "rules need `--extend-select CODE`."
    )
    return "\n\n".join(["---\ntitle: All rules\nhide: [toc]\n---", "# Rules", about, "\n".join(rows)]) + "\n"


def render_page(page: Page, *, proven: bool) -> str:
    """Renders a rule's own page; `proven` says whether the site has a page of the proofs to link to."""
    rule = page.rule
    parts = [f"# {rule.code} {rule.name}", page.summary, render_state(page)]
    for heading in in_reading_order(page.sections):
        parts += [f"## {heading}", page.sections[heading]]
        if proven and heading == PROVEN_BY_EVIDENCE:
            parts += render_evidence(page, "../")
    return "\n\n".join(parts) + "\n"


def by_family(pages: list[Page]) -> list[tuple[str, list[Page]]]:
    """The rules under the titles of their families, those about code first."""
    families = [(title, [page for page in pages if page.family == family]) for family, title in FAMILIES.items()]
    found = [(title, members) for title, members in families if members]
    return sorted(found, key=lambda family: not any(page.checks for page in family[1]))


def navigation(pages: list[Page], found: list[str]) -> list[Any]:
    """Every page once: the known ones in their order, then the others; rules are listed below their index, and what was
    measured or tried out is kept apart from what people read to use the linter."""
    own = {path_of(page) for page in pages}
    others = sorted(path for path in found if path not in (*FIRST, *RESEARCH, *LAST, *own) and not _is_research(path))
    research = sorted((path for path in found if _is_research(path)), key=lambda path: (path not in RESEARCH, path))
    rules = [RULES, *({title: [path_of(page) for page in members]} for title, members in by_family(pages))]

    def entry(path: str) -> Any:
        return {"Rules": rules} if path == RULES else {TITLES[path]: path} if path in TITLES else path

    used = [entry(path) for path in (*FIRST, *others) if path in found]
    return [*used, {"Measured": [entry(path) for path in research]}, *(entry(path) for path in LAST if path in found)]


def _is_research(path: str) -> bool:
    return path in RESEARCH or path.startswith("evidence/")
