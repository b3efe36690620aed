"""The sample projects of the stacks' tests, for the exports and the studio."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

Sample = Callable[[str], dict[str, str | bytes]]


@pytest.fixture(scope="session")
def sample() -> Sample:
    path = Path(__file__).parent / "stacks" / "stack_projects.py"
    spec = importlib.util.spec_from_file_location("stack_projects_of_every_stack", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.project
