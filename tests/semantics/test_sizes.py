"""How large a container is: `size_of`."""

from __future__ import annotations

import pytest

from asking import asked
from dataloader_lint.semantics.values.size_classes import Size, size_of

TABLE = [
    ("['a', 'b']", Size.SMALL),
    ("[]", Size.SMALL),
    ("[None] * 9", Size.SLOTS),
    ("{'train': 0, 'val': 1}", Size.SMALL),
    ("list(range(10))", Size.SMALL),
    ("[f'{i}.png' for i in range(8)]", Size.SMALL),
    ("os.listdir(root)", Size.LIST),
    ("sorted(glob.glob(root))", Size.LIST),
    ("[os.path.join(root, name) for name in os.listdir(root)]", Size.LIST),
    ("[line for line in open(root)]", Size.LIST),
    ("open(root).read().splitlines()", Size.LIST),
    ("json.load(open(root))", Size.LIST),
    ("tuple(os.listdir(root))", Size.LIST),
    ("list(map(str, Path(root).iterdir()))", Size.LIST),
    ("deque(os.listdir(root))", Size.LIST),
    ("deque(os.listdir(root), 100)", Size.OTHER),
    ("{name: number for number, name in enumerate(os.listdir(root))}", Size.DICT),
    ("dict.fromkeys(os.listdir(root))", Size.DICT),
    ("set(os.listdir(root))", Size.DICT),
    ("defaultdict(list)", Size.SMALL),
    ("np.array(os.listdir(root))", Size.ARRAY),
    ("torch.tensor([1, 2])", Size.ARRAY),
    ("root", Size.OTHER),
]


@pytest.mark.parametrize(("expression", "answer"), TABLE)
def test_sizes(expression: str, answer: Size) -> None:
    given = asked(expression, parameters="root")
    assert {size_of(given.ev, value) for value in given.values} == {answer}
