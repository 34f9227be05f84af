"""Counts the threads that calls of OpenCV start, by version: docs/evidence/opencv-threads.md.

    python -m benchmarks.opencv_threads PYTHON...    interpreters with opencv-python-headless, one a version

Each call runs once in a forked process of its own, in which OpenCV may use eight threads, on pictures of two sizes.
What counts is how many threads the process has more after it. OpenCV keeps the threads that it has started.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks import processes

PAGE = Path(__file__).resolve().parent.parent / "docs" / "evidence" / "opencv-threads.md"
LIMIT = 600  # seconds for all calls of one version

PROGRAM = r"""
import json
import os
import signal
import tempfile

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import cv2
import numpy as np

CALLS = {
    # name: what is called with a color picture `c`, a gray one `g`, one of floats `f` and one of two colors `m`
    "Canny": lambda: cv2.Canny(g, 50, 150),
    "GaussianBlur": lambda: cv2.GaussianBlur(c, (5, 5), 0),
    "HoughLines": lambda: cv2.HoughLines(m, 1, np.pi / 180, 500),
    "HoughLinesP": lambda: cv2.HoughLinesP(m, 1, np.pi / 180, 500),
    "LUT": lambda: cv2.LUT(c, np.arange(256, dtype=np.uint8)),
    "Laplacian": lambda: cv2.Laplacian(g, cv2.CV_32F),
    "Scharr": lambda: cv2.Scharr(g, cv2.CV_32F, 1, 0),
    "Sobel": lambda: cv2.Sobel(g, cv2.CV_32F, 1, 0),
    "absdiff": lambda: cv2.absdiff(c, c),
    "adaptiveThreshold": lambda: cv2.adaptiveThreshold(g, 255, 0, 0, 11, 2),
    "add": lambda: cv2.add(c, c),
    "addWeighted": lambda: cv2.addWeighted(c, 0.5, c, 0.5, 0),
    "applyColorMap": lambda: cv2.applyColorMap(g, cv2.COLORMAP_JET),
    "arrowedLine": lambda: cv2.arrowedLine(c, (3, 3), (200, 200), (1, 2, 3)),
    "bilateralFilter": lambda: cv2.bilateralFilter(c, 5, 50, 50),
    "bitwise_and": lambda: cv2.bitwise_and(c, c),
    "bitwise_not": lambda: cv2.bitwise_not(c),
    "bitwise_or": lambda: cv2.bitwise_or(c, c),
    "blur": lambda: cv2.blur(c, (5, 5)),
    "boxFilter": lambda: cv2.boxFilter(c, -1, (5, 5)),
    "calcHist": lambda: cv2.calcHist([c], [0], None, [256], [0, 256]),
    "calcOpticalFlowFarneback": lambda: cv2.calcOpticalFlowFarneback(g, g, None, 0.5, 3, 15, 3, 5, 1.2, 0),
    "calcOpticalFlowPyrLK": lambda: cv2.calcOpticalFlowPyrLK(g, g, np.ones((50, 1, 2), np.float32), None),
    "circle": lambda: cv2.circle(c, (50, 50), 20, (1, 2, 3), -1),
    "compare": lambda: cv2.compare(g, g, cv2.CMP_GT),
    "connectedComponents": lambda: cv2.connectedComponents(m),
    "connectedComponentsWithStats": lambda: cv2.connectedComponentsWithStats(m),
    "convertScaleAbs": lambda: cv2.convertScaleAbs(c, alpha=1.1),
    "copyMakeBorder": lambda: cv2.copyMakeBorder(c, 9, 9, 9, 9, cv2.BORDER_REFLECT),
    "countNonZero": lambda: cv2.countNonZero(g),
    "createCLAHE().apply": lambda: cv2.createCLAHE().apply(g),
    "cvtColor": lambda: cv2.cvtColor(c, cv2.COLOR_BGR2RGB),
    "cvtColor to gray": lambda: cv2.cvtColor(c, cv2.COLOR_BGR2GRAY),
    "cvtColor to HSV": lambda: cv2.cvtColor(c, cv2.COLOR_BGR2HSV),
    "cvtColor to Lab": lambda: cv2.cvtColor(c, cv2.COLOR_BGR2LAB),
    "dct": lambda: cv2.dct(f),
    "decolor": lambda: cv2.decolor(c[:64, :64]),
    "detailEnhance": lambda: cv2.detailEnhance(c),
    "dft": lambda: cv2.dft(f),
    "dilate": lambda: cv2.dilate(c, np.ones((3, 3))),
    "distanceTransform": lambda: cv2.distanceTransform(m, cv2.DIST_L2, 5),
    "divide": lambda: cv2.divide(c, c),
    "drawContours": lambda: cv2.drawContours(c, square, -1, (1, 2, 3), 2),
    "edgePreservingFilter": lambda: cv2.edgePreservingFilter(c),
    "ellipse": lambda: cv2.ellipse(c, (99, 99), (40, 20), 0, 0, 360, (1, 2, 3), -1),
    "equalizeHist": lambda: cv2.equalizeHist(g),
    "erode": lambda: cv2.erode(c, np.ones((3, 3))),
    "fastNlMeansDenoising": lambda: cv2.fastNlMeansDenoising(g[:256, :256]),
    "fillConvexPoly": lambda: cv2.fillConvexPoly(c, square[0], (1, 2, 3)),
    "fillPoly": lambda: cv2.fillPoly(c, square, (1, 2, 3)),
    "filter2D": lambda: cv2.filter2D(c, -1, np.ones((5, 5), np.float32) / 25),
    "filter2D 21x21": lambda: cv2.filter2D(c, -1, np.ones((21, 21), np.float32) / 441),
    "findContours": lambda: cv2.findContours(m, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE),
    "findHomography": lambda: cv2.findHomography(points, points + 1),
    "flip": lambda: cv2.flip(c, 1),
    "floodFill": lambda: cv2.floodFill(m, None, (0, 0), 7),
    "getRectSubPix": lambda: cv2.getRectSubPix(c, (200, 200), (128.5, 128.5)),
    "goodFeaturesToTrack": lambda: cv2.goodFeaturesToTrack(g, 50, 0.01, 10),
    "grabCut": lambda: cv2.grabCut(c, np.zeros(g.shape, np.uint8), (9, 9, 99, 99), None, None, 1, 0),
    "hconcat": lambda: cv2.hconcat([c, c]),
    "imdecode": lambda: cv2.imdecode(jpeg, 1),
    "imdecode of PNG": lambda: cv2.imdecode(png, 1),
    "imencode": lambda: cv2.imencode(".jpg", c),
    "imencode as PNG": lambda: cv2.imencode(".png", c),
    "imread": lambda: cv2.imread(path),
    "imwrite": lambda: cv2.imwrite(path, c),
    "inRange": lambda: cv2.inRange(c, (0, 0, 0), (99, 99, 99)),
    "initUndistortRectifyMap": lambda: cv2.initUndistortRectifyMap(
        np.eye(3), np.zeros(5), None, np.eye(3), g.shape[::-1], cv2.CV_32FC1
    ),
    "inpaint": lambda: cv2.inpaint(c[:64, :64], m[:64, :64], 3, cv2.INPAINT_TELEA),
    "integral": lambda: cv2.integral(g),
    "line": lambda: cv2.line(c, (3, 3), (200, 200), (1, 2, 3), 2),
    "magnitude": lambda: cv2.magnitude(f, f),
    "matchTemplate": lambda: cv2.matchTemplate(g, g[:32, :32], cv2.TM_CCOEFF_NORMED),
    "medianBlur": lambda: cv2.medianBlur(c, 5),
    "merge": lambda: cv2.merge([g, g, g]),
    "minMaxLoc": lambda: cv2.minMaxLoc(g),
    "moments": lambda: cv2.moments(g),
    "morphologyEx": lambda: cv2.morphologyEx(c, cv2.MORPH_OPEN, np.ones((3, 3))),
    "multiply": lambda: cv2.multiply(c, c),
    "normalize": lambda: cv2.normalize(c, None, 0, 255, cv2.NORM_MINMAX),
    "polylines": lambda: cv2.polylines(c, square, True, (1, 2, 3)),
    "putText": lambda: cv2.putText(c, "text", (20, 99), 0, 1, (1, 2, 3)),
    "pyrDown": lambda: cv2.pyrDown(c),
    "pyrUp": lambda: cv2.pyrUp(c),
    "rectangle": lambda: cv2.rectangle(c, (3, 3), (99, 99), (1, 2, 3), -1),
    "remap": lambda: cv2.remap(c, f, f, cv2.INTER_LINEAR),
    "resize": lambda: cv2.resize(c, (224, 224)),
    "resize up": lambda: cv2.resize(c, (2048, 2048)),
    "resize INTER_AREA": lambda: cv2.resize(c, (224, 224), interpolation=cv2.INTER_AREA),
    "resize INTER_CUBIC": lambda: cv2.resize(c, (224, 224), interpolation=cv2.INTER_CUBIC),
    "resize INTER_LANCZOS4": lambda: cv2.resize(c, (224, 224), interpolation=cv2.INTER_LANCZOS4),
    "resize INTER_NEAREST": lambda: cv2.resize(c, (224, 224), interpolation=cv2.INTER_NEAREST),
    "rotate": lambda: cv2.rotate(c, cv2.ROTATE_90_CLOCKWISE),
    "sepFilter2D": lambda: cv2.sepFilter2D(c, -1, np.ones(5) / 5, np.ones(5) / 5),
    "SIFT_create().detectAndCompute": lambda: cv2.SIFT_create().detectAndCompute(g, None),
    "ORB_create().detectAndCompute": lambda: cv2.ORB_create().detectAndCompute(g, None),
    "split": lambda: cv2.split(c),
    "stylization": lambda: cv2.stylization(c),
    "subtract": lambda: cv2.subtract(c, c),
    "threshold": lambda: cv2.threshold(g, 99, 255, cv2.THRESH_BINARY),
    "transform": lambda: cv2.transform(c, np.eye(3, dtype=np.float32)),
    "transpose": lambda: cv2.transpose(c),
    "undistort": lambda: cv2.undistort(c, np.diag([900.0, 900.0, 1.0]), np.zeros(5)),
    "vconcat": lambda: cv2.vconcat([c, c]),
    "VideoCapture().read": lambda: cv2.VideoCapture(video).read(),
    "warpAffine": lambda: cv2.warpAffine(c, np.float32([[1, 0.1, 3], [0, 1, 5]]), g.shape[::-1]),
    "warpPerspective": lambda: cv2.warpPerspective(c, np.eye(3), g.shape[::-1]),
    "warpPolar": lambda: cv2.warpPolar(c, (200, 200), (99, 99), 99, cv2.INTER_LINEAR),
    "watershed": lambda: cv2.watershed(c, np.eye(*g.shape, dtype=np.int32)),
}


def threads():
    return len(os.listdir("/proc/self/task"))


def new_threads(call, allowed):
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.alarm(30)
            cv2.setNumThreads(allowed)
            before = threads()
            call()
            os.write(writer, str(threads() - before).encode())
        except (AttributeError, cv2.error) as error:
            os.write(writer, b"absent" if isinstance(error, AttributeError) else b"failed " + str(error).encode()[:200])
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return int(found) if found.lstrip("-").isdigit() else found or "died"


found = {}
folder = tempfile.mkdtemp()
path, video = os.path.join(folder, "picture.jpg"), os.path.join(folder, "film.avi")
for width, height in ((1920, 1080), (256, 256)):
    rng = np.random.default_rng(0)
    g = rng.integers(0, 255, (height, width), dtype=np.uint8)
    g = np.ascontiguousarray(np.minimum(g, np.arange(width, dtype=np.uint16) % 256).astype(np.uint8))
    c = np.dstack([g, g[::-1], g[:, ::-1]]).copy()
    f = g.astype(np.float32)
    m = np.zeros((height, width), np.uint8)
    m[20:90, 30:99] = 255
    square = [np.array([[10, 10], [90, 10], [90, 90], [10, 90]], np.int32)]
    points = rng.random((99, 2)).astype(np.float32) * 200
    cv2.setNumThreads(1)
    jpeg, png = cv2.imencode(".jpg", c)[1], cv2.imencode(".png", c)[1]
    cv2.imwrite(path, c)
    film = cv2.VideoWriter(video, cv2.VideoWriter_fourcc(*"MPEG"), 5, (width, height))
    for _ in range(5):
        film.write(c)
    film.release()
    for name, call in CALLS.items():
        found.setdefault(name, []).append(new_threads(call, 8))
        if name.startswith("VideoCapture"):
            found.setdefault(name + " after setNumThreads(0)", []).append(new_threads(call, 0))
print(json.dumps([cv2.__version__, found]))
"""


def measured(python: str) -> tuple[str, dict[str, list[object]]]:
    """The version of an interpreter's OpenCV, and for each call the new threads on a large and on a small picture."""
    done = processes.run([python, "-c", PROGRAM], seconds=LIMIT, check=True)
    version, found = json.loads(done.stdout.splitlines()[-1])
    return version, found


def main() -> None:
    """Measures all versions and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    versions = [measured(python) for python in parser.parse_args().pythons]
    PAGE.write_text(page(versions), encoding="utf-8")


def page(versions: list[tuple[str, dict[str, list[object]]]]) -> str:
    """The page with one row for each call."""
    sizes = "".join(f" {version}: 1920x1080 | {version}: 256x256 |" for version, _ in versions)
    lines = [
        "<!-- Made by `python -m benchmarks.opencv_threads PYTHON...`: run it again instead of editing. -->",
        "",
        "# Threads of OpenCV calls",
        "",
        "How many threads a process has more after one call, with `cv2.setNumThreads(8)`; each call runs in a forked",
        "process of its own (wheels of opencv-python-headless for Linux). In a DataLoader's worker nothing is set, and",
        "the number is that of the CPUs. The threads of `VideoCapture` belong to FFmpeg: `cv2.setNumThreads` does not",
        "change them. The rule is [DL501](../rules.md#dl501-cv2-without-set-num-threads).",
        "",
        f"| Call |{sizes}",
        f"|---|{'---:|---:|' * len(versions)}",
    ]
    for name in sorted({name for _, found in versions for name in found}, key=str.lower):
        cells = "".join(f" {value} |" for _, found in versions for value in found.get(name, ["absent", "absent"]))
        lines.append(f"| `{name}` |{cells}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
