"""A model of the protocol by which nodes hold and claim sessions, small enough to try every order of events.

One session has work, and some nodes could run it. A tick is a second: every living node sends a heartbeat, a claim and,
if it has the session open, an append. The database runs the statements that have arrived in any order. It may stall,
restart or lose an answer; nodes may die, freeze or beat late. Statements that arrived during a stall run when it is
over, in any order, and heartbeats do so before the next stall.

The rules are those of `heald_nodes.postgres.schema`, with half seconds as units. Each can be switched off, to see that
the model finds what the rule is for.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from heald.sessions.shared_store import HEARTBEAT_SECONDS, NODE_SECONDS

LEASE = int(2 * NODE_SECONDS)
BEAT = int(2 * HEARTBEAT_SECONDS)
OPEN_TICKS = 10
RESTART_TICKS = int(2 * NODE_SECONDS)
CALM_TICKS = 40
_FLOOR = -9
_MOST_GAP = 12


class Local(Enum):
    """What a node knows of the session."""

    NOTHING = "nothing"
    CLAIMED = "claimed"
    OPEN = "open"
    FENCED = "open, with an epoch that is over"


class Statement(Enum):
    BEAT = "beat"
    CLAIM = "claim"
    ACQUIRE = "acquire"
    APPEND = "append"


@dataclass(frozen=True)
class Rules:
    """The rules of the protocol."""

    service_clock: bool = True
    """Nodes live by the clock of the service, not by that of the wall."""
    living_claimer: bool = True
    """A node whose own lease is over claims nothing."""
    not_its_own: bool = True
    """A node does not claim what it holds."""
    claims_end: bool = True
    """A claim that was not followed by opening the session ends."""
    waits_after_restart: bool = True
    """After a restart of the database nobody is judged for a while."""
    fences_itself: bool = True
    """A node that claims a session which it has open with an older epoch opens it anew."""


@dataclass(frozen=True)
class Faults:
    """How often the adversary may still do something."""

    stalls: int = 0
    restarts: int = 0
    kills: int = 0
    freezes: int = 0
    lost_answers: int = 0
    late_beats: int = 0


@dataclass(frozen=True)
class ModelNode:
    lease: int = LEASE
    """When its lease ends, by the clock of the service, which is always 0 here."""
    local: Local = Local.NOTHING
    sent: frozenset[Statement] = frozenset()
    is_alive: bool = True
    is_frozen: bool = False
    was_frozen: bool = False


@dataclass(frozen=True)
class Protocol:
    """A state of the whole."""

    nodes: tuple[ModelNode, ...]
    faults: Faults
    holder: int | None = 0
    """The node that has acquired the session."""
    claimer: int | None = None
    claim_ends: int = 0
    gap: int = 0
    """Half seconds since the last heartbeat of any node."""
    is_up: bool = True
    is_restarting: bool = False
    judged_in: int = 0
    owed: frozenset[int] = frozenset()
    """Nodes whose heartbeats arrived in a stall, and have not run yet."""


class Violation(Exception):
    """The protocol does what it must not."""


class ProtocolModel:
    """All that can happen from a state."""

    def __init__(self, rules: Rules, *, allows_takeovers: bool = False) -> None:
        self._rules = rules
        self._allows_takeovers = allows_takeovers

    def begin(self, nodes: int, faults: Faults) -> Protocol:
        first = ModelNode(local=Local.OPEN)
        return Protocol(nodes=(first, *(ModelNode() for _ in range(nodes - 1))), faults=faults)

    # --- the clock ---------------------------------------------------------------------------------------------------

    def _served(self, gap: int) -> int:
        if not self._rules.service_clock:
            return gap
        longest = LEASE // 2
        return max(min(gap, 3 * longest - 2 * gap), -BEAT)

    def _lives(self, state: Protocol, number: int) -> bool:
        return state.nodes[number].lease > self._served(state.gap)

    def _is_dead(self, state: Protocol, number: int) -> bool:
        is_judged = state.judged_in == 0 or not self._rules.waits_after_restart
        return is_judged and not self._lives(state, number)

    # --- statements --------------------------------------------------------------------------------------------------

    def run(self, state: Protocol, number: int, statement: Statement, *, answered: bool = True) -> Protocol:
        """Run a statement of a node in the database; its answer may be lost."""
        node = state.nodes[number]
        state = _with(state, number, replace(node, sent=node.sent - {statement}))
        match statement:
            case Statement.BEAT:
                return self._beat(state, number)
            case Statement.CLAIM:
                return self._claim(state, number, answered)
            case Statement.ACQUIRE:
                return self._acquire(state, number, answered)
            case Statement.APPEND:
                if node.local is Local.FENCED:
                    return _with(state, number, replace(state.nodes[number], local=Local.NOTHING))
                return state

    def _beat(self, state: Protocol, number: int) -> Protocol:
        served = self._served(state.gap)
        nodes = [replace(node, lease=max(node.lease - served, _FLOOR)) for node in state.nodes]
        nodes[number] = replace(nodes[number], lease=LEASE)
        return replace(state, nodes=tuple(nodes), gap=0, owed=state.owed - {number})

    def _claim(self, state: Protocol, number: int, answered: bool) -> Protocol:
        rules = self._rules
        if rules.living_claimer and not self._lives(state, number):
            return state
        if state.holder is None:
            is_over = rules.claims_end and state.claim_ends == 0
            is_free = state.claimer is None or is_over
            is_free = is_free or (state.claimer != number and self._is_dead(state, state.claimer or 0))
        else:
            is_own = rules.not_its_own and state.holder == number
            is_free = not is_own and self._is_dead(state, state.holder)
        if not is_free:
            return state
        self._check_needed(state)
        state = replace(_bump(state), holder=None, claimer=number, claim_ends=OPEN_TICKS)
        if not answered:
            return state
        node = state.nodes[number]
        if node.local is Local.FENCED and not rules.fences_itself:
            return state  # it takes the session that it has for the one that it claimed
        return _with(state, number, replace(node, local=Local.CLAIMED))

    def _acquire(self, state: Protocol, number: int, answered: bool) -> Protocol:
        node = state.nodes[number]
        if state.holder is not None and not self._is_dead(state, state.holder):
            return _with(state, number, replace(node, local=Local.NOTHING))
        self._check_needed(state)
        state = replace(_bump(state), holder=number, claimer=None, claim_ends=0)
        if answered:
            return _with(state, number, replace(state.nodes[number], local=Local.OPEN))
        # the store remembers that it may hold it, and releases it with the next heartbeat
        state = replace(state, holder=None)
        return _with(state, number, replace(state.nodes[number], local=Local.NOTHING))

    def _check_needed(self, state: Protocol) -> None:
        if state.holder is None or self._allows_takeovers:
            return
        holder = state.nodes[state.holder]
        if holder.is_alive and not holder.was_frozen and holder.local is Local.OPEN:
            raise Violation("a living node lost its session")

    # --- time and faults ---------------------------------------------------------------------------------------------

    def tick(self, state: Protocol, *, late: int | None = None) -> Protocol:
        """A second passes, and every living node sends what it has to."""
        nodes: list[ModelNode] = []
        for number, node in enumerate(state.nodes):
            sends = {Statement.CLAIM} if number == late else {Statement.BEAT, Statement.CLAIM}
            if node.local is Local.CLAIMED:
                sends.add(Statement.ACQUIRE)
            if node.local in (Local.OPEN, Local.FENCED):
                sends.add(Statement.APPEND)
            is_sending = node.is_alive and not node.is_frozen
            nodes.append(replace(node, sent=node.sent | sends) if is_sending else node)
        return replace(
            state,
            nodes=tuple(nodes),
            gap=min(state.gap + BEAT, _MOST_GAP),
            claim_ends=max(state.claim_ends - 1, 0),
            judged_in=max(state.judged_in - 1, 0) if state.is_up else RESTART_TICKS * state.is_restarting,
        )

    def resume(self, state: Protocol) -> Protocol:
        """The database is back after a stall or a restart."""
        owed = frozenset(number for number, node in enumerate(state.nodes) if Statement.BEAT in node.sent)
        judged_in = RESTART_TICKS if state.is_restarting else state.judged_in
        return replace(state, is_up=True, is_restarting=False, judged_in=judged_in, owed=owed)

    def steps(self, state: Protocol) -> Iterator[Protocol]:
        """Everything that may happen next."""
        faults = state.faults
        pending = [(number, statement) for number, node in enumerate(state.nodes) for statement in node.sent]
        if state.is_up:
            for number, statement in pending:
                yield self.run(state, number, statement)
                if faults.lost_answers and statement in (Statement.CLAIM, Statement.ACQUIRE):
                    fewer = replace(faults, lost_answers=faults.lost_answers - 1)
                    yield self.run(replace(state, faults=fewer), number, statement, answered=False)
        else:
            yield self.resume(state)
        if not pending or not state.is_up:
            yield self.tick(state)
            if faults.late_beats:
                fewer = replace(faults, late_beats=faults.late_beats - 1)
                for number in range(len(state.nodes)):
                    yield self.tick(replace(state, faults=fewer), late=number)
        if state.is_up and faults.stalls and not state.owed:
            yield replace(state, is_up=False, faults=replace(faults, stalls=faults.stalls - 1))
        if state.is_up and faults.restarts:
            lost = tuple(replace(node, sent=frozenset()) for node in state.nodes)
            fewer = replace(faults, restarts=faults.restarts - 1)
            yield replace(state, is_up=False, is_restarting=True, nodes=lost, faults=fewer)
        if faults.kills:
            fewer = replace(faults, kills=faults.kills - 1)
            for number, node in enumerate(state.nodes):
                if node.is_alive:
                    dead = replace(node, is_alive=False, sent=frozenset(), local=Local.NOTHING)
                    yield _with(replace(state, faults=fewer, owed=state.owed - {number}), number, dead)
        for number, node in enumerate(state.nodes):
            if node.is_frozen:
                yield _with(state, number, replace(node, is_frozen=False))
            elif faults.freezes and node.is_alive:
                fewer = replace(faults, freezes=faults.freezes - 1)
                yield _with(replace(state, faults=fewer), number, replace(node, is_frozen=True, was_frozen=True))

    # --- what must hold ----------------------------------------------------------------------------------------------

    def check(self, nodes: int, faults: Faults) -> int:
        """Visit every state. Raises Violation if a living node loses its session, or if the session has no writer long
        after the last fault. Returns the number of states."""
        begin = self.begin(nodes, faults)
        seen = {begin}
        waiting = deque([begin])
        healing: set[Protocol] = set()
        while waiting:
            state = waiting.popleft()
            self._check_heals(state, healing)
            for step in self.steps(state):
                if step not in seen:
                    seen.add(step)
                    waiting.append(step)
        return len(seen)

    def _check_heals(self, state: Protocol, healing: set[Protocol]) -> None:
        """Let time pass without faults. `healing` are states from which that ends well."""
        if not any(node.is_alive for node in state.nodes):
            return
        path: list[Protocol] = []
        awake = tuple(replace(node, is_frozen=False) for node in state.nodes)
        state = replace(state if state.is_up else self.resume(state), faults=Faults(), nodes=awake)
        for _ in range(CALM_TICKS):
            if state in healing:
                break
            path.append(state)
            for number, node in enumerate(state.nodes):
                for statement in sorted(node.sent, key=lambda sent: sent.value):
                    state = self.run(state, number, statement)
            state = self.tick(state)
        if not (state in healing or _is_written(state)):
            raise Violation("the session has no writer")
        healing.update(path)


def _is_written(state: Protocol) -> bool:
    return any(
        node.is_alive and node.local is Local.OPEN and state.holder == number for number, node in enumerate(state.nodes)
    )


def _with(state: Protocol, number: int, node: ModelNode) -> Protocol:
    return replace(state, nodes=(*state.nodes[:number], node, *state.nodes[number + 1 :]))


def _bump(state: Protocol) -> Protocol:
    """Raise the epoch: whoever writes with an older one is refused."""
    fenced = tuple(replace(node, local=Local.FENCED) if node.local is Local.OPEN else node for node in state.nodes)
    return replace(state, nodes=fenced)
