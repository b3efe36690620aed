"""A person at a terminal: keys come in, requests go out, and the screen is kept in step."""

import asyncio
import logging
import os
import signal
import sys
import termios
from collections.abc import Generator
from contextlib import contextmanager, suppress
from time import monotonic

from weft.cli.chatting.commands import complete_command, run_command
from weft.cli.chatting.keys import Key, Keys
from weft.cli.chatting.mentions import bring, complete
from weft.cli.chatting.pasting import clipboard_picture, pasted
from weft.cli.chatting.screen import Screen
from weft.cli.chatting.talk import Talk
from weft.cli.chatting.teller import Teller
from weft.cli.paint import BOLD, DIM, RED, YELLOW, Paint
from weft.cli.transcript import Transcript
from weft.core.content import Image
from weft.core.errors import WeftError
from weft.tools.approvals import NotPending
from weft.tools.printable import printable

_log = logging.getLogger("weft.chat")
_ESCAPE_SECONDS = 0.05
_THINK_SECONDS = 0.4
"""A call just shown is not allowed by a key that was meant for something else."""
_TWICE_SECONDS = 2.0
_SHOWN_AGAIN = 60
_FRAME = 0.06


class Console:
    """One run of `weft chat`."""

    def __init__(self, talk: Talk, screen: Screen, teller: Teller, paint: Paint) -> None:
        self.talk = talk
        self.screen = screen
        self.paint = paint
        self._teller = teller
        self._keys = Keys()
        self._left = asyncio.Event()
        self._work: asyncio.Queue[str] = asyncio.Queue()
        self._interrupted = -_TWICE_SECONDS
        self._settling: asyncio.TimerHandle | None = None
        self._pictures: dict[str, Image] = {}  # out of the clipboard, by what stands for them in the line
        self._looking: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Until the person leaves."""
        loop = asyncio.get_running_loop()
        ticking = loop.create_task(self._tick(), name="weft-chat-tick")
        working = loop.create_task(self._do_work(), name="weft-chat-work")
        with raw_terminal():
            loop.add_signal_handler(signal.SIGTERM, self._left.set)
            loop.add_reader(sys.stdin.fileno(), self._read)
            try:
                self.screen.refresh()
                await self._left.wait()
            finally:
                loop.remove_reader(sys.stdin.fileno())
                tasks = [ticking, working, *([self._looking] if self._looking is not None else [])]
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
                self.screen.close()

    def leave(self) -> None:
        self._left.set()

    def note(self, *lines: str) -> None:
        self.screen.say(*(self.paint(printable(line), DIM) for line in lines))

    def fault(self, error: Exception) -> None:
        self.screen.say(self.paint(printable(str(error)), RED))

    async def show_past(self) -> None:
        """The end of what was said before."""
        transcript = Transcript(self.paint)
        lines = [line for event in await self.talk.events() for line in transcript.lines(event)]
        left = len(lines) - _SHOWN_AGAIN
        if left > 0:
            self.note(f"… {left} earlier lines; `weft sessions show {self.talk.session.session}` has them all")
        self.screen.say(*lines[-_SHOWN_AGAIN:])

    # --- keys --------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            data = os.read(sys.stdin.fileno(), 65536)
        except OSError:
            data = b""
        if not data:
            self.leave()
            return
        if self._settling is not None:
            self._settling.cancel()
        for key in self._keys.feed(data):
            self._press(key)
        if self._keys.waits:
            self._settling = asyncio.get_running_loop().call_later(_ESCAPE_SECONDS, self._settle)
        self.screen.refresh()

    def _settle(self) -> None:
        for key in self._keys.settle():
            self._press(key)
        self.screen.refresh()

    def _press(self, key: Key) -> None:
        line = self.screen.line
        if self._teller.approval is not None and not line.text and self._decide(key):
            return
        match key.name:
            case "enter":
                self._submit(line.take())
            case "escape":
                self._interrupt("The person interrupted.")
            case "interrupt":
                self._ctrl_c()
            case "close" if not line.text:
                self.leave()
            case "close":
                line.press(Key("delete"))
            case "redraw":
                self.screen.clear()
            case "tab":
                self._complete()
            case "attach":
                self._attach(asked=True)
            case "paste" if not key.text:  # a terminal that is given a picture has no text to paste
                self._attach(asked=False)
            case "paste":
                line.press(Key("paste", pasted(key.text)))
            case _:
                line.press(key)

    def _decide(self, key: Key) -> bool:
        """A key press on a call that waits. What was pasted, or typed ahead, decides nothing."""
        request = self._teller.approval
        assert request is not None
        if key.name != "text" or key.text.lower() not in ("y", "n", "a"):
            return False
        if monotonic() - self._teller.approval_since < _THINK_SECONDS:
            return True
        session = self.talk.session
        with suppress(NotPending):  # its exchange ended at this very moment
            if key.text.lower() == "n":
                session.deny(request.approval, "The person said no.")
            else:
                session.approve(request.approval, always=key.text.lower() == "a", digest=request.digest)
        return True

    def _interrupt(self, reason: str) -> bool:
        return self.talk.is_busy and self.talk.session.cancel(reason)

    def _ctrl_c(self) -> None:
        if self.screen.line.text:
            self.screen.line.put("")
            return
        if self._interrupt("The person interrupted."):
            return
        now = monotonic()
        if now - self._interrupted < _TWICE_SECONDS:
            self.leave()
            return
        self._interrupted = now
        self.note("Press Ctrl-C again, or Ctrl-D, to leave.")

    def _attach(self, *, asked: bool) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._look(asked), name="weft-chat-clipboard")

    async def _look(self, asked: bool) -> None:
        """The picture in the clipboard goes along with what is typed."""
        try:
            picture = await asyncio.to_thread(clipboard_picture)
        except WeftError as error:
            if asked:
                self.note(str(error))
            return
        name = f"[picture {len(self._pictures) + 1}]"
        self._pictures[name] = picture
        self.screen.line.press(Key("text", f"{name} "))
        self.screen.refresh()

    def _complete(self) -> None:
        line = self.screen.line
        before, after = line.text[: line.at], line.text[line.at :]
        if before.startswith("/"):
            text, names = complete_command(before)
        else:
            text, names = complete(before, self.talk.session.workspace)
        line.put(text + after)
        line.at = len(text)
        if text == before and len(names) > 1:
            self.note("  ".join(names[:40]))

    # --- requests ----------------------------------------------------------------------------------------------------

    def _submit(self, text: str) -> None:
        if not text.strip():
            return
        question = self._teller.question
        if question is not None and not text.startswith("/"):
            self._answer(text.strip())
        else:
            self._work.put_nowait(text)

    def _answer(self, text: str) -> None:
        question, self._teller.question = self._teller.question, None
        assert question is not None
        if text.isdecimal() and 1 <= int(text) <= len(question.suggestions):
            text = question.suggestions[int(text) - 1]
        self.screen.say(self.paint(f"› {printable(text)}", BOLD))
        with suppress(NotPending):
            self.talk.session.answer(question.question, text)

    async def _do_work(self) -> None:
        """What was typed, one after the other."""
        while True:
            text = await self._work.get()
            try:
                if text.startswith("/"):
                    await run_command(self, text)
                else:
                    await self._send(text)
            except WeftError as error:
                self.fault(error)
            except Exception as error:
                _log.exception("A line could not be done.")
                self.fault(WeftError(f"Something went wrong inside Weft ({type(error).__name__}); chat.log says more."))
            self.screen.refresh()

    async def _send(self, text: str) -> None:
        session = self.talk.session
        brought = await asyncio.to_thread(bring, text, session.workspace, dict(self._pictures))
        for fault in brought.faults:
            self.screen.say(self.paint(printable(fault), YELLOW))
        if self.talk.is_busy:
            self.note(f"(waits for its turn) {text.splitlines()[0][:100]}")
        await session.accepted(session.send(brought.parts))

    async def _tick(self) -> None:
        while True:
            session = self.talk.session if self.talk.is_busy else None
            waiting = session.engine.waiting if session is not None else 0
            self.screen.tail = self._teller.tail
            self.screen.status = self._teller.status(busy=session is not None, waiting=waiting)
            self.screen.refresh()
            await asyncio.sleep(_FRAME)


@contextmanager
def raw_terminal() -> Generator[None]:
    """Every key as it is pressed, nothing echoed, what is pasted told apart; all as before at the end."""
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    now = termios.tcgetattr(fd)
    now[0] &= ~(termios.ICRNL | termios.INLCR | termios.IXON | termios.ISTRIP)
    now[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
    now[6][termios.VMIN], now[6][termios.VTIME] = 1, 0
    termios.tcsetattr(fd, termios.TCSADRAIN, now)
    try:
        sys.stdout.write("\x1b[?2004h")
        yield
    finally:
        sys.stdout.write("\x1b[?2004l")
        sys.stdout.flush()
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
