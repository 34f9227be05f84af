"""The modules of a project and what is known about them, for all files that are linted in it."""

from __future__ import annotations

from dataloader_lint.facts.infer.evaluate import Evaluation
from dataloader_lint.facts.libraries.extras import Extras
from dataloader_lint.facts.project.imports import Imports
from dataloader_lint.facts.project.project import Project
from dataloader_lint.facts.threads.opencv import OpenCV
from dataloader_lint.facts.workers.dataset_flow import DatasetFlow
from dataloader_lint.facts.workers.workers import Workers
from dataloader_lint.settings import Settings


class ProjectFacts:
    """The modules of a project, and the cached facts about them. Each fact is computed on first use."""

    def start(self, project: Project, settings: Settings) -> None:
        """Begins with a project about which nothing is known yet."""
        extras = Extras(settings)
        self.project = project
        self.evaluation = Evaluation(self.project, extras=extras)
        self.with_cuda = Evaluation(self.project, cuda=True, extras=extras)
        self.workers = Workers(self.evaluation)
        self.opencv = OpenCV(self.workers)
        self.reach = DatasetFlow(self.workers)
        self.imports = Imports(self.project)
