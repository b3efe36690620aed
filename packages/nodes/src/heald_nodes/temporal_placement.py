"""Places the work of sessions by Temporal.

A session with work is a workflow, named after it; its one activity runs the session on a worker, which is a node, and
sends heartbeats. A worker that is lost is replaced by Temporal, and the next one continues from the log: its lease
fences the lost one. Signals cancel the exchange and decide approvals.
"""

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from urllib.parse import unquote, urlsplit

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from heald.core.errors import ConfigurationError, HealdError
from heald.core.json import encode
from heald_server.cluster.placement import PlacementHost

DEFAULT_PORT = 7233
TASK_QUEUE = "heald"
_COMMANDS = "-commands"
"""Behind the name of the task queue: that of commands, which must not wait for sessions that run."""
LOST_SECONDS = 3.0
"""A worker whose heartbeat is older has lost its activity."""
SWEEP_SECONDS = 30.0
"""How often work is looked for that Temporal does not know, such as that of another placement."""
_CONNECT_SECONDS = 10.0
_COMMAND_SECONDS = 30.0
_OFFER_SECONDS = 5.0

_log = logging.getLogger("heald_server.cluster.placement")


@workflow.defn(name="heald-session")
class SessionWorkflow:
    """Runs the work of one session. The signal `work` reports that there is more."""

    def __init__(self) -> None:
        self._has_work = False

    @workflow.run
    async def run(self, session: str) -> None:
        while self._has_work:
            self._has_work = False
            await workflow.execute_activity(
                "heald-run-session",
                session,
                start_to_close_timeout=timedelta(days=30),
                heartbeat_timeout=timedelta(seconds=LOST_SECONDS),
                retry_policy=RetryPolicy(
                    initial_interval=timedelta(seconds=0.5), maximum_interval=timedelta(seconds=15)
                ),
            )
            await workflow.wait_condition(workflow.all_handlers_finished)

    @workflow.signal
    def work(self) -> None:
        self._has_work = True

    @workflow.signal
    async def cancel(self, reason: str = "") -> None:
        await self._send("cancel", {"reason": reason})

    @workflow.signal
    async def decide(self, approval: str, decision: str, reason: str = "") -> None:
        """Approve or deny a call: the decision is `approve` or `deny`."""
        await self._send(f"approvals/{approval}", {"decision": decision, "reason": reason})

    async def _send(self, command: str, body: dict[str, str]) -> None:
        await workflow.execute_activity(
            "heald-run-command",
            args=[workflow.info().workflow_id.removeprefix(_PREFIX), command, body],
            task_queue=workflow.info().task_queue + _COMMANDS,
            start_to_close_timeout=timedelta(seconds=_COMMAND_SECONDS),
            retry_policy=RetryPolicy(maximum_attempts=3),
        )


_PREFIX = "heald-session-"


def workflow_id(session: str) -> str:
    """Return the id of the workflow that runs a session, for signals."""
    return f"{_PREFIX}{session}"


class TemporalPlacement:
    """A worker of Temporal on this node. `address` is `temporal://host:port/namespace/queue`; the task queue is `heald`
    if none is named."""

    passes_on = True

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        names = [unquote(name) for name in parts.path.strip("/").split("/") if name]
        if not parts.hostname or parts.query or parts.fragment or parts.username is not None or len(names) > 2:
            raise ConfigurationError(
                f"The placement {address!r} is not a valid address; write temporal://host:7233/namespace."
            )
        self._target = f"{parts.hostname}:{parts.port or DEFAULT_PORT}"
        self._namespace = names[0] if names else "default"
        self._queue = names[1] if len(names) > 1 else TASK_QUEUE
        self._client: Client | None = None
        self._host: PlacementHost | None = None
        self._workers: list[Worker] = []
        self._sweeping: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, host: PlacementHost) -> None:
        self._host = host
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                self._client = await Client.connect(self._target, namespace=self._namespace)
        except (RuntimeError, RPCError, TimeoutError):
            raise ConfigurationError(
                f"Temporal at {self._target} cannot be reached; check that it runs and has the namespace "
                f"{self._namespace}."
            ) from None
        sessions = Worker(
            self._client,
            task_queue=self._queue,
            workflows=[SessionWorkflow],
            activities=[self._run_session],
            workflow_runner=UnsandboxedWorkflowRunner(),
            max_concurrent_activities=max(host.room, 1),
            max_heartbeat_throttle_interval=timedelta(seconds=1),
        )
        commands = Worker(self._client, task_queue=self._queue + _COMMANDS, activities=[self._run_command])
        self._workers = [sessions, commands]
        self._sweeping = asyncio.create_task(self._sweep(), name="heald-temporal-sweep")
        workers = [asyncio.create_task(worker.run(), name="heald-temporal-worker") for worker in self._workers]
        self._tasks = [self._sweeping, *workers]

    async def offer(self, session: str) -> None:
        """Start the workflow of a session, or wake it."""
        assert self._client is not None
        try:
            await self._client.start_workflow(
                SessionWorkflow.run,
                session,
                id=workflow_id(session),
                task_queue=self._queue,
                start_signal="work",
                rpc_timeout=timedelta(seconds=_OFFER_SECONDS),
            )
        except RPCError as error:
            _log.warning("Temporal does not accept work (%s); it is offered once more later.", error.message)

    def wake(self) -> None:
        pass

    async def stop(self) -> None:
        workers, self._workers = self._workers, []
        if self._sweeping is not None:
            self._sweeping.cancel()
        for worker in workers:
            with suppress(Exception):
                await worker.shutdown()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _sweep(self) -> None:
        """Offer work that no living node has."""
        assert self._host is not None
        while True:
            with suppress(HealdError, TimeoutError):
                for session in await self._host.claim_sessions(starts=False):
                    await self.offer(session)
            await asyncio.sleep(SWEEP_SECONDS)

    @activity.defn(name="heald-run-session")
    async def _run_session(self, session: str) -> None:
        assert self._host is not None
        await self._host.run_session(session, activity.heartbeat)

    @activity.defn(name="heald-run-command")
    async def _run_command(self, session: str, command: str, body: dict[str, str]) -> None:
        assert self._host is not None
        try:
            await self._host.run_command(session, command, encode(body))
        except HealdError as error:
            raise ApplicationError(str(error), non_retryable=True) from None
