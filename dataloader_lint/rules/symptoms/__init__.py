"""What people see when data loading goes wrong, in their own words and in those of Python and torch.

Each symptom has patterns for the messages, the rules that find its causes, the likeliest first, and a few sentences:
what it means and what to measure. The first symptom that fits is the answer: those that name their cause stand first,
those that only say that something is gone, and those without a message, last.
"""

from dataloader_lint.rules.symptoms.arguments import ARGUMENTS
from dataloader_lint.rules.symptoms.base import Symptom
from dataloader_lint.rules.symptoms.pickling import PICKLING
from dataloader_lint.rules.symptoms.processes import PROCESSES
from dataloader_lint.rules.symptoms.raised import RAISED
from dataloader_lint.rules.symptoms.resources import RESOURCES
from dataloader_lint.rules.symptoms.samples import SAMPLES
from dataloader_lint.rules.symptoms.silent import SILENT
from dataloader_lint.rules.symptoms.speed import SPEED
from dataloader_lint.rules.symptoms.terms import TERMS
from dataloader_lint.rules.symptoms.unclear import UNCLEAR
from dataloader_lint.rules.symptoms.wrong import WRONG

__all__ = ["GROUPS", "SYMPTOMS", "TERMS", "Symptom"]

SYMPTOMS: tuple[Symptom, ...] = (
    *PICKLING,
    *PROCESSES,
    *RESOURCES,
    *SAMPLES,
    *ARGUMENTS,
    *UNCLEAR,
    *SILENT,
    *SPEED,
    *WRONG,
    *TERMS,
    *RAISED,  # what is caught and raised again has its cause in another line
)

# How pages sort them: what people see without a message first.
GROUPS: dict[str, tuple[Symptom, ...]] = {
    "Slow": SPEED,
    "Hangs, and memory": SILENT,
    "Wrong or missing data": WRONG,
    "Crashes that do not say why": (*UNCLEAR, *RAISED),
    "Pickling": PICKLING,
    "Starting workers": PROCESSES,
    "What ran out": RESOURCES,
    "Samples and batches": SAMPLES,
    "Arguments": ARGUMENTS,
    "In short": TERMS,
}
