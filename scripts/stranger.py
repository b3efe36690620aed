"""Tries the README and the tutorial as a stranger does: from the wheels, with an empty home and without the checkout.

    python scripts/stranger.py [--wheels dist] [--python python3.11 --python python3.13]

For each Python it makes an empty environment, installs the wheels, and runs the code of the README, the commands of the
README that need no key, and the tutorial. It fails on an exit status other than 0, a traceback, a missing command, a
step that takes longer than `LONGEST`, and a link of README or docs to a file that is not there.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from doc_commands import lines  # noqa: E402
from doc_pages import PAGES, blocks, links, name_of  # noqa: E402
from tutorial_script import as_script, free_port, typed  # noqa: E402

PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
LONGEST = 300
"""Seconds of a step, at most. The installation has no limit: it waits for the package index."""
WITHOUT_KEY = ("heald doctor", "heald build")
"""Commands of the README that neither need a key nor run until they are stopped."""
_SHOWN = re.compile(r'<(?:img|source)[^>]* (?:src|srcset)="([^"]+)"')
_INSTALL_VARIABLES = ("PIP_", "UV_", "SSL_", "REQUESTS_CA_BUNDLE")


@dataclass
class Stranger:
    """A person with one Python, an empty home and the wheels."""

    python: str
    folder: Path
    faults: list[str] = field(default_factory=list[str])

    def install(self, wheels: list[Path]) -> bool:
        """Install the wheels into an empty environment; whether that worked."""
        environment = self.folder / ".venv"
        index = {name: value for name, value in os.environ.items() if name.startswith(_INSTALL_VARIABLES)}
        settings = index | {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "")}
        for command in (
            [self.python, "-m", "venv", str(environment)],
            [str(environment / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *map(str, wheels)],
        ):
            ran = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
            if ran.returncode != 0:
                self.faults.append(f"{command[0]}: {ran.stderr[-2000:]}")
                return False
        return True

    def run(self, name: str, script: str) -> None:
        """Run a script of bash in the folder, and note what is wrong with it."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environment = {"HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb"}
        environment["PATH"] = f"{self.folder / '.venv' / 'bin'}:/usr/bin:/bin"
        started = monotonic()
        try:
            ran = subprocess.run(
                ["bash", "-c", f"set -eu\n{script}"],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LONGEST,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self.faults.append(f"{name}: it took longer than {LONGEST} seconds.")
            return
        printed = ran.stdout + ran.stderr
        print(f"  {name}: {monotonic() - started:.1f} s", flush=True)
        if ran.returncode != 0:
            self.faults.append(f"{name}: exit status {ran.returncode}\n{printed[-2000:]}")
        if "Traceback (most recent call last)" in printed:
            self.faults.append(f"{name}: a traceback\n{printed[-2000:]}")

    def read_readme(self) -> None:
        shutil.copy(ROOT / "examples" / "shot.png", self.folder / "shot.png")
        for block in blocks(ROOT / "README.md"):
            if block.language == "python":
                (self.folder / "readme.py").write_text(block.text, "utf-8")
                self.run(block.place, "python -W error readme.py")
            if block.language != "console":
                continue
            for line in lines(block):
                command = line.partition("#")[0].strip()
                if command.startswith(WITHOUT_KEY):
                    self.run(command, f"{command} || test '{command}' = 'heald doctor'")
        self.run("heald demo", "heald demo --pause 0")

    def type_tutorial(self) -> None:
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        shutil.copytree(ROOT / "examples", self.folder / "examples", dirs_exist_ok=True)
        port = free_port()
        self.run("docs/tutorial.md", "\n".join(as_script(line, port) for line in typed(port)))


def dead_links() -> list[str]:
    """Return the links of README and docs to files that are not there. Anchors are checked by the tests."""
    dead: list[str] = []
    for page in PAGES:
        pictures = _SHOWN.findall(page.read_text("utf-8"))
        for target in (*(target for _, target in links(page)), *pictures):
            path = target.partition("#")[0]
            if path and "://" not in path and not path.startswith("mailto:") and not (page.parent / path).exists():
                dead.append(f"{name_of(page)}: {target} leads nowhere")
    return dead


def main() -> int:
    parser = argparse.ArgumentParser(description="Try the README and the tutorial from the wheels.")
    parser.add_argument("--wheels", type=Path, default=ROOT / "dist", help="folder of the wheels (dist)")
    parser.add_argument(
        "--python", action="append", default=[], help="a Python to use; repeatable (all that are there)"
    )
    options = parser.parse_args()
    wheels = sorted(options.wheels.resolve().glob("*.whl"))
    if not wheels:
        raise SystemExit(f"There are no wheels in {options.wheels}; run `make dist` first.")
    faults = dead_links()
    for python in options.python or [name for name in PYTHONS if is_working(name)]:
        print(f"{python}:", flush=True)
        with tempfile.TemporaryDirectory(prefix="heald-stranger-") as folder:
            stranger = Stranger(python, Path(folder))
            if stranger.install(wheels):
                stranger.read_readme()
                stranger.type_tutorial()
            faults += [f"{python}: {fault}" for fault in stranger.faults]
    print(*faults, sep="\n")
    print(f"{len(faults)} faults" if faults else "No fault.")
    return 1 if faults else 0


def is_working(python: str) -> bool:
    """Whether a Python is installed, and not only named on the path."""
    try:
        return subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
