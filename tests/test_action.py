"""What GitHub, MegaLinter and PyPI read: the steps of the Action are run, the rest is checked against what is there."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks import processes
from dataloader_lint.cli.arguments import parser

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def run_step(name: str, folder: Path, **given: str) -> tuple[int, str]:
    """Run a step as the runner does: its script in bash, with the inputs as environment variables."""
    inputs = {key: str(value["default"]) for key, value in ACTION["inputs"].items()} | given
    environment = {**os.environ, "RUNNER_TEMP": str(folder)}
    for variable, text in STEPS[name]["env"].items():
        key = text.removeprefix("${{ ").removesuffix(" }}")
        environment[variable] = str(ROOT) if key == "github.action_path" else inputs[key.removeprefix("inputs.")]
    script = folder / "step.sh"
    script.write_text(STEPS[name]["run"])
    done = processes.run(["bash", "-e", "-o", "pipefail", str(script)], cwd=ROOT, env=environment, seconds=600)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The folder in which the first step installs, with the linter of this environment in it."""
    command = tmp_path / "dataloader-lint" / "bin" / "dataloader-lint"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m dataloader_lint --no-cache "$@"\n')
    command.chmod(0o755)
    return tmp_path


def test_findings_are_annotations_and_fail_the_job(installed: Path) -> None:
    code, output = run_step("Lint", installed, paths="examples/")
    assert code == 1 and "::error " in output and "examples/train_pitfalls.py" in output
    code, _ = run_step("Lint", installed, paths="examples/ docs/", arguments="--exit-zero --select DL301")
    assert code == 0


def test_sarif_is_written_where_it_was_asked_for(installed: Path) -> None:
    target = installed / "found.sarif"
    code, _ = run_step("Lint", installed, **{"paths": "examples/", "format": "sarif", "sarif-file": str(target)})
    assert code == 1 and '"version": "2.1.0"' in target.read_text()


def uses_in(steps: list[dict[str, Any]], action: str) -> list[dict[str, str]]:
    """The inputs of the steps that use an action."""
    return [step.get("with", {}) for step in steps if step.get("uses", "").startswith(action)]


def documented() -> list[dict[str, str]]:
    """The inputs of the action in the workflows of docs/ci.md."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    found: list[dict[str, str]] = []
    for block in re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        shown = yaml.safe_load(block)
        several = (
            [shown] if isinstance(shown, list) else [job.get("steps", []) for job in shown.get("jobs", {}).values()]
        )
        found += (each for steps in several for each in uses_in(steps, "dataloader-lint/dataloader-lint@v"))
    return found


DOCUMENTED = documented()


def test_ci_runs_the_documented_lines() -> None:
    steps = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]["action"]["steps"]
    assert uses_in(steps, "./")[: len(DOCUMENTED)] == DOCUMENTED
    assert len(DOCUMENTED) == 2


@pytest.mark.parametrize("inputs", DOCUMENTED, ids=lambda inputs: inputs.get("format", "github"))
def test_the_documented_lines(inputs: dict[str, str], installed: Path) -> None:
    assert set(inputs) <= set(ACTION["inputs"])
    target = installed / "dataloader-lint.sarif"
    code, output = run_step("Lint", installed, **{**inputs, "sarif-file": str(target)})
    assert code == 1
    if inputs.get("format") == "sarif":
        assert any(one["ruleId"] == "DL301" for one in json.loads(target.read_text())["runs"][0]["results"])
    else:
        assert "::error " in output and "DL301" in output
    assert (
        run_step("Lint", installed, **{**inputs, "sarif-file": str(target), "paths": "examples/train_repaired.py"})[0]
        == 0
    )


def test_the_page_lists_the_inputs() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([\w-]+)` \| .* \| (?:`(.*)`|.*?) ?\|$", page, re.MULTILINE))
    assert listed == {name: one["default"] for name, one in ACTION["inputs"].items()}


def test_the_action_finds_the_programs_of_windows(installed: Path) -> None:
    (installed / "dataloader-lint" / "bin").rename(installed / "dataloader-lint" / "Scripts")
    assert run_step("Lint", installed, paths="examples/train_repaired.py")[0] == 0


@pytest.mark.slow
def test_the_action_installs_its_own_checkout(tmp_path: Path) -> None:
    assert run_step("Install", tmp_path)[0] == 0
    assert run_step("Lint", tmp_path, paths="examples/", arguments="--exit-zero")[0] == 0


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_what_github_asks_for(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["name"] and workflow[True]  # `on` is a truth value in YAML 1.1
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["runs-on"] and job["timeout-minutes"]
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
        assert all(
            not step.get("uses", "./").startswith("./") or (ROOT / "action.yml").exists() for step in job["steps"]
        )


def megalinter() -> tuple[Path, dict[str, Any]]:
    """The plugin of MegaLinter: where docs/ci.md says that it is, and what it says."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    repository = "https://raw.githubusercontent.com/dataloader-lint/dataloader-lint/main/"
    (url,) = re.findall(r"^PLUGINS:\n  - (\S+)$", page, re.MULTILINE)
    # What MegaLinter refuses a plugin for.
    assert "/mega-linter-plugin-" in url and url.endswith(".megalinter-descriptor.yml")
    path = ROOT / url.removeprefix(repository)
    return path, yaml.safe_load(path.read_text())


def test_megalinter_gives_options_that_exist() -> None:
    (linter,) = megalinter()[1]["linters"]
    known = {option for action in parser()._actions for option in action.option_strings}
    given = [*linter["cli_lint_extra_args"], *linter["cli_sarif_args"], linter["cli_lint_fix_arg_name"]]
    given += [linter["cli_help_arg_name"], linter["cli_version_arg_name"]]
    assert {each for each in given if each.startswith("--")} <= known


def test_megalinter_can_install_it() -> None:
    """It runs the lines of `dockerfile` in bash, without RUN, and nothing else of `install`."""
    _, plugin = megalinter()
    assert list(plugin["install"]) == ["dockerfile"]
    (line,) = plugin["install"]["dockerfile"]
    (linter,) = plugin["linters"]
    folder, _, name = linter["cli_executable"].rpartition("/bin/")
    assert line.startswith(f"RUN python3 -m venv {folder} && {folder}/bin/pip install ")
    assert line.endswith(f" {name}") and name == linter["linter_name"]


@pytest.mark.slow
def test_what_megalinter_installs_runs(tmp_path: Path) -> None:
    _, plugin = megalinter()
    (line,), (linter,) = plugin["install"]["dockerfile"], plugin["linters"]
    script = line.removeprefix("RUN ").replace("/venvs/", f"{tmp_path}/").removesuffix("dataloader-lint") + str(ROOT)
    processes.run(["bash", "-c", script], check=True, seconds=600)
    command = linter["cli_executable"].replace("/venvs/", f"{tmp_path}/")
    found = tmp_path / "found.sarif"
    sarif = [each.replace("{{SARIF_OUTPUT_FILE}}", str(found)) for each in linter["cli_sarif_args"]]
    options = [*linter["cli_lint_extra_args"], "examples/train_pitfalls.py"]
    assert processes.run([command, *options], cwd=ROOT).returncode == 1
    assert processes.run([command, *linter["cli_lint_extra_args"], *sarif, options[-1]], cwd=ROOT).returncode == 1
    assert json.loads(found.read_text())["runs"][0]["results"]
    assert processes.run([command, linter["cli_version_arg_name"]]).returncode == 0


def test_the_paragraph_for_assistants_names_options_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    from dataloader_lint.cli import main

    assert main(["--agents-md"]) == 0
    text = capsys.readouterr().out
    known = {option for action in parser()._actions for option in action.option_strings}
    assert {word.strip("`,.") for word in text.split() if word.startswith("--")} <= known
    assert text.startswith("## DataLoader code (dataloader-lint ")
