"""Routes of repositories: the folders of the server, with their dev servers, tests and changes; for the operator."""

import asyncio
from typing import Any

from heald.tools.git.program import GitFailed
from heald.tools.tool_fault import ToolFault
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.hosts import is_loopback, split_host
from heald_server.http.operations import ApiCall, Handler, Operation, is_operator
from heald_studio.repositories.change_branch import BranchState
from heald_studio.repositories.folder_command import FolderCommand
from heald_studio.repositories.pull_request import open_pull_request
from heald_studio.repositories.repository import Job, NotAgreed, Repository
from heald_studio.server import repository_views as views
from heald_studio.server.studio_operation import studio_operation

_ONE = "/repositories/{repository}"


class RepositoryRoutes:
    """The folders of a server as repositories. Their processes end with the server."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._repositories = {
            name: Repository(name, folder, context.sandbox) for name, folder in context.workspaces.items()
        }
        context.on_stop(self._close)

    def operations(self) -> list[Operation]:
        view = views.RepositoryView
        return [
            self._operation(
                "GET", "/repositories", self.list_all, "Folders with their dev servers.", views.RepositoriesView
            ),
            self._operation("GET", _ONE, self.show, "A folder, its dev server and its change.", view),
            self._operation(
                "POST", f"{_ONE}/agree", self.agree, "Agree to run its commands in the sandbox.", view, views.AgreeBody
            ),
            self._operation(
                "POST",
                f"{_ONE}/hosts",
                self.allow_host,
                "Allow a host for its commands and pages.",
                view,
                views.HostBody,
            ),
            self._operation("POST", f"{_ONE}/dev", self.start, "Start its dev server.", view),
            self._operation("DELETE", f"{_ONE}/dev", self.stop, "Stop its dev server.", view),
            self._operation("POST", f"{_ONE}/install", self.install, "Install its packages.", view),
            self._operation("DELETE", f"{_ONE}/install", self.stop_install, "Stop the installation.", view),
            self._operation("POST", f"{_ONE}/test", self.test, "Run its tests.", view),
            self._operation("DELETE", f"{_ONE}/test", self.stop_test, "Stop its tests.", view),
            self._operation("GET", f"{_ONE}/change", self.diff, "What the change alters.", views.DiffView),
            self._operation(
                "POST", f"{_ONE}/change", self.begin, "Begin a change: a new branch.", view, views.BeginBody
            ),
            self._operation("DELETE", f"{_ONE}/change", self.go_back, "Go back to the base of the change.", view),
            self._operation("POST", f"{_ONE}/change/commit", self.commit, "Commit the change.", view, views.CommitBody),
            self._operation("POST", f"{_ONE}/change/merge", self.merge, "Merge the change into its base.", view),
            self._operation(
                "POST",
                f"{_ONE}/change/pull-request",
                self.open_request,
                "Push the change and open a pull request.",
                views.PullRequestView,
                views.PullRequestBody,
            ),
        ]

    async def list_all(self, _: ApiCall) -> views.RepositoriesView:
        summaries: list[views.RepositorySummary] = []
        for repository in self._repositories.values():
            command = await asyncio.to_thread(lambda: repository.command)  # noqa: B023
            framework = command.framework if command is not None else ""
            summaries.append(
                views.RepositorySummary(name=repository.name, framework=framework, status=_status(repository))
            )
        return views.RepositoriesView(summaries)

    async def show(self, call: ApiCall) -> views.RepositoryView:
        repository = self._find(call)
        is_here = is_loopback(split_host(call.request.headers.get("host", ""))[0])
        return await asyncio.to_thread(_view, repository, is_here=is_here)

    async def agree(self, call: ApiCall) -> views.RepositoryView:
        await asyncio.to_thread(self._find(call).agree, call.body.digest)
        return await self.show(call)

    async def allow_host(self, call: ApiCall) -> views.RepositoryView:
        await asyncio.to_thread(self._find(call).allow_host, call.body.host)
        return await self.show(call)

    async def start(self, call: ApiCall) -> views.RepositoryView:
        await self._find(call).start(f"{call.request.url.scheme}://{call.request.headers.get('host', '')}")
        return await self.show(call)

    async def stop(self, call: ApiCall) -> views.RepositoryView:
        await self._find(call).stop()
        return await self.show(call)

    async def install(self, call: ApiCall) -> views.RepositoryView:
        return await self._run_job(call, "install")

    async def test(self, call: ApiCall) -> views.RepositoryView:
        return await self._run_job(call, "test")

    async def stop_install(self, call: ApiCall) -> views.RepositoryView:
        await self._find(call).stop_job("install")
        return await self.show(call)

    async def stop_test(self, call: ApiCall) -> views.RepositoryView:
        await self._find(call).stop_job("test")
        return await self.show(call)

    async def diff(self, call: ApiCall) -> views.DiffView:
        return views.DiffView(await asyncio.to_thread(self._find(call).changes.diff))

    async def begin(self, call: ApiCall) -> views.RepositoryView:
        await asyncio.to_thread(self._find(call).changes.begin, call.body.title)
        return await self.show(call)

    async def commit(self, call: ApiCall) -> views.RepositoryView:
        await asyncio.to_thread(self._find(call).changes.commit, call.body.message)
        return await self.show(call)

    async def merge(self, call: ApiCall) -> views.RepositoryView:
        await asyncio.to_thread(self._find(call).changes.merge)
        return await self.show(call)

    async def go_back(self, call: ApiCall) -> views.RepositoryView:
        await asyncio.to_thread(self._find(call).changes.go_back)
        return await self.show(call)

    async def open_request(self, call: ApiCall) -> views.PullRequestView:
        body: views.PullRequestBody = call.body
        changes = self._find(call).changes
        pull_request = await open_pull_request(changes, body.title, body.body, is_draft=body.draft)
        return views.PullRequestView(number=pull_request.number, url=pull_request.url)

    async def _run_job(self, call: ApiCall, job: Job) -> views.RepositoryView:
        await self._find(call).run_job(job)
        return await self.show(call)

    def _operation(
        self, method: str, path: str, handler: Handler, summary: str, response: Any, body: Any = None
    ) -> Operation:
        return studio_operation(
            method,
            path,
            _for_operator(handler),
            summary,
            response,
            body,
            errors=("not_found", "forbidden", "conflict", "unavailable"),
        )

    def _find(self, call: ApiCall) -> Repository:
        repository = self._repositories.get(call.path["repository"])
        if repository is None:
            raise ApiError("not_found", "The server offers no such folder; start it with --workspace FOLDER.")
        return repository

    async def _close(self) -> None:
        await asyncio.gather(*(repository.close() for repository in self._repositories.values()))


def _for_operator(handler: Handler) -> Handler:
    async def answer(call: ApiCall) -> object:
        if not is_operator(call):
            raise ApiError("forbidden", "Repositories are for the person who runs the server.")
        try:
            return await handler(call)
        except NotAgreed as error:
            raise ApiError("conflict", str(error)) from None
        except (ToolFault, GitFailed) as error:
            raise ApiError("unavailable", str(error)) from None

    return answer


def _view(repository: Repository, *, is_here: bool) -> views.RepositoryView:
    command, server = repository.command, repository.server
    commands = None
    if command is not None:
        commands = views.CommandsView(
            dev=command.command,
            script=command.script,
            install=command.install,
            test=command.test,
            digest=command.digest,
            agreed=repository.is_agreed,
        )
    return views.RepositoryView(
        name=repository.name,
        framework=command.framework if command is not None else "",
        installed=repository.is_installed,
        commands=commands,
        status=_status(repository),
        preview=repository.address if is_here else "",
        output=server.text if server is not None else "",
        install=_job_view(repository.jobs.get("install")),
        test=_job_view(repository.jobs.get("test")),
        branch=_branch_view(repository.changes.state()),
        proposed_hosts=list(repository.proposed_hosts()),
        refused_hosts=list(repository.refused_hosts),
        allowed_hosts=list(repository.allowed_hosts),
    )


def _status(repository: Repository) -> views.DevStatus:
    return repository.server.status if repository.server is not None else "stopped"


def _job_view(job: FolderCommand | None) -> views.JobView | None:
    if job is None:
        return None
    status: views.JobStatus = "running" if job.is_running else "passed" if job.exit_code == 0 else "failed"
    return views.JobView(command=job.command, status=status, output="\n".join([job.text, *job.notes]).strip())


def _branch_view(state: BranchState | None) -> views.BranchView | None:
    if state is None:
        return None
    return views.BranchView(branch=state.branch, base=state.base, changed=state.changed, commits=state.commits)
