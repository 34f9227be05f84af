"""What the documentation says about the rules is what the rule files say."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint.rules.base import Claim, Entity, Level, Rule
from dataloader_lint.rules.registry import FoundRule
from docs import generate


def test_made_files_are_in_step() -> None:
    for path, content in generate.render_all().items():
        assert path.read_text(encoding="utf-8") == content, f"{path.name}: run python -m docs.generate"


def test_check_names_a_stale_file_and_leaves_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stale, readme = tmp_path / "rules.md", tmp_path / "README.md"
    stale.write_text("old", encoding="utf-8")
    readme.write_text(generate.render_all()[generate.README], encoding="utf-8")
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "RULES_PAGE", stale)
    monkeypatch.setattr(generate, "README", readme)
    monkeypatch.setattr("sys.argv", ["generate.py", "--check"])

    assert generate.main() == 1
    assert capsys.readouterr().out.startswith("rules.md is out of step")
    assert stale.read_text(encoding="utf-8") == "old"

    monkeypatch.setattr("sys.argv", ["generate.py"])
    assert generate.main() == 0
    assert stale.read_text(encoding="utf-8") == generate.render_rules_page(generate.read_pages())


def test_readme_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the lines"):
        generate.render_readme([], "# A README without a table\n")


def test_headings_in_code_blocks_are_no_sections() -> None:
    rule = Rule(code="DL399", name="made-up", on=Entity.LOADER, level=Level.ERROR, claim=Claim.MAY)
    text = "Finds it.\n\n## Example\n\n```python\n## no heading\n```\n"
    page = generate.read_page(FoundRule(rule, None, None, text, "dataloader_lint.rules.arguments.dl399_made_up"))
    assert page.summary == "Finds it."
    assert list(page.sections) == ["Example"]
    assert page.blocks("Example") == ["## no heading\n"]
