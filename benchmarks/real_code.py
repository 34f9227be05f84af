"""Lints a pinned list of released packages: what is found, where, and how long it takes.

    python benchmarks/real_code.py                       all packages, one line each, then findings per rule
    python benchmarks/real_code.py --only timm --only TTS
    python benchmarks/real_code.py --json found.json     everything that was found, for other tools
    python benchmarks/real_code.py --download-only

Packages are downloaded with pip once, unpacked and never installed. All of it lies in `benchmarks/.cache/`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tarfile
import time
import venv
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from benchmarks import processes

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 900  # seconds for a code base; the largest takes about 30 on one idle core
CACHE = ROOT / "benchmarks" / ".cache"
DOWNLOADS = CACHE / "downloads"
UNPACKED = CACHE / "unpacked"

# Wheels for one platform, so that every machine reads the same files; never run, so any Python they ask for will do.
WHEELS_FOR = [
    "--only-binary=:all:",
    "--ignore-requires-python",
    "--python-version=3.11",
    "--platform=manylinux2014_x86_64",
    "--platform=manylinux1_x86_64",
]
# Some old releases need old tools: 24.0 is the last pip that reads their metadata, and with setuptools beside it (no
# build isolation) an sdist's declared build requirements, which may be all of torch, need not be downloaded.
OLD_TOOLS = ["pip==24.0", "setuptools==80.9.0", "wheel==0.45.1"]


class Origin(Enum):
    """How pip gets a package."""

    WHEEL = "wheel"
    SDIST = "sdist"  # published without a wheel
    LEGACY_WHEEL = "legacy wheel"  # a wheel whose metadata pip refuses since 24.1


@dataclass(frozen=True, slots=True)
class Package:
    """A release on PyPI."""

    name: str
    version: str
    origin: Origin = Origin.WHEEL

    @property
    def folder(self) -> Path:
        """Where the release lies unpacked."""
        return UNPACKED / f"{self.name}-{self.version}"


PACKAGES = [
    Package("anomalib", "2.7.0"),
    Package("asteroid", "0.7.0"),
    Package("basicsr", "1.4.2", Origin.SDIST),
    Package("catalyst", "22.4", Origin.LEGACY_WHEEL),
    Package("easyocr", "1.7.2"),
    Package("flair", "0.15.1"),
    Package("gluonts", "0.17.0"),
    Package("kornia", "0.9.0"),
    Package("lightning", "2.6.6"),
    Package("mmengine", "0.10.7"),
    Package("monai", "1.6.1"),
    Package("nnunetv2", "2.8.1"),
    Package("open-clip-torch", "3.3.0"),
    Package("pyannote.audio", "4.0.7"),
    Package("python-doctr", "1.1.0"),
    Package("pytorch-forecasting", "1.8.0"),
    Package("sentence-transformers", "6.2.0"),
    Package("speechbrain", "1.1.2"),
    Package("super-gradients", "3.7.1"),
    Package("timm", "1.0.31"),
    Package("torch-geometric", "2.8.1"),
    Package("torchgeo", "0.10.1"),
    Package("torchio", "1.2.1"),
    Package("TTS", "0.22.0"),
    Package("ultralytics", "8.4.190"),
]


@dataclass(frozen=True, slots=True)
class Result:
    """What one package gave. `seconds` is the wall time of the linter's process, start included."""

    package: str
    version: str
    files: int
    lines: int
    seconds: float
    findings: list[dict[str, Any]] = field(repr=False)

    @property
    def by_code(self) -> Counter[str]:
        """Findings per rule."""
        return Counter(str(finding["code"]) for finding in self.findings)


def archive_of(package: Package) -> Path | None:
    """Finds the downloaded archive, whose name spells the package's name in its own way."""
    for archive in sorted(DOWNLOADS.glob("*")):
        name, _, rest = archive.name.partition("-")
        same_name = name.replace("_", "-").replace(".", "-").lower() == package.name.replace(".", "-").lower()
        if same_name and rest.startswith((f"{package.version}-", f"{package.version}.tar")):
            return archive
    return None


def python_for(package: Package) -> Path:
    """Returns the interpreter whose pip can download the package."""
    if package.origin is Origin.WHEEL:
        return Path(sys.executable)
    old = CACHE / "old-tools"
    python = old / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not python.exists():
        venv.create(old, with_pip=True)
        processes.run([python, "-m", "pip", "install", "--quiet", *OLD_TOOLS], check=True, seconds=1800)
    return python


def download(package: Package) -> Path:
    """Downloads the package unless it is there."""
    DOWNLOADS.mkdir(parents=True, exist_ok=True)
    if archive := archive_of(package):
        return archive
    options = ["--no-build-isolation"] if package.origin is Origin.SDIST else WHEELS_FOR
    requirement = f"{package.name}=={package.version}"
    pip_download = [str(python_for(package)), "-m", "pip", "download", "--quiet", "--no-deps"]
    processes.run([*pip_download, "--dest", str(DOWNLOADS), *options, requirement], check=True, seconds=1800)
    archive = archive_of(package)
    if archive is None:
        raise FileNotFoundError(f"pip downloaded {requirement}, but its archive is not in {DOWNLOADS}")
    return archive


def unpack(package: Package) -> None:
    """Unpacks the package unless it is there; an sdist loses its top folder, so that paths match a wheel's."""
    if package.folder.exists():
        return
    archive = download(package)
    UNPACKED.mkdir(exist_ok=True)
    half_done = package.folder.with_suffix(".partial")
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(half_done)
        half_done.rename(package.folder)
    else:
        with tarfile.open(archive) as sdist:
            sdist.extractall(half_done, filter="data")
        (top,) = half_done.iterdir()
        top.rename(package.folder)
        half_done.rmdir()


def findings_in(
    folder: Path, options: Sequence[str] = (), *, tool: Path = ROOT, limit: float = LIMIT
) -> list[dict[str, Any]]:
    """Lint a folder from inside it; returns the objects of the JSON output.

    `tool` is the folder of the `dataloader_lint` package to run.

    Raises:
        RuntimeError: the linter fails as a whole or takes more than `limit` seconds. One line says so.
    """
    command = [sys.executable, "-P", "-m", "dataloader_lint", "--output-format", "json", "--exit-zero", *options, "."]
    # Nothing else of the caller's environment: no settings, no coverage, no other path to modules.
    environment = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR", "SYSTEMROOT") if key in os.environ}
    environment["PYTHONPATH"] = str(tool)
    try:
        done = processes.run(command, cwd=folder, env=environment, seconds=limit)
    except TimeoutError:
        raise RuntimeError(f"{folder.name}: not done after {limit:g} s") from None
    try:
        found: list[dict[str, Any]] = json.loads(done.stdout)
    except ValueError:
        last = done.stderr.strip().rpartition("\n")[2]
        raise RuntimeError(f"{folder.name}: the linter exits with {done.returncode}: {last}") from None
    return found


def lint(package: Package) -> Result:
    """Runs the command line on the package in a process of its own.

    An internal error in a rule is a finding too (DL999).

    Raises:
        RuntimeError: the linter failed as a whole.
    """
    sources = [path for path in package.folder.rglob("*.py") if path.is_file()]
    lines = sum(path.read_bytes().count(b"\n") for path in sources)
    start = time.perf_counter()
    findings = findings_in(package.folder)
    seconds = time.perf_counter() - start
    return Result(package.name, package.version, len(sources), lines, round(seconds, 2), findings)


HEADER = f"{'package':<32}{'files':>7}{'lines':>9}{'seconds':>9}{'findings':>10}"


def row(result: Result) -> str:
    """Lays out one line of the table under `HEADER`."""
    name = f"{result.package} {result.version}"
    return f"{name:<32}{result.files:>7}{result.lines:>9}{result.seconds:>9.2f}{len(result.findings):>10}"


def total(results: list[Result]) -> Result:
    """Adds all packages up."""
    return Result(
        "total",
        "",
        sum(result.files for result in results),
        sum(result.lines for result in results),
        round(sum(result.seconds for result in results), 2),
        [finding for result in results for finding in result.findings],
    )


def main() -> int:
    """Downloads, lints and prints; exits 1 if the linter, or one of its rules, failed."""
    parser = argparse.ArgumentParser(description="Lint released packages.")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this package (repeatable)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save packages and findings")
    parser.add_argument("--download-only", action="store_true", help="fill the cache and stop")
    options = parser.parse_args()

    names = {package.name for package in PACKAGES}
    if unknown := set(options.only or ()) - names:
        parser.error(f"not in the list: {', '.join(sorted(unknown))}")
    packages = [package for package in PACKAGES if not options.only or package.name in options.only]
    for package in packages:
        unpack(package)
    if options.download_only:
        return 0

    results, failed = [], False
    print(HEADER)
    for package in packages:
        try:
            results.append(lint(package))
            print(row(results[-1]), flush=True)
        except RuntimeError as error:
            failed = True
            print(error, file=sys.stderr)
    everything = total(results)
    print(row(everything), *(f"{code:<8}{count:>6}" for code, count in sorted(everything.by_code.items())), sep="\n")
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1), encoding="utf-8")
    return 1 if failed or "DL999" in everything.by_code else 0


if __name__ == "__main__":
    sys.exit(main())
