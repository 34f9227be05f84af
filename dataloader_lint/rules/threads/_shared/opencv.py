"""OpenCV in worker code: which functions call it there, and whether anything limits its threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import libcst as cst

from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.project_facts import ProjectFacts
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.limits import OPENCV_MODULES
from dataloader_lint.semantics.project.imports import Imports
from dataloader_lint.semantics.project.scripts import is_test
from dataloader_lint.semantics.syntax.expressions import keyword_of, positional_of
from dataloader_lint.semantics.syntax.guards import is_guarded
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted, resolve, star_imports
from dataloader_lint.semantics.syntax.tree import ModuleFacts, function_scope
from dataloader_lint.semantics.values.values import Evaluator, Frame, Library, constant

LIMIT = "setNumThreads"
# Functions that only query or configure, or manage windows.
_NO_WORK = frozenset(
    {
        "destroyAllWindows",
        "error",
        "getBuildInformation",
        "getNumThreads",
        "getThreadNum",
        "haveImageReader",
        "imshow",
        "namedWindow",
        "setRNGSeed",
        "setUseOptimized",
        "useOptimized",
        "waitKey",
    }
)
# These stay on the calling thread, measured under 4.11 and 5.0 with four threads allowed. They process a few points:
_POINT_FUNCTIONS = frozenset(
    {
        "Rodrigues",
        "approxPolyDP",
        "arcLength",
        "boundingRect",
        "boxPoints",
        "contourArea",
        "convexHull",
        "fitEllipse",
        "getAffineTransform",
        "getOptimalNewCameraMatrix",
        "getPerspectiveTransform",
        "getRotationMatrix2D",
        "getStructuringElement",
        "invertAffineTransform",
        "isContourConvex",
        "minAreaRect",
        "minEnclosingCircle",
        "perspectiveTransform",
        "pointPolygonTest",
        "projectPoints",
        "solvePnP",
    }
)
# These started threads on a picture of 1920x1080 or 256x256, under 4.14 and 5.0: docs/evidence/opencv-threads.md.
_STARTING_THREADS = frozenset(
    {
        "Canny",
        "GaussianBlur",
        "HoughLines",
        "LUT",
        "Laplacian",
        "ORB_create",
        "SIFT_create",
        "Scharr",
        "Sobel",
        "applyColorMap",
        "bilateralFilter",
        "calcOpticalFlowFarneback",
        "calcOpticalFlowPyrLK",
        "connectedComponents",
        "connectedComponentsWithStats",
        "createCLAHE",
        "cvtColor",
        "decolor",
        "detailEnhance",
        "dilate",
        "equalizeHist",
        "erode",
        "filter2D",
        "findContours",
        "goodFeaturesToTrack",
        "grabCut",
        "initUndistortRectifyMap",
        "morphologyEx",
        "pyrDown",
        "remap",
        "resize",
        "sepFilter2D",
        "stylization",
        "threshold",
        "undistort",
        "warpAffine",
        "warpPerspective",
        "warpPolar",
    }
)
_ONE_STRIPE = 65_536  # pixels: `resize` to no more than these starts no thread
_NO_WORK_PARTS = ("cv2.ocl.", "cv2.utils.")


@dataclass(frozen=True, slots=True, eq=False)
class WorkerCall:
    """A call of a cv2 function in worker code, and the import of cv2 that it uses."""

    function: WorkerFunction
    name: str
    starts_threads: bool  # whether the call is known to start threads, on large pictures at least
    binding: Binding  # what the import binds

    @property
    def import_node(self) -> cst.CSTNode:
        return self.binding.node


class OpenCV:
    """OpenCV use for all modules of a session."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.ev: Evaluator = workers.ev
        self.project = workers.ev.project
        self._imports = Imports(self.project)
        self._first_calls: dict[str, WorkerCall | None] = {}  # by the path of the module

    def calls_without_limit(self, module: ModuleFacts) -> Iterator[WorkerCall]:
        """Yields the cv2 calls of a module that workers run without any `cv2.setNumThreads` call on the call path."""
        imports = self._imports_of(module)
        callers = _callers_of_cv2(module, {binding.name for binding in imports}) if imports else set()
        if not callers or self._limits(module, module):
            return
        names = self.workers.names_that_use(module, callers)
        for function in self.workers.functions_inside(module, names):
            found = [
                (call, name)
                for call, name in function.library_calls
                if _does_work(name) and is_reached(self.ev, call, function.frame)
            ]
            if found and not self._has_limit(function):
                threaded = next((each for each in found if self._starts_threads(*each, function.frame)), None)
                call, name = threaded or found[0]
                yield WorkerCall(function, name, threaded is not None, _import_of(call, module, imports))

    def first_call(self, module: ModuleFacts) -> WorkerCall | None:
        """The call of a module's `calls_without_limit` to report: the first that starts threads, else the first."""
        if module.path not in self._first_calls:
            calls = self.calls_without_limit(module)
            first = next(calls, None)
            if first is not None and self.is_in_one_worker(module):
                first = None
            if first is not None and not first.starts_threads:
                first = next((each for each in calls if each.starts_threads), first)
            self._first_calls[module.path] = first
        return self._first_calls[module.path]

    def home(self, module: ModuleFacts) -> tuple[ModuleFacts, int]:
        """Where the limit that a module needs is best set, and how many other modules need the same one.

        One call is enough for a process. Of the modules that import one another, or that are in one folder, it is the
        first with a Dataset whose worker code calls OpenCV.
        """
        using = self.project.paths_with(module, "cv2")
        related = list(islice((path for path in using if self._share_process(module.path, path)), OPENCV_MODULES + 1))
        if len(related) > OPENCV_MODULES:
            return module, 0
        needing = [
            each
            for each in self.project.opened(module, related)
            if (first := self.first_call(each)) is not None and first.starts_threads and not self.has_no_workers(first)
        ]
        if not needing:
            return module, 0
        return min(needing, key=self._order), len(needing) - 1

    def _order(self, module: ModuleFacts) -> tuple[bool, bool, str]:
        first = self.first_call(module)
        is_entry = first is not None and first.function.path[0].module is module
        return is_test(module), not is_entry, module.path

    def _share_process(self, path: str, other: str) -> bool:
        return os.path.dirname(path) == os.path.dirname(other) or self._imports.connect(path, other)

    def is_in_one_worker(self, module: ModuleFacts) -> bool:
        """True if all loaders known for a module's cv2 calls have a literal `num_workers` of 0 or 1.

        Then no two workers compete for cores. Values in tests do not count for code outside tests.
        """
        numbers = [
            known.value if (known := each.known("num_workers")) is not None and not known.default else None
            for each in self._loaders_outside_tests(module)
            if each.is_passed("num_workers") is not False
        ]
        return bool(numbers) and all(isinstance(number, int) and number <= 1 for number in numbers)

    def has_no_workers(self, call: WorkerCall) -> bool:
        """True if loaders are known that may run a cv2 call, and none starts workers unless somebody asks for them."""
        module = call.function.module
        entry = call.function.path[0]
        names = self.workers.names_containing(entry.module, [entry.scope.node])
        found = self._loaders_outside_tests(module)
        for each in (entry.module, *self.workers.users(entry.module, names)):
            if is_test(module) or not is_test(each):
                found += self.workers.loaders(each)
        return bool(found) and all(each.has_workers is False for each in found)

    def _loaders_outside_tests(self, module: ModuleFacts) -> list[Loader]:
        """The loaders known for a module's cv2 calls; those in tests only if the module is a test."""
        found = self._loaders_around(module)
        return [each for each in found if is_test(module) or not is_test(each.frame.scope.module)]

    def _loaders_around(self, module: ModuleFacts) -> list[Loader]:
        return [loader for each in (module, *self._importing_modules(module)) for loader in self.workers.loaders(each)]

    def _importing_modules(self, module: ModuleFacts) -> Iterator[ModuleFacts]:
        """The modules that may construct loaders and can refer to the cv2 calls of a module."""
        imports = {each.name for each in self._imports_of(module)}
        names = self.workers.names_that_use(module, _callers_of_cv2(module, imports))
        return self.workers.users(module, names)

    def _imports_of(self, module: ModuleFacts) -> list[Binding]:
        """The imports that bring cv2 into a module: its own, or else `from utils import *` where utils imports cv2."""
        found = _imports(module)
        if found or not star_imports(module.root):
            return found
        use = next(iter(module.tree.named(module.tree.module, "cv2")), None)
        if use is None or not any(
            each == Library("cv2") for each in self.ev.values(use, self.ev.frame_of(module.root))
        ):
            return []
        for star in reversed(star_imports(module.root)):
            scope = self.project.find(star.imported, module, star.level)
            if scope is not None and Library("cv2") in self.ev.member(scope, "cv2"):
                return [replace(star, name="cv2", imported="cv2", level=0, member=None)]
        return []

    def imports_without_limit(self, module: ModuleFacts) -> list[cst.CSTNode]:
        """The cv2 imports, used or not, of a module with a Dataset or loader if no related module limits threads."""
        imports = _imports(module)
        if not imports or module.calls_named(LIMIT):
            return []
        if not self.workers.loaders(module) and not self.workers.datasets(module):
            return []
        limits = self._limiting_modules(module)
        if self._imports.reaches([module], {each.path for each in limits}):
            return []
        if any(self._imports.reaches([each], {module.path}) for each in limits):
            return []
        return list({id(each.node): each.node for each in imports}.values())

    def _has_limit(self, function: WorkerFunction) -> bool:
        """True if a module that calls `cv2.setNumThreads` is imported by modules on the call path, or imports one.

        An import by the module that constructs the loaders counts: it runs in the parent of forked workers and in
        spawned ones.
        """
        limits = [each for each in self._limiting_modules(function.module) if self._limits(each, function.module)]
        if not limits:
            return False
        path = list({each.module.path: each.module for each in function.path}.values())
        paths = {each.path for each in limits}
        if self._imports.reaches(path, paths):
            return True
        if any(self._imports.reaches([each], paths) for each in self._importing_modules(function.module)):
            return True
        return any(self._imports.reaches([each], {one.path for one in path}) for each in limits)

    def _limits(self, module: ModuleFacts, user: ModuleFacts) -> bool:
        """True if a module limits the threads of the workers that run cv2 calls of another.

        What the main function sets is inherited by forked workers; spawned ones run only what imports run.
        """
        calls = module.calls_named(LIMIT)
        if not calls or not self._are_spawned(user):
            return bool(calls)
        tree = module.tree
        inside = {id(each.scope) for each in self.workers.functions(module)}
        for call in calls:
            scope = function_scope(tree.scope_of(call))
            node = scope.node
            if id(scope) in inside:
                return True
            places = module.calls_named(node.name.value) if isinstance(node, cst.FunctionDef) else [call]
            if any(tree.scope_of(each).function is None and not is_guarded(each, tree) for each in places):
                return True
        return False

    def _starts_threads(self, call: cst.Call, name: str, frame: Frame) -> bool:
        return name[4:] in _STARTING_THREADS and not (name == "cv2.resize" and self._is_small(call, frame))

    def _is_small(self, call: cst.Call, frame: Frame) -> bool:
        """True if a call of `resize` has a size that is known, and of few pixels."""
        size = keyword_of(call, "dsize") or next(iter(positional_of(call)[1:2]), None)
        if not isinstance(size, cst.Tuple) or len(size.elements) != 2:
            return False
        sides = [constant(self.ev.values(each.value, frame)) for each in size.elements]
        numbers = [side.value for side in sides if side is not None and isinstance(side.value, int)]
        return len(numbers) == 2 and numbers[0] * numbers[1] <= _ONE_STRIPE

    def _are_spawned(self, module: ModuleFacts) -> bool:
        """True if all loaders known for a module's cv2 calls ask for spawned workers themselves."""
        loaders = [each for each in self._loaders_around(module) if each.has_workers is not False]
        return bool(loaders) and all(each.start_method in ("forkserver", "spawn") for each in loaders)

    def _limiting_modules(self, module: ModuleFacts) -> list[ModuleFacts]:
        return [each for each in self.project.modules_with(module, LIMIT) if each.calls_named(LIMIT)]


def _does_work(name: str) -> bool:
    is_work = name.startswith("cv2.") and not name.startswith(_NO_WORK_PARTS)
    return is_work and name[4:] not in _NO_WORK and name[4:] not in _POINT_FUNCTIONS


def _is_type_checking_only(node: cst.CSTNode, module: ModuleFacts) -> bool:
    """True if an import is under `TYPE_CHECKING`."""
    return any(
        isinstance(above, cst.If) and dotted(above.test).rpartition(".")[2] == "TYPE_CHECKING"
        for above in module.tree.ancestors(node)
    )


def _callers_of_cv2(module: ModuleFacts, names: set[str]) -> set[str]:
    """The top-level functions and classes of a module that call cv2 under one of its names."""
    found = set()
    for scope in module.root.inner:
        if isinstance(scope.node, cst.FunctionDef | cst.ClassDef) and any(
            dotted(call.func).partition(".")[0] in names for inner in scope.descend() for call in inner.own(cst.Call)
        ):
            found.add(scope.node.name.value)
    return found


def _import_of(call: cst.Call, module: ModuleFacts, imports: list[Binding]) -> Binding:
    """The import through which a call gets cv2; the module's first cv2 import if that is unknown."""
    root = call.func
    while isinstance(root, cst.Attribute):
        root = root.value
    bound = resolve(root, module.tree) if isinstance(root, cst.Name) else []
    return next((each for each in imports if each in bound), imports[0])


def _imports(module: ModuleFacts) -> list[Binding]:
    """The bindings of the module's cv2 imports, in document order."""
    found = [
        binding
        for scope in module.root.descend()
        if any(scope.own(kind) for kind in (cst.Import, cst.ImportFrom, cst.LazyImport, cst.LazyImportFrom))
        for bindings in bindings_of(scope).values()
        for binding in bindings
        if binding.kind is Kind.IMPORT
        and not binding.level
        and binding.imported.partition(".")[0] == "cv2"
        and not _is_type_checking_only(binding.node, module)
    ]
    return sorted(found, key=lambda binding: module.tree.order(binding.node))


def opencv(file: File) -> OpenCV:
    """What is known about OpenCV in the project of a file."""
    return file.session.once(_opencv)


def _opencv(facts: ProjectFacts) -> OpenCV:
    return OpenCV(facts.workers)
