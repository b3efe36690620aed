"""Every order of stalls, restarts, deaths, late heartbeats and lost answers, for two and three nodes."""

import pytest
from protocol_model import Faults, ProtocolModel, Rules, Violation

SCENARIOS = {
    "stalls": (2, Faults(stalls=3)),
    "a stall and a death": (2, Faults(stalls=2, kills=1)),
    "a stall, a death and a lost answer": (2, Faults(stalls=1, kills=1, lost_answers=2)),
    "a stall and a frozen node": (2, Faults(stalls=1, freezes=1)),
    "a frozen node and a death": (2, Faults(freezes=1, kills=1)),
    "a late heartbeat and a death": (2, Faults(late_beats=1, kills=1)),
    "a restart and a death": (2, Faults(restarts=1, kills=1)),
    "three nodes, a stall": (3, Faults(stalls=1)),
    "three nodes, a death": (3, Faults(kills=1)),
}
AS_IT_WAS = Rules(service_clock=False, living_claimer=False, not_its_own=False, claims_end=False, fences_itself=False)


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_living_node_loses_its_session_and_none_is_left_without_a_writer(name: str) -> None:
    assert ProtocolModel(Rules()).check(*SCENARIOS[name]) > 100


@pytest.mark.parametrize(
    ("rules", "name", "message"),
    [
        (Rules(service_clock=False), "stalls", "a living node lost its session"),
        (Rules(service_clock=False, waits_after_restart=False), "a restart and a death", "a living node lost"),
        (Rules(claims_end=False), "a stall, a death and a lost answer", "the session has no writer"),
        (AS_IT_WAS, "stalls", "a living node lost its session"),
    ],
)
def test_the_model_finds_what_a_rule_is_for(rules: Rules, name: str, message: str) -> None:
    with pytest.raises(Violation, match=message):
        ProtocolModel(rules).check(*SCENARIOS[name])


def test_without_the_rules_a_stall_leaves_a_session_without_a_writer() -> None:
    model = ProtocolModel(AS_IT_WAS, allows_takeovers=True)
    with pytest.raises(Violation, match="the session has no writer"):
        model.check(*SCENARIOS["stalls"])
