"""What a rule is made of. A rule is one file in a family folder, found by its name `dlNNN_some_name.py`.

The file holds a docstring (its page in docs/rules.md), `RULE = Rule(...)` and a function `check`, which gets one entity
of the kind that `Rule.on` names and yields findings. A rule with an autofix also has a function `fix` (see `edits`).
Rule files never import LibCST at run time, so that listing the rules stays cheap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Level
from dataloader_lint.pipeline.entity import Entity

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.steps import Step
    from dataloader_lint.settings import Settings


class FixLevel(Enum):
    """What `--fix` can do about a rule's findings."""

    NONE = "none"
    SAFE = "safe"
    UNSAFE = "unsafe"
    SOMETIMES_SAFE = "sometimes safe"


class Claim(Enum):
    """What a finding says about the paths through the code, in the words of static analysis.

    MAY: one known path leads from cause to harm; other unknown paths do not silence the rule, and never make a
    finding either. MUST: everything that is known agrees, as with the value of an option; one unknown silences it.
    Whatever a rule claims, guards against the harm and safe fixes are always asked for MUST.
    """

    MAY = "One path through your code that is known to cause it is enough for a report"
    MUST = "Reported only when every value and caller is known and agrees"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's metadata. `name` reads well after "allow"; `default` is False for opt-in rules.

    `level` says what a finding costs unless the settings say otherwise (see `rules.levels`), `claim` whether one path
    to the harm is enough.

    A rule in `preview` is new: it runs only with `--preview`, until a major version puts it in its place.
    `codemod` is the name of its command for LibCST's runner, if `Fix` and the name would not read well.
    `default_for` returns True for settings with which an opt-in rule runs by default. `spawning` marks rules about code
    that fails only if workers are spawned: they do not run if the settings say fork. `subjects` names what a file
    that does not mention data loading must contain for the rule to check it (see `gate`).
    """

    code: str
    name: str
    on: Entity
    level: Level
    claim: Claim
    default: bool = True
    preview: bool = False
    fix: FixLevel = FixLevel.NONE
    codemod: str = ""
    default_for: Callable[[Settings], bool] | None = None
    spawning: bool = False
    subjects: tuple[str, ...] = ()

    @property
    def is_on(self) -> bool:
        """True if the rule runs with the default settings."""
        return self.default and not self.preview


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check yields: the node to report, and a message of two parts.

    `problem` says what is wrong and what it costs, with the user's own names; `advice` says what to do. Together they
    are one line of at most 160 characters. `because` is the chain of steps that shows it, from cause to harm; at most
    five are reported. `repair` builds the edits on demand; it returns None, or raises RefusedError, if there is no fix.
    `level` says what this finding costs, where that is not what the rule says of all. `cause` is what it has in common
    with other findings of the rule in the same file that one change would mend, such as the name of a class or of a
    function and a loader: they become one finding, at the worst level and there at the first place.
    """

    node: cst.CSTNode
    problem: str
    advice: str
    repair: Callable[[Editor], Repair | None] | None = None
    because: tuple[Step, ...] = ()
    level: Level | None = None
    cause: str = ""


__all__ = ["Claim", "Entity", "Finding", "FixLevel", "Level", "Rule"]
