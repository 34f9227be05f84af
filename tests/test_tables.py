"""Tables of programs: what is malformed is an error, and no row is lost."""

from __future__ import annotations

import pytest

from question_tables import rows_of

TABLE = """# A question

```python
def program():
    ...
```

## First

```python
a
b  # -> 1

c  # -> 2
d  # -> 3 | 4
```

## Not known

```python
e  # -> unknown instead of 5
```
"""


def test_each_row_has_its_program_and_its_place() -> None:
    rows = rows_of(TABLE)
    assert [(row.code, row.answer) for row in rows] == [("b", "1"), ("c", "2"), ("d", "3 | 4"), ("e", "unknown")]
    assert [row.name for row in rows][:2] == ["First, line 12: b", "First, line 14: c"]
    assert rows[0].program.splitlines() == ["def program():", "    a", "    b  # -> 1"]
    assert [row.program.splitlines()[row.number - 1].split()[0] for row in rows] == ["b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("  # -> unknown instead of 5", "", "a program without a row"),
        ("## Not known", "## Empty\n\n## Not known", "sections without rows: .'Empty'."),
        ("## Not known", "## First", "a second section"),
        ("## Not known", "## Known", "in 'Not known' only"),
        (" instead of 5", "", "in 'Not known' only"),
        ("c  # -> 2", "b # -> 2", "a row is"),
        ("c  # -> 2", "c  # ->", "a row is"),
        ("c  # -> 2\nd  # -> 3 | 4", "a\nb  # -> 1", "there twice"),
        ("```python\ne", "```\ne", "line 20"),
        ("5\n```\n", "5\n", "without an end"),
        ("# A question", "f  # -> 6", "outside a block"),
        (TABLE, "", "sections without rows"),
    ],
)
def test_malformed_table(old: str, new: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        rows_of(TABLE.replace(old, new))


def test_a_program_is_python() -> None:
    with pytest.raises(SyntaxError):
        rows_of(TABLE.replace("a\n", "a =\n"))
