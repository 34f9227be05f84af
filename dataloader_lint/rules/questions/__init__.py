"""Questions in words: which symptom do they describe?

`lexicon` maps the words of several languages to concepts, `concepts` finds these in a text, and `ranking` compares them
with the phrases of the symptoms. No search library: those that exist rank words and bring numpy, while the entries here
are told apart by a few concepts, and the website ranks in the same way (`docs/assets/questions.js`).
"""

from dataloader_lint.rules.questions.ranking import Ranked, named_rules, ranked

__all__ = ["Ranked", "named_rules", "ranked"]
