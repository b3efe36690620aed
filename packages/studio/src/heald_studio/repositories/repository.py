"""One existing repository in the studio: its dev server, its preview, its tests and its change."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from heald.core.errors import HealdError
from heald.tools.shell.network import folder_hosts
from heald.tools.shell.network.folder_registries import MAX_PROPOSED, find_registries
from heald.tools.shell.sandbox import Sandbox
from heald_studio.repositories.change_branch import ChangeBranch
from heald_studio.repositories.dev_command import DevCommand, is_installed, read_dev_command
from heald_studio.repositories.dev_server import DevServer
from heald_studio.repositories.folder_command import FolderCommand
from heald_studio.repositories.preview_proxy import PreviewProxy, is_host_name
from heald_studio.repositories.records import RepositoryRecord, read_record, write_record

Job = Literal["install", "test"]


class RepositoryRefused(HealdError):
    """The repository cannot do what was asked."""

    code = "invalid_request"


class NotAgreed(RepositoryRefused):
    """Nobody has agreed to run the commands of the repository as they are now."""


class Repository:
    """A folder that the server offers. Its commands run in the sandbox, after a person has agreed to them."""

    def __init__(self, name: str, folder: str, sandbox: Sandbox) -> None:
        self.name = name
        self.folder = folder
        self.changes = ChangeBranch(folder)
        self.server: DevServer | None = None
        self.jobs: dict[Job, FolderCommand] = {}
        """The newest run of each kind."""
        self._sandbox = sandbox
        self._proxy: PreviewProxy | None = None
        self._turn = asyncio.Lock()
        """Held while the dev server starts or stops."""

    @property
    def command(self) -> DevCommand | None:
        return read_dev_command(self.folder)

    @property
    def is_installed(self) -> bool:
        return is_installed(self.folder)

    @property
    def is_agreed(self) -> bool:
        """Whether a person agreed to the commands as they are now."""
        command = self.command
        return command is not None and read_record(self.folder).agreed == command.digest

    @property
    def allowed_hosts(self) -> Sequence[str]:
        return sorted(folder_hosts.allowed_in(self.folder))

    @property
    def refused_hosts(self) -> Sequence[str]:
        """Hosts that commands asked for and that nobody has allowed yet."""
        names = [*(self.server.refused_hosts if self.server is not None else ())]
        names += [host for job in self.jobs.values() for host in job.refused_hosts]
        allowed = folder_hosts.allowed_in(self.folder)
        return [host for host in dict.fromkeys(names) if host not in allowed]

    @property
    def address(self) -> str:
        """The address of the preview; empty while there is none."""
        if self._proxy is None or self.server is None or self.server.port is None:
            return ""
        return self._proxy.origin + self.server.base

    def proposed_hosts(self) -> Sequence[str]:
        """Hosts that the packages come from and that nobody has allowed. It reads files."""
        allowed = folder_hosts.allowed_in(self.folder)
        return [host for host in find_registries(self.folder).hosts if host not in allowed][:MAX_PROPOSED]

    def agree(self, digest: str) -> None:
        """Store that a person agreed to the commands with this digest. Raises NotAgreed if they changed meanwhile."""
        if self._read_command().digest != digest:
            raise NotAgreed("The commands of the repository have changed; read them again before you agree.")
        write_record(self.folder, RepositoryRecord(digest, read_record(self.folder).bases))

    def allow_host(self, host: str) -> None:
        """Let the commands and the pages of the repository reach a public host."""
        if not is_host_name(host):
            raise RepositoryRefused(f"{host[:60]!r} is not the name of a public host, such as fonts.example.org.")
        folder_hosts.allow_in(self.folder, [host])

    async def start(self, ancestor: str) -> None:
        """Start the dev server unless it runs. The page at the origin `ancestor` may frame its preview."""
        async with self._turn:
            command = self._agreed_command()
            if not self.is_installed:
                raise RepositoryRefused(f"The packages are not installed; install them with `{command.install}` first.")
            if self._proxy is None:
                self._proxy = PreviewProxy(lambda: self.server, lambda: self.allowed_hosts)
                await self._proxy.start()
            self._proxy.ancestors.add(ancestor)
            if self.server is None or self.server.status in ("failed", "stopped"):
                self.server = DevServer(self._sandbox, self.folder, command.command)

    async def stop(self) -> None:
        """Stop the dev server. The address of its preview stays."""
        async with self._turn:
            if self.server is not None:
                await self.server.stop()

    async def run_job(self, job: Job) -> None:
        """Install the packages or run the tests. It returns at once; the output is in `jobs`."""
        command = self._agreed_command()
        line = command.install if job == "install" else command.test
        if not line:
            raise RepositoryRefused("The repository has no script named test in its package.json.")
        running = self.jobs.get(job)
        if running is not None and running.is_running:
            raise RepositoryRefused(f"`{line}` still runs; wait for its end or stop it.")
        self.jobs[job] = FolderCommand(self._sandbox, self.folder, line, environment={"CI": "1"})

    async def stop_job(self, job: Job) -> None:
        if job in self.jobs:
            await self.jobs[job].stop()

    async def close(self) -> None:
        """End every process and the preview."""
        await self.stop()
        for job in self.jobs.values():
            await job.stop()
        if self._proxy is not None:
            await self._proxy.close()

    def _read_command(self) -> DevCommand:
        command = self.command
        if command is None:
            raise RepositoryRefused("The folder has no package.json with a script named dev, start or serve.")
        return command

    def _agreed_command(self) -> DevCommand:
        command = self._read_command()
        if not self.is_agreed:
            raise NotAgreed("Nobody has agreed yet to run the commands of this repository in the sandbox.")
        return command
