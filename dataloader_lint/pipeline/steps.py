"""The steps of the chain that leads to a finding, as facts know them: a node of some file, and what is known there."""

from __future__ import annotations

from dataclasses import dataclass

from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node

MAX_STEPS = 5  # of one chain; longer ones are not read


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What is known at a node of a module, as a short sentence about it: "`loader` is made here"."""

    module: ModuleFacts
    node: Node
    text: str
