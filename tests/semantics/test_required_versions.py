"""Whether a text of requirements demands a package before a major version."""

from __future__ import annotations

import pytest

from dataloader_lint.semantics.project.required_versions import OLD_PANDAS, demands

TABLE = [
    ("pandas==1.5.3", True),
    ("pandas==2.2.3", True),
    ("pandas=2.1", True),
    ("pandas>=1.5,<3", True),
    ("pandas<3.0.0", True),
    ("pandas<=2.3", True),
    ("pandas~=2.0", True),
    ('pandas = "^2.1"', True),
    ('dependencies = ["pandas>=2,<3", "torch"]', True),
    ("pandas[performance]==2.2", True),
    ("pandas", False),
    ("pandas>=1.5", False),
    ("pandas>=2,<4", False),
    ("pandas==3.0.1", False),
    ("pandas<3.1", False),
    ("pandas!=2.1", False),
    ("pandas-stubs==2.2", False),
    ("geopandas==0.14", False),
    ("torch==2.3", False),
    ("", False),
]


@pytest.mark.parametrize(("text", "answer"), TABLE)
def test_demands(text: str, answer: bool) -> None:
    assert demands(text, OLD_PANDAS) is answer
