"""What an editor is sent about one session, in order: updates, and the questions to the person."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from acp import Client, schema

from heald_cli.editors.editor_workspace import FAULTS, describe_fault
from heald_cli.editors.updates import Update, agent_text

SentUpdate = Update | schema.SessionInfoUpdate | schema.UsageUpdate
_log = logging.getLogger("heald")


@dataclass(frozen=True, slots=True)
class PermissionChoice:
    """What the person chose: the id of an option, or why there is none."""

    option: str | None = None
    reason: str = ""


class UpdateSender:
    """Sends the updates of one session one after the other, in the background, until `close`."""

    def __init__(self, client: Client, session: str) -> None:
        self._client = client
        self._session = session
        self._waiting: asyncio.Queue[SentUpdate | asyncio.Event] = asyncio.Queue()
        self._sending = asyncio.create_task(self._send_all(), name=f"heald-acp-{session}")

    def put(self, *updates: SentUpdate) -> None:
        for update in updates:
            self._waiting.put_nowait(update)

    def put_notes(self, notes: Sequence[str]) -> None:
        """Show sentences before the next answer."""
        for note in notes:
            self.put(agent_text(f"*{note}*\n\n"))

    async def flush(self) -> None:
        """Wait until all updates so far are sent."""
        sent = asyncio.Event()
        self._waiting.put_nowait(sent)
        await sent.wait()

    async def choose(self, call: schema.ToolCallUpdate, options: list[schema.PermissionOption]) -> PermissionChoice:
        """Ask the person, after everything that led to the question."""
        await self.flush()
        try:
            answer = await self._client.request_permission(session_id=self._session, tool_call=call, options=options)
        except FAULTS as error:
            return PermissionChoice(reason=f"The user could not be asked: {describe_fault(error)}.")
        outcome = answer.outcome
        if isinstance(outcome, schema.DeniedOutcome):
            return PermissionChoice(reason="The user stopped instead of a decision.")
        if all(option.option_id != outcome.option_id for option in options):
            return PermissionChoice(
                reason="The user could not be asked: the editor chose an option that is not offered."
            )
        return PermissionChoice(outcome.option_id)

    async def close(self) -> None:
        self._sending.cancel()
        await asyncio.wait([self._sending])

    async def _send_all(self) -> None:
        while True:
            update = await self._waiting.get()
            if isinstance(update, asyncio.Event):
                update.set()
                continue
            try:
                await self._client.session_update(session_id=self._session, update=update)
            except ConnectionError:
                pass  # the editor is closed; the log has everything
            except Exception:
                _log.exception("An update could not be sent to the editor.")
