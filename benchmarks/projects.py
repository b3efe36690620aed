"""Real projects in the studio: each is opened with its own dev server, changed, hot-reloaded, branched and merged.

`python -m benchmarks.projects [NAME ...] [--projects FOLDER]` makes each project with the template of its framework, or
takes the one in a subfolder of FOLDER, where its packages are installed. Those named `stack-…` are the studio's own
stacks, which are built with `npm run build` first. `heald serve` opens a copy of each project. A scripted
model edits one file on a branch, and Chromium shows the preview: the new text must appear without a reload by hand, and
the first branch must stay as it was until the change is merged. It writes benchmarks/results/projects.json, where the
rows of projects that were not named stay.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, time
from typing import Any

import msgspec
from playwright.async_api import Browser, async_playwright

from benchmarks.report import commit_name, machine
from heald.core.messages import ToolCall
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_studio.browser.find_chromium import find_chromium
from heald_studio.stacks.installed import find_stack

RESULTS = Path(__file__).parent / "results" / "projects.json"
_SECONDS = 480.0
_AUTHOR = ("-c", "user.name=Benchmark", "-c", "user.email=benchmark@example.org", "-c", "init.defaultBranch=main")
_VITE = ("npx", "--yes", "create-vite@9")
_INSTALL = ("npm", "install", "--no-audit", "--no-fund")
_BUILD = ("npm", "run", "build")


class Template(msgspec.Struct, frozen=True):
    """A project and the change of it."""

    name: str
    package: str
    """The package whose version is the one of the framework."""
    make: tuple[str, ...]
    """The command that makes the project in the folder of its name."""
    file: str
    old: str
    new: str
    before: str
    """A text that the page shows before the change."""
    after: str
    stack: str = ""
    """The stack of the studio that the project starts with, instead of a template."""


class ProjectRow(msgspec.Struct, frozen=True):
    template: str
    version: str
    start_seconds: float
    """From the request to start until the dev server answers."""
    reload_seconds: float
    """From the moment the file is written until Chromium shows the new text."""
    is_hot: bool
    """Whether the document stayed: modules were replaced, and the page was not loaded again."""
    branch: str
    base_untouched: bool
    merged: bool
    failure: str = ""
    node: str = ""
    """The version of Node.js that ran it, if the row was measured by itself."""


class ProjectResults(msgspec.Struct, frozen=True):
    command: str
    commit: str
    machine: str
    node: str
    measured: str
    rows: list[ProjectRow]


_GET_STARTED = ("<h1>Get started</h1>", "<h1>Fresh bread</h1>", "Get started", "Fresh bread")
TEMPLATES = (
    Template(
        "vite-react",
        "vite",
        (*_VITE, "vite-react", "--template", "react", "--no-interactive"),
        "src/App.jsx",
        *_GET_STARTED,
    ),
    Template(
        "vite-vue",
        "vite",
        (*_VITE, "vite-vue", "--template", "vue", "--no-interactive"),
        "src/components/HelloWorld.vue",
        *_GET_STARTED,
    ),
    Template(
        "vite-svelte",
        "vite",
        (*_VITE, "vite-svelte", "--template", "svelte", "--no-interactive"),
        "src/App.svelte",
        *_GET_STARTED,
    ),
    Template(
        "next",
        "next",
        ("npx", "--yes", "create-next-app@latest", "next", "--ts", "--no-tailwind", "--src-dir", "--app", "--yes"),
        "src/app/page.tsx",
        "To get started, edit the",
        "Fresh bread in the",
        "To get started",
        "Fresh bread",
    ),
    Template(
        "astro",
        "astro",
        ("npx", "--yes", "create-astro@latest", "astro", "--template", "minimal", "--no-git", "--yes"),
        "src/pages/index.astro",
        "<h1>Astro</h1>",
        "<h1>Fresh bread</h1>",
        "Astro",
        "Fresh bread",
    ),
    Template(
        "sveltekit",
        "@sveltejs/kit",
        (
            "npx",
            "--yes",
            "sv",
            "create",
            "sveltekit",
            "--template",
            "minimal",
            "--types",
            "ts",
            "--no-add-ons",
            "--no-install",
        ),
        "src/routes/+page.svelte",
        "Welcome to SvelteKit",
        "Fresh bread",
        "Welcome to SvelteKit",
        "Fresh bread",
    ),
    Template("stack-next", "next", (), "app/page.tsx", *_GET_STARTED, "next_shadcn"),
    Template("stack-svelte", "svelte", (), "src/App.svelte", *_GET_STARTED, "svelte_vite"),
    Template("stack-astro", "astro", (), "src/pages/index.astro", *_GET_STARTED, "astro_tailwind"),
)


class Server:
    """`heald serve` on one project."""

    def __init__(self, process: asyncio.subprocess.Process, url: str, token: str, name: str) -> None:
        self.process = process
        self._url = url
        self._token = token
        self._name = name

    async def ask(self, method: str, path: str, **body: Any) -> Any:
        """Send a request. Raises HTTPError."""
        return await asyncio.to_thread(self._ask, method, path, body)

    async def change(self, method: str, path: str = "", **body: Any) -> Any:
        """Send a request for the project."""
        return await self.ask(method, f"/repositories/{self._name}{path}", **body)

    def _ask(self, method: str, path: str, body: object) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = None if method == "GET" else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())


def make_project(template: Template, folder: Path) -> None:
    """Make the project of a template in a folder, with its packages, unless it is there."""
    project = folder / template.name
    environment = {**os.environ, "CI": "1"}
    if not project.exists() and template.stack:
        write_stack(template, project)
    elif not project.exists():
        subprocess.run(template.make, cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL)
    if not (project / "node_modules").exists():
        subprocess.run(_INSTALL, cwd=project, env=environment, check=True, stdin=subprocess.DEVNULL)
    if template.stack:
        subprocess.run(_BUILD, cwd=project, env=environment, check=True, stdin=subprocess.DEVNULL)


def write_stack(template: Template, project: Path) -> None:
    """Write the files that a project of the stack starts with, with a heading to change."""
    for path, text in find_stack(template.stack).scaffold.items():
        file = project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("</main>", f"{template.old}</main>") if path == template.file else text, "utf-8")


def edits_once(template: Template) -> ScriptedServer:
    """A model that reads the file, edits it, and says that it is done."""

    def answer(request: ReceivedRequest) -> Reply:
        results = sum(message["role"] == "tool" for message in request.body["messages"])
        read = ToolCall(id="c1", name="read_file", input={"path": template.file})
        edit = {"path": template.file, "old_text": template.old, "new_text": template.new}
        calls = [[read], [ToolCall(id="c2", name="edit_file", input=edit)]]
        return wire_reply("chat", calls=calls[results]) if results < 2 else wire_reply("chat", text="Done.")

    return ScriptedServer(answer)


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *_AUTHOR, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


async def start_server(model: ScriptedServer, project: Path, work: Path) -> Server:
    options = ("--port", "0", "--no-open", "--json", "--model", "m", "--base-url", f"{model.url}/v1")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "heald_cli.main", "serve", str(project), *options),
        *("--permissions", "auto", "--tools", "files", "--data", str(work / "data")),
        stdout=subprocess.PIPE,
        env={**os.environ, "XDG_CONFIG_HOME": str(work / "config")},
    )
    assert process.stdout is not None
    ready = json.loads(await process.stdout.readline())
    return Server(process, ready["url"], ready["token"], project.name)


async def measure(template: Template, projects: Path, browser: Browser) -> ProjectRow:
    """Open, change, hot-reload, branch and merge one project."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        project = work / template.name
        await asyncio.to_thread(shutil.copytree, projects / template.name, project, symlinks=True)
        shutil.rmtree(project / ".git", ignore_errors=True)
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "As the template made it")):
            git(project, *words)
        async with edits_once(template) as model:
            server = await start_server(model, project, work)
            try:
                async with asyncio.timeout(_SECONDS):
                    return await change_project(template, project, server, browser)
            finally:
                server.process.terminate()
                await server.process.wait()


async def change_project(template: Template, project: Path, server: Server, browser: Browser) -> ProjectRow:
    view = await server.change("GET")
    await server.change("POST", "/agree", digest=view["commands"]["digest"])
    began = monotonic()
    view = await server.change("POST", "/dev")
    while view["status"] == "starting":
        await asyncio.sleep(0.1)
        view = await server.change("GET")
    started = monotonic() - began
    if view["status"] != "running":
        raise RuntimeError(f"the dev server is {view['status']}: {view['output'][-500:]}")
    base = git(project, "rev-parse", "main")
    page = await browser.new_page()
    try:
        page.set_default_timeout(_SECONDS * 1000)
        async with page.expect_event("websocket"):
            await page.goto(view["preview"])
        await page.get_by_text(template.before).first.wait_for()
        await page.wait_for_load_state("networkidle")
        await page.evaluate("window.isFirstDocument = true")
        branch = (await server.change("POST", "/change", title="Sell fresh bread"))["branch"]["branch"]
        session = await server.ask("POST", "/sessions", workspace=project.name)
        await server.ask("POST", f"/sessions/{session['id']}/messages", text="Sell fresh bread")
        await page.get_by_text(template.after).first.wait_for()
        seconds = time() - (project / template.file).stat().st_mtime
        is_hot = bool(await page.evaluate("window.isFirstDocument === true"))
    finally:
        await page.close()
    await server.change("POST", "/change/commit", message="Sell fresh bread")
    is_untouched = git(project, "rev-parse", "main") == base
    await server.change("POST", "/change/merge")
    is_merged = git(project, "rev-parse", "main") == git(project, "rev-parse", branch) != base
    version = json.loads((project / "node_modules" / template.package / "package.json").read_text())["version"]
    return ProjectRow(
        template.name, version, round(started, 1), round(seconds, 2), is_hot, branch, is_untouched, is_merged
    )


async def main(names: Sequence[str], projects: Path | None) -> int:
    templates = [template for template in TEMPLATES if not names or template.name in names]
    rows: list[ProjectRow] = []
    with tempfile.TemporaryDirectory() as made:
        folder = projects or Path(made)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=str(find_chromium()), args=["--no-sandbox", "--site-per-process"]
            )
            for template in templates:
                try:
                    await asyncio.to_thread(make_project, template, folder)
                    row = await measure(template, folder, browser)
                except Exception as error:
                    failure = f"{type(error).__name__}: {str(error)[:300]}"
                    row = ProjectRow(template.name, "", 0.0, 0.0, False, "", False, False, failure)
                rows.append(row)
                print_row(row)
            await browser.close()
    words = [*names, *(["--projects", "FOLDER"] if projects is not None else [])]
    command = " ".join(["python -m benchmarks.projects", *words])
    if names and RESULTS.exists():
        results = with_rows(msgspec.json.decode(RESULTS.read_bytes(), type=ProjectResults), rows)
    else:
        results = ProjectResults(command, commit_name(), machine(), node_version(), "2026-11", rows)
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
    return 0 if all(row.merged and row.base_untouched for row in rows) else 1


def with_rows(results: ProjectResults, rows: Sequence[ProjectRow]) -> ProjectResults:
    """Return the results with rows that were measured by themselves in the place of earlier ones."""
    by_name = {row.template: row for row in results.rows}
    by_name |= {row.template: msgspec.structs.replace(row, node=node_version()) for row in rows}
    names = [template.name for template in TEMPLATES if template.name in by_name]
    return msgspec.structs.replace(results, rows=[by_name[name] for name in names])


def node_version() -> str:
    return subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout.strip()


def print_row(row: ProjectRow) -> None:
    if row.failure:
        print(f"{row.template:12} failed: {row.failure}", flush=True)
        return
    way = "hot" if row.is_hot else "reloaded"
    print(
        f"{row.template:12} {row.version:9} started {row.start_seconds:5.1f} s, "
        f"{way} after {row.reload_seconds:5.2f} s, {row.branch}, "
        f"base untouched: {row.base_untouched}, merged: {row.merged}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Open, change, hot-reload and branch real projects.")
    parser.add_argument("names", nargs="*", choices=[[], *(template.name for template in TEMPLATES)], metavar="NAME")
    parser.add_argument("--projects", type=Path, help="folder with the projects as subfolders")
    options = parser.parse_args()
    raise SystemExit(asyncio.run(main(options.names, options.projects)))
