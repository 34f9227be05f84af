"""Scenes about the arguments of loaders and about functions that are given to workers, around all that fixes touch."""

from __future__ import annotations

from reliability.fix_places import (
    ROWS,
    Chance,
    consumed,
    head,
    in_block,
    in_error_block,
    in_expression,
    in_function,
    indented,
)

Files = dict[str, str]


def joined(*blocks: list[str]) -> str:
    """Blocks of lines as one text."""
    return "\n".join(line for block in blocks for line in block) + "\n"


# DL301, DL302, DL303, DL304, DL309, DL310, DL311, DL402, DL403: options of loaders.

WORKERS = {
    "0": [],
    "1": [],
    "2": [],
    "workers": ["workers = {n}"],
    "args.workers": ["args = types.SimpleNamespace(workers={n})"],
    "args['workers']": ["args = {{'workers': {n}}}"],
    "WORKERS": [],
    "(many := {n})": [],
    "int(os.environ.get('WORKERS', {n}))": [],
    "len(sys.argv[1:])": [],
    "2 if FAST else 0": [],
}
OPTIONS = {
    "persistent_workers": ("True", "True", "bool(1)", "ON", "yes()", "(kept := True)", "not False", "FAST"),
    "prefetch_factor": ("4", "4", "2 + 2", "FACTOR", "4 if ON else 2", "(kept := 2)", "None"),
    "timeout": ("60", "60", "1 or 2", "30.0", "0"),
    "multiprocessing_context": ("'fork'", "'fork'", "METHOD", "None"),
    "batch_size": ("2", "None", "BATCH", "1"),
    "drop_last": ("True", "ON", "False"),
    "shuffle": ("True", "False", "None"),
    "sampler": ("range(3)", "None"),
    "batch_sampler": ("[[0], [1, 2]]", "BatchSampler(range(4), 2, False)"),
    "pin_memory": ("True", "ON", "False"),
    "pin_memory_device": ("'cuda'", "''", "'cuda:0'"),
    "generator": ("torch.Generator().manual_seed(1)",),
}
NEEDY = ("persistent_workers", "prefetch_factor", "timeout", "multiprocessing_context")
CONSTANTS = ["ON = True", "FAST = {fast}", "FACTOR = 3", "METHOD = 'fork'", "BATCH = 2", "WORKERS = {n}"]
YES = ["", "", "def yes():", "    print('asked')", "    return True", "", ""]


def options(chance: Chance) -> Files:
    """A loader with arguments that may not go together, made in one of many ways."""
    n = chance.of("0", "0", "2")
    workers = chance.of(*WORKERS)
    chosen = {name: chance.of(*OPTIONS[name]) for name in chance.some(NEEDY, 0.45) or [chance.of(*NEEDY)]}
    chosen |= {
        name: chance.of(*OPTIONS[name]) for name in chance.some([each for each in OPTIONS if each not in NEEDY], 0.13)
    }
    setup = [line.format(n=n) for line in WORKERS[workers]]
    given = {"num_workers": workers.format(n=n), **chosen}
    if workers == "0" and chance.now(0.5):
        del given["num_workers"]
    items = list(given.items())
    chance.shuffle(items)
    given = dict(items)
    made, lines = _made(chance, given)
    after = consumed(chance, "loader")
    if "kept :=" in str(given):
        after.append("print(kept)")
    if "many :=" in str(given):
        after.append("print(many)")
    setup += lines[:-1]
    body = [*setup, *in_expression(chance, lines[-1])]
    if chance.now(0.25):
        place = chance.of(0, len(setup))
        body = [*body[:place], *in_error_block(chance, [*body[place:], *after])]
    else:
        body = [*in_block(chance, body), *after]
    constants = [each.format(n=n, fast=chance.of("True", "False")) for each in CONSTANTS]
    start = head(chance)
    start.insert(7, "import types")
    main = joined(start, constants, YES, ROWS.splitlines(), ["", ""], made, in_function(chance, body))
    if made and chance.now(0.3):
        make = joined(start, constants, YES, made)
        star = chance.of("from making import make", "from making import *", "import making\n\nmake = making.make")
        rest = joined(start, constants, YES, ROWS.splitlines(), ["", star, ""], in_function(chance, body))
        return {"making.py": make, "main.py": rest}
    return {"main.py": main}


def _made(chance: Chance, given: dict[str, str]) -> tuple[list[str], list[str]]:
    """Definitions at module level, and the lines that make `loader`, the last of which calls the constructor."""
    written = ", ".join(f"{name}={value}" for name, value in given.items())
    pairs = ", ".join(f"'{name}': {value}" for name, value in given.items())
    split = chance.randrange(len(given) + 1)
    names = list(given)
    first = ", ".join(f"'{name}': {given[name]}" for name in names[:split])
    rest = ", ".join(f"{name}={given[name]}" for name in names[split:])
    kind = chance.of(*range(20), 17, 17)
    call = "loader = DataLoader(Rows(), {})".format
    if kind < 5:
        return [], [call(written)]
    if kind == 5:
        return [], [f"keywords = {{{pairs}}}", call("**keywords")]
    if kind == 6:
        return [], [f"keywords = dict({written})", call("**keywords")]
    if kind == 7:
        return [], [f"keywords = {{{first}}}", call(f"**keywords, {rest}" if rest else "**keywords")]
    if kind == 8:
        return [], [f"keywords = {{{first}}}", f"keywords.update({rest})", call("**keywords")]
    if kind == 9:
        grown = [f"keywords['{name}'] = {value}" for name, value in given.items()]
        return [], ["keywords = {}", *grown, call("**keywords")]
    if kind == 10:
        use = chance.of(
            "print(sorted(keywords))", "print(len(keywords))", "copied = keywords", "show = lambda: keywords"
        )
        return [], [f"keywords = {{{pairs}}}", use, call("**keywords")]
    if kind == 11:
        return [], [f"keywords = {{{pairs}}}", call("**{**keywords, 'num_workers': 2}")]
    if kind == 12:
        return [], [call(f"**{{{pairs}}}"), f"loader = DataLoader(Rows(), **dict({written}))"]
    if kind == 13:
        return [], [f"make = functools.partial(DataLoader, {written})", "loader = make(Rows())"]
    if kind == 14:
        more = "" if "num_workers" not in given else ", num_workers=2"
        return [], [f"make = functools.partial(DataLoader, {written})", f"loader = make(Rows(){more})"]
    if kind == 15:
        others = {name: value for name, value in given.items() if name not in ("num_workers", "batch_size")}
        tail = ", ".join(f"{name}={value}" for name, value in others.items())
        return [], ["positional = (Rows(), 2)", f"loader = DataLoader(*positional, {tail})"]
    if kind == 16:
        lines = ["class Loader(DataLoader):", "    def __init__(self, *args, **kwargs):"]
        lines += [f"        super().__init__(*args, **{{**dict({written}), **kwargs}})", "", ""]
        return lines, ["loader = Loader(Rows())"]
    if kind == 17:
        workers = given.pop("num_workers", "0")
        rest = ", ".join(f"{name}={value}" for name, value in given.items())
        parameter, workers_in = chance.of(
            ("workers=0", "workers"),
            ("workers=2", "workers"),
            ("workers", "workers"),
            ("cfg", "cfg.workers"),
            ("cfg", "cfg['workers']"),
            ("cfg", "cfg.data.workers"),
        )
        lines = [f"def make(dataset, {parameter}, **more):"]
        lines += [f"    return DataLoader(dataset, num_workers={workers_in}, {rest}, **more)", "", ""]
        count = chance.of(workers, "2", "0", "1")
        kept = f"types.SimpleNamespace(workers={count})"
        kept = {"['workers']": f"{{'workers': {count}}}", ".data.workers": f"types.SimpleNamespace(data={kept})"}.get(
            workers_in.removeprefix("cfg"), kept
        )
        extra = f", {kept}" if parameter == "cfg" else chance.of(f", {count}", f", workers={count}")
        return lines, [f"loader = make(Rows(){extra})"]
    if kind == 18:
        return [], [f"loader = [DataLoader(Rows(), {written}) for _each in range(2)][-1]"]
    shared = [f"keywords = {{{pairs}}}", "other = DataLoader(Rows(), **{**keywords, 'num_workers': 1})"]
    return [], [*shared, "print(other.num_workers, *other)", call("**keywords")]


# DL201, DL202, DL203, DL212: functions for workers.

BODIES = (
    "rows",
    "list(rows)",
    "[row + k for row in rows]",
    "[(row, k, j) for row in rows]",
    "f'{len(rows):>{k}}'",
    "f'{k!r}{len(rows)=}'",
    "((n := len(rows)), n, k)",
    "list(map(lambda row: row + k, rows))",
    "[*rows, k]",
    "{'rows': rows, **{str(k): j}}",
    "rows[0] if k else rows[-1]",
    "torch.stack(rows)",
    "(rows, G)",
    "(rows, helper(rows), k)",
    "(rows, text)",
    "rows[:k]",
    "tuple(zip(rows, range(k)))",
    "[row for row in rows if row > k or j]",
    "(lambda k: (rows, k))(j)",
    "(rows, [k for k in range(2)], k)",
    "(rows, np.int64(k).item(), functools.reduce(max, range(k + 1)))",
    "{k: rows for k in range(2)}",
    "(rows, __name__ and k)",
    "(rows, state)",
    "helper(rows)",
    "helper(rows=rows)",
    "text.join(rows)",
    "state.append(rows)",
    "torch.stack(rows)",
    "functools.reduce(max, rows, k)",
)
LATER = ("", "", "", "k = 7", "k += 1", "state.append(9)", "G = 5", "del j", "state = []", "text = 'other'")
HELPER = ["G = 3", "", "", "def helper(rows):", "    return len(rows) + G", "", ""]


def functions(chance: Chance) -> Files:
    """A lambda or local function that workers are given, with all that it may take from around it."""
    if chance.now(0.25):
        return initializers(chance)
    body = chance.of(*BODIES)
    local = ["k = 2", "j = 1", "state = [1]", "text = 'text'"]
    tail = chance.of("num_workers=2", "num_workers=2", "num_workers=0", "num_workers=1, shuffle=True", "")
    loader = "loader = DataLoader(Rows(), batch_size=2, collate_fn={}{})".format
    more = f", {tail}" if tail else ""
    lambdas = chance.of(f"lambda rows: {body}", f"lambda rows, k=k: {body}", f"lambda rows, *more, k=4: {body}")
    lambdas = lambdas if chance.now(0.8) else f"lambda rows, /, k=4, **more: {body}"
    kind = chance.randrange(16)
    top: list[str] = []
    if kind < 4:
        lines = in_expression(chance, loader(lambdas, more))
    elif kind == 4:
        lines = [
            f"collate = {lambdas}",
            loader("collate", more),
            *chance.of([], ["print(collate([torch.tensor(1)] * 3))"]),
        ]
    elif kind == 5:
        top = ["k, j, state, text = 5, 6, [7], 'eight'", f"collate = {lambdas}", "", ""]
        lines = [loader("collate", more)]
    elif kind == 6:
        lines = [loader(f"functools.partial({lambdas})", more)]
    elif kind == 7:
        lines = [
            f"keywords = dict(collate_fn={lambdas}{more})",
            "loader = DataLoader(Rows(), batch_size=2, **keywords)",
        ]
    elif kind == 8:
        lines = [loader(f"list if not k else ({lambdas})", more)]
    elif kind == 9:
        lines = [
            f"hooks = [{lambdas}]",
            loader("hooks[0]", more),
            "print([hook([torch.tensor(2)] * 3) for hook in hooks])",
        ]
    elif kind == 10:
        lines = ["loader = None", "for k in range(2):", f"    {loader(lambdas, more)}"]
    elif kind == 11:
        lines = [f"loader = [DataLoader(Rows(), collate_fn={lambdas}{more}) for k in range(2)][0]"]
    else:
        lines = [
            *_local(chance, body),
            loader("collate", more),
            *_other_uses(chance, "collate", "[torch.tensor(1)] * 3"),
        ]
    later = chance.of(*LATER)
    body_lines = [*local, *in_block(chance, lines), *([later] if later else []), *consumed(chance, "loader")]
    main = joined(head(chance), HELPER, ROWS.splitlines(), ["", ""], top, in_function(chance, body_lines))
    return {"main.py": main}


def _local(chance: Chance, body: str) -> list[str]:
    decorator = chance.of([], [], ["@decorated"], ["@torch.no_grad()"], ["@functools.wraps(list)"])
    inside = chance.of(
        [f"return {body}"],
        ['"""Collates."""', f"made = {body}", "return made"],
        ["match rows:", "    case [first, *_]:", f"        return first, {body}", f"return {body}"],
        ["text_ = '''", "  kept as it is", "'''", f"return {body}, text_"],
        ["if not rows:", "    return collate([1])", f"return {body}"],
        ["def inner():", f"    return {body}", "return inner()"],
    )
    parameters = chance.of(
        "rows", "rows", "rows, *more", "rows, k=3", "rows: list", "rows, **more", "rows, *, extra=(1, 2)"
    )
    return [*decorator, f"def collate({parameters}):", *indented(inside), ""]


def _other_uses(chance: Chance, name: str, given: str) -> list[str]:
    return chance.of(
        [],
        [],
        [f"print({name}({given}))"],
        [f"hooks = {{'a': {name}}}", f"print(hooks['a']({given}))"],
        [f"alias = {name}", f"print(alias({given}))"],
        [f"print(functools.partial({name})({given}))"],
        [f"def later(run={name}):", f"    return run({given})", "print(later())"],
        [f"print(locals()['{name}']({given}))"],
        [f"print([each({given}) for each in ({name},)])"],
        ["def again():", f"    return {name}({given})", "print(again())"],
    )


def initializers(chance: Chance) -> Files:
    """A function for `worker_init_fn`, with or without its parameter, and others who call it."""
    takes = chance.now(0.5)
    parameter = "worker_id" if takes else ""
    shown = chance.of("'init'", "'init', k", "'init', G", "f'{k:>{G}}'", f"'worker', {parameter or 0}")
    tail = chance.of("num_workers=2", "num_workers=1", "num_workers=0", "num_workers=2, persistent_workers=True")
    kind = chance.randrange(6)
    call = "init(0)" if takes else "init()"
    files: Files = {}
    top: list[str] = ["k = 4"]
    lines = ["k = 2"]
    if kind == 0:
        lines += [f"loader = DataLoader(Rows(), {tail}, worker_init_fn=lambda {parameter}: print({shown}))"]
    elif kind == 1:
        lines += [f"def init({parameter}):", f"    print({shown})", ""]
        lines += [f"loader = DataLoader(Rows(), {tail}, worker_init_fn=init)"]
        lines += chance.of([], [call], ["run = init", call.replace("init", "run")])
    else:
        decorator = chance.of([], [], ["@decorated"], ["@functools.wraps(print)"], ["@torch.no_grad()"])
        definition = [*decorator, f"def init({parameter}):", f"    print({shown})", "", ""]
        if kind in (2, 3):
            top += [*definition, *chance.of([], ["HOOKS = [init]"], ["REGISTRY = {'init': init}"])]
            lines += [f"loader = DataLoader(Rows(), {tail}, worker_init_fn=init)"]
            lines += _other_calls(chance, call, top)
        else:
            files["hooks.py"] = joined(head(chance), top, definition, chance.of([], ["ALL = [init]"]))
            way = chance.of("from hooks import init", "from hooks import *", "import hooks\n\ninit = hooks.init")
            top = [*way.splitlines(), "", ""]
            if chance.now():
                own = [f"loader = DataLoader(Rows(), {tail}, worker_init_fn=init)"]
                files["other.py"] = joined([way, f"{call}"])
                top.append(chance.of("", "import other"))
                lines += own
            else:
                lines += [f"loader = DataLoader(Rows(), {tail}, worker_init_fn=init)", call]
    body = [*lines, *consumed(chance, "loader")]
    files["main.py"] = joined(head(chance), HELPER, ROWS.splitlines(), ["", ""], top, in_function(chance, body))
    return files


def _other_calls(chance: Chance, call: str, top: list[str]) -> list[str]:
    arguments = call[len("init") :]
    choices = [[], [call], ["run = init", f"run{arguments}"], [f"functools.partial(init){arguments}"]]
    choices += [[f"globals()['init']{arguments}"], [f"getattr(sys.modules[__name__], 'init'){arguments}"]]
    if any("HOOKS" in line for line in top):
        choices += [["for hook in HOOKS:", f"    hook{arguments}"]] * 3
    if any("REGISTRY" in line for line in top):
        choices += [[f"REGISTRY['init']{arguments}"]] * 3
    return chance.of(*choices)
