"""The command `/memory` of `heald chat`: shows, adds, changes and removes the facts that are remembered."""

from typing import TYPE_CHECKING

from heald.core.errors import ConfigurationError
from heald.tools.memory.fact import Fact
from heald.tools.memory.fact_books import FactBooks
from heald.tools.sanitize import sanitize_text

if TYPE_CHECKING:
    from heald_cli.chat.console import ChatConsole

_USAGE = "/memory add TEXT, /memory edit ID TEXT, /memory keep ID, /memory forget ID"


async def run_memory_command(console: "ChatConsole", text: str) -> None:
    """List the facts, or change them."""
    memory = console.chat.memory
    if memory is None:
        console.note("The memory is off; `memory = true` in heald.toml turns it on.")
        return
    session = console.chat.session.session
    await console.chat.session.flush()  # a fact that was just stated is noted with its event
    action, _, rest = text.partition(" ")
    if not action:
        console.note(*_list_facts(memory, session))
        return
    console.note(_change(memory, action, rest.strip()))


def _change(memory: FactBooks, action: str, rest: str) -> str:
    """Change the facts as the command says. Returns the line to show."""
    fact_id, _, words = rest.partition(" ")
    match action:
        case "add" if rest:
            return f"Remembered: {_line(memory.add(rest, 'project'))}"
        case "edit" if fact_id and words.strip():
            return f"Changed: {_line(memory.replace(fact_id, words))}"
        case "keep" if fact_id:
            return f"Kept for all conversations: {_line(memory.keep(fact_id))}"
        case "forget" if fact_id:
            return f"Forgotten: {_line(memory.remove(fact_id))}"
        case _:
            raise ConfigurationError(f"/memory {sanitize_text(action)[:40]} is not complete; there are {_USAGE}.")


def _list_facts(memory: FactBooks, session: str) -> list[str]:
    facts = memory.facts(session)
    if not facts:
        return ["Nothing is remembered. Say “remember that …”, or /memory add TEXT."]
    lasting = [fact for fact in facts if fact.scope == "lasting"]
    temporary = [fact for fact in facts if fact.scope == "session"]
    lines = [f"{_line(fact)}  ({_source(fact, session)})" for fact in lasting]
    if temporary:
        lines += ["In this conversation only:", *(f"{_line(fact)}  ({_source(fact, session)})" for fact in temporary)]
    return [*lines, _USAGE]


def _line(fact: Fact) -> str:
    return f"{fact.id:>4}  {sanitize_text(fact.text)}"


def _source(fact: Fact, session: str) -> str:
    """Name what a fact is about and the events that it came from."""
    if not fact.evidence:
        return f"{fact.about}; added by you"
    here = [str(event.seq) for event in fact.evidence if event.session == session]
    others = [f"{event.seq} of {event.session}" for event in fact.evidence if event.session != session]
    events = [*([f"event {', '.join(here)}"] if here else []), *(f"event {other}" for other in others)]
    return f"{fact.about}; {'; '.join(events)}"
