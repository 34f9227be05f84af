"""The fixes as commands of LibCST's own codemod runner: one for each rule that has a fix, and one for all safe fixes.

    python -m libcst.tool codemod -x dataloader_lint.codemods.HoistCollateLambda PATH

The classes are made from the rules; a rule says in `Rule.codemod` what its command is called.
"""

from __future__ import annotations

import argparse
import os
from abc import ABC

import libcst as cst
from libcst.codemod import CodemodCommand, CodemodContext, SkipFile

from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.rules.base import FixLevel, Rule
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.settings import Settings
from dataloader_lint.source.projects import named_folders
from dataloader_lint.source.pyproject import SettingsByFile


class _Fixes(CodemodCommand, ABC):
    """Applies the fixes of some rules to a file, as `dataloader-lint --fix` does, with the settings of its project."""

    SELECT: tuple[str, ...] = ()
    UNSAFE = False

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        arg_parser.add_argument("--unsafe-fixes", action="store_true", help="also apply fixes that may change behavior")

    def __init__(self, context: CodemodContext, unsafe_fixes: bool = False) -> None:
        super().__init__(context)
        self._unsafe = unsafe_fixes or self.UNSAFE
        options = (("select", self.SELECT),) if self.SELECT else ()
        self._settings = SettingsByFile(Settings(options=options, roots=named_folders((), os.getcwd())))

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        filename = self.context.filename or "<stdin>"
        if not _is_given_back(tree, filename):
            raise SkipFile(_CHANGED)
        result = fix_source(tree.bytes, filename, self._settings.of_file(filename), unsafe=self._unsafe)
        for one in result.dropped:
            self.warn(f"line {one.start.line}: the fix of {one.code} did not hold when tried and was left out")
        if not result.fixed:
            return tree
        fixed = cst.parse_module(result.source).with_changes(encoding=tree.encoding)
        if fixed.bytes != result.source:
            raise SkipFile(_CHANGED)
        return fixed


_CHANGED = "LibCST would write this file with other blank space; use `dataloader-lint --fix` instead"


def _is_given_back(tree: cst.Module, filename: str) -> bool:
    """False where LibCST's runner would change a file even if the tree stays as it is: it writes what `tree` gives."""
    try:
        with open(filename, "rb") as file:
            content = file.read()
        return tree.bytes == content or cst.parse_module(content).bytes == content
    except (OSError, ValueError, SyntaxError, cst.ParserSyntaxError):
        return True  # there is no such file, or it is not what the tree was made from


class ApplySafeFixes(_Fixes):
    """All safe fixes of the rules that are on: by default, or by the project's settings."""

    DESCRIPTION = "Fix everything that dataloader-lint can fix safely."


def _command(rule: Rule, page: str) -> type[_Fixes]:
    """The command of one rule. Whoever runs it by its name wants its fix, even where that is never safe."""
    name = rule.codemod or "Fix" + "".join(word.capitalize() for word in rule.name.split("-"))
    members = {
        "__doc__": page,
        "__module__": __name__,  # where worker processes look for it
        "DESCRIPTION": f"{rule.code}: {page.strip().splitlines()[0]}",
        "SELECT": (rule.code,),
        "UNSAFE": rule.fix is FixLevel.UNSAFE,
    }
    return type(name, (_Fixes,), members)


def _commands() -> dict[str, type[_Fixes]]:
    made = [_command(one.rule, one.page) for one in found_rules().values() if one.rule.fix is not FixLevel.NONE]
    return {command.__name__: command for command in made}


_COMMANDS = _commands()
globals().update(_COMMANDS)
__all__ = ["ApplySafeFixes", *_COMMANDS]  # noqa: PLE0604
