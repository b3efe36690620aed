"""Loads the neural networks."""

import hashlib
import importlib
import importlib.util
import os
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from heald.core.distribution import install_advice
from heald_local.see.memory import map_large_buffers
from heald_pictures.errors import ModelsMissing

DETECTOR = "PP-OCRv6_det_small.onnx"
READER = "PP-OCRv6_rec_small.onnx"
DIGESTS = {
    DETECTOR: "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
    READER: "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
}
PARTS, SCRIPTS = "parts.onnx", "scripts.onnx"
OWN_DIGESTS = {
    PARTS: "5b0282f2810dd40f98a34945b4e0e51dcd0ed5d5348ec810fcf184b206d5201e",
    SCRIPTS: "54eb5fa03671a91773d721837067ddffbd9c4d5312304e8514dfda3b92694e97",
}
DATA = Path(__file__).resolve().parents[1]  # the folder of the distribution, which holds the networks
MULTIPLE = 32  # pixels: networks that see a page halve it five times
ERRORS_ONLY = 3  # what the runtime logs
_loading = threading.Lock()


class Network(Protocol):
    """Maps a batch of pictures to numbers."""

    def __call__(self, batch: NDArray[np.float32]) -> NDArray[np.float32]: ...


def available() -> bool:
    """Whether the models and the runtime are installed."""
    return _folder() is not None and importlib.util.find_spec("onnxruntime") is not None


def detection_network() -> Network:
    return _model(DETECTOR)


def reading_network() -> Network:
    return _model(READER)


def parts_network() -> Network | None:
    """Return Heald's own network, which finds icons and controls; None where it is not installed."""
    return _own_network(PARTS)


def script_network() -> Network | None:
    """Return Heald's own network, which reads scripts that the reader does not know; None where it is not installed."""
    return _own_network(SCRIPTS)


def script_characters() -> list[str]:
    """Return the letters of that network's classes; class 0 is none."""
    with _loading:
        return _characters(_load_own(SCRIPTS))


def _own_network(name: str) -> Network | None:
    with _loading:
        session = _load_own(name)
    return _as_network(session) if session is not None else None


def characters() -> list[str]:
    """Return the characters of the reader's classes; class 0 is none."""
    return [*_characters(_session(READER)), " "]


def _characters(session: Any) -> list[str]:
    return ["", *session.get_modelmeta().custom_metadata_map["character"].split("\n")]


def padded_shape(height: int, width: int) -> tuple[int, int]:
    """Return the smallest size that a network can see of which a picture of this size is a part."""
    return -(-height // MULTIPLE) * MULTIPLE, -(-width // MULTIPLE) * MULTIPLE


def load_ahead() -> None:
    """Load the networks in the background, in the order in which they are needed."""
    if available():
        threading.Thread(target=_load_all, name="heald-load", daemon=True).start()


def _load_all() -> None:
    with suppress(ModelsMissing):  # the first caller that needs them reports it
        for load in (detection_network, parts_network, script_network, reading_network):
            load()


def _model(name: str) -> Network:
    return _as_network(_session(name))


def _as_network(session: Any) -> Network:
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
        raise ModelsMissing(
            f"The models that read text are not installed; install them with: {install_advice('local')}."
        )
    return _start(folder / name, DIGESTS[name])


@cache
def _load_own(name: str) -> Any:
    file = DATA / name
    if not file.is_file() or importlib.util.find_spec("onnxruntime") is None:
        return None
    return _start(file, OWN_DIGESTS[name])


def _start(file: Path, digest: str) -> Any:
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise ModelsMissing(
            f"The model {file.name} is damaged or from another version of Heald; install it again with: "
            f"{install_advice('local')} --force-reinstall."
        )
    map_large_buffers()
    # Otherwise it stores an id of this machine below ~/.cache, and reports its use to its maker.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    runtime: Any = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = ERRORS_ONLY
    options.add_session_config_entry("optimization.enable_gelu_approximation", "1")  # a fifteenth of the time
    return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


@cache
def _folder() -> Path | None:
    folder = DATA / "models"
    return folder if all((folder / name).is_file() for name in DIGESTS) else None
