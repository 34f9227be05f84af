"""Renders docs/settings.md from the table of keys in `dataloader_lint.source.keys`."""

from __future__ import annotations

from dataloader_lint.output.levels import MEANINGS, NAMES
from dataloader_lint.rules.selection import SELECTIONS
from dataloader_lint.source.key import Key
from dataloader_lint.source.keys import KEYS

_INTRO = """<!-- Made by docs/generate.py from dataloader_lint/source/keys.py: edit that. -->

# Settings

Settings go into a table of `pyproject.toml`:

```toml
[tool.dataloader-lint]
{example}
```

## Config discovery

Each file uses the nearest `pyproject.toml` with such a table, in its own folder or above it. A `pyproject.toml` without
the table is skipped. So each part of a monorepo can have its own settings. Tables are not merged: only the nearest is
used. Standard input uses the settings of the file that `--stdin-filename` names.

- `--config FILE` uses the table of that file for all files. Paths in it start at the working directory.
- `--config 'KEY = VALUE'` sets one key, written as in TOML.
- `--isolated` ignores all configuration files.

## Precedence

Every key is also an option of the command line: `--max-workers 32`, `--per-file-ignores 'tests:DL206'`. Lists are
written with commas. An option overrides the file; `--extend-...` adds to it. `--select` means these rules and no
others: the file's `ignore`, `extend-select` and `extend-ignore` do not apply then, but `per-file-ignores` still does.

Unknown keys, invalid values and unreadable files abort the run with exit code 2 and a one-line message, with the
closest valid name if there is one:

```console
$ dataloader-lint
dataloader-lint: /home/me/pyproject.toml: [tool.dataloader-lint] has no key 'max-worker'; did you mean 'max-workers'?
```

## Named selections

`select`, `ignore` and the other lists of rules take codes (`DL301`), beginnings of codes (`DL3`), names of rules
(`no-workers`) and these names, in upper or lower case:

{selections}

An opt-in rule runs if its full code, its name, or a named selection that holds it is selected; a prefix does not turn
it on. A code outweighs a named selection: `select = ["speed"]` with `ignore = ["DL4"]` leaves DL401 out.

`dataloader-lint --show-settings` prints all settings with the files that they come from.

## Levels

Each rule has a level. It decides what a finding is called in reports and editors, and the exit code. The level of a
rule is on its page; `severity` gives it another one, and so does what
the doctor has [measured](doctor.md#what-was-measured-decides-levels).

{levels}

A finding that is a warning because it fails only in spawned workers is an error if `start-method` or `target-python`
says that your workers are spawned. By default every finding but notes makes the command exit with 1; with
`--fail-on warning` only errors and warnings do, and with `--fail-on note` all: notes then count as problems.

## What counts as one project

A file is checked together with the other files of its project: who imports it, which loaders read its Datasets, what
its options are. The root of the project is

1. the nearest folder, at or above the file, with a `pyproject.toml`, `setup.py`, `setup.cfg`, `.git` or `.hg`;
2. without one, the directory that was named: on the command line, to flake8, or opened in the editor. If one named
   directory lies in another, the outer one counts;
3. if only the file was named, its folder.

The search for a marker does not leave a folder without Python files, except in a directory that was named or in folders
such as `src` and `tests`. It never uses the home folder or a folder that everybody may write to, such as `/tmp`. In the
cases 2 and 3 a package counts as a whole, folders without `__init__.py` inside it included, and other projects inside
the root do not belong to it. A command that runs in a marked project uses that project for all of its files.

So nothing depends on the order of the paths or on what lies beside them. An unpacked archive without markers is best
named as a folder: `dataloader-lint repo-main` rather than single files in it. In the Python API,
`Settings(roots=(folder,))` names a directory, and `lint_paths` adds those that it is given.

A file of a project with more than 4,000 Python files is checked with those of the largest folder around it that has no
more than that; the command says so in a warning.

## Suppressing findings

| Comment | What it suppresses |
|---|---|
| `# noqa: DL201` | findings of DL201 in that statement; `# noqa: DL2` those of all DL2 rules |
| `# noqa` | all findings in that statement, also those of other linters |
| `# dataloader-lint: ignore-file`, on a line of its own | the whole file, for this linter |
| `# flake8: noqa`, on a line of its own | the whole file, also for flake8 |

Add the reason after the code: `# noqa: DL201 Linux only`. A comment counts for all lines of its statement; under
flake8, only for its own line. `per-file-ignores` suppresses single rules in whole files. `--add-noqa` adds the
comments, for notes only with `--notes` or `--fail-on note`. `--ignore-noqa` ignores comments, and DL001 reports those
that suppress nothing. ruff removes codes that it does not know, unless its setting `external` has `["DL"]`.

## In flake8

flake8 loads the plugin in each environment that has both, and installing this package installs flake8. From then on
each flake8 run there shows the findings of the rules that are on by default, but no notes: whatever flake8 shows fails
the run. To change that:

| Wanted | How |
|---|---|
| no finding of ours | `extend-ignore = DL` in flake8's file, or `select = E,F,W,C90` without `DL`; no rule runs then |
| no finding of ours, and no plugin | install the linter elsewhere: `pipx install .` or `uvx --from . dataloader-lint` |
| only ours | `flake8 --select DL` |
| some rules only | `extend-ignore = DL` with `extend-select = DL2` |
| an opt-in rule | its full code: `extend-select = DL309` |
| not in some files | `per-file-ignores = legacy/*:DL` |
| notes, too | `dl-notes = true` in flake8's file; `notes` of `pyproject.toml` does not count here |

In an environment without this package `flake8 --select DL` checks nothing, prints nothing and exits with 0, and flake8
ignores `dl-` keys in its files. So in CI, look for `dataloader-lint` in `flake8 --version`, or run `dataloader-lint`
itself.

flake8's own options decide which rules run on which files, and how findings are shown; `select`, `ignore` and
`severity` of `pyproject.toml` count only for `dataloader-lint`. The analysis settings come from the `pyproject.toml` of
each file, as above. flake8's options override them, on the command line or in `setup.cfg`, `tox.ini` or `.flake8`:

```ini
[flake8]
dl-start-method = spawn
dl-extend-dataloaders = mylib.data.FastLoader, mylib.data.FastIterator
```

These are {flake8}. flake8's `--isolated` does not affect `pyproject.toml`.

## Keys"""


def render() -> str:
    """The page: what holds for all keys, then each of them."""
    example = "\n".join(KEYS[name].example for name in ("extend-select", "per-file-ignores", "start-method"))
    names = [f"`--dl-{key.name}`" for key in KEYS.values() if key.flake8]
    flake8 = f"{', '.join(names[:-1])} and {names[-1]}"
    return (
        "\n\n".join(
            [
                _INTRO.format(example=example, flake8=flake8, levels=_levels(), selections=_selections()),
                *(_part(key) for key in KEYS.values()),
            ]
        )
        + "\n"
    )


def _selections() -> str:
    rows = ["| Name | Rules |", "|---|---|"]
    for name, (meaning, _) in SELECTIONS.items():
        rows.append(f"| `{name}` | {meaning} |")
    return "\n".join(rows)


def _levels() -> str:
    rows = ["| Level | What it means | SARIF | GitLab | GitHub | Editors |", "|---|---|---|---|---|---|"]
    for level, names in NAMES.items():
        editor = ("error", "warning", "information", "hint")[names.lsp - 1]
        service = f"{names.sarif} | {names.gitlab} | {names.github} | {editor}"
        rows.append(f"| `{level.value}` | {MEANINGS[level]} | {service} |")
    return "\n".join(rows)


def _part(key: Key) -> str:
    choices = f"One of {', '.join(f'`{choice}`' for choice in key.choices)}.\n\n" if key.choices else ""
    default = key.default if "`" in key.default or " " in key.default else f"`{key.default}`"
    example = f"```toml\n[tool.dataloader-lint]\n{key.example}\n```"
    return f"### {key.name}\n\n{key.about}\n\n{choices}Default: {default}.\n\n{example}"
