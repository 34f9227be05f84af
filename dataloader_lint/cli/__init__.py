"""The command `dataloader-lint`."""

from dataloader_lint.cli.command import main

__all__ = ["main"]
