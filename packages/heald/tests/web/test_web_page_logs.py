"""The logs that the page's own fold is tested on are logs that Python writes and folds so today."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from page_support import ROOT

from heald.core.envelope import PAYLOADS
from heald_check import check_log

LOGS = ROOT / "web" / "tests" / "logs"
NAMES = sorted(path.stem for path in LOGS.glob("*.jsonl"))


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_logs", ROOT / "web" / "tests" / "make_logs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_a_log_for_every_recording() -> None:
    assert sorted(record.__name__ for record in maker().RECORDED) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_log_folds_to_its_states(name: str) -> None:
    make = maker()
    events = make.read(LOGS / f"{name}.jsonl")
    states = json.loads((LOGS / f"{name}.json").read_bytes())
    assert make.states_of(events) == states, f"run `python {Path('web/tests/make_logs.py')}`"


UNCHECKED = ("waiting", "rewound", "client_calls", "context_and_clients")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNCHECKED])
def test_a_log_breaks_no_invariant(name: str) -> None:
    assert check_log(maker().read(LOGS / f"{name}.jsonl")) == []


def test_every_kind_of_event_is_in_one_of_them() -> None:
    make = maker()
    seen = {event.type for name in NAMES for event in make.read(LOGS / f"{name}.jsonl")}
    assert set(PAYLOADS) - seen == set()
