"""Checks the rule that one is working on, in less than 30 seconds of CPU.

    python -m benchmarks.check_rule DL312

It lints the rule's fixtures, makes its fixes, reads its page (the headings, and that the linter reports the first
example and not the second), looks for its proof (and lints its two programs), and asks ruff about its files and
`docs.generate` about the generated pages. Types, contracts and all else are checked by `.ci/run`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import processes
from dataloader_lint.rules.registry import found_rules

ROOT = Path(__file__).resolve().parent.parent
TESTS = ("test_rules_meta.py", "test_fixtures.py", "test_fixes.py", "test_questions.py", "evidence/test_proofs.py")


def main() -> int:
    """Runs each check, shows what fails, and returns 1 if anything does, 2 if there is no such rule."""
    parser = argparse.ArgumentParser(description="Check one rule.")
    parser.add_argument("code", help="DL312")
    code = parser.parse_args().code.upper()
    if code not in found_rules():
        print(
            f"no rule {code}: is its file called {code.lower()}_some_name.py, in a folder of rules/?", file=sys.stderr
        )
        return 2
    failed = [name for name, command in _checks(code) if not _holds(name, command)]
    print(f"{code}: {', '.join(failed)} failed" if failed else f"{code}: all checks passed")
    return 1 if failed else 0


def _checks(code: str) -> Iterator[tuple[str, list[str]]]:
    module = Path(*found_rules()[code].module.split("."))
    files = [str(each) for each in (module, module.with_suffix(".py"), _proof(code)) if (ROOT / each).exists()]
    yield "lint", ["ruff", "check", "--quiet", *files]
    yield "format", ["ruff", "format", "--check", "--quiet", *files]
    tests = [f"tests/{name}" for name in TESTS]
    yield "tests", ["pytest", "-n", "0", "-q", "-m", "", "-k", f"{code} or {code.lower()}", *tests]
    yield "generated pages", ["docs.generate", "--check"]


def _proof(code: str) -> Path:
    return Path("tests", "evidence", f"test_{code.lower()}.py")


def _holds(name: str, command: list[str]) -> bool:
    done = processes.run([sys.executable, "-m", *command], cwd=ROOT)
    if done.returncode:
        print(f"{name}:\n{done.stdout}{done.stderr}")
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
