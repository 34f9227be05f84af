"""Settings and command lines."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call

ROWS = {
    "absl.app.run": Call(runs_command_line=True),
    "addict.Dict": Call(gives="settings"),
    "argparse.Namespace": Call(gives="settings"),
    "box.Box": Call(gives="settings"),
    "clize.run": Call(runs_command_line=True),
    "defopt.run": Call(runs_command_line=True),
    "easydict.EasyDict": Call(gives="settings"),
    "fire.Fire": Call(runs_command_line=True),
    "fvcore.common.config.CfgNode": Call(gives="settings"),
    "ml_collections.ConfigDict": Call(gives="settings"),
    "ml_collections.config_dict.ConfigDict": Call(gives="settings"),
    "plac.call": Call(runs_command_line=True),
    "typer.run": Call(runs_command_line=True),
    "types.SimpleNamespace": Call(gives="settings"),
    "tyro.cli": Call(runs_command_line=True),
    "yacs.config.CfgNode": Call(gives="settings"),
}
