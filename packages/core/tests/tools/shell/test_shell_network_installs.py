# ruff: noqa: ASYNC221
"""Package managers and git reach allowed hosts from the sandbox, against mirrors that the test serves."""

import shutil
import subprocess
from pathlib import Path

import pytest
from network_bench import NetworkBench
from package_mirrors import make_cargo, make_git, make_npm, make_pip, serve_folder

from heald.tools.shell.sandbox import PATH, Sandbox

HOST = "packages.example.org"


def require(program: str) -> str:
    path = shutil.which(program, path=PATH)
    if path is None:
        pytest.skip(f"{program} is not installed where the sandbox reads programs")
    return path


@pytest.fixture
def workspace(tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Path:
    if not sandbox.has_network:
        pytest.skip("this bubblewrap or processor has no network for commands")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


async def test_npm_install(workspace: Path, tmp_path: Path) -> None:
    require("npm")
    make_npm(tmp_path / "mirror", HOST)
    with serve_folder(tmp_path / "mirror") as port:
        bench = NetworkBench(workspace, [HOST], {80: port})
        install = f"npm install --registry http://{HOST}/ --no-audit --no-fund demo-package"
        outcome = await bench.run(f"{install} && node -p 'require(\"demo-package\")'", 120)
        assert outcome.code == 0, outcome.whole
        assert "from the mirror" in outcome.text
        assert any(f"connected to {HOST}" in note for note in outcome.notes)
        refused = await NetworkBench(workspace, [], {80: port}).run(
            f"{install} --fetch-retries 0 --cache /tmp/c -f", 120
        )
    assert refused.code != 0
    assert f"{HOST} was refused" in refused.whole


async def test_pip_install(workspace: Path, tmp_path: Path) -> None:
    require("python3")
    if subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("the system's python has no pip")
    make_pip(tmp_path / "mirror")
    with serve_folder(tmp_path / "mirror") as port:
        bench = NetworkBench(workspace, [HOST], {80: port})
        install = (
            f"/usr/bin/python3 -m pip install -q --disable-pip-version-check --no-deps --target lib "
            f"--index-url http://{HOST}/simple --trusted-host {HOST} demo-package"
        )
        outcome = await bench.run(
            f"{install} && PYTHONPATH=lib /usr/bin/python3 -c 'import demo_package as d; print(d.VALUE)'", 120
        )
        assert outcome.code == 0, outcome.whole
        assert "from the mirror" in outcome.text
        refused = await NetworkBench(workspace, [], {80: port}).run(f"{install} --upgrade --retries 0", 120)
    assert refused.code != 0
    assert f"{HOST} was refused" in refused.whole


async def test_cargo_fetch(workspace: Path, tmp_path: Path) -> None:
    sysroot = (
        subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=False)
        if shutil.which("rustc")
        else None
    )
    if sysroot is None or sysroot.returncode:
        pytest.skip("cargo is not installed")
    toolchain = sysroot.stdout.strip()
    make_cargo(tmp_path / "mirror", HOST)
    (workspace / "src").mkdir()
    (workspace / "src/main.rs").write_text("fn main() {}\n")
    (workspace / "Cargo.toml").write_text(
        '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ndemo-crate = "1"\n'
    )
    (workspace / ".cargo").mkdir()
    (workspace / ".cargo/config.toml").write_text(
        f'[source.crates-io]\nreplace-with = "mirror"\n[source.mirror]\nregistry = "sparse+http://{HOST}/index/"\n'
    )
    box = Sandbox(readable=[toolchain], path=f"{toolchain}/bin:{PATH}")
    with serve_folder(tmp_path / "mirror") as port:
        bench = NetworkBench(workspace, [HOST], {80: port}, sandbox=box)
        outcome = await bench.run("cargo fetch && ls ~/.cargo/registry/src/*", 180)
        assert outcome.code == 0, outcome.whole
        assert "demo-crate-1.0.0" in outcome.text
        refused = await NetworkBench(workspace, [], {80: port}, sandbox=box).run(
            "cargo fetch --config net.retry=0", 180
        )
    assert refused.code != 0
    assert f"{HOST} was refused" in refused.whole


async def test_git_fetch(workspace: Path, tmp_path: Path) -> None:
    require("git")
    commit = make_git(tmp_path / "mirror")
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    subprocess.run(["git", "remote", "add", "origin", f"http://{HOST}/demo.git"], cwd=workspace, check=True)
    with serve_folder(tmp_path / "mirror") as port:
        bench = NetworkBench(workspace, [HOST], {80: port})
        outcome = await bench.run("git fetch origin && git show origin/main:file.txt && git rev-parse origin/main")
        assert outcome.code == 0, outcome.whole
        assert "from the mirror" in outcome.text
        assert commit in outcome.text
        refused = await NetworkBench(workspace, [], {80: port}).run("git fetch origin other")
    assert refused.code != 0
    assert f"{HOST} was refused" in refused.whole
