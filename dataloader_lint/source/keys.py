"""The keys of `[tool.dataloader-lint]`, in the order in which docs/settings.md shows them.

The one table behind the file, the command line, flake8's options and that page.
"""

from __future__ import annotations

from dataloader_lint.source.key import (
    BYTES,
    CHOICE,
    CODES,
    CODES_BY_GLOB,
    COUNTS_BY_CLASS,
    FLAG,
    FOLDER,
    FOLDERS,
    LEVELS_BY_CODE,
    NAMES,
    NUMBER,
    PATTERNS,
    VERSIONS,
    Key,
)

OUTPUT_FORMATS = (
    "concise",
    "full",
    "grouped",
    "json",
    "json-lines",
    "sarif",
    "github",
    "gitlab",
    "azure",
    "junit",
    "pylint",
    "rdjson",
)
LEVELS = ("error", "warning", "memory", "speed", "opinion", "note")
START_METHODS = ("auto", "fork", "spawn", "forkserver")

KEYS = {
    key.name: key
    for key in (
        Key(
            "select",
            CODES,
            "[]",
            "run these rules only",
            "The rules to run: codes, beginnings of codes, names of rules, and [named selections](#named-selections). "
            "If empty, the rules that are on by default run. The more specific prefix wins. Opt-in rules need their "
            "full code, their name, or a named selection.",
            'select = ["py314", "DL301"]',
        ),
        Key(
            "ignore",
            CODES,
            "[]",
            "do not run these rules",
            "The rules not to run. It wins where `select` names the same prefix.",
            'ignore = ["DL206"]',
        ),
        Key(
            "extend-select",
            CODES,
            "[]",
            "run these too; opt-in rules by full code",
            "Rules to run besides those of `select`. This is how opt-in rules are turned on.",
            'extend-select = ["DL306", "DL309"]',
        ),
        Key(
            "extend-ignore",
            CODES,
            "[]",
            "do not run these rules either",
            "Rules not to run, besides those of `ignore`.",
            'extend-ignore = ["DL501"]',
        ),
        Key(
            "preview",
            FLAG,
            "false",
            "run new rules, which are not on by default yet",
            "Runs new rules too. A new rule stays in preview until the next major version (see "
            "[Versions](versioning.md)).",
            "preview = true",
        ),
        Key(
            "per-file-ignores",
            CODES_BY_GLOB,
            "{}",
            "do not run these rules on files that match",
            "Rules that do not run on some files, whatever selects them. A glob with a slash is a path from the folder "
            "of the pyproject.toml, and its `*` also matches slashes; a glob without one is the name of a file. `**/` "
            "matches no folder as well as several, and `{a,b}` is either of the two. The "
            "name of a folder stands for everything in it. A file that cannot be read is still reported unless "
            "`DL000` itself is listed.",
            'per-file-ignores = { "tests" = ["DL206", "DL306"], "train_*.py" = ["DL101"] }',
        ),
        Key(
            "severity",
            LEVELS_BY_CODE,
            "{}",
            "give findings of these rules another level",
            "The level of findings, by code or beginning of a code, instead of the rule's own. The more specific "
            "prefix wins. See [levels](#levels).",
            'severity = { DL101 = "error", DL4 = "opinion" }',
            choices=LEVELS,
        ),
        Key(
            "fail-on",
            CHOICE,
            '"opinion"',
            "exit with 1 only for findings of this level or worse (opinion, so that notes do not count)",
            "The mildest level that makes the command exit with 1. Milder findings are still reported. Notes count "
            "only with `note`.",
            'fail-on = "warning"',
            choices=LEVELS,
        ),
        Key(
            "notes",
            FLAG,
            "true",
            "report notes: what is true but small, or of unknown size (on)",
            "Reports notes: findings that are true, but small, of unknown size, or without an effect that anybody saw. "
            "The exit code does not count them, unless `fail-on` is `note`. Where a terminal has no room for them, "
            "their number is shown, and `--full` shows each of them.",
            "notes = false",
            flake8=True,
        ),
        Key(
            "fixable",
            CODES,
            '["all"]',
            "fix findings of these rules only",
            "The rules whose findings `--fix` may fix.",
            'fixable = ["DL3"]',
        ),
        Key(
            "unfixable",
            CODES,
            "[]",
            "never fix findings of these rules",
            "Rules whose findings are reported, but never fixed. It wins where `fixable` names the same prefix.",
            'unfixable = ["DL206"]',
        ),
        Key(
            "fix",
            FLAG,
            "false",
            "fix what can be fixed safely, and write the files",
            "Fixes files on every run, as `--fix` does; `--no-fix` overrides it.",
            "fix = true",
        ),
        Key(
            "unsafe-fixes",
            FLAG,
            "false",
            "also apply unsafe fixes, which may change behavior",
            "Counts unsafe fixes as fixes, as `--unsafe-fixes` does; `--no-unsafe-fixes` overrides it.",
            "unsafe-fixes = true",
        ),
        Key(
            "show-fixes",
            FLAG,
            "false",
            "list what was fixed, file by file",
            "Lists the fixes that were made, as `--show-fixes` does; `--no-show-fixes` overrides it.",
            "show-fixes = true",
        ),
        Key(
            "exclude",
            PATTERNS,
            "the usual folders of tools, environments and builds",
            "exclude these instead of the defaults",
            "Names and globs of files and folders to leave out when a folder is walked, instead of the defaults "
            "(`.git`, `.venv`, `build`, `node_modules`, ...). A glob with a slash is a path from the folder of the "
            "pyproject.toml, in which `**/` matches no folder as well as several; `{a,b}` is either of the two. "
            "Files and folders named on the command line are looked at all the same, "
            "unless with `--force-exclude`, which the pre-commit hooks give.",
            'exclude = ["vendored", "experiments/old_*"]',
        ),
        Key(
            "extend-exclude",
            PATTERNS,
            "[]",
            "exclude these too",
            "Additional patterns to exclude.",
            'extend-exclude = ["third_party"]',
        ),
        Key(
            "ignore-noqa",
            FLAG,
            "false",
            "report what `# noqa` comments suppress, too",
            "Reports what `# noqa` and `# flake8: noqa` comments suppress, too.",
            "ignore-noqa = true",
        ),
        Key(
            "respect-gitignore",
            FLAG,
            "true",
            "skip what .gitignore files name",
            "Skips files and folders that `.gitignore` files name.",
            "respect-gitignore = false",
        ),
        Key(
            "cache-dir",
            FOLDER,
            "`.dataloader_lint_cache` in the root of the project",
            "cache directory (.dataloader_lint_cache in the project)",
            "The cache directory, from the folder of the pyproject.toml.",
            'cache-dir = ".cache/dataloader-lint"',
        ),
        Key(
            "output-format",
            CHOICE,
            '"full"',
            "how to show findings (full)",
            "How findings are shown. Of several pyproject.toml files, that of the folder counts in which the command "
            "is run.",
            'output-format = "concise"',
            choices=OUTPUT_FORMATS,
        ),
        Key(
            "start-method",
            CHOICE,
            '"auto"',
            "how the programs start their workers (auto: as their platforms do)",
            "How the programs start their workers. `auto` checks against the defaults of all platforms. With "
            "`fork`, rules about what fails only in spawned workers do not run. With `spawn` or `forkserver`, DL106 is "
            "on, and DL216 and DL503, which are about forked workers, are off.",
            'start-method = "spawn"',
            choices=START_METHODS,
            flake8=True,
        ),
        Key(
            "target-python",
            VERSIONS,
            "`requires-python` of the nearest pyproject.toml that has one, up to that with the table",
            "the Python versions that the programs run on, such as '>=3.12'",
            "The Python versions that the programs run on, written as in `requires-python`. From 3.14 on, workers are "
            "not forked by default on any platform, so DL106 is on where no older version is named.",
            'target-python = ">=3.12"',
            flake8=True,
        ),
        Key(
            "max-workers",
            NUMBER,
            "16",
            "how many workers are too many for DL305 (16)",
            "DL305 (opt-in) reports loaders with more workers than this.",
            "max-workers = 32",
            flake8=True,
        ),
        Key(
            "max-prefetched-batches",
            NUMBER,
            "64",
            "how many batches kept ready are too many for DL307 (64)",
            "DL307 (opt-in) reports loaders whose workers keep more batches ready than this, `num_workers` times "
            "`prefetch_factor`.",
            "max-prefetched-batches = 128",
            flake8=True,
        ),
        Key(
            "samples",
            COUNTS_BY_CLASS,
            "{}",
            "how many samples the Datasets have, such as 5M, or '*Caption*:3M' for some classes",
            "How many samples the Datasets have: one number for all, or a table of class names and numbers. `K`, `M` "
            "and `B` stand for thousands, millions and billions; `*` in a name matches anything, and of several names "
            "that match a class the longest one counts. DL101, DL102 and DL103 estimate from it what workers copy. "
            "Without it they know the sizes of well-known data sets that the code names.",
            'samples = { "*Caption*" = "3M", "Clicks" = "250k" }',
            flake8=True,
        ),
        Key(
            "memory-threshold",
            BYTES,
            '"64MB"',
            "how much a worker may copy before it is no longer a note (64MB)",
            "DL101, DL102 and DL103 are at level `memory` where the estimated size of what each worker copies is at "
            "least this, and notes below it or where nothing is known of the size. A size has a unit: `B`, `KB`, `MB`, "
            "`GB` and `TB`, or `KiB` to `TiB` for powers of 1,024.",
            'memory-threshold = "250MB"',
            flake8=True,
        ),
        Key(
            "extend-dataloaders",
            NAMES,
            "[]",
            "take these for torch's DataLoader, such as mylib.data.FastLoader",
            "Classes and functions of other libraries, or of yours, that take the arguments of "
            "`torch.utils.data.DataLoader` and make one, by the qualified names under which they are imported or, in "
            "the project itself, defined. Subclasses of `DataLoader` whose source is in the project need no entry. Nor "
            "do `StatefulDataLoader` of torchdata and the loaders of MosaicML Streaming, litdata, webdataset, "
            "MONAI, timm, PyG, DGL, torchio, schnetpack and speechbrain.\n\n"
            "Two names stand for loaders of libraries that copy these arguments: `mindspore` for "
            "`mindspore.dataset.dataloader.DataLoader`, and `spdl` for `spdl.dataloader.get_pytorch_dataloader`, whose "
            "`num_workers` is 1 by default. SPDL 0.8 pickles the Dataset under each start method, rejects "
            "`persistent_workers` and `worker_init_fn`, and makes 1 worker of 0; the rules speak of torch there.\n\n"
            "Do not add these, as what the rules say of workers would be wrong for them:\n\n"
            "| Loader | Why |\n|---|---|\n"
            "| `dataloader_rs.PyDataloader` 0.2 | its workers are threads: nothing is pickled or copied; the third "
            "argument is `prefetch_depth` |\n"
            "| `torchdata.nodes` 0.11 | `Loader` takes a graph of nodes; `ParallelMapper` takes a function instead of "
            "a Dataset, and uses threads by default |\n"
            "| `iter_torch_batches` of Ray Data | no `num_workers`: Ray's own processes read the data |",
            'extend-dataloaders = ["mylib.data.FastLoader", "spdl"]',
            flake8=True,
        ),
        Key(
            "extend-datasets",
            NAMES,
            "[]",
            "take these for Datasets of torch, such as mylib.data.TableDataset",
            "Classes that are map-style Datasets, by qualified name; classes that derive from them are Datasets, too. "
            "Subclasses of torch's `Dataset` whose source is in the project need no entry. Nor do the Datasets of "
            "well-known libraries, such as mmengine, fairseq, dgl and speechbrain, and a class with a `__getitem__` "
            "whose base is imported under a name that ends in `Dataset`, in a file that imports torch.",
            'extend-datasets = ["mylib.data.TableDataset"]',
            flake8=True,
        ),
        Key(
            "extend-iterable-datasets",
            NAMES,
            "[]",
            "take these for IterableDatasets of torch, such as mylib.data.Stream",
            "The same for classes that are iterable-style Datasets.",
            'extend-iterable-datasets = ["mylib.data.Stream"]',
            flake8=True,
        ),
        Key(
            "src",
            FOLDERS,
            "[]",
            "look for modules of the project in these folders, too",
            "Folders, relative to that of the pyproject.toml, in which imported modules of the project are searched. "
            "Already searched: the importing file's folder and those above it, `src` of the project, and folders that "
            "the file, or a module beside it, adds to `sys.path`. Use this setting for other import roots.",
            'src = ["libs/core/src", "tools"]',
        ),
    )
}
