"""Renders docs/settings.md from the table of keys in `dataloader_lint.source.keys`."""

from __future__ import annotations

from dataloader_lint.output.levels import MEANINGS, NAMES
from dataloader_lint.source.key import Key
from dataloader_lint.source.keys import KEYS

_INTRO = """<!-- Made by docs/generate.py from dataloader_lint/source/keys.py: edit that. -->

# Settings

Settings go into a table of `pyproject.toml`:

```toml
[tool.dataloader-lint]
{example}
```

## Which file counts

Each linted file goes by the nearest `pyproject.toml` with such a table, in its own folder or above it; a
`pyproject.toml` without the table is passed over. So the parts of a monorepo can each have settings of their own.
Tables are not merged: the nearest one counts alone. Standard input goes by the file that `--stdin-filename` names.

- `--config FILE` takes the table of that file for all files, and paths in it from the working directory.
- `--isolated` takes no settings from files.

## Options go over the file

Every key is an option of the command line, too: `--max-workers 32`, `--per-file-ignores 'tests:DL206'`; lists are
written with commas. An option replaces what the file says; `--extend-...` adds to it. `--select` means these rules and
no others, so the file's `ignore` and `extend-select` do not count beside it; `per-file-ignores` still do.

A key or a value that means nothing, and a file that cannot be read, end the run with exit code 2 and one line that says
where, what and, if there is one, the nearest that would do:

```console
$ dataloader-lint
dataloader-lint: /home/me/pyproject.toml: [tool.dataloader-lint] has no key 'max-worker'; did you mean 'max-workers'?
```

## Levels

Each rule has a level. It decides what a finding is called in reports and editors, and the exit code. The level of a
rule is on its page; `severity` gives it another one.

{levels}

A finding that is a warning because it fails only in spawned workers is an error if `start-method` or `target-python`
says that your workers are spawned. By default every finding makes the command exit with 1; with `--fail-on warning`
only errors and warnings do.

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

## In flake8

Which rules run, on which files, and how findings are shown is for flake8's own options to say, `per-file-ignores` among
them. What is true of your programs comes from the `pyproject.toml` of each file as above, and flake8's options go over
it, on the command line or in `setup.cfg`, `tox.ini` or `.flake8`:

```ini
[flake8]
dl-start-method = spawn
dl-extend-dataloaders = mylib.data.FastLoader, mylib.data.FastIterator
```

These are {flake8}. flake8 keeps its `--isolated` to itself, so it
does not leave the `pyproject.toml` out.

## Keys"""


def render() -> str:
    """The page: what holds for all keys, then each of them."""
    example = "\n".join(KEYS[name].example for name in ("extend-select", "per-file-ignores", "start-method"))
    names = [f"`--dl-{key.name}`" for key in KEYS.values() if key.flake8]
    flake8 = f"{', '.join(names[:-1])} and {names[-1]}"
    return (
        "\n\n".join(
            [_INTRO.format(example=example, flake8=flake8, levels=_levels()), *(_part(key) for key in KEYS.values())]
        )
        + "\n"
    )


def _levels() -> str:
    rows = ["| Level | What it means | SARIF | GitLab | GitHub | Editors |", "|---|---|---|---|---|---|"]
    for level, names in NAMES.items():
        editor = ("error", "warning", "information")[names.lsp - 1]
        service = f"{names.sarif} | {names.gitlab} | {names.github} | {editor}"
        rows.append(f"| `{level.value}` | {MEANINGS[level]} | {service} |")
    return "\n".join(rows)


def _part(key: Key) -> str:
    choices = f"One of {', '.join(f'`{choice}`' for choice in key.choices)}.\n\n" if key.choices else ""
    default = key.default if "`" in key.default or " " in key.default else f"`{key.default}`"
    example = f"```toml\n[tool.dataloader-lint]\n{key.example}\n```"
    return f"### {key.name}\n\n{key.about}\n\n{choices}Default: {default}.\n\n{example}"
