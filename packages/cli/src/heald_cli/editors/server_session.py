"""One session of a server that an editor has joined: its updates to the editor, its permissions and its prompts.

The exchanges run on the server, and other clients may ask, watch and decide in the same session. Closing the editor
cancels nothing and decides nothing.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress

from acp import Client, schema

from heald.core.envelope import Event
from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    ConversationSteered,
    ExchangeRequest,
    ExchangeResponse,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    QuestionAnswered,
    QuestionAsked,
    SessionRewound,
)
from heald.core.ids import new_id
from heald.core.messages import Message
from heald.tools.approvals import Approval, NotPending
from heald.tools.summaries import arguments_summary
from heald_cli.editors.content import Block, to_blocks, to_user_message
from heald_cli.editors.decisions import (
    PERMISSIONS,
    chosen_answer,
    decided_approval,
    describe_question,
    question_options,
)
from heald_cli.editors.prompt_outcome import prompt_response
from heald_cli.editors.update_sender import UpdateSender
from heald_cli.editors.updates import Update, UpdateEncoder, agent_text
from heald_server.client.agent import RemoteAgent, connect
from heald_server.client.errors import ConnectionLost
from heald_server.client.rest import RestClient
from heald_server.client.timing import Backoff, Timing

_log = logging.getLogger("heald")


class ServerSession:
    """A session of a server in an editor. Create it with `open`."""

    def __init__(self, client: Client, rest: RestClient, agent: RemoteAgent[None], session: str, folder: str) -> None:
        self.id = session
        self.notes: list[str] = []
        """Sentences that the person reads before the next answer."""
        self._rest = rest
        self._agent = agent
        self._folder = folder
        self._encoder = self._new_encoder()
        self._asked: set[str] = set()  # requests of this editor, which it shows by itself
        self._seq = 0  # the last event that the editor has
        self._early: list[Event] | None = []  # live events that came before the log was read
        self._sender = UpdateSender(client, session)
        self._decisions: dict[str, asyncio.Task[None]] = {}  # requests to the person, by approval or question

    @classmethod
    async def open(
        cls, client: Client, rest: RestClient, address: tuple[str, str | None], session: str | None, folder: str
    ) -> "ServerSession":
        """Join a session, or create one with the settings of the server. Call `begin` before anything else."""
        agent = connect(*address, session=session)
        try:
            name = await agent.open()
        except BaseException:
            await agent.close()
            raise
        return cls(client, rest, agent, name, folder)

    async def begin(self, *, is_replayed: bool) -> None:
        """Send the conversation so far, if the editor asks for it, and then everything that happens."""
        self._agent.subscribe(self._on_event)
        log = await self._read_log()
        self._seq = log[-1].seq if log else 0
        updates = self._replay(log)
        if is_replayed:
            self._sender.put(*updates)
        early, self._early = self._early or [], None
        for event in early:
            self._on_event(event)
        for approval in self._agent.approvals:
            self._ask(approval)
        for question in self._agent.questions:
            self._ask(question)
        await self._sender.flush()

    async def _read_log(self) -> list[Event]:
        backoff = Backoff(Timing())
        while True:
            try:
                return await self._rest.log(self.id)
            except ConnectionLost as fault:
                await backoff.wait(str(self._rest.address), fault, goes_on="load the session when it is back.")

    def _replay(self, log: Sequence[Event]) -> list[Update]:
        """Encode the log: whole messages, and the one that is being written as far as it is there."""
        events: list[Event] = []
        for event in log:
            if isinstance(event.data, SessionRewound):
                upto = event.data.seq
                events = [earlier for earlier in events if earlier.seq <= upto]
            else:
                events.append(event)
        whole = len(events)
        for number, event in enumerate(events):
            if isinstance(event.data, MessageStart):
                whole = number
            elif isinstance(event.data, MessageStop | MessageDiscarded):
                whole = len(events)
        encoder = self._new_encoder(replay=True)
        updates = [update for event in events[:whole] for update in encoder.feed(event)]
        return updates + [update for event in events[whole:] for update in self._encoder.feed(event)]

    # --- requests of the editor --------------------------------------------------------------------------------------

    async def prompt(self, blocks: Sequence[Block]) -> schema.PromptResponse:
        """Run one exchange. While one runs, the prompt joins it, and both have the same end."""
        message = to_user_message(blocks, self._folder)
        notes, self.notes = self.notes, []
        self._sender.put_notes(notes)
        request = new_id("req")
        self._asked.add(request)
        exchange = self._agent.send(message, when_busy="steer", client_request_id=request)
        ended = asyncio.Event()
        exchange.on_end(ended.set)
        await ended.wait()  # unlike `result()`, a prompt that is cancelled with the connection cancels nothing
        exchange.raise_failure()
        result = exchange.known_result
        assert result is not None
        if result.note and result.status != "failed":
            self._sender.put(agent_text(f"\n\n*{result.note}*"))
        await self._sender.flush()
        if exchange.error is not None and result.status == "failed":
            raise exchange.error
        return prompt_response(result)

    def cancel(self) -> None:
        """Cancel what runs in the session."""
        self._agent.cancel("The person stopped it in the editor.")

    async def close(self) -> None:
        """Leave the session. What runs in it continues."""
        decisions = list(self._decisions.values())
        for task in decisions:
            task.cancel()
        await asyncio.gather(*decisions, return_exceptions=True)
        await self._sender.close()
        await self._agent.close()

    # --- updates -----------------------------------------------------------------------------------------------------

    def _new_encoder(self, *, replay: bool = False) -> UpdateEncoder:
        return UpdateEncoder(
            self.id,
            self._folder,
            effects=lambda _: "any",
            summarize=lambda call: arguments_summary(call.input),
            content_at=lambda _path, _revision: None,  # the files are on the server
            replay=replay,
        )

    def _on_event(self, event: Event) -> None:
        if self._early is not None:
            self._early.append(event)
            return
        if event.session != self.id or event.seq <= self._seq:
            return
        self._seq = event.seq
        match event.data:
            case (
                ExchangeRequest(message=message, client_request_id=request)
                | ConversationSteered(message=message, client_request_id=request)
            ) if request not in self._asked:
                self._show_message(message)
            case ApprovalResolved(approval=name) | QuestionAnswered(question=name):
                self._drop_decision(name)
            case ExchangeResponse():
                for name in list(self._decisions):
                    self._drop_decision(name)
            case _:
                pass
        self._sender.put(*self._encoder.feed(event))
        if isinstance(event.data, ApprovalRequested | QuestionAsked):
            self._ask(event.data)

    def _show_message(self, message: Message) -> None:
        """Show what a person wrote in another client."""
        for block in to_blocks(message.content):
            self._sender.put(schema.UserMessageChunk(session_update="user_message_chunk", content=block))

    # --- requests to the editor --------------------------------------------------------------------------------------

    def _ask(self, request: ApprovalRequested | QuestionAsked) -> None:
        """Ask the person, until any client has decided."""
        name = request.approval if isinstance(request, ApprovalRequested) else request.question
        if name in self._decisions:
            return
        work = self._approve(request) if isinstance(request, ApprovalRequested) else self._answer(request)
        self._decisions[name] = task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda _: self._decisions.pop(name, None))

    def _drop_decision(self, name: str) -> None:
        task = self._decisions.pop(name, None)
        if task is not None:
            task.cancel()

    async def _approve(self, request: ApprovalRequested) -> None:
        chosen = await self._choose(self._encoder.describe_approval(request), PERMISSIONS)
        if chosen is None:
            return
        decision: Approval = decided_approval(chosen)
        with suppress(NotPending):  # another client was faster
            if decision.allowed:
                self._agent.approve(request.approval, always=decision.always, digest=request.digest)
            else:
                self._agent.deny(request.approval, decision.reason)

    async def _answer(self, question: QuestionAsked) -> None:
        call = describe_question(self._encoder.describe(question.call_id), question)
        chosen = await self._choose(call, question_options(question))
        if chosen is None:
            return
        with suppress(NotPending):
            self._agent.answer(question.question, chosen_answer(chosen, question))

    async def _choose(self, call: schema.ToolCallUpdate, options: list[schema.PermissionOption]) -> str | None:
        """Return the id of the chosen option; None if the person chose none, so that another client may decide."""
        choice = await self._sender.choose(call, options)
        if choice.option is None:
            _log.info("The person at the editor decided nothing: %s", choice.reason)
        return choice.option
