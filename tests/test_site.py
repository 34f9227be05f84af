"""The documentation site builds without a warning and serves what findings and pages link to."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint import Settings, lint_source
from dataloader_lint.output.as_json import SITE, page_url
from docs.generate import read_pages

pytest.importorskip("material", reason="needs the extra `docs`")

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = processes.run(command, cwd=ROOT, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_every_finding_links_to_a_page_of_its_rule(site: Path) -> None:
    pages = read_pages()
    assert len(pages) > 40
    for page in pages:
        url = page_url(page.rule.code, page.rule.name)
        html = (site / url.removeprefix(SITE) / "index.html").read_text(encoding="utf-8")
        assert f'<link rel="canonical" href="{url}">' in html
        assert "<h1 id=" in html
        assert f"{page.rule.code} {page.rule.name}" in html


def test_every_page_is_in_the_navigation(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    served = {path.parent.relative_to(site).as_posix() for path in site.rglob("index.html")} - {"."}
    assert {"changelog", "contributing", "errors", "rules"} <= served
    for page in (ROOT / "docs").glob("*.md"):
        assert page.stem in served | {"index"}
    missing = [page for page in served if f'href="{page}/"' not in index]
    assert missing == []


def test_the_finding_on_the_home_page_is_what_the_linter_says() -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python[^\n]*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    imports = "import os\nfrom torch.utils.data import DataLoader, Dataset\n"
    (one,) = lint_source(imports + code, "home.py", Settings(select=("DL101",)))
    assert f"**{one.code} {one.level.value}**: {one.problem}<br>" in page
    assert f"**help**: {one.advice}<br>" in page
    assert len(one.because) == 2
    for reason in one.because:
        assert f"**because**: {reason.text} (line {reason.position.line - imports.count(chr(10))})" in page


def test_the_tables_have_what_their_filters_need(site: Path) -> None:
    rules = (site / "rules" / "index.html").read_text(encoding="utf-8")
    columns = ["Code", "Name", "What it finds", "Level", "Fix", "Start method", "Default"]
    assert re.findall(r"<th>([^<]*)</th>", rules) == columns
    assert rules.count("<table") == 1
    for page in ("rules", "errors"):
        assert "assets/filter.js" in (site / page / "index.html").read_text(encoding="utf-8")


def test_the_messages_are_served_as_data(site: Path) -> None:
    served = json.loads((site / "errors.json").read_text(encoding="utf-8"))
    evidence = [each["evidence"]["url"] for each in served["rules"].values() if each["evidence"]]
    urls = [each["url"] for each in (*served["symptoms"], *served["rules"].values())] + evidence
    for url in urls:
        path, _, anchor = url.removeprefix(SITE).partition("#")
        html = (site / path / "index.html").read_text(encoding="utf-8")
        assert not anchor or f'id="{anchor}"' in html, url


def test_pages_have_a_social_card(site: Path) -> None:
    for page in ("index.html", "rules/index.html"):
        html = (site / page).read_text(encoding="utf-8")
        (card,) = re.findall(r'<meta property="og:image" content="([^"]+)">', html)
        assert (site / card.removeprefix(SITE)).read_bytes().startswith(b"\x89PNG")
        assert '<meta name="twitter:card" content="summary_large_image">' in html


def test_links_into_the_repository_lead_to_files(site: Path) -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in site.rglob("index.html"))
    paths = set(re.findall(r"github\.com/dataloader-lint/dataloader-lint/(?:blob|tree)/main/([^\"#]+)", pages))
    assert "examples/train_pitfalls.py" in paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<(?:script|img|iframe)[^>]*src=\"https?:", index) == []
    assert re.findall(r"<link rel=\"stylesheet\"[^>]*href=\"https?:", index) == []
