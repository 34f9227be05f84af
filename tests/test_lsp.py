"""The language server, as a real client sees it over standard input and output."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls.lsp.client")

from lsprotocol import types

from benchmarks import processes
from dataloader_lint import lint_source
from lsp_editor import PATIENCE, ROOT, Editor, editor

BAD = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, persistent_workers=True)\n"
GOOD = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data)\n"


def whole(line: int = 0) -> types.Range:
    return types.Range(types.Position(line, 0), types.Position(10_000, 0))


def session(folder: Path, play: Callable[[Editor], Awaitable[None]], **options: object) -> None:
    async def run() -> None:
        async with editor(folder, **options) as me:  # type: ignore[arg-type]
            await play(me)

    asyncio.run(run())


def test_findings_follow_what_is_typed(tmp_path: Path) -> None:
    async def play(me: Editor) -> None:
        uri = me.open(tmp_path / "train.py", BAD)
        [one] = await me.said(uri, 1)
        assert (one.code, one.source) == ("DL301", "dataloader-lint")
        assert one.severity is types.DiagnosticSeverity.Error
        assert one.range == types.Range(types.Position(2, 9), types.Position(2, 50))
        assert one.message.startswith("`DataLoader` raises ValueError")
        assert one.code_description is not None
        assert one.code_description.href.endswith("/dl301-persistent-workers-without-workers/")

        assert await me.said(uri, me.type(uri, GOOD)) == []
        assert len(await me.said(uri, me.type(uri, BAD))) == 1
        me.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
        assert await me.said(uri) == []
        assert not (tmp_path / "train.py").exists()

    session(tmp_path, play)


def test_names_of_files_may_hold_anything(tmp_path: Path) -> None:
    folder = tmp_path / "my project +ü#%20"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[tool.dataloader-lint]\nexclude = ["left out"]\n')

    async def play(me: Editor) -> None:
        uri = me.open(folder / "trän 1+2.py", BAD)
        [one] = await me.said(uri, 1)
        assert len(await me.actions(uri, one.range)) == 3
        assert await me.said(uri, me.type(uri, GOOD)) == []
        assert await me.said(me.open(folder / "left out" / "train.py", BAD), 1) == []

    session(folder, play)


def test_fast_typing_is_linted_once(tmp_path: Path) -> None:
    async def play(me: Editor) -> None:
        uri = me.open(tmp_path / "train.py", GOOD)
        await me.said(uri, 1)
        for length in range(len(GOOD), len(BAD)):
            me.type(uri, BAD[:length])
        last = me.type(uri, BAD)
        assert len(await me.said(uri)) == 1  # no text between the first and the last was worth a word
        assert me.published.empty()
        assert me.versions[uri] == last

    session(tmp_path, play)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("units", "start"), [((), 25), (("utf-16",), 25), (("utf-8",), 28), (("utf-32", "utf-16"), 24)]
)
def test_columns_count_in_the_units_of_the_client(tmp_path: Path, units: tuple[str, ...], start: int) -> None:
    text = "from torch.utils.data import DataLoader\n\n"
    text += "é, s = 1, '😀'; loader = DataLoader(data, persistent_workers=True)\n"

    async def play(me: Editor) -> None:
        uri = me.open(tmp_path / "train.py", text)
        [one] = await me.said(uri, 1)
        assert one.range.start == types.Position(2, start)
        assert one.range.end == types.Position(2, start + 41)
        assert "DL301" in await me.hover(uri, 2, start)
        assert await me.hover(uri, 2, start - 1) == ""
        if units in ((), ("utf-16",)):
            [fix, comment] = await me.actions(uri, one.range, ["quickfix"])
            assert me.after(fix) == text.replace(", persistent_workers=True", "")
            assert me.after(comment) == text.replace("True)", "True)  # noqa: DL301")

    session(tmp_path, play, units=units)


def test_one_repair_all_repairs_and_a_comment(tmp_path: Path) -> None:
    text = (
        BAD + "other = DataLoader(more, num_workers=0, prefetch_factor=2)\r\nthird = DataLoader(m, prefetch_factor=2)"
    )

    async def play(me: Editor) -> None:
        uri = me.open(tmp_path / "train.py", text)
        found = await me.said(uri, 1)
        assert [one.code for one in found] == ["DL301", "DL302", "DL302"]
        fix, comment = await me.actions(uri, found[0].range, ["quickfix"])
        assert (fix.title, fix.is_preferred) == ("DL301: Remove `persistent_workers`", True)
        assert list(fix.diagnostics or []) == [found[0]]
        assert me.after(fix) == text.replace(", persistent_workers=True", "")
        assert me.after(comment) == text.replace("=True)", "=True)  # noqa: DL301")
        assert lint_source(me.after(comment), "train.py")[0].code == "DL302"

        [everything] = await me.actions(uri, whole(), ["source.fixAll"])
        assert everything.kind == "source.fixAll.dataloader-lint"
        assert everything.edit is not None
        assert lint_source(me.after(everything), "train.py") == []
        assert me.after(everything).count("\r\n") == 1

        kinds = [one.kind for one in await me.actions(uri, found[1].range)]
        assert kinds == ["quickfix", "quickfix", "source.fixAll.dataloader-lint"]
        assert await me.actions(uri, whole(), ["refactor"]) == []
        assert await me.actions(uri, whole(), ["source.organizeImports"]) == []

        assert await me.said(uri, me.type(uri, me.after(everything))) == []
        assert await me.actions(uri, whole()) == []

    session(tmp_path, play)


def test_the_edit_for_all_findings_is_made_when_it_is_chosen(tmp_path: Path) -> None:
    async def play(me: Editor) -> None:
        uri = me.open(tmp_path / "train.py", BAD)
        await me.said(uri, 1)
        [everything] = await me.actions(uri, whole(), ["source.fixAll"])
        assert (everything.title, everything.edit) == ("Fix all safely fixable DataLoader findings in this file", None)
        assert me.after(await me.resolved(everything)) == GOOD
        fix, _ = await me.actions(uri, whole(), ["quickfix"])
        assert me.after(fix) == GOOD

        await me.said(uri, me.type(uri, BAD + "\n"))
        assert (await me.resolved(everything)).edit is None  # it was offered for another version
        assert (await me.resolved(types.CodeAction("of somebody else", data="text"))).edit is None

    session(tmp_path, play, resolves=["edit"])


def test_unsafe_repairs_say_so_and_are_left_out_of_all(tmp_path: Path) -> None:
    text = "from torch.utils.data import DataLoader, Dataset\n\n\n" + UNSAFE_PART
    # Of a list of unknown size a note is made, which has no fix.
    (tmp_path / "pyproject.toml").write_text('[tool.dataloader-lint]\nsamples = "5M"\n')
    (tmp_path / "requirements.txt").write_text("numpy>=2\n")

    async def play(me: Editor) -> None:
        uri = me.open(tmp_path / "train.py", text)
        await me.said(uri, 1)
        offered = await me.actions(uri, whole(), ["quickfix"])
        unsafe = [one for one in offered if "(unsafe: read the change)" in one.title]
        assert len(unsafe) == 1
        assert unsafe[0].is_preferred is False
        assert lint_source(me.after(unsafe[0]), "train.py") == []
        assert await me.actions(uri, whole(), ["source.fixAll"]) == []

    session(tmp_path, play)


UNSAFE_PART = """class Words(Dataset):
    def __init__(self, path):
        self.words = [str(line) for line in open(path)]

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        return self.words[index]


def make(path):
    return DataLoader(Words(path), num_workers=2)
"""


def test_hover_shows_the_page_of_a_finding_and_of_a_code_in_a_comment(tmp_path: Path) -> None:
    async def play(me: Editor) -> None:
        uri = me.open(tmp_path / "train.py", BAD + "x = 1  # like: DL201, DL999999\ny = 'DL201'\n")
        await me.said(uri, 1)
        page = await me.hover(uri, 2, 12)
        assert page.startswith("`DataLoader` raises ValueError")
        assert "# [DL301 persistent-workers-without-workers](https://" in page
        assert "## Use instead\n```python\n" in page
        assert await me.hover(uri, 0, 3) == ""
        assert "# [DL201 lambda-collate-fn](https://" in await me.hover(uri, 3, 16)
        assert await me.hover(uri, 3, 24) == ""
        assert await me.hover(uri, 4, 7) == ""
        assert await me.hover(uri, 99, 0) == ""

    session(tmp_path, play)


def test_a_file_that_does_not_parse_is_one_error_and_the_server_goes_on(tmp_path: Path) -> None:
    async def play(me: Editor) -> None:
        uri = me.open(tmp_path / "train.py", BAD + "def half(")
        [one] = await me.said(uri, 1)
        assert (one.code, one.severity) == ("DL000", types.DiagnosticSeverity.Error)
        assert one.range.start.line == 3
        assert await me.actions(uri, whole()) == []
        assert "unreadable-file" in await me.hover(uri, one.range.start.line, one.range.start.character)
        for strange in (
            "",
            "\0",
            "\ud800" + BAD,
            "# coding: nonsense\n" + BAD,
            "DataLoader" + "(" * 5000,
            "DataLoader" * 9,
        ):
            version = me.type(uri, strange)
            await me.said(uri, version)
            await me.actions(uri, whole())
        assert len(await me.said(uri, me.type(uri, BAD))) == 1

    session(tmp_path, play)


def test_an_error_in_a_rule_is_one_finding_and_the_server_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`sitecustomize` breaks a rule in the server's process, and then the engine."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import os\n"
        "if os.environ.get('BREAK') == 'rule':\n"
        "    import dataloader_lint.rules.arguments.dl302_prefetch_factor_without_workers as rule\n"
        "    def check(loader):\n        raise RuntimeError('broken on purpose')\n"
        "    rule.check = check\n"
        "elif os.environ.get('BREAK') == 'engine':\n"
        "    import dataloader_lint.engine.linter as linter\n"
        "    def examine(*_):\n        raise RuntimeError('broken on purpose')\n"
        "    linter.examine = examine\n"
    )

    async def with_rule(me: Editor) -> None:
        uri = me.open(tmp_path / "train.py", BAD)
        codes = [one.code for one in await me.said(uri, 1)]
        assert sorted(map(str, codes)) == ["DL301", "DL999"]
        fixes = [one for one in await me.actions(uri, whole(), ["quickfix"]) if "Remove" in one.title]
        assert [me.after(one) for one in fixes] == [GOOD]

    async def with_engine(me: Editor) -> None:
        uri = me.open(tmp_path / "train.py", BAD)
        [one] = await me.said(uri, 1)
        assert one.code == "DL999"
        assert "broken on purpose" in one.message
        assert await me.said(uri, me.type(uri, "")) == []

    for breaking, play in (("rule", with_rule), ("engine", with_engine)):
        monkeypatch.setenv("BREAK", breaking)
        session(tmp_path, play, site=[str(tmp_path / "site")])


def test_settings_come_from_the_nearest_pyproject_and_follow_it(tmp_path: Path) -> None:
    settings = tmp_path / "inner" / "pyproject.toml"
    settings.parent.mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.dataloader-lint]\nignore = ["DL301"]\n')

    async def play(me: Editor) -> None:
        uri = me.open(tmp_path / "inner" / "train.py", BAD)
        assert await me.said(uri, 1) == []
        settings.write_text("[tool.dataloader-lint]\n")
        change = types.FileEvent(settings.as_uri(), types.FileChangeType.Created)
        me.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        assert len(await me.said(uri, 1)) == 1

        settings.write_text('[tool.dataloader-lint]\nignroe = ["DL301"]\n')
        me.save(uri)
        assert len(await me.said(uri, 1)) == 1
        message = await asyncio.wait_for(me.messages.get(), PATIENCE)
        assert message.type is types.MessageType.Warning
        assert "did you mean 'ignore'?" in message.message
        me.save(uri)
        await me.said(uri, 1)
        assert me.messages.empty()  # once is enough

        settings.write_text('[tool.dataloader-lint]\nextend-exclude = ["train.py"]\n')
        me.save(uri)
        assert await me.said(uri, 1) == []

    session(tmp_path, play)


def test_unsaved_text_of_other_files_counts(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text("def workers():\n    return 2\n\nWORKERS = 2\n")
    main = "from torch.utils.data import DataLoader\nfrom parts import WORKERS\n\n"
    main += "loader = DataLoader(data, num_workers=WORKERS, persistent_workers=True)\n"

    async def play(me: Editor) -> None:
        uri = me.open(tmp_path / "train.py", main)
        assert await me.said(uri, 1) == []
        other = me.open(tmp_path / "parts.py", "WORKERS = 0\n")
        me.save(other)
        assert [one.code for one in await me.said(uri, 1)] == ["DL301"]
        me.type(other, "WORKERS = (")  # half-typed: what is on the disk counts
        me.save(other)
        assert await me.said(uri, 1) == []

    session(tmp_path, play)


def test_only_python_outside_of_libraries_is_linted(tmp_path: Path) -> None:
    async def play(me: Editor) -> None:
        text = me.open(tmp_path / "notes.md", BAD, "markdown")
        library = me.open(tmp_path / "venv" / "lib" / "site-packages" / "thing.py", BAD)
        assert await me.said(library, 1) == []
        uri = me.open(tmp_path / "train.py", BAD)
        assert len(await me.said(uri, 1)) == 1
        assert await me.actions(text, whole()) == []
        assert await me.hover(text, 2, 12) == ""

    session(tmp_path, play)


def lint(*arguments: str, folder: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [path, str(ROOT)]))}
    command = [sys.executable, "-m", "dataloader_lint", *arguments]
    return processes.run(command, cwd=folder, env=environment, input="")


def test_without_the_extra_one_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError('no pygls', name='pygls')\n")
    done = lint("lsp", folder=tmp_path, path=str(tmp_path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "dataloader-lint: the language server needs pygls 2 or newer: pip install 'dataloader-lint[lsp]'"
    ]


def test_a_directory_called_lsp_can_be_linted(tmp_path: Path) -> None:
    (tmp_path / "lsp").mkdir()
    (tmp_path / "lsp" / "train.py").write_text(BAD)
    assert "DL301" in lint("./lsp", folder=tmp_path).stdout
    assert "DL301" in lint("--select", "DL3", "lsp", folder=tmp_path).stdout
    both = lint("lsp", ".", folder=tmp_path)
    assert (both.returncode, both.stdout) == (2, "")
    assert "./lsp" in both.stderr
    assert lint("lsp", "--help", folder=tmp_path).returncode == 0


def test_a_client_that_goes_away_ends_the_server(tmp_path: Path) -> None:
    done = lint("lsp", "--stdio", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Traceback" not in done.stderr
