"""Tries the README and the tutorial as a stranger does: from the wheels, with an empty home and without the checkout.

    python scripts/stranger.py [--wheels dist] [--python python3.11 --python python3.13] [--no-pictures]

For each Python it makes an empty environment, installs the wheels, and runs the code of the README, the commands of the
README that need no key, and the tutorial; with bubblewrap, without a network and without the checkout. Then it visits
the page of `heald serve` and the pages of the tutorial in a browser. Each step leaves a picture in build/stranger.

It fails on an exit status other than 0, a traceback, a missing command, a step that takes longer than `LONGEST`, a
tutorial that takes longer than it says, a fault in the browser, and a link of README or docs to a file that is
not there.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from stranger_page import StrangerBrowser, open_browser  # noqa: E402

from doc_commands import lines  # noqa: E402
from doc_pages import PAGES, blocks, links, name_of  # noqa: E402
from tutorial_script import PAGE, SERVER, as_script, free_port, typed  # noqa: E402

PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
PICTURES = ROOT / "build" / "stranger"
LONGEST = 300
"""Seconds of a step, at most. The installation has no limit: it waits for the package index."""
TUTORIAL = "This tutorial takes half an hour"
TUTORIAL_SECONDS = 1800
"""How long the tutorial says that it takes; its commands, typed at once, take less."""
WITHOUT_KEY = ("heald doctor", "heald build")
"""Commands of the README that neither need a key nor run until they are stopped."""
_SHOWN = re.compile(r'<(?:img|source)[^>]* (?:src|srcset)="([^"]+)"')
_INSTALL_VARIABLES = ("PIP_", "UV_", "SSL_", "REQUESTS_CA_BUNDLE")


@dataclass
class Stranger:
    """A person with one Python, an empty home and the wheels."""

    python: str
    folder: Path
    browser: StrangerBrowser | None
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

    def run(self, name: str, script: str, longest: int = LONGEST) -> str:
        """Run a script of bash in the folder, and note what is wrong with it. Returns what it printed."""
        started = monotonic()
        try:
            ran = subprocess.run(
                [*isolation(self.folder), "bash", "-c", f"set -eu\n{script}"],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=longest,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self.faults.append(f"{name}: it took longer than {longest} seconds.")
            return ""
        print(f"  {name}: {monotonic() - started:.1f} s", flush=True)
        if ran.returncode != 0:
            self.faults.append(f"{name}: exit status {ran.returncode}\n{ran.stdout[-2000:]}")
        if "Traceback (most recent call last)" in ran.stdout:
            self.faults.append(f"{name}: a traceback\n{ran.stdout[-2000:]}")
        return ran.stdout

    def read_readme(self) -> None:
        shutil.copy(ROOT / "examples" / "shot.png", self.folder / "shot.png")
        for block in blocks(ROOT / "README.md"):
            if block.language == "python":
                (self.folder / "readme.py").write_text(block.text, "utf-8")
                self._shoot("python readme.py", self.run(block.place, "python -W error readme.py"))
            if block.language != "console":
                continue
            for line in lines(block):
                command = line.partition("#")[0].strip()
                if command.startswith(WITHOUT_KEY):
                    self._shoot(command, self.run(command, f"{command} || test '{command}' = 'heald doctor'"))
        self._shoot("heald demo", self.run("heald demo", "heald demo --pause 0"))

    def type_tutorial(self) -> None:
        if TUTORIAL not in PAGE.read_text("utf-8"):
            self.faults.append(f"{name_of(PAGE)}: it no longer says {TUTORIAL!r}; change TUTORIAL_SECONDS with it.")
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        shutil.copytree(ROOT / "examples", self.folder / "examples", dirs_exist_ok=True)
        port = free_port()
        script = "\n".join(as_script(line, port) for line in typed(port))
        printed = self.run("docs/tutorial.md", script, TUTORIAL_SECONDS)
        for step in printed.split("@@ ")[1:]:
            command, _, output = step.partition("\n")
            self._shoot(command, output)

    def visit_pages(self) -> None:
        """Look at the page of `heald serve`, at the page that was built, and at the one that the tutorial writes."""
        if self.browser is None:
            return
        started = monotonic()
        with self._serving(["heald", "serve", "--port", "0", "--no-open", "--json"]) as server:
            assert server.stdout is not None
            ready = server.stdout.readline()
            if ready:
                address = json.loads(ready)
                self.browser.visit_start(f"{address['url']}/#token={address['token']}")
            else:
                self.faults.append("heald serve: it ended before it was ready.")
        self.browser.show_file(self.folder / "out" / "index.html")
        port = free_port()
        [command] = [line for line in typed(port) if line.startswith(SERVER)]
        with self._serving(command.split()) as server:
            if answers(port, server):
                self.browser.ask_bakery(f"http://127.0.0.1:{port}/bakery#a-token-of-your-own")
            else:
                self.faults.append(f"{command}: it does not answer.")
        print(f"  in the browser: {monotonic() - started:.1f} s", flush=True)
        self.faults += self.browser.faults

    @contextmanager
    def _serving(self, command: list[str]) -> "Generator[subprocess.Popen[str]]":
        server = subprocess.Popen(
            [str(self.folder / ".venv" / "bin" / command[0]), *command[1:]],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            yield server
        finally:
            server.terminate()
            server.communicate(timeout=LONGEST)

    def _environment(self) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        path = f"{self.folder / '.venv' / 'bin'}:/usr/bin:/bin"
        return {"HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", "PATH": path}

    def _shoot(self, command: str, printed: str) -> None:
        if self.browser is not None:
            self.browser.print_step(command, printed)


def isolation(folder: Path) -> list[str]:
    """Return the words before a command that take the network and the checkout away from it, where bubblewrap works."""
    if shutil.which("bwrap") is None or folder.is_relative_to(ROOT):
        return []
    words = ["bwrap", "--dev-bind", "/", "/", "--tmpfs", str(ROOT), "--unshare-net", "--die-with-parent", "--"]
    tried = subprocess.run([*words, "true"], capture_output=True, check=False)
    return words if tried.returncode == 0 else []


def answers(port: int, server: "subprocess.Popen[str]") -> bool:
    """Wait until a server answers; False if it ended, or did not answer in time."""
    started = monotonic()
    while server.poll() is None and monotonic() - started < LONGEST:
        try:
            urlopen(f"http://127.0.0.1:{port}/bakery", timeout=LONGEST).close()
        except HTTPError:
            return True
        except URLError:
            sleep(0.2)
        else:
            return True
    return False


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
    parser.add_argument("--no-pictures", action="store_true", help="leave out the browser and the pictures")
    options = parser.parse_args()
    wheels = sorted(options.wheels.resolve().glob("*.whl"))
    if not wheels:
        raise SystemExit(f"There are no wheels in {options.wheels}; run `make dist` first.")
    faults = dead_links()
    for python in options.python or [path for name in PYTHONS if (path := find_python(name)) is not None]:
        print(f"{python}:", flush=True)
        pictures = nullcontext() if options.no_pictures else open_browser(PICTURES / Path(python).name)
        with tempfile.TemporaryDirectory(prefix="heald-stranger-") as folder, pictures as browser:
            stranger = Stranger(python, Path(folder), browser)
            if not isolation(stranger.folder):
                print("  bubblewrap does not work here: the commands can reach the network and the checkout.")
            if stranger.install(wheels):
                stranger.read_readme()
                stranger.type_tutorial()
                stranger.visit_pages()
            faults += [f"{python}: {fault}" for fault in stranger.faults]
    print(*faults, sep="\n")
    print(f"{len(faults)} faults" if faults else "No fault.")
    return 1 if faults else 0


def find_python(name: str) -> str | None:
    """Return a Python that works: on the path, or among those of pyenv, whose command may only be a name."""
    versions = Path.home() / ".pyenv" / "versions"
    for candidate in (name, *map(str, sorted(versions.glob(f"*/bin/{name}")))):
        if is_working(candidate):
            return candidate
    return None


def is_working(python: str) -> bool:
    """Whether a Python is installed, and not only named on the path."""
    try:
        return subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
