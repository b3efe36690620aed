"""Caches the last detections, by the digests of a picture's file and of its pixels."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

from heald_pictures.elements import Detection

CACHED = 6  # pictures
KEYS = 2  # of a picture

_lock = threading.Lock()
_detections: "OrderedDict[bytes, Detection]" = OrderedDict()


def find_cached(key: bytes) -> Detection | None:
    with _lock:
        return _detections.get(key)


def cache_detection(keys: Sequence[bytes], detection: Detection) -> None:
    """Store a detection under all its keys, and drop the oldest ones."""
    with _lock:
        for key in keys:
            _detections[key] = detection
            _detections.move_to_end(key)
        while len(_detections) > KEYS * CACHED:
            _detections.popitem(last=False)


def clear_cache() -> None:
    with _lock:
        _detections.clear()
