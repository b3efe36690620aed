"""The recorded streams beside the project, where they are. Everything here skips where they are not."""

import importlib.util
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from heald.core.payload import Payload
from heald.providers.registry import installed_providers
from heald.wires.decoder import Decoder
from heald.wires.registry import WIRES
from heald.wires.request import NO_QUIRKS, Quirks
from repository import ROOT as REPOSITORY

ROOT = Path(os.environ.get("HEALD_RECORDINGS") or REPOSITORY.parent / "shared" / "recordings")
present = pytest.mark.skipif(not (ROOT / "load.py").exists(), reason="the recorded streams are not here")


@cache
def loader() -> Any:
    """The corpus's own loader module, or None."""
    if not (ROOT / "load.py").exists():
        return None
    spec = importlib.util.spec_from_file_location("recordings_loader", ROOT / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["recordings_loader"] = module
    spec.loader.exec_module(module)
    return module


@cache
def recordings() -> list[Any]:
    module = loader()
    if module is None:
        return []
    return [r for r in module.recordings() if r.meta["fidelity"] != "handcrafted"]


def batches(chosen: list[Any], size: int = 40) -> list[Any]:
    """The recordings in tests of up to forty, named after their wire and provider: a test for each costs more to
    collect and to report than to run."""
    groups: dict[str, list[Any]] = {}
    for recording in chosen:
        groups.setdefault(f"{recording.meta['api']}-{recording.meta['provider']}", []).append(recording)
    return [
        pytest.param(group[start : start + size], id=f"{name}-{start // size}")
        for name, group in groups.items()
        for start in range(0, len(group), size)
    ]


def body_of(recording: Any) -> bytes:
    """The bytes as they came over the wire. Only streams stored without their framing are framed again."""
    if recording.meta["framing"] == "json_array":
        return recording.body
    return loader().sse_bytes(recording)


def quirks_of(provider: str, wire: str) -> Quirks:
    preset = installed_providers().get(provider)
    return preset.quirks if preset is not None and preset.wire == wire else NO_QUIRKS


def decode(recording: Any, pieces: list[bytes]) -> tuple[Decoder, list[Payload]]:
    wire = recording.meta["api"]
    decoder = WIRES[wire].decoder(
        "msg_test",
        provider=recording.meta["provider"],
        model="model",
        quirks=quirks_of(recording.meta["provider"], wire),
    )
    payloads = decoder.open()
    for piece in pieces:
        payloads += decoder.feed(piece)
    return decoder, payloads + decoder.close()
