"""Long-running tests run only when they are asked for: `pytest -m long tests/reliability`."""

from __future__ import annotations

import pytest

from reliability import budget


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what is marked `long` unless the marker expression names it; then it has no time limit."""
    is_asked_for = "long" in (config.option.markexpr or "")
    mark = pytest.mark.timeout(0) if is_asked_for else pytest.mark.skip(reason="takes minutes or hours: -m long")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(mark)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many examples the long tests came to."""
    for name, number in budget.tried.items() if "long" in (config.option.markexpr or "") else ():
        terminalreporter.write_line(f"{name}: {number:,} examples")
