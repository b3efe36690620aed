"""`heald push`: pushes a project of the studio to a git remote."""

import argparse
import asyncio

import msgspec

from heald.commands.options import add_options
from heald.commands.stores import open_sessions
from heald.commands.terminal import print_note
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald.sessions.sessions import Sessions
from heald.sessions.store import iterate_sessions
from heald_studio.export.git_push import collect_commits, default_branch, push_commits
from heald_studio.projects.project import Project, VariantRef, newest_page
from heald_studio.projects.project_store import KIND, ProjectStore
from heald_studio.projects.session_files import read_session_files

EXAMPLES = """examples:
  heald push prj_01ab git@example.org:me/site.git       the beginning of the id is enough
  heald push prj_01ab https://example.org/me/site.git --branch design
  heald push prj_01ab ../site.git --version 3           up to the third version

Git signs in with its own credentials. A branch has one commit for each version; nothing there is overwritten."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", help="id of a project, or its beginning")
    parser.add_argument("remote", help="address of a git remote, or a path")
    parser.add_argument("--branch", default="", metavar="NAME", help="branch to push to (heald/ and the title)")
    parser.add_argument("--version", type=int, metavar="N", help="number of the version (the newest)")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    add_options(parser, "push")


def run(options: argparse.Namespace) -> int:
    async def push() -> int:
        async with open_sessions(options.data, options.store) as sessions:
            return await _push(sessions, options)

    return asyncio.run(push())


async def _push(sessions: Sessions, options: argparse.Namespace) -> int:
    project = await _find_project(sessions, options.project)
    commits = await collect_commits(
        project, _find_base(project, options.version), lambda session: read_session_files(sessions.store, session)
    )
    branch = options.branch or default_branch(project)
    result = await push_commits(options.remote, branch, commits, local=True)
    if options.json:
        print(encode_text(result))
        return 0
    outcomes = {"new": "is new", "updated": "was updated", "unchanged": "has everything already"}
    print(f"The branch {result.branch} {outcomes[result.outcome]}: {result.versions} commits, {result.commit[:10]}.")
    if any(variant.status in ("queued", "running") for version in project.versions for variant in version.variants):
        print_note("A variant of the project is still being built.")
    return 0


async def _find_project(sessions: Sessions, name: str) -> Project:
    """Find a project by the beginning of its id. Raises ConfigurationError."""
    projects = [
        info async for info in iterate_sessions(sessions.store) if info.kind == KIND and info.id.startswith(name)
    ]
    if len(projects) != 1:
        many = "Several projects begin" if projects else "No project begins"
        raise ConfigurationError(f"{many} with {name[:60]!r}; heald sessions list --all lists them.")
    return await ProjectStore(sessions.store).get(projects[0].owner, projects[0].id)


def _find_base(project: Project, number: int | None) -> VariantRef:
    """Find the chosen variant of a version, by default of the newest one that has a page. Raises ConfigurationError."""
    versions = [version for version in project.versions if number in (None, version.number)]
    page = newest_page(msgspec.structs.replace(project, versions=versions))
    if page is not None:
        return page
    which = "No version of the project" if number is None else f"Version {number} of the project"
    raise ConfigurationError(f"{which} has a finished page; build it first.")
