"""Where the text models are, and a session of each: loaded once, shared, safe to run from several threads.

The files are PP-OCRv6 (small), found in the package `weft_local` (the extra `local`). None of its code is run, nothing
is ever downloaded, and a file that is not the one we know is refused.
"""

import hashlib
import importlib
import importlib.util
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from weft.vision.errors import ModelsMissing

DETECTOR = "PP-OCRv6_det_small.onnx"
READER = "PP-OCRv6_rec_small.onnx"
DIGESTS = {
    DETECTOR: "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
    READER: "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
}
PACKAGE = "weft_local"
MOST_CORES = 4

Item = TypeVar("Item")
Result = TypeVar("Result")

_loading = threading.Lock()


class Model(Protocol):
    """One network: a batch of pictures in, numbers out."""

    def __call__(self, batch: NDArray[np.float32]) -> NDArray[np.float32]: ...


def available() -> bool:
    """Whether text can be read here."""
    return _folder() is not None and importlib.util.find_spec("onnxruntime") is not None


def detector() -> Model:
    return _model(DETECTOR)


def reader() -> Model:
    return _model(READER)


def characters() -> list[str]:
    """What the reader's classes stand for; class 0 is none of them."""
    return ["", *_session(READER).get_modelmeta().custom_metadata_map["character"].split("\n"), " "]


def spread(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """What `work` makes of each, in order, on all cores: a network uses one core for a batch, so batches share them."""
    cores = _cores()
    if cores == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(cores, "weft-models") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > cores:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _cores() -> int:
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return min(found, MOST_CORES)


def _model(name: str) -> Model:
    session = _session(name)
    entry: str = session.get_inputs()[0].name

    def run(batch: NDArray[np.float32]) -> NDArray[np.float32]:
        return cast("NDArray[np.float32]", session.run(None, {entry: batch})[0])

    return run


def _session(name: str) -> Any:
    with _loading:
        return _load(name)


@cache
def _load(name: str) -> Any:
    folder = _folder()
    if folder is None or importlib.util.find_spec("onnxruntime") is None:
        raise ModelsMissing("The models that read text are not installed; install weft[local].")
    data = (folder / name).read_bytes()
    if hashlib.sha256(data).hexdigest() != DIGESTS[name]:
        raise ModelsMissing(
            f"The model {name} is damaged or another one than Weft knows; install weft[local] again "
            "(pip install --force-reinstall)."
        )
    runtime: Any = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


@cache
def _folder() -> Path | None:
    found = importlib.util.find_spec(PACKAGE)
    for place in found.submodule_search_locations or () if found is not None else ():
        folder = Path(place) / "models"
        if all((folder / name).is_file() for name in DIGESTS):
            return folder
    return None
