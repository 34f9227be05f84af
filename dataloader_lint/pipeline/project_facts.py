"""The modules of a project and what is known about them, for all files that are linted in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.semantics.evaluation.evaluate import Evaluation
from dataloader_lint.semantics.libraries.extras import Extras
from dataloader_lint.semantics.project.imports import Imports
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.settings import Settings

Fact = TypeVar("Fact")


class ProjectFacts:
    """The modules of a project, and what is known about them until its modules are freed."""

    def start(self, project: Project, settings: Settings) -> None:
        """Begins with a project about which nothing is known yet."""
        extras = Extras(settings)
        self.project = project
        self.evaluation = Evaluation(self.project, extras=extras)
        self.with_cuda = Evaluation(self.project, cuda=True, extras=extras)
        self.workers = Workers(self.evaluation)
        self.reach = DatasetFlow(self.workers)
        self.imports = Imports(self.project)
        self._known: dict[Callable[[ProjectFacts], object], object] = {}

    def once(self, make: Callable[[ProjectFacts], Fact]) -> Fact:
        """What a function or class makes of these facts, such as what one family of rules asks about all files."""
        if make not in self._known:
            self._known[make] = make(self)
        return cast("Fact", self._known[make])
