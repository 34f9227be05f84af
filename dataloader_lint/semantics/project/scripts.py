"""What runs a file: a test runner, a notebook's kernel, or a user at a shell."""

from __future__ import annotations

import os
import re

import libcst as cst

from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.project.test_paths import is_path_of_tests
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.source.script_cells import has_cells

_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")


_TEST_FOLDERS = ("test", "tests", "testing")


def is_test(module: ModuleFacts) -> bool:
    """True if pytest or unittest runs the file. A script that is only called like a test is none."""
    name = os.path.basename(module.path)
    return name == "conftest.py" or (_TEST_FILE.fullmatch(name) is not None and _holds_tests(module))


def runs_as_test(module: ModuleFacts) -> bool:
    """True for a test, whatever the file is called, if it is in a folder for tests."""
    folder = os.path.basename(os.path.dirname(module.path))
    return is_test(module) or (folder in _TEST_FOLDERS and _holds_tests(module))


def _holds_tests(module: ModuleFacts) -> bool:
    functions = [node.name.value for node in module.root.own(cst.FunctionDef)]
    return (
        any(function.startswith("test_") for function in functions)
        or any(klass.name.value.startswith("Test") for klass in module.root.own(cst.ClassDef))
        or any(
            dotted(alias.name).partition(".")[0] in ("pytest", "unittest")
            for statement in module.root.own(cst.Import)
            for alias in statement.names
        )
    )


def is_in_tests(project: Project, module: ModuleFacts) -> bool:
    """True if a file belongs to the tests of its project, by its name or that of a folder around it."""
    return is_path_of_tests(module.path, project.root_of(os.path.dirname(module.path)))


def is_notebook(module: ModuleFacts) -> bool:
    """True if the code runs in a notebook's kernel, as the cells of some scripts do that read no command line."""
    is_one = is_notebook_file(module) or bool(module.calls_named("get_ipython"))
    return is_one or (has_cells(module.tree.text) and not module.calls_named("parse_args"))


def is_notebook_file(module: ModuleFacts) -> bool:
    """True if the module is a notebook, whose functions and classes no import finds, so that no spawned worker does."""
    return module.path.endswith(".ipynb")
