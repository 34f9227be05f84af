"""DL501: OpenCV does not know that it runs in a worker, where torch keeps to one thread."""

from __future__ import annotations

from pathlib import Path

from dataloader_lint.rules.threads._shared.opencv import _POINT_FUNCTIONS
from evidence.harness import Need, Proof, run

PROOF = Proof(
    rule="DL501",
    needs=(Need.TWO_CPUS,),
    symptom="in every worker OpenCV counts on one thread for each CPU, torch on 1",
    cure="both count on 1",
    before="""
    import cv2
    import numpy as np
    import probe
    import torch
    from torch.utils.data import DataLoader, Dataset


    class Images(Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return self.read(index)

        def read(self, index):
            before = probe.threads()
            cv2.GaussianBlur(np.zeros((1000, 1000, 3), dtype=np.uint8), (9, 9), 0)
            return torch.get_num_threads(), cv2.getNumThreads(), probe.threads() - before


    def main():
        for torch_threads, cv2_threads, started in DataLoader(Images(), num_workers=2):
            probe.say(torch=int(torch_threads), cv2=int(cv2_threads), started=int(started))


    if __name__ == "__main__":
        main()
    """,
    after="""
    import cv2
    import numpy as np
    import probe
    import torch
    from torch.utils.data import DataLoader, Dataset


    class Images(Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return self.read(index)

        def read(self, index):
            before = probe.threads()
            cv2.GaussianBlur(np.zeros((1000, 1000, 3), dtype=np.uint8), (9, 9), 0)
            return torch.get_num_threads(), cv2.getNumThreads(), probe.threads() - before


    def limit_threads(worker_id):
        cv2.setNumThreads(0)


    def main():
        loader = DataLoader(Images(), num_workers=2, worker_init_fn=limit_threads)
        for torch_threads, cv2_threads, started in loader:
            probe.say(torch=int(torch_threads), cv2=int(cv2_threads), started=int(started))


    if __name__ == "__main__":
        main()
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    for before, after in PROOF.run_each(tmp_path, start_methods=["fork", "forkserver"]).values():
        assert len(before.said) == len(after.said) == 2
        assert all(line["torch"] == 1 and line["cv2"] > 1 and line["started"] > 0 for line in before.said)
        assert all(line == {"torch": 1, "cv2": 1, "started": 0} for line in after.said)


def test_a_limit_in_the_main_function_reaches_forked_workers_only(tmp_path: Path) -> None:
    before, _ = PROOF.programs()
    program = before.replace("def main():\n", "def main():\n    cv2.setNumThreads(0)\n")
    assert program != before
    assert all(line["cv2"] == 1 for line in run(program, tmp_path, start_method="fork").said)
    assert all(line["cv2"] > 1 for line in run(program, tmp_path, start_method="forkserver").said)


# Calls that reckon with some points, on more of them than anybody would. The rule says nothing of these.
POINTS = {
    "Rodrigues": "cv2.Rodrigues(np.float64([0.1, 0.2, 0.3]))",
    "approxPolyDP": "cv2.approxPolyDP(outline, 3, True)",
    "arcLength": "cv2.arcLength(outline, True)",
    "boundingRect": "cv2.boundingRect(outline)",
    "boxPoints": "cv2.boxPoints(((5.0, 5.0), (3.0, 2.0), 30.0))",
    "contourArea": "cv2.contourArea(outline)",
    "convexHull": "cv2.convexHull(outline)",
    "fitEllipse": "cv2.fitEllipse(outline)",
    "getAffineTransform": "cv2.getAffineTransform(corners[:3], corners[:3] * 2 + 1)",
    "getOptimalNewCameraMatrix": "cv2.getOptimalNewCameraMatrix(camera, np.zeros(5), (1000, 1000), 1)",
    "getPerspectiveTransform": "cv2.getPerspectiveTransform(corners, corners * 2 + 1)",
    "getRotationMatrix2D": "cv2.getRotationMatrix2D((50, 50), 30, 1.0)",
    "getStructuringElement": "cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (99, 99))",
    "invertAffineTransform": "cv2.invertAffineTransform(np.float32([[1, 0.1, 3], [0.1, 1, 5]]))",
    "isContourConvex": "cv2.isContourConvex(outline)",
    "minAreaRect": "cv2.minAreaRect(outline)",
    "minEnclosingCircle": "cv2.minEnclosingCircle(outline)",
    "perspectiveTransform": "cv2.perspectiveTransform(np.float32(np.random.rand(1, 500_000, 2)), np.eye(3))",
    "pointPolygonTest": "cv2.pointPolygonTest(outline, (5.0, 5.0), False)",
    "projectPoints": "cv2.projectPoints(np.random.rand(100_000, 3), np.zeros(3), np.zeros(3), np.eye(3), None)",
    "solvePnP": "cv2.solvePnP(np.random.rand(1000, 3), np.random.rand(1000, 2), np.eye(3), None)",
}


def test_calls_that_reckon_with_points_keep_to_one_thread(tmp_path: Path) -> None:
    assert set(POINTS) == _POINT_FUNCTIONS
    calls = "\n".join(f"        {call}; counted('{name}')" for name, call in POINTS.items())
    program = f"""
import cv2
import numpy as np
import probe


def main():
        cv2.setNumThreads(4)
        angles = np.linspace(0, 6.28, 5000)
        outline = np.stack([1500 + 900 * np.cos(angles), 1500 + 700 * np.sin(angles)], 1).astype(np.int32)[:, None]
        corners = np.float32([[0, 0], [1, 0], [0, 1], [1, 1]])
        camera = np.float64([[1000, 0, 500], [0, 1000, 500], [0, 0, 1]])
        before = probe.threads()
        counted = lambda name: probe.say(name=name, started=probe.threads() - before)
{calls}
        cv2.GaussianBlur(np.zeros((1000, 1000, 3), dtype=np.uint8), (9, 9), 0); counted('GaussianBlur')


main()
"""
    started = {line["name"]: line["started"] for line in run(program, tmp_path, start_method="fork").said}
    assert started.pop("GaussianBlur") > 0  # which tells that threads would have been seen
    assert started == dict.fromkeys(POINTS, 0)
