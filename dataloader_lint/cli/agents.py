"""The paragraph about this linter for the AGENTS.md of a repository: `--agents-md`."""

from __future__ import annotations

from collections.abc import Iterator


def paragraph() -> Iterator[str]:
    """Its lines, true of this version."""
    from dataloader_lint import __version__
    from dataloader_lint.rules.registry import found_rules

    rules = [found.rule for found in found_rules().values() if found.check is not None]
    on = sum(rule.is_on for rule in rules)
    yield f"""## DataLoader code (dataloader-lint {__version__}, {on} of {len(rules)} rules on by default)

After changing code that makes a Dataset or a DataLoader, run:

    dataloader-lint --output-format full --no-notes PATH

Each finding has a code, a place, `help:` (what to do) and `because:` (the steps from the loader to the harm). Read the
`because:` places before you edit. `dataloader-lint --explain CODE` prints the page of a rule with a fixed example, and
`dataloader-lint --explain 'MESSAGE'` what an error message means. See what `dataloader-lint --diff PATH` would change,
apply it with `--fix`, then lint again. Never silence a finding with `# noqa: CODE` without a reason behind the code."""
