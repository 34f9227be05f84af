"""A grammar of programs with Datasets and DataLoaders, in the shapes that real training code has.

A `Program` says what happens; `render` writes it down in a `Style`: another style is the same program in other words.
All of them run under torch, print every batch that they get, and end within a second or two.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from hypothesis import strategies as st

DATASETS = ("numbers", "names", "pairs", "labels", "array", "transform", "iterable", "local", "inherited", "opened")
# Most arguments are left out mostly, or few loaders could be made: the more of them, the more contradict each other.
OPTIONS: dict[str, tuple[str, ...]] = {
    "batch_size": ("", "2", "1", "None"),
    "shuffle": ("", "", "False", "True"),
    "num_workers": ("", "0", "1", "1", "{workers}"),
    "persistent_workers": ("", "", "", "True", "{workers} > 0"),
    "prefetch_factor": (*[""] * 6, "2", "None"),
    "timeout": (*[""] * 6, "20", "0"),
    "multiprocessing_context": (*[""] * 6, "'fork'"),
    "pin_memory": ("", "", "True", "torch.cuda.is_available()"),
    "drop_last": ("", "", "", "True"),
    "sampler": (*[""] * 6, "{SequentialSampler}({dataset})", "None"),
    "batch_sampler": (*[""] * 6, "{BatchSampler}({SequentialSampler}({dataset}), 2, False)"),
    "generator": ("", "torch.Generator().manual_seed(3)"),
    "collate_fn": (
        "",
        "",
        "",
        "lambda rows: rows",
        "lambda rows, size={size}: rows[:size]",
        "{collate}",
        "partial({collate}, 1)",
        "partial(lambda rows, size: rows[:size], size=1)",
        "None",
    ),
    "worker_init_fn": (*[""] * 4, "{init}", "lambda worker: None", "lambda: None", "None"),
}
PLACES = ("module", "guarded", "main", "function", "class")
LOOPS = ("plain", "epochs", "first", "again", "listed", "enumerated")
MOVES = ("", "device", "blocking", "names", "cpu", "back")
KEYWORDS = ("direct", "dict", "grown", "factory")


@dataclass(frozen=True, slots=True)
class Program:
    """What happens, whatever it is called. `options` are the arguments of the loader, by name, as templates."""

    dataset: str
    options: tuple[tuple[str, str], ...]
    place: str
    loop: str
    move: str
    keywords: str
    workers: int
    local_collate: bool
    start_method: str
    suppressed: bool


IMPORTS: dict[str, tuple[str, str]] = {
    "names": ("from torch.utils.data import {all}", "{}"),
    "module": ("import torch.utils.data", "torch.utils.data.{}"),
    "alias": ("import torch.utils.data as d", "d.{}"),
    "member": ("from torch.utils import data", "data.{}"),
    "renamed": ("from torch.utils import data as tud", "tud.{}"),
    "own names": ("from torch.utils.data import {aliases}", "Torch{}"),
}
CLASSES = ("BatchSampler", "DataLoader", "Dataset", "IterableDataset", "SequentialSampler", "get_worker_info")


@dataclass(frozen=True, slots=True)
class Style:
    """In which words a program is written. `names` go over the usual ones."""

    imports: str = "names"
    names: dict[str, str] = field(default_factory=dict)

    def name(self, usual: str) -> str:
        """What a local name is called."""
        return self.names.get(usual, usual)


OTHER_NAMES = ("train_loader", "dl", "ds", "samples", "n", "fn", "make_it", "x1", "_tmp", "Batch", "données", "итог")
# Not `epoch`: that a loop is called so is one of the signs by which rules know a loop over epochs.
USUAL_NAMES = ("loader", "dataset", "workers", "collate", "size", "batch", "device", "keywords", "make", "init")


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Any program of the grammar."""
    options = tuple((name, draw(st.sampled_from(values))) for name, values in OPTIONS.items())
    return Program(
        dataset=draw(st.sampled_from(DATASETS)),
        options=tuple((name, value) for name, value in options if value),
        place=draw(st.sampled_from(PLACES)),
        loop=draw(st.sampled_from(LOOPS)),
        move=draw(st.sampled_from(MOVES)),
        keywords=draw(st.sampled_from(KEYWORDS)),
        workers=draw(st.sampled_from((0, 1, 2))),
        local_collate=draw(st.booleans()),
        start_method=draw(st.sampled_from(("", "", "", "fork", "guarded fork"))),
        suppressed=draw(st.sampled_from((False, False, False, True))),
    )


@st.composite
def styles(draw: st.DrawFn) -> Style:
    """Any way to import torch's classes, and other names for some of the local ones."""
    renamed = draw(st.lists(st.sampled_from(USUAL_NAMES), unique=True, max_size=6))
    names = draw(st.permutations(OTHER_NAMES))
    return Style(draw(st.sampled_from(tuple(IMPORTS))), dict(zip(renamed, names, strict=False)))


def random_program(seed: int) -> Program:
    """A program from plain chance, for runs without hypothesis; the same for the same seed."""
    chance = random.Random(seed)
    options = tuple((name, chance.choice(values)) for name, values in OPTIONS.items())
    return Program(
        dataset=chance.choice(DATASETS),
        options=tuple((name, value) for name, value in options if value),
        place=chance.choice(PLACES),
        loop=chance.choice(LOOPS),
        move=chance.choice(MOVES),
        keywords=chance.choice(KEYWORDS),
        workers=chance.choice((0, 1, 2)),
        local_collate=chance.random() < 0.5,
        start_method=chance.choice(("", "", "", "fork", "guarded fork")),
        suppressed=False,
    )


def render(program: Program, style: Style | None = None) -> str:
    """The program as source code."""
    style = style or Style()
    lines = _head(style)
    if program.start_method == "fork":
        lines += ["torch.multiprocessing.set_start_method('fork', force=True)"]
    elif program.start_method:
        lines += ["if __name__ == '__main__':", "    torch.multiprocessing.set_start_method('fork', force=True)"]
    if program.dataset != "local":
        lines += ["", "", *_dataset(program, style)]
    if not program.local_collate:
        lines += ["", "", *_functions(style)]
    body = _body(program, style)
    return "\n".join([*lines, "", "", *_placed(program.place, body, style)]) + "\n"


def _head(style: Style) -> list[str]:
    template, _ = IMPORTS[style.imports]
    names = {"all": ", ".join(CLASSES), "aliases": ", ".join(f"{name} as Torch{name}" for name in CLASSES)}
    return [
        "import os",
        "from functools import partial",
        "",
        "import numpy as np",
        "import torch",
        template.format(**names),
    ]


def _torch(name: str, style: Style) -> str:
    return IMPORTS[style.imports][1].format(name)


def _dataset(program: Program, style: Style) -> list[str]:
    base = _torch("IterableDataset" if program.dataset == "iterable" else "Dataset", style)
    kept, item = {
        "numbers": ("[row * 3 for row in range(count)]", "self.kept[index]"),
        "names": ("[f'{row}.png' for row in range(count)]", "len(self.kept[index])"),
        "pairs": ("[(f'{row}.png', row) for row in range(count)]", "self.kept[index][1]"),
        "labels": ("{row: f'{row}' for row in range(count)}", "int(self.kept[index])"),
        "array": ("np.arange(count)", "torch.as_tensor(self.kept[index])"),
        "transform": ("lambda row: row + 1", "self.kept(index)"),
        "iterable": ("list(range(count))", "self.kept[index]"),
        "local": ("[str(row) for row in range(count)]", "int(self.kept[index])"),
        "inherited": ("sorted(f'{row:03}' for row in range(count))", "int(self.kept[index])"),
        "opened": ("open(os.devnull)", "len(self.kept.read()) + index"),
    }[program.dataset]
    lines = [
        f"class Rows({base}):",
        "    def __init__(self, count=6):",
        "        self.count = count",
        f"        self.kept = {kept}",
        "",
    ]
    if program.dataset == "iterable":
        return [
            *lines,
            "    def __iter__(self):",
            "        for index in range(self.count):",
            f"            yield {item}",
        ]
    lines += ["    def __len__(self):", "        return self.count", "", "    def __getitem__(self, index):"]
    lines += ["        if index >= self.count:", "            raise IndexError(index)", f"        return {item}"]
    if program.dataset == "inherited":
        lines += ["", "", "class MoreRows(Rows):", "    def __init__(self):", "        super().__init__(5)"]
    return lines


def _functions(style: Style) -> list[str]:
    name = style.name
    return [
        f"def {name('collate')}(*{name('size')}):",
        f"    return {name('size')}[-1]",
        "",
        "",
        f"def {name('init')}(worker):",
        "    torch.manual_seed(worker)",
    ]


def _body(program: Program, style: Style) -> list[str]:
    name = style.name
    words = {usual: name(usual) for usual in USUAL_NAMES} | {each: _torch(each, style) for each in CLASSES}
    klass = "MoreRows" if program.dataset == "inherited" else "Rows"
    lines = [f"{name('workers')} = {program.workers}", f"{name('size')} = 2", f"{name('device')} = torch.device('cpu')"]
    if program.dataset == "local":
        lines += _dataset(program, style)
    if program.local_collate:
        lines += [line for line in _functions(style) if line]
    lines += [f"{name('dataset')} = {klass}()"]
    options = {key: value.format(**words) for key, value in program.options}
    lines += _loader(program, style, options)
    return [*lines, *_loop(program, style)]


def _loader(program: Program, style: Style, options: dict[str, str]) -> list[str]:
    name, made = style.name, _torch("DataLoader", style)
    tail = "  # noqa" if program.suppressed else ""
    written = ", ".join(f"{key}={value}" for key, value in options.items())
    if program.keywords == "dict":
        pairs = ", ".join(f"'{key}': {value}" for key, value in options.items())
        return [
            f"{name('keywords')} = {{{pairs}}}",
            f"{name('loader')} = {made}({name('dataset')}, **{name('keywords')}){tail}",
        ]
    if program.keywords == "grown":
        grown = [f"{name('keywords')}['{key}'] = {value}" for key, value in options.items()]
        return [
            f"{name('keywords')} = {{}}",
            *grown,
            f"{name('loader')} = {made}({name('dataset')}, **{name('keywords')}){tail}",
        ]
    if program.keywords == "factory":
        return [
            f"def {name('make')}({name('dataset')}, **{name('keywords')}):",
            f"    return {made}({name('dataset')}, **{name('keywords')}){tail}",
            f"{name('loader')} = {name('make')}({name('dataset')}{', ' if written else ''}{written})",
        ]
    return [f"{name('loader')} = {made}({name('dataset')}{', ' if written else ''}{written}){tail}"]


def _loop(program: Program, style: Style) -> list[str]:
    name = style.name
    batch, loader, device = name("batch"), name("loader"), name("device")
    tensor = f"torch.as_tensor({batch})"
    moved = {
        "": batch,
        "device": f"{tensor}.to({device})",
        "blocking": f"{tensor}.to({device}, non_blocking=False)",
        "names": f"{tensor}.to('cpu', non_blocking=True)",
        "cpu": f"{tensor}.cpu()",
        "back": f"{tensor}.to({device}).numpy()",
    }[program.move]
    shown = [f"{batch} = {moved}", f"print(type({batch}).__name__, {batch})"]
    if program.loop == "epochs":
        return [
            f"for {name('epoch')} in range(2):",
            f"    for {batch} in {loader}:",
            *(f"        {line}" for line in shown),
        ]
    if program.loop == "first":
        return [f"{batch} = next(iter({loader}))", *shown]
    if program.loop == "again":
        return [
            f"for {name('epoch')} in range(2):",
            f"    {batch} = next(iter({loader}))",
            *(f"    {line}" for line in shown),
        ]
    if program.loop == "listed":
        return [f"rows = list({loader})", f"for {batch} in rows:", *(f"    {line}" for line in shown)]
    if program.loop == "enumerated":
        return [f"for step, {batch} in enumerate({loader}):", *(f"    {line}" for line in shown)]
    return [f"for {batch} in {loader}:", *(f"    {line}" for line in shown)]


def _placed(place: str, body: list[str], style: Style) -> list[str]:
    if place == "module":
        return body
    indented = [f"    {line}" if line else line for line in body]
    if place == "guarded":
        return ["if __name__ == '__main__':", *indented]
    if place == "class":
        inner = [f"    {line}" if line else line for line in indented]
        return [
            "class Trainer:",
            "    def fit(self):",
            *inner,
            "",
            "",
            "if __name__ == '__main__':",
            "    Trainer().fit()",
        ]
    run = "main" if place == "main" else "train"
    lines = [f"def {run}():", *indented, "", ""]
    return [*lines, "if __name__ == '__main__':", f"    {run}()"] if place == "main" else [*lines, f"{run}()"]
