"""When it is no safe fix to put the end of a script under the main guard: workers would miss what it binds."""

from __future__ import annotations

import pytest

from dataloader_lint.engine.fixer import fix_source

SCRIPT = """import enum
from torch.utils.data import DataLoader, Dataset


class Config:
    a = b = 1


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        {body}
        return Config.a + index


for batch in DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn"):
    print(batch)
{tail}"""


def is_fixed(body: str = "pass", tail: str = "") -> bool:
    text = SCRIPT.format(body=body, tail=tail)
    compile(text, "script.py", "exec")
    return fix_source(text.encode(), "/nonexistent/script.py").fixed == {"DL206": 1}


def test_the_script_is_fixed() -> None:
    assert is_fixed()
    assert is_fixed(tail="other = print()\n")


@pytest.mark.parametrize(
    "tail",
    [
        "Config.a = 2\n",
        "Config.a, Config.b = 2, 3\n",
        "(Config.a, *Config.b) = 1, 2\n",
        "for Config.a in range(3): pass\n",
        "with open('x') as Config.a: pass\n",
        "with open('x') as (Config.a, y): pass\n",
        "del Config.a\n",
        "[0 for Config.a in range(3)]\n",
    ],
)
def test_what_moves_changes_a_class(tail: str) -> None:
    assert not is_fixed(tail=tail)


@pytest.mark.parametrize(
    "body",
    [
        "x = f'{index:{seen}}'",
        "x = f'{index:{index}.{seen!r}}'",
        "match index:\n            case seen(): pass",
        "match index:\n            case 1 | seen.a: pass",
        "match index:\n            case {seen.b: [Config(), *_], **rest}: pass",
        "match index:\n            case [Config(x=seen.c)] as y: pass",
        "match index:\n            case _ if seen: pass",
        "with index as seen.part: pass",
        "with index as index[seen]: pass",
        "try: pass\n        except* seen: pass",
        "x = [y for y in seen for seen_too in y]",
        "x = [seen for seen in seen]",
        "del index[seen]",
    ],
)
def test_workers_read_what_moves(body: str) -> None:
    assert is_fixed(body)
    assert not is_fixed(body, "seen = print()\n")
