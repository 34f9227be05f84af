"""DL502: torch reads `OMP_NUM_THREADS` when it is loaded; what is set later changes nothing."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Need, Proof, run

PROOF = Proof(
    rule="DL502",
    needs=(Need.TWO_CPUS,),
    symptom="OMP_NUM_THREADS=1 is set, and torch uses the 2 threads that it was started with",
    cure="torch uses 1 thread",
    before="""
    import os

    import probe
    import torch

    os.environ["OMP_NUM_THREADS"] = "1"

    probe.say(threads=torch.get_num_threads())
    """,
)

AFTER_NUMPY = """
import numpy
import os

os.environ["OMP_NUM_THREADS"] = "1"
import probe
import torch

probe.say(threads=torch.get_num_threads())
"""
# OpenBLAS starts its threads when numpy is imported.
OWN_THREADS = """
import os
import sys

import probe

if sys.argv[1] == "before":
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy

os.environ["OPENBLAS_NUM_THREADS"] = "1"
numpy.ones((500, 500)) @ numpy.ones((500, 500))
probe.say(threads=probe.threads())
"""
TWO = {"OMP_NUM_THREADS": "2"}


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_each(tmp_path, start_methods=["fork"], environment=TWO)["fork"]
    assert before.values == {"threads": 2}
    assert after.values == {"threads": 1}


def test_after_numpy_alone_it_is_early_enough_for_torch(tmp_path: Path) -> None:
    assert run(AFTER_NUMPY, tmp_path, environment=TWO).values == {"threads": 1}


def test_for_numpy_itself_it_must_be_earlier(tmp_path: Path) -> None:
    two = {"OPENBLAS_NUM_THREADS": "2"}
    assert run(OWN_THREADS, tmp_path, "after", environment=two).values == {"threads": 2}
    assert run(OWN_THREADS, tmp_path, "before", environment=two).values == {"threads": 1}
