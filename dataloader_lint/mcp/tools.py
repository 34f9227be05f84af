"""What the tools answer, as plain data. Nothing here knows of the protocol, and nothing is written to any file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from typing import Any

from dataloader_lint import api
from dataloader_lint.diagnostics import Diagnostic, Place, Reason
from dataloader_lint.engine.run import Run, read
from dataloader_lint.output import diff
from dataloader_lint.output.as_json import page_url
from dataloader_lint.output.paint import plain
from dataloader_lint.rules.messages import answer
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.rules.selection import UnknownCodeError, find_rule
from dataloader_lint.settings import Settings
from dataloader_lint.source.confinement import ConfinedTo
from dataloader_lint.source.decoding import UnreadableError, decode
from dataloader_lint.source.discovery import discover
from dataloader_lint.source.notebooks import SUFFIX, changed_cells

Found = dict[str, Any]

# Of findings and of changed files that one answer holds: more would fill an assistant's context for nothing.
MOST_FINDINGS = 50
MOST_DIFFS = 20
# Seconds that a script may run under the doctor, and characters of its report that are passed on.
DOCTOR_SECONDS = 600
_DOCTOR_TEXT = 20_000
_GRACE = 20  # seconds that the doctor has to end them


class RefusedError(ValueError):
    """A request that is not carried out; the message says why in one line."""


class Tools:
    """The tools for one project. `root` is its folder: no path outside it is read."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)

    def lint(self, paths: list[str], text: str = "", filename: str = "") -> Found:
        """The findings of files or folders, or of `text` as if it stood in `filename`, worst first."""
        with ConfinedTo(self.root):
            run = Run(self._settings(), "shown")
            if text or filename:
                found = run.lint_bytes(text.encode("utf-8", "surrogatepass"), self._inside(filename or "untitled.py"))
            else:
                found = [one for path in self._files(paths) for one in run.lint_file(path)]
        found.sort(key=lambda one: (one.level.rank, one.sort_key))
        levels = Counter(one.level.value for one in found)
        shown = [self._finding(one) for one in found[:MOST_FINDINGS]]
        return {"counts": dict(levels), "findings": shown, "left_out": len(found) - len(shown)}

    def explain(self, question: str) -> Found:
        """The page of a rule by code or name; else what an error message or a symptom means, and the rules for it."""
        try:
            rule = find_rule(question.strip())
        except UnknownCodeError:
            meant = answer(question)
            if meant is None:
                return {"answer": "", "rules": []}
            symptom = meant.symptom
            if symptom is not None and not meant.is_sure:
                return {"answer": "", "rules": [], "closest": [each.title for each in (symptom, *meant.beside)]}
            rules = [self._rule(each.rule.code) for each in meant.rules]
            return {"title": symptom.title, "answer": symptom.page, "rules": rules} if symptom else {"rules": rules}
        return {**self._rule(rule.rule.code), "page": rule.page.strip()}

    def fix(self, paths: list[str], unsafe: bool = False) -> Found:
        """What fixes would change, as a diff for each file. No file is written."""
        diffs: list[Found] = []
        total = 0
        with ConfinedTo(self.root):
            run = Run(self._settings())
            for name in self._files(paths):
                before = read(name)
                result = run.fix_bytes(before, name, unsafe)
                if result.source == before:
                    continue
                total += 1
                if len(diffs) < MOST_DIFFS:
                    changed = _diff(self._relative(name), before, result.source)
                    diffs.append({"file": self._relative(name), "fixed": result.fixed, "diff": changed})
        return {"files": diffs, "left_out": total - len(diffs)}

    def doctor(self, script: str, arguments: list[str]) -> Found:
        """Runs a script of the project and reports what its loaders cost. It executes the user's code."""
        command = [sys.executable, "-m", "dataloader_lint", "doctor", self._inside(script), "--", *arguments]
        with subprocess.Popen(
            command,
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            try:
                report, _ = process.communicate(timeout=DOCTOR_SECONDS)
            except subprocess.TimeoutExpired:
                process.terminate()  # the doctor ends the script that it runs
                try:
                    process.communicate(timeout=_GRACE)
                except subprocess.TimeoutExpired:
                    process.kill()
                raise RefusedError(f"{script} did not end within {DOCTOR_SECONDS} seconds") from None
        return {"exit_code": process.returncode, "report": report[-_DOCTOR_TEXT:]}

    def _settings(self) -> Settings:
        return api.load_settings(self.root).replace(roots=(self.root,))

    def _files(self, paths: list[str]) -> list[str]:
        """The files that are linted for some paths of the project; all of it if there are none.

        Raises RefusedError for a path that was named and cannot be linted.
        """
        named = [self._inside(path) for path in paths or ["."]]
        found = discover(named, self._settings())
        for path in found.missing:
            raise RefusedError(f"{self._relative(path)}: no such file or directory")
        for path, why in (*found.unreadable, *found.skipped):
            if path in named:
                raise RefusedError(f"{self._relative(path)}: {why}")
        return found.files

    def _inside(self, path: str) -> str:
        """The full path of something in the project. Raises RefusedError for what lies elsewhere."""
        if "\0" in path:
            raise RefusedError("a path has no null characters")
        full = os.path.realpath(os.path.join(self.root, path))
        if full != self.root and not full.startswith(self.root.rstrip(os.sep) + os.sep):
            raise RefusedError(f"{path} is outside of {self.root}")
        return full

    def _relative(self, path: str) -> str:
        return os.path.relpath(os.path.realpath(path), self.root).replace(os.sep, "/")

    def _finding(self, one: Diagnostic) -> Found:
        found: Found = {
            "code": one.code,
            "level": one.level.value,
            "at": self._at(one),
            "problem": one.problem,
            "help": one.advice,
        }
        if one.places:
            found["also_at"] = [self._at(each) for each in one.places]
        if one.because:
            found["because"] = [f"{self._at(each)} {each.text}" for each in one.because]
        if one.fix is not None:
            found["fix"] = {"title": one.fix.title, "safety": one.fix.safety.value}
        return found

    def _at(self, one: Diagnostic | Place | Reason) -> str:
        """`src/data.py:12:5`, which editors and assistants can open."""
        start = one.position if isinstance(one, Reason) else one.start
        cell = f"cell {one.cell}:" if one.cell is not None else ""
        return f"{self._relative(one.filename)}:{cell}{start.line}:{start.column + 1}"

    @staticmethod
    def _rule(code: str) -> Found:
        found = found_rules()[code]
        summary = found.page.strip().partition("\n")[0]
        on = "on" if found.rule.is_on else "off unless selected"
        return {"code": code, "name": found.rule.name, "summary": summary, "state": on,
                "url": page_url(code, found.rule.name)}  # fmt: skip


def _diff(path: str, before: bytes, after: bytes) -> str:
    try:
        if path.endswith(SUFFIX):
            parts = [
                line
                for number, old, new in changed_cells(before, after)
                for line in diff.emit(f"{path}:cell {number}", old + "\n", new + "\n", plain)
            ]
        else:
            parts = list(diff.emit(path, decode(before), decode(after), plain))
    except UnreadableError:
        return ""
    return "\n".join([*parts, ""])
