"""SARIF reports: against the official schema, and as code scanning reads them."""

from __future__ import annotations

import hashlib
import json
import os
import urllib.request
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from commands import BAD, ONLY, here, run, write
from dataloader_lint.diagnostics import Diagnostic, Fix, Position, Safety, TextEdit
from dataloader_lint.output import sarif
from dataloader_lint.rules.registry import found_rules

__all__ = ["here"]

pytestmark = pytest.mark.usefixtures("here")
ROOT = Path(__file__).parent.parent

# SARIF 2.1.0 with errata 01, from the committee's own repository. It is not ours to hand on, so it is fetched once;
# SARIF_SCHEMA may name a copy for machines without a network.
_COMMIT = "e0583813964ec43cea53b6b531b402866095ed1f"
_URL = f"https://raw.githubusercontent.com/oasis-tcs/sarif-spec/{_COMMIT}/sarif-2.1/schema/sarif-schema-2.1.0.json"
_DIGEST = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"


@pytest.fixture(scope="session")
def schema(pytestconfig: pytest.Config) -> dict[str, Any]:
    """The official schema, or a skipped test where it cannot be had."""
    known = os.environ.get("SARIF_SCHEMA")
    cache = getattr(pytestconfig, "cache", None)  # missing with `-p no:cacheprovider`
    if not known and cache is None:
        pytest.skip("there is no cache to keep the SARIF schema in, and SARIF_SCHEMA names no copy")
    copy = Path(known) if known else cache.mkdir("sarif") / "sarif-schema-2.1.0.json"
    if not copy.exists():
        try:
            with urllib.request.urlopen(_URL, timeout=20) as answer:
                copy.write_bytes(answer.read())
        except OSError as error:
            pytest.skip(f"the SARIF schema cannot be fetched ({error}), and SARIF_SCHEMA names no copy")
    content = copy.read_bytes()
    assert hashlib.sha256(content).hexdigest() == _DIGEST
    loaded: dict[str, Any] = json.loads(content)
    return loaded


def problems(log: object, schema: dict[str, Any]) -> list[str]:
    checker = jsonschema.Draft4Validator(schema, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)
    return [f"{error.json_path}: {error.message[:200]}" for error in checker.iter_errors(log)]


def sarif_of(*arguments: str, **environment: str) -> dict[str, Any]:
    code, out, err = run("--output-format", "sarif", *arguments, **environment)
    assert (code in (0, 1), err) == (True, "")
    log: dict[str, Any] = json.loads(out)
    return log


def results_of(log: dict[str, Any]) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = log["runs"][0]["results"]
    return results


def test_reports_are_valid(schema: dict[str, Any]) -> None:
    examples = ROOT / "examples"
    write("odd dir/ü%#/b c.py", BAD)
    write("broken.py", "DataLoader(\n")
    write("pitfalls.py", (examples / "train_pitfalls.py").read_bytes())
    log = sarif_of("--extend-select", "DL105,DL305,DL309")
    assert problems(log, schema) == []
    assert len({one["ruleId"] for one in results_of(log)}) > 5
    assert any("fixes" in one for one in results_of(log))
    assert problems(sarif_of("--ignore", "DL", "pitfalls.py"), schema) == []
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    assert problems(log, schema) != []


def test_pages_of_all_rules_are_valid_as_help(schema: dict[str, Any]) -> None:
    rules = [
        sarif.RuleHelp(code, found.rule.name, found.page, "https://page/", "family", found.rule.default)
        for code, found in found_rules().items()
    ]
    (text,) = sarif.emit([], rules, lambda _: (), str(Path.cwd()), "1.0", "DL999")
    log = json.loads(text)
    assert problems(log, schema) == []
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        assert rule["fullDescription"]["text"] != rule["shortDescription"]["text"], rule["id"]
        assert "## Why is this bad?" in rule["help"]["markdown"]


def test_a_result() -> None:
    write("src/a.py", BAD)
    log = sarif_of(*ONLY)
    run_object = log["runs"][0]
    driver = run_object["tool"]["driver"]
    (result,) = results_of(log)
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "DL301"
    assert [rule["id"] for rule in driver["rules"]] == ["DL301"]
    assert driver["rules"][0]["helpUri"].endswith("/dl301-persistent-workers-without-workers/")
    assert run_object["originalUriBaseIds"] == {"%SRCROOT%": {"uri": Path.cwd().as_uri() + "/"}}
    place = result["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "src/a.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 10, "endLine": 3, "endColumn": 66},
    }
    (fix,) = result["fixes"]
    (change,) = fix["artifactChanges"]
    (edit,) = change["replacements"]
    region = edit["deletedRegion"]
    line = BAD.splitlines()[region["startLine"] - 1]
    mended = line[: region["startColumn"] - 1] + edit["insertedContent"]["text"] + line[region["endColumn"] - 1 :]
    assert mended == "loader = DataLoader(data, num_workers=0)"
    assert fix["description"]["text"] == "Remove `persistent_workers`"
    assert run_object["invocations"] == [{"executionSuccessful": True}]


def test_fingerprints_stay_when_lines_move() -> None:
    def marks() -> list[str]:
        return [one["partialFingerprints"]["primaryLocationLineHash"] for one in results_of(sarif_of(*ONLY))]

    write("a.py", BAD + BAD)
    before = marks()
    assert len(set(before)) == 2
    write("a.py", "# moved\n\n" + BAD + "\nif True:\n    " + BAD.splitlines()[2] + "\n")
    assert marks() == before
    write("a.py", BAD.replace("num_workers=0", "num_workers=0, timeout=0"))
    assert not set(marks()) & set(before)


def test_paths_are_uris() -> None:
    write("odd dir/ü%#/b c.py", BAD)
    (result,) = results_of(sarif_of(*ONLY))
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "odd%20dir/%C3%BC%25%23/b%20c.py", "uriBaseId": "%SRCROOT%"}
    outside = Path.cwd() / "odd dir"
    write("sub/x.py", "")
    os.chdir("sub")
    (result,) = results_of(sarif_of(*ONLY, str(outside)))
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": (outside / "ü%#" / "b c.py").as_uri()}
    os.chdir(outside)
    log = sarif_of(*ONLY, GITHUB_WORKSPACE=str(outside.parent))
    assert results_of(log)[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].startswith("odd%20dir/")
    assert log["runs"][0]["originalUriBaseIds"]["%SRCROOT%"]["uri"] == outside.parent.as_uri() + "/"


def test_standard_input_is_a_file_too(schema: dict[str, Any]) -> None:
    code, out, _ = run(*ONLY, "--output-format", "sarif", "-", stdin=BAD.encode())
    assert code == 1
    log = json.loads(out)
    assert problems(log, schema) == []
    assert results_of(log)[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "%3Cstdin%3E"


def test_cells_and_crashes(schema: dict[str, Any]) -> None:
    start = Position(2, 4)
    fix = Fix(Safety.SAFE, "Mend it", (TextEdit(start, start, "x", cell=3),))
    inside = Diagnostic("n.ipynb", start, start, "DL301", "it hurts", "", (2, 2), fix, cell=3)
    crash = Diagnostic("a.py", start, start, "DL999", "internal error", "", (2, 2))
    rules = [
        sarif.RuleHelp(code, "some-name", "Short.\n\n## What it does\nLong.", "https://page/", "engine", True)
        for code in ("DL301", "DL999")
    ]
    (text,) = sarif.emit([inside, crash], rules, lambda _: ("", "x = 1"), str(Path.cwd()), "1.0", "DL999")
    log = json.loads(text)
    assert problems(log, schema) == []
    first, second = results_of(log)
    assert first["message"]["text"] == "cell 3, line 2: it hurts"
    assert "region" not in first["locations"][0]["physicalLocation"]
    assert "fixes" not in first
    assert second["locations"][0]["physicalLocation"]["region"]["startLine"] == 2
    assert log["runs"][0]["invocations"] == [{"executionSuccessful": False}]
