"""Clients that can do more or less: each gets findings and a quick fix that it understands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls.lsp.server")

from reliability.test_odd_messages import BAD, Client, actions, server

pytestmark = pytest.mark.thorough

GOOD = BAD.replace(", persistent_workers=True", "")

LITERALS = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix", "source", "source.fixAll"]}}}
VS_CODE = {
    "general": {"positionEncodings": ["utf-16"], "staleRequestSupport": {"cancel": True, "retryOnContentModified": []}},
    "notebookDocument": {"synchronization": {"dynamicRegistration": True, "executionSummarySupport": True}},
    "textDocument": {
        "codeAction": {
            **LITERALS,
            "dynamicRegistration": True,
            "isPreferredSupport": True,
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit", "command"]},
        },
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": False, "codeDescriptionSupport": True},
        "synchronization": {"dynamicRegistration": True, "willSave": True, "didSave": True},
    },
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {"groupsOnLabel": True}},
        "workspaceFolders": True,
    },
}
NEOVIM = {
    "general": {"positionEncodings": ["utf-8", "utf-16", "utf-32"]},
    "textDocument": {
        "codeAction": {
            **LITERALS,
            "dataSupport": True,
            "isPreferredSupport": True,
            "resolveSupport": {"properties": ["edit", "command"]},
        },
        "publishDiagnostics": {"relatedInformation": True, "dataSupport": True},
    },
    "workspace": {
        "applyEdit": True,
        "didChangeWatchedFiles": {"dynamicRegistration": False},
        "workspaceEdit": {"resourceOperations": ["rename", "create", "delete"]},
    },
}
# No notebooks, no actions but commands, no versions in edits, and whole texts only.
PLAIN: dict[str, Any] = {"workspace": {"applyEdit": True}}


def applied(text: str, edits: list[dict[str, Any]], units: str) -> str:
    """A text without line ends of its own kind, after edits."""
    name, width = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}[units]
    lines = [*text.splitlines(keepends=True), ""]

    def offset(place: dict[str, int]) -> int:
        before = lines[place["line"]].encode(name)[: place["character"] * width].decode(name)
        return len("".join(lines[: place["line"]])) + len(before)

    for edit in sorted(edits, key=lambda one: offset(one["range"]["start"]), reverse=True):
        start, end = (offset(edit["range"][which]) for which in ("start", "end"))
        text = text[:start] + edit["newText"] + text[end:]
    return text


def asked_for(client: Client, command: dict[str, Any]) -> list[dict[str, Any]]:
    """What a server asks to change once its command is chosen."""
    client.send({"id": "chosen", "method": "workspace/executeCommand", "params": command})
    asked = client.request("workspace/applyEdit")
    client.send({"id": asked["id"], "result": {"applied": True}})
    assert "error" not in client.answer("chosen")
    [edits] = asked["params"]["edit"]["changes"].values()
    return edits  # type: ignore[no-any-return]


def edits_of(action: dict[str, Any], uri: str) -> list[dict[str, Any]]:
    """What an action changes in a document, in the form that the client takes."""
    edit = action["edit"]
    if "changes" in edit:
        return edit["changes"][uri]  # type: ignore[no-any-return]
    [change] = edit["documentChanges"]
    assert change["textDocument"]["uri"] == uri
    return change["edits"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("can", "units", "takes_parts"),
    [(VS_CODE, "utf-16", True), (NEOVIM, "utf-8", True), (PLAIN, "utf-16", False)],
    ids=["VS Code", "Neovim", "plain"],
)
def test_each_gets_findings_and_a_quick_fix(tmp_path: Path, can: dict[str, Any], units: str, takes_parts: bool) -> None:
    with server(tmp_path, can) as client:
        uri = (tmp_path / "train.py").as_uri()
        line = BAD.rpartition("loader =")[0].count("\n")
        client.open(uri, GOOD)
        assert client.findings(uri) == []
        if takes_parts:
            column = GOOD.splitlines()[line].index(", num_workers")
            place = {"line": line, "character": column}
            before = {"line": line, "character": 0}
            client.notify(
                "textDocument/didChange",
                {
                    "textDocument": {"uri": uri, "version": 2},
                    "contentChanges": [
                        {
                            "range": {"start": place, "end": place},
                            "rangeLength": 0,
                            "text": ", persistent_workers=True",
                        },
                        {"range": {"start": before, "end": before}, "text": "s = 'é😀'; "},
                    ],
                },
            )
            text = BAD.replace("loader =", "s = 'é😀'; loader =")
        else:
            text = BAD
            client.change(uri, text, 2)
        assert client.findings(uri) == ["DL301"]
        offered = client.ask("textDocument/codeAction", actions(uri, (line, 0), (line, 60)))["result"]
        fix, everything = offered[0], offered[-1]
        fixed = text.replace(", persistent_workers=True", "")
        if can is PLAIN:
            assert fix["title"] == "DL301: Remove `persistent_workers`"
            assert applied(text, asked_for(client, fix), units) == fixed
            client.change(uri, text + "\n", 3)
            assert client.findings(uri) == ["DL301"]
            assert "error" not in client.ask("workspace/executeCommand", fix)  # offered for another text: no edit
            return
        assert (fix["kind"], fix["isPreferred"]) == ("quickfix", True)
        assert applied(text, edits_of(fix, uri), units) == fixed
        assert "edit" not in everything
        everything = client.ask("codeAction/resolve", everything)["result"]
        assert applied(text, edits_of(everything, uri), units) == fixed


def test_notebooks_are_offered_to_those_who_can_show_them(tmp_path: Path) -> None:
    for can in (VS_CODE, NEOVIM, PLAIN):
        folder = tmp_path / str(len(can))
        folder.mkdir()
        with server(folder, can) as client:
            assert ("notebookDocumentSync" in client.offered) == (can is VS_CODE)
            assert client.offered["textDocumentSync"]["change"] == 2
            assert client.offered["positionEncoding"] == ("utf-8" if can is NEOVIM else "utf-16")
