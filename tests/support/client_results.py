"""Records the results of tests of other people's clients, in `build/clients`, for the table in docs/clients.md.

A test names its client with `@pytest.mark.client("codex", "0.169.0", "/v1/responses", "streamed answer, tools")`. A
test that was skipped records nothing. The version `pip:llm==0.*` is that of the package in its environment.
"""

import json
from collections.abc import Generator
from hashlib import sha256

import pytest

from registry_clients import python_folder
from repository import ROOT

RESULTS = ROOT / "build" / "clients"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    mark = item.get_closest_marker("client")
    if mark is not None and not report.skipped and (report.when == "call" or report.failed):
        client, version, endpoint, features = mark.args
        row = {"client": client, "version": _find_version(version), "endpoint": endpoint, "features": features}
        RESULTS.mkdir(parents=True, exist_ok=True)
        name = sha256(item.nodeid.encode()).hexdigest()[:16]
        (RESULTS / f"{name}.json").write_text(json.dumps({**row, "test": item.nodeid, "passed": report.passed}))
    return report


def _find_version(version: str) -> str:
    """Return a version as it is, or find the one that is installed in the environment of a requirement."""
    if not version.startswith("pip:"):
        return version
    requirement = version.removeprefix("pip:")
    name = requirement.partition("==")[0].replace("-", "_")
    packages = python_folder(requirement).parent.glob(f"lib/python*/site-packages/{name}-*.dist-info")
    return next((package.stem.partition("-")[2] for package in packages), requirement)
