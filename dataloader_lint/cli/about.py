"""What the command says about itself: the pages of its rules, and completion scripts for shells."""

from __future__ import annotations

import re
import sys
import textwrap

from dataloader_lint.cli.options import Options, UsageError
from dataloader_lint.cli.terminal import height, paint_for, show_paged, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataloader_lint.rules.messages import Answer
    from dataloader_lint.rules.registry import FoundRule


# What looks like the code of a rule, or its name: a single word may be one that people search for.
_CODE_OR_NAME = re.compile(r"[Dd][Ll]\d\w*|[a-z0-9]+(?:-[a-z0-9]+)+")
_CODE = re.compile(r"\bDL\d{3}\b", re.IGNORECASE)
_LONGEST_QUOTE = 200
_ONE_PAGE = "`--explain CODE` shows the page of one."
_LEAST_TEXT = 3  # lines of an answer that are worth showing without the others
_INDENT = 6  # of the second line of a rule, below its name
_PIECE = 100_000  # bytes of a log that are read at a time, and of its end that are looked at


def explain(options: Options) -> int:
    """Show the page of a rule, answer a message or question (`-`: from standard input), or list all rules.

    Raises UsageError.
    """
    wanted = options.explain
    show_paged(_pages(wanted, options) if wanted else _list(options))
    return 0


def complete(shell: str) -> int:
    """Print a completion script. Raises UsageError where shtab is not installed."""
    try:
        import shtab
    except ImportError:
        raise UsageError("completion scripts need shtab: pip install 'dataloader-lint[completion]'") from None
    from dataloader_lint.cli.arguments import parser
    from dataloader_lint.rules.registry import found_rules

    made = parser()
    for action in made._actions:  # shtab reads it, too
        if action.metavar in ("FILE", "PATH"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar == "FOLDERS":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.metavar in ("CODES", "RULE|TEXT"):
            action.choices = list(found_rules())
    print(shtab.complete(made, shell))
    return 0


def _pages(wanted: str, options: Options) -> Iterator[str]:
    from dataloader_lint.rules.messages import answer
    from dataloader_lint.rules.selection import UnknownCodeError, find_rule

    text = _end_of_stdin() if wanted == "-" else wanted
    codes = [*dict.fromkeys(part.upper() for part in re.split(r"[\s,;]+", text.strip()))]
    if len(codes) > 1 and all(_CODE.fullmatch(each) for each in codes):
        try:
            several = [find_rule(each) for each in codes]
        except UnknownCodeError as error:
            raise UsageError(str(error)) from None
        for number, one in enumerate(several):
            yield from [""] * bool(number)
            yield from _page(one)
        return
    topic, several = _topic(text)
    if len(several) > 1:
        from dataloader_lint.output.text import wrapped

        head = wrapped(topic, width(1000)) if topic else []
        lines = [line for each in several for line in _line(each, options).split("\n")]
        rows = height()
        fits = rows is None or len(head) + len(lines) + 2 <= rows
        yield from [*head, *(lines if fits else map(_cut_line, several)), _ONE_PAGE]
        return
    try:
        found_rule = find_rule(_code_in(text) or text)
    except UnknownCodeError as error:
        found = None if _CODE_OR_NAME.fullmatch(text) else answer(text)
        if found is None:
            raise UsageError(str(error) if _CODE_OR_NAME.fullmatch(text) else _unknown(text)) from None
        yield from _answer(found, options) if found.is_sure else _closest(found)
    else:
        yield from _page(found_rule)


def _topic(text: str) -> tuple[str, list[FoundRule]]:
    """What a prefix of codes, a selection, a level, a family or a group of symptoms is, and its rules."""
    from dataloader_lint.diagnostics import Level
    from dataloader_lint.rules.registry import found_rules
    from dataloader_lint.rules.selection import SELECTIONS, members, rules_of_prefix
    from dataloader_lint.rules.symptoms import GROUPS

    name, rules = text.strip().lower(), found_rules()
    if name in SELECTIONS:
        return f"{name}: {SELECTIONS[name][0]} (`--select {name}`)", members(name)
    if name in {each.value for each in Level}:
        return f"Rules of the level {name}:", [each for each in rules.values() if each.rule.level.value == name]
    family = [each for each in rules.values() if each.module.split(".")[2:3] == [name]]
    if family:
        return f"Rules of the family {name}:", family
    for group, symptoms in GROUPS.items():
        if name == group.lower():
            codes = {code for each in symptoms for code in each.rules}
            return f"Rules that can find the cause ({group}):", [rules[code] for code in sorted(codes)]
    return "", rules_of_prefix(text)


def _code_in(text: str) -> str:
    """The one code that a question in a line names: `DL201 how fix`; empty for other texts."""
    from dataloader_lint.rules.messages import answer, is_error
    from dataloader_lint.rules.registry import found_rules

    codes = {each.upper() for each in _CODE.findall(text)} & found_rules().keys()
    is_question = len(codes) == 1 and len(text.splitlines()) == 1 and not is_error([text])
    found = answer(text) if is_question else None
    return codes.pop() if is_question and (found is None or not found.is_sure) else ""


def _line(found: FoundRule, options: Options) -> str:
    """A rule in a line that fits the terminal, with what it takes to turn it on."""
    from dataloader_lint.rules.selection import is_selected

    paint = paint_for(sys.stdout)
    code, name = found.rule.code, found.rule.name
    state = "" if is_selected(found.rule, options.settings) else f" (off here: --extend-select {code})"
    columns = width(1000)
    head = f"{code} {name}{state}: "
    glued = head.rstrip().replace(" ", "\0") if len(head) <= columns else head.rstrip()
    wrapped = textwrap.wrap(
        glued + " " + _summary(found),
        columns,
        subsequent_indent=" " * _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    shown = "\n".join(wrapped).replace("\0", " ")
    return shown.replace(head.rstrip(), f"{paint('code', code)} {name}{paint('quiet', state)}:", 1)


def _answer(found: Answer, options: Options) -> list[str]:
    """The lines of an answer, all of it or as much as fits the terminal.

    That is what the symptom means, the rules that find its causes, and what else it may be.
    """
    from dataloader_lint.output.text import wrapped
    from dataloader_lint.rules.registry import found_rules

    paint = paint_for(sys.stdout)
    columns = min(width(100), 100)
    text: list[str] = []
    title: list[str] = []
    if found.symptom is not None:
        title = [*(paint("strong", line) for line in wrapped(found.symptom.title, columns)), ""]
        text = textwrap.wrap(found.symptom.page, columns, break_on_hyphens=False, break_long_words=False)
    code = found.rules[0].rule.code if found.rules else next(iter(found_rules()))
    end = f"`--explain {code}` shows the page of a rule." if found.rules else "`--explain` lists all rules."
    beside = [line for each in found.beside for line in wrapped(f"- {each.title}", columns)]
    beside = [*wrapped('See also (`--explain "TITLE"`):', columns), *beside, ""] if beside else []
    rules: list[list[str]] = [[]]
    if found.rules:
        heading = wrapped(_heading(found), columns)
        in_short = ", ".join(f"{each.rule.code} {each.rule.name}" for each in found.rules)
        rules = [
            [*heading, *(line for each in found.rules for line in _line(each, options).split("\n")), ""],
            [*heading, *(_cut_line(each) for each in found.rules), ""],
            [*wrapped(f"Rules: {in_short}", columns), ""],
        ]
    below = [paint("quiet", end)]
    made = [[*title, *text, *([""] if text else []), *each, *more, *below] for each in rules for more in (beside, [])]
    rows = height()
    if rows is None:
        return made[0]
    whole = next((lines for lines in made if len(lines) < rows), None)
    if whole is not None or not text:
        return whole or made[-1]
    room = rows - len(title) - len(rules[-1]) - 3  # an empty line, the last one, and the prompt
    if room < _LEAST_TEXT:
        return made[0]
    last = text[room - 1]
    text = [*text[: room - 1], f"{last[: columns - 2]} …"]
    return [*title, *text, "", *rules[-1], paint("quiet", "All of it: add `| more`.")]


def _cut_line(found: FoundRule) -> str:
    """A rule in a single line of the terminal; its summary is cut where it does not fit."""
    from dataloader_lint.output.text import cut

    code, name = found.rule.code, found.rule.name
    shown = cut(f"{name}: {_summary(found)}", width(1000) - len(code) - 1)
    return f"{paint_for(sys.stdout)('code', code)} {shown}"


def _heading(found: Answer) -> str:
    """What the rules below an answer are to it."""
    from dataloader_lint.rules.symptoms import TERMS

    is_one = len(found.rules) == 1
    if found.symptom is None or found.symptom in TERMS:
        return "The rule about it:" if is_one else "Rules about it:"
    return "The rule that can find the cause:" if is_one else "Rules that can find the cause, the likeliest first:"


def _closest(found: Answer) -> Iterator[str]:
    """The lines of an answer that nobody can be sure of: the titles of the entries that come closest."""
    from dataloader_lint.output.text import wrapped

    paint = paint_for(sys.stdout)
    columns = min(width(100), 100)
    yield "Nothing fits exactly; the closest:"
    for each in (found.symptom, *found.beside):
        if each is not None:
            codes = f" ({', '.join(each.rules[:3])})" if each.rules else ""
            first, *rest = wrapped(f"- {each.title}{codes}", columns)
            yield first.replace(each.title, paint("strong", each.title))
            yield from rest
    hint = '`--explain "TITLE"` shows one of them, `--explain CODE` the page of a rule.'
    yield from (paint("quiet", line) for line in textwrap.wrap(hint, columns))


def _unknown(text: str) -> str:
    from dataloader_lint.rules.messages import is_error

    shown = f"{text.strip()!r}" if len(text) < _LONGEST_QUOTE else "this text"
    if is_error(text.splitlines()):
        return f"no error message that is known fits {shown}; try the whole traceback: `--explain -` reads it"
    return f"no rule or question about data loading fits {shown}; `--explain` lists all rules"


def _end_of_stdin() -> str:
    """The end of what comes through standard input, however long that is: a log says at its end what went wrong."""
    kept = b""
    while piece := sys.stdin.buffer.read(_PIECE):
        kept = (kept + piece)[-_PIECE:]
    return kept.decode("utf-8", "replace")


def _summary(found: FoundRule) -> str:
    return found.page.strip().partition("\n")[0]


def _page(found: FoundRule) -> Iterator[str]:
    from dataloader_lint.output import page
    from dataloader_lint.output.paint import plain
    from dataloader_lint.rules.base import FixLevel

    rule = found.rule
    state = "On by default" if rule.is_on else f"Opt-in: --extend-select {rule.code}"
    state = f"Level: {rule.level.value}. {'In preview: --preview' if rule.preview else state}"
    fix = "no automatic fix" if rule.fix is FixLevel.NONE else f"fix: {rule.fix.value}"
    claim = f" {rule.claim.value}." if found.check is not None else ""
    yield from page.emit(
        rule.code,
        rule.name,
        f"{state}; {fix}.{claim}",
        found.page,
        paint_for(sys.stdout),
        min(width(100), 100),
        is_laid_out=paint_for(sys.stdout) is not plain or sys.stdout.isatty(),
    )


def _list(options: Options) -> Iterator[str]:
    from dataloader_lint.output.text import cut
    from dataloader_lint.rules.base import FixLevel
    from dataloader_lint.rules.registry import found_rules
    from dataloader_lint.rules.selection import is_selected, selected_rules

    paint = paint_for(sys.stdout)
    running = {found.rule.code for found in selected_rules(options.settings)}

    def state(found: FoundRule) -> str:
        code = found.rule.code
        if code in running or (found.check is None and is_selected(found.rule, options.settings)):
            return "on"
        return "off" if found.rule.is_on else "opt-in"

    counts = {"on": 0, "off": 0, "opt-in": 0}
    for code, found in found_rules().items():
        is_on = state(found)
        counts[is_on] += found.check is not None
        fix = "" if found.rule.fix is FixLevel.NONE else f" [fix: {found.rule.fix.value}]"
        label = f"{is_on:<6}"
        summary = _summary(found)
        room = width(1000) - len(f"{code} {label} {found.rule.name}: {fix}")
        yield (
            f"{paint('code', code)} {label if is_on == 'on' else paint('quiet', label)} "
            f"{paint('strong', found.rule.name)}: {cut(summary, room)}{paint('quiet', fix)}"
        )
    yield ""
    own = ", ".join(code for code, found in found_rules().items() if found.check is None)
    listed = ", ".join(f"{count} {name}" for name, count in counts.items())
    yield f"{sum(counts.values())} rules: {listed}. {own} are the linter's own."
    yield "`--explain CODE` shows the page of one."
