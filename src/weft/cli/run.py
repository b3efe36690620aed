"""`weft run`: one question to one model, streamed to the terminal."""

import argparse
import asyncio
import base64
import sys
from pathlib import Path

from weft.core.content import Image
from weft.core.errors import ConfigurationError
from weft.core.events import RetryScheduled, TextDelta, ThinkingDelta
from weft.core.json import encode_text
from weft.core.messages import Message, user
from weft.core.payload import Payload
from weft.core.settings import Reason, Settings
from weft.core.usage import Usage
from weft.providers.base import OnEvent, ProviderSession, ProviderTurn
from weft.providers.factory import open_session
from weft.providers.model import Model
from weft.wires.registry import WIRES

_MEDIA = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif"}

_EXAMPLES = """examples:
  weft run --model anthropic/claude-sonnet-4-6 "Say hello"
  weft run --model my-model --wire chat --base-url http://127.0.0.1:8080/v1 "Say hello"
  weft run --model gemini/gemini-3-flash --image shot.png "What is this?" --json"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "run",
        help="ask a model once and stream its answer",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("prompt", help="what to ask; - reads it from standard input")
    parser.add_argument("--model", required=True, help="provider/model, or the bare name with --base-url")
    parser.add_argument("--base-url", help="an endpoint of your own; the model's name is sent as it stands")
    parser.add_argument("--wire", choices=list(WIRES), help="what that endpoint speaks (chat)")
    parser.add_argument("--api-key-env", metavar="NAME", help="the environment variable with that endpoint's key")
    parser.add_argument("--system", default="", help="instructions that stand above the conversation")
    parser.add_argument("--image", action="append", default=[], metavar="FILE", help="a picture to show; repeatable")
    parser.add_argument("--effort", choices=["none", "minimal", "low", "medium", "high", "xhigh"])
    parser.add_argument("--max-output", type=int, metavar="TOKENS")
    parser.add_argument("--json", action="store_true", help="every event as one JSON line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    session = open_session(
        _model(options),
        messages=[_question(options)],
        settings=Settings(
            system=options.system,
            max_output_tokens=options.max_output,
            reasoning=Reason(effort=options.effort) if options.effort else None,
        ),
    )
    turn = asyncio.run(_stream(session, _print_json if options.json else _Printer()))
    if not options.json:
        _print_end(session, turn)
    return 0


async def _stream(session: ProviderSession, show: OnEvent) -> ProviderTurn:
    try:
        return await session.stream_turn(show)
    finally:
        await session.close()


def _model(options: argparse.Namespace) -> str | Model:
    if options.base_url is None:
        if options.wire or options.api_key_env:
            raise ConfigurationError("--wire and --api-key-env go with --base-url; a provider by name has its own.")
        return options.model
    return Model(options.model, wire=options.wire or "chat", base_url=options.base_url, api_key_env=options.api_key_env)


def _question(options: argparse.Namespace) -> Message:
    prompt = _from_stdin() if options.prompt == "-" else options.prompt
    if not prompt.strip() and not options.image:
        raise ConfigurationError("There is nothing to ask: give a prompt.")
    return user(prompt, *(_image(Path(name)) for name in options.image))


def _from_stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise ConfigurationError("What came on standard input is no text; give pictures with --image.") from None


def _image(path: Path) -> Image:
    media_type = _MEDIA.get(path.suffix.lower())
    if media_type is None:
        raise ConfigurationError(f"{path} is no picture Weft can send; use {', '.join(_MEDIA)}.")
    try:
        return Image(media_type=media_type, data=base64.b64encode(path.read_bytes()).decode())
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from None


def _print_json(payload: Payload) -> None:
    print(encode_text({"type": payload.type, "layer": payload.layer, "data": payload}), flush=True)


class _Printer:
    """Text to standard output, all else to standard error."""

    def __init__(self) -> None:
        self._thinking = False

    def __call__(self, payload: Payload) -> None:
        match payload:
            case TextDelta(text=text):
                if self._thinking:
                    print(file=sys.stderr)
                    self._thinking = False
                print(text, end="", flush=True)
            case ThinkingDelta(text=text) if sys.stderr.isatty():
                self._thinking = True
                print(f"\x1b[2m{text}\x1b[0m", end="", file=sys.stderr, flush=True)
            case RetryScheduled(attempt=attempt, delay_s=delay, error=error):
                print(f"weft: {error.message} Attempt {attempt} in {delay:.1f} s.", file=sys.stderr)
            case _:
                pass


def _print_end(session: ProviderSession, turn: ProviderTurn) -> None:
    print()
    usage = turn.usage
    cost = turn.billed_usd if turn.billed_usd is not None else session.cost(usage).usd
    parts = [f"{_count(usage, 'total_input')} in", f"{_count(usage, 'total_output')} out"]
    parts += [f"${cost:.4f}"] if cost is not None else ["cost unknown"]
    if turn.stop_reason != "end_turn":
        parts.append(turn.stop_reason)
    print(f"weft: {', '.join(parts)}", file=sys.stderr)


def _count(usage: Usage, name: str) -> str:
    count = getattr(usage, name)
    return "unknown" if count is None else f"{count:,}"
