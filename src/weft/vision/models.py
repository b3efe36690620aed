"""Where the text models are, and a session of each: loaded once, shared, safe to run from several threads.

The files are PP-OCRv6 (small), found beside this module if the wheel carries them, else in the installed `rapidocr`.
Nothing of that package is imported and nothing is ever downloaded.
"""

import importlib
import importlib.util
import os
import threading
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from weft.vision.errors import ModelsMissing

DETECTOR = "PP-OCRv6_det_small.onnx"
READER = "PP-OCRv6_rec_small.onnx"

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
    runtime: Any = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2, 4)
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return runtime.InferenceSession(str(folder / name), options, providers=["CPUExecutionProvider"])


@cache
def _folder() -> Path | None:
    places = [Path(__file__).parent / "models"]
    found = importlib.util.find_spec("rapidocr")
    if found is not None and found.origin is not None:
        places.append(Path(found.origin).parent / "models")
    for place in places:
        if (place / DETECTOR).is_file() and (place / READER).is_file():
            return place
    return None
