"""The server that assistants start: the official SDK around `tools`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from dataloader_lint import __version__
from dataloader_lint.mcp.tools import Found, RefusedError, Tools
from dataloader_lint.source.pyproject import ConfigurationError

_INSTRUCTIONS = (
    "Finds PyTorch DataLoader and Dataset pitfalls: workers that run out of memory or hang, what cannot be pickled, "
    "duplicated data, blocking copies. Lint after changing code that makes a Dataset or a DataLoader; read `because` "
    "before editing. Notes need no change."
)


def make_server(root: str, *, may_run_code: bool = False) -> MCPServer:
    """A server with the tools for the project in `root`; the doctor, which runs code, only where that is allowed."""
    tools = Tools(root)
    server = MCPServer("dataloader-lint", version=__version__, instructions=_INSTRUCTIONS)

    @server.tool(description="Lint files or folders of the project, or a text as if it stood in `filename`.")
    def lint(paths: list[str] | None = None, text: str = "", filename: str = "") -> Found:
        return _answered(lambda: tools.lint(paths or [], text, filename))

    @server.tool(description="Explain a rule (DL101), an error message, a traceback or a symptom.")
    def explain(question: str) -> Found:
        return tools.explain(question)

    @server.tool(description="Show as a diff what fixes would change; nothing is written. Unsafe ones on request.")
    def fix(paths: list[str] | None = None, unsafe: bool = False) -> Found:
        return _answered(lambda: tools.fix(paths or [], unsafe))

    if may_run_code:

        @server.tool(description="Run a training script and measure its DataLoaders: memory, waits, start-up.")
        def doctor(script: str, arguments: list[str] | None = None) -> Found:
            return _answered(lambda: tools.doctor(script, arguments or []))

    return server


def _answered(ask: Callable[[], Found]) -> Found:
    """The answer of a tool; what is wrong with the request goes to the assistant as one line."""
    try:
        return ask()
    except (RefusedError, ConfigurationError, OSError) as error:
        raise ToolError(" ".join(str(error).split())) from None


def main(arguments: Sequence[str]) -> int:
    """Serve on standard input and output until the client is gone; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="dataloader-lint mcp",
        description="Speak the Model Context Protocol on standard input and output, for coding assistants.",
    )
    parser.add_argument("--root", default=os.curdir, metavar="DIR", help="the project; nothing outside it is read (.)")
    help_of_doctor = "offer the doctor, too, which runs scripts of the project"
    parser.add_argument("--allow-doctor", action="store_true", help=help_of_doctor)
    options = parser.parse_args(arguments)
    if not os.path.isdir(options.root):
        parser.error(f"no such directory: {options.root}")
    make_server(options.root, may_run_code=options.allow_doctor).run()
    return 0
