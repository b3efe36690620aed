"""The tests of programs need bubblewrap and a python3 of the system."""

import shutil

import pytest

from heald.tools.shell.sandbox import PATH, Sandbox


@pytest.fixture(scope="package", autouse=True)
def has_sandbox() -> None:
    """Skip where no program can be run."""
    reason = Sandbox().available()
    if reason is not None:
        pytest.skip(reason)
    if shutil.which("python3", path=PATH) is None:
        pytest.skip("there is no python3 in the path of the sandbox")
