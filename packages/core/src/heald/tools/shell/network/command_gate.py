"""Decides which hosts a command may reach: those that the operator or a person has allowed. It asks for others.

A person is asked once for each host of a folder. An allowed host is kept for the folder in the user's own settings, a
denied one for the session. The first question about a host that the folder's packages come from proposes all of them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from time import monotonic

from heald.core.errors import HealdError
from heald.tools.context import ToolContext
from heald.tools.shell.network import folder_hosts
from heald.tools.shell.network.folder_registries import MAX_PROPOSED, find_registries
from heald.tools.visible_text import cut_line
from heald.tools.web.fetcher import Resolve, WebFetcher, operator_hosts
from heald.tools.web.urls import Address, WebTarget

DENY = "Deny"
PERSON_SECONDS = 300.0
"""How long a command waits for the answers of a person, all of them together."""
_PORTS = (80, 443)
_PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".intranet", ".lan", ".home", ".corp", ".private", ".arpa")
_MAX_COMMAND = 400
_WITHDRAWN = "The command no longer waits for an answer."


class SessionHosts:
    """The decisions of a session about hosts, shared by its commands."""

    def __init__(self) -> None:
        self.denied: dict[str, str] = {}
        """Why each host was denied."""
        self.allowed: set[str] = set()
        """Hosts that are allowed though they could not be stored."""
        self.turn = asyncio.Lock()
        """Held while a person is asked: one question at a time."""


Ask = Callable[[str, Sequence[str]], Awaitable[str]]


class CommandGate:
    """The gate of one command. `close` withdraws a question that is still open."""

    def __init__(
        self,
        folder: str,
        command: str,
        hosts: SessionHosts,
        ask: Ask | None,
        *,
        withdraw: Callable[[], object] | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self._folder = folder
        self._command = command
        self._hosts = hosts
        self._ask = ask
        self._withdraw = withdraw
        self._operator = operator_hosts()
        self._fetcher = WebFetcher(allow=self._operator, resolve=resolve)
        self._unanswered: dict[str, str] = {}  # hosts that nobody decided about while this command ran
        self._questions: set[asyncio.Task[str | None]] = set()
        self._waited = 0.0
        self._waiting_since: float | None = None

    @property
    def waited(self) -> float:
        """Seconds that the command has waited for a person."""
        since = self._waiting_since
        return self._waited + (monotonic() - since if since is not None else 0.0)

    async def close(self) -> None:
        """Withdraw an open question, and let the log say so."""
        self._ask = None
        if self._questions:
            if self._withdraw is not None:
                self._withdraw()
            await asyncio.wait(self._questions, timeout=5)
            for question in self._questions:
                question.cancel()

    async def addresses(self, target: WebTarget) -> list[Address]:
        return await self._fetcher.checked_addresses(target)

    async def refusal(self, target: WebTarget) -> str | None:
        if {target.authority, target.authority.rpartition(":")[0]} & self._operator:
            return None
        host, how = target.host, f"To allow it, start Heald with --allow-host {target.authority}"
        if target.address is not None or "." not in host or host.endswith(_PRIVATE_SUFFIXES):
            return f"Commands reach public hosts by name only, and no address or private name. {how}."
        if target.port not in _PORTS:
            return f"Commands reach the ports 80 and 443 only. {how}."
        decision = self._decided(host)
        if decision is not None:
            return decision or None
        how = (
            f"To allow it, start Heald with --allow-host {host}, or name it in allow_hosts of [web] in your heald.toml"
        )
        if self._ask is None:
            return f"Nobody can be asked. {how}."
        question = asyncio.get_running_loop().create_task(self._ask_person(host, how), name="heald-host-question")
        self._questions.add(question)
        question.add_done_callback(self._questions.discard)
        return await asyncio.shield(question)

    def _decided(self, host: str) -> str | None:
        """Return the reason why a host is denied, an empty text if it is allowed, and None if nobody decided."""
        if host in self._hosts.allowed or host in folder_hosts.allowed_in(self._folder):
            return ""
        return self._hosts.denied.get(host) or self._unanswered.get(host)

    async def _ask_person(self, host: str, how: str) -> str | None:
        async with self._hosts.turn:
            decision = self._decided(host)  # another connection may have asked in the meantime
            if decision is not None:
                return decision or None
            if self._ask is None or self._waited >= PERSON_SECONDS:
                return f"Nobody was asked, since the command waits no longer. {how}."
            self._waiting_since = monotonic()
            try:
                return await self._decide(host, how)
            finally:
                self._waited, self._waiting_since = self.waited, None

    async def _decide(self, host: str, how: str) -> str | None:
        choices, text = await self._question(host)
        assert self._ask is not None
        asking = asyncio.ensure_future(self._ask(text, [*choices, DENY]))
        try:
            await asyncio.wait({asking}, timeout=PERSON_SECONDS - self._waited)
            if not asking.done() and self._withdraw is not None:
                self._withdraw()
                await asyncio.wait({asking}, timeout=5)
            answer = asking.result() if asking.done() else ""
        finally:
            asking.cancel()
        hosts = choices.get(answer)
        if hosts is not None:
            self._allow(hosts)
            return None
        if answer == DENY:
            self._hosts.denied[host] = "The user did not allow it; the decision holds for this session."
            return self._hosts.denied[host]
        self._unanswered[host] = f"Nobody allowed it. {how}."
        return self._unanswered[host]

    async def _question(self, host: str) -> tuple[dict[str, list[str]], str]:
        """Return the choices, each with the hosts that it allows, and the text of the question."""
        registries = await asyncio.to_thread(find_registries, self._folder)
        others = [name for name in registries.hosts if name != host and self._decided(name) is None]
        text = f"A command wants to connect to {host}:\n$ {cut_line(self._command, _MAX_COMMAND)}\n"
        only = {f"Allow {host} in this folder": [host]}
        if host not in registries.hosts or not others:
            return only, f"{text}Allow the commands of this folder to connect to it?"
        proposed = [host, *others[: MAX_PROPOSED - 1]]
        text += (
            f"The packages of this folder come from {', '.join(proposed)} (named in {', '.join(registries.files)}). "
            "Allow the commands of this folder to connect to them?"
        )
        return {f"Allow all {len(proposed)} hosts in this folder": proposed, **only}, text

    def _allow(self, hosts: list[str]) -> None:
        self._hosts.allowed.update(hosts)
        with suppress(HealdError):  # it cannot be stored: the decision holds for the session
            folder_hosts.allow_in(self._folder, hosts)


def gate_of_call(ctx: ToolContext, command: str, *, may_ask: bool, resolve: Resolve | None = None) -> CommandGate:
    """Return the gate of a call. Nobody is asked in the mode `auto`, or where nobody answers."""
    host = ctx.host
    asks = (
        may_ask and host is not None and host.permissions.mode in ("ask", "inside") and host.approvals.answers_questions
    )

    def withdraw() -> None:
        assert host is not None
        for question in host.approvals.open_questions:
            if question.call_id == ctx.call.id:
                with suppress(HealdError):
                    host.approvals.answer(question.question, _WITHDRAWN)

    return CommandGate(
        ctx.workspace.root,
        command,
        ctx.keep(SessionHosts),
        ctx.ask if asks else None,
        withdraw=withdraw if asks else None,
        resolve=resolve,
    )
