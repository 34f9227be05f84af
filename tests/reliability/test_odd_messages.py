"""The language server answers each request, whatever it is sent, and goes on."""

from __future__ import annotations

import json
import os
import queue
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls.lsp.server")

from benchmarks import processes

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 90  # seconds; the machine may be busy
BAD = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, persistent_workers=True, num_workers=0)\n"


class Client:
    """Speaks JSON-RPC without any library that would refuse to send what makes no sense."""

    def __init__(self, to_server: int, from_server: int) -> None:
        self._to, self._from = to_server, os.fdopen(from_server, "rb")
        self._number = 0
        self.offered: dict[str, Any] = {}  # what the server can do
        self._received: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while header := self._from.readline():
            if header.startswith(b"Content-Length: "):
                size = int(header.split()[1])
            elif not header.strip():
                self._received.put(json.loads(self._from.read(size)))

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._to, data) :]

    def notify(self, method: str, params: object) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: object) -> dict[str, Any]:
        """The answer to a request: it holds `result` or `error`."""
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params})
        return self.answer(self._number)

    def answer(self, number: object) -> dict[str, Any]:
        """The answer with this number, or with none."""
        while True:
            message = self._received.get(timeout=PATIENCE)
            if message.get("id", 0) == number and "method" not in message:
                return message

    def request(self, method: str) -> dict[str, Any]:
        """The next request of the server for this."""
        while (message := self._received.get(timeout=PATIENCE)).get("method") != method:
            pass
        return message

    def findings(self, uri: str, version: int | None = None) -> list[str]:
        """The codes of the next findings that are published for a document."""
        while True:
            message = self._received.get(timeout=PATIENCE)
            params = message.get("params", {})
            if message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uri:
                if version in (None, params.get("version")):
                    return [one["code"] for one in params["diagnostics"]]

    def open(self, uri: str, text: str = BAD, version: object = 1) -> None:
        document = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, text: str, version: int) -> None:
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})


@contextmanager
def server(folder: Path, can: dict[str, Any] | None = None) -> Iterator[Client]:
    """A server in a folder, behind two named pipes, that must end by itself when it is asked to.

    `can` is what the client can do.
    """
    pipes = [folder.parent / f"{folder.name}.{name}" for name in ("in", "out")]
    for pipe in pipes:
        os.mkfifo(pipe)
    command = f'exec "{sys.executable}" -m dataloader_lint lsp < "{pipes[0]}" > "{pipes[1]}"'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with processes.started(["/bin/sh", "-c", command], cwd=folder, env=environment) as running:
        client = Client(os.open(pipes[0], os.O_RDWR), os.open(pipes[1], os.O_RDWR))
        root = {"processId": None, "rootUri": folder.as_uri(), "capabilities": can or {}}
        client.offered = client.ask("initialize", root)["result"]["capabilities"]
        client.notify("initialized", {})
        yield client
        assert "error" not in client.ask("shutdown", None)
        assert "error" in client.ask("textDocument/hover", at("file:///a.py", 0, 0))
        client.notify("exit", None)
        assert running.wait() == 0


def at(uri: object, line: object, character: object) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def actions(uri: str, start: tuple[object, object], end: tuple[object, object]) -> dict[str, Any]:
    places = [{"line": line, "character": character} for line, character in (start, end)]
    place = dict(zip(("start", "end"), places, strict=True))
    return {"textDocument": {"uri": uri}, "range": place, "context": {"diagnostics": []}}


def goes_on(client: Client, folder: Path) -> None:
    """A good document is linted, and its requests get results."""
    goes_on.number += 1  # type: ignore[attr-defined]
    uri = (folder / f"good_{goes_on.number}.py").as_uri()  # type: ignore[attr-defined]
    client.open(uri)
    assert client.findings(uri) == ["DL301"]
    assert "DL301" in client.ask("textDocument/hover", at(uri, 2, 12))["result"]["contents"]["value"]
    assert client.ask("textDocument/codeAction", actions(uri, (2, 12), (2, 12)))["result"]


goes_on.number = 0  # type: ignore[attr-defined]

URIS = (
    "file:///%00.py",
    "file:///a%00b/c.py",
    "file:///",
    "file://",
    "",
    "untitled:Untitled-1",
    "vscode-notebook-cell:/a/b.ipynb#W0sZmlsZQ%3D%3D",
    "file:///%zz%",
    "file:///%ff%fe.py",
    "file://server/share/x.py",
    "file://[::1/x.py",
    "http://example.org/x.py",
    "git:/a/b.py?%7B%7D",
    "file:///c%3A/x.py",
    "file:///" + "x" * 5_000 + ".py",
    "file:///dev/stdin",
    "file:///a\nb.py",
    "file:///\ud800.py",
    "not a uri at all",
)


def test_uris(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    os.mkfifo(folder / "pipe.py")
    with server(folder) as client:
        for uri in (*URIS, (folder / "pipe.py").as_uri()):
            client.open(uri)
            client.change(uri, BAD + "\n", 2)
            assert {"result", "error"} & set(client.ask("textDocument/hover", at(uri, 2, 12))), uri
            assert {"result", "error"} & set(client.ask("textDocument/codeAction", actions(uri, (0, 0), (9, 9)))), uri
        goes_on(client, folder)  # while all of them are open
        for uri in URIS:
            client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        goes_on(client, folder)


ODD = (-1, -(2**31), 2**31 - 1, 2**31, 2**70, 1.5, 1e400, True, None, "1", [], {})


def test_positions_and_ranges(tmp_path: Path) -> None:
    with server(tmp_path) as client:
        uri = (tmp_path / "a.py").as_uri()
        client.open(uri)
        for value in ODD:
            for line, character in ((value, 0), (0, value), (value, value)):
                for method, params in (
                    ("textDocument/hover", at(uri, line, character)),
                    ("textDocument/codeAction", actions(uri, (line, character), (2, 5))),
                    ("textDocument/codeAction", actions(uri, (2, 5), (line, character))),
                ):
                    assert {"result", "error"} & set(client.ask(method, params)), (method, value)
        assert client.ask("textDocument/codeAction", actions(uri, (2, 50), (0, 0)))["result"] is not None
        for params in (None, {}, [], 7, "x", {"textDocument": None}, {"textDocument": {"uri": 7}}, {"position": {}}):
            assert {"result", "error"} & set(client.ask("textDocument/hover", params)), params
            client.notify("textDocument/didChange", params)
            client.notify("textDocument/didOpen", params)
        for method in ("no/such", "", "textDocument/definition", "$/odd", "initialize"):
            assert {"result", "error"} & set(client.ask(method, {})), method
            client.notify(method, {})
        goes_on(client, tmp_path)


def test_documents_that_are_not_open_or_open_twice(tmp_path: Path) -> None:
    with server(tmp_path) as client:
        unknown, twice = (tmp_path / "unknown.py").as_uri(), (tmp_path / "twice.py").as_uri()
        client.change(unknown, BAD, 3)
        client.notify("textDocument/didClose", {"textDocument": {"uri": unknown}})
        client.notify("textDocument/didSave", {"textDocument": {"uri": unknown}})
        assert client.ask("textDocument/hover", at(unknown, 0, 0))["result"] is None
        assert client.ask("textDocument/codeAction", actions(unknown, (0, 0), (9, 9)))["result"] == []
        client.open(twice, "x = 1\n", 1)
        client.open(twice, BAD, 2)
        assert client.findings(twice, 2) == ["DL301"]
        client.notify("textDocument/didClose", {"textDocument": {"uri": twice}})
        client.change(twice, BAD, 3)
        client.notify("$/cancelRequest", {"id": 99})
        goes_on(client, tmp_path)


@pytest.mark.parametrize(
    "text", [BAD + "x = '\ud800'\n", "\ufeff" + BAD, BAD + "\0", BAD + "#" * 2_000_000, "\udfff" * 9]
)
def test_texts(tmp_path: Path, text: str) -> None:
    with server(tmp_path) as client:
        uri = (tmp_path / "a.py").as_uri()
        client.open(uri, text)
        client.findings(uri)
        assert {"result", "error"} & set(client.ask("textDocument/hover", at(uri, 2, 12)))
        assert {"result", "error"} & set(client.ask("textDocument/codeAction", actions(uri, (0, 0), (9, 9))))
        goes_on(client, tmp_path)


def test_ten_thousand_edits_and_the_last_one_counts(tmp_path: Path) -> None:
    chance = random.Random(5)
    with server(tmp_path) as client:
        uri = (tmp_path / "a.py").as_uri()
        client.open(uri, "")
        for version in range(2, 10_000):
            cut = chance.randrange(len(BAD))
            client.change(uri, BAD[:cut] + chance.choice("([{'\"\\\n#x ") + BAD[cut:], version)
            if version % 1_000 == 0:
                assert {"result", "error"} & set(client.ask("textDocument/hover", at(uri, 2, 12)))
        client.change(uri, BAD, 10_000)
        assert client.findings(uri, 10_000) == ["DL301"]
        goes_on(client, tmp_path)


def test_messages_that_are_too_long_are_skipped_and_refused(tmp_path: Path) -> None:
    with server(tmp_path) as client:
        for _ in range(2):
            client.write(b"Content-Length: 70000000\r\n\r\n")
            assert client.answer(None)["error"]["code"] == -32600  # before the message itself has come
            for _ in range(70):
                client.write(b"{" * 1_000_000)
            goes_on(client, tmp_path)
        client.write(b"x" * 100_000 + b"\r\ncontent-length :2\nX-Odd: 1\r\n\r\n{}")
        goes_on(client, tmp_path)
        client.write(b"Content-Length: 0\r\n\r\n")
        goes_on(client, tmp_path)


@pytest.mark.parametrize("length", ["100000000000000", "9" * 5_000])
def test_no_announced_length_ends_the_server(tmp_path: Path, length: str) -> None:
    asked = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": null, "capabilities": {}}}'
    sent = tmp_path / "sent"
    sent.write_bytes(
        b"Content-Length: %d\r\n\r\n" % len(asked) + asked + f"Content-Length: {length}\r\n\r\n".encode() + b"{}"
    )
    command = f'ulimit -v 4000000; exec "{sys.executable}" -m dataloader_lint lsp < "{sent}"'
    done = processes.run(["/bin/sh", "-c", command], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    assert "a message of more than 67,108,864 bytes was skipped" in done.stdout


def test_a_request_that_is_cancelled_is_answered_so(tmp_path: Path) -> None:
    with server(tmp_path) as client:
        uri = (tmp_path / "a.py").as_uri()
        client.open(uri, BAD * 300)
        for number in ("first", "second"):
            asked = actions(uri, (0, 0), (9, 9))
            client.send({"id": number, "method": "textDocument/codeAction", "params": asked})
        client.notify("$/cancelRequest", {"id": "first"})
        assert client.answer("first")["error"]["code"] == -32800
        assert client.answer("second")["result"]
        client.notify("$/cancelRequest", {"id": "first"})
        goes_on(client, tmp_path)


def test_an_end_in_the_middle_of_the_work(tmp_path: Path) -> None:
    with server(tmp_path) as client:
        for number in range(20):
            uri = (tmp_path / f"a{number}.py").as_uri()
            client.open(uri, BAD * 50)
            client.send(
                {"id": f"late {number}", "method": "textDocument/codeAction", "params": actions(uri, (0, 0), (9, 9))}
            )
