import msgspec
from hypothesis import given
from hypothesis import strategies as st

from heald.core.json import encode
from heald.core.turn import Cost, Iteration, Usage

counts = st.none() | st.integers(0, 10**9)
uses = st.dictionaries(st.sampled_from(["web_search", "file_search"]), st.integers(0, 9))
usages = st.builds(Usage, *[counts] * 6, server_tools=uses, tier=st.none(), iterations=st.just([]))
FIELDS = ("input", "cache_read", "cache_write", "output", "reasoning", "cache_write_1h")


def test_unknown_is_not_zero() -> None:
    assert Usage().total is None
    assert Usage().total_input is None
    assert Usage().total_output is None
    assert Usage(input=0).total == 0
    assert Usage() + Usage() == Usage()
    assert Usage() + Usage(output=0) == Usage(output=0)
    assert Usage() != Usage(input=0)


def test_totals_add_up_disjoint_buckets() -> None:
    usage = Usage(input=1, cache_read=10, cache_write=100, output=1000, reasoning=10000)
    assert usage.total_input == 111
    assert usage.total_output == 11000
    assert usage.total == 11111


def test_a_known_bucket_counts_though_others_are_unknown() -> None:
    assert Usage(cache_read=5).total_input == 5
    assert Usage(reasoning=7).total_output == 7
    assert Usage(output=3).total == 3


@given(usages, usages)
def test_adding_goes_bucket_by_bucket(a: Usage, b: Usage) -> None:
    total = a + b
    for field in FIELDS:
        left, right = getattr(a, field), getattr(b, field)
        counts = [count for count in (left, right) if count is not None]
        assert getattr(total, field) == (sum(counts) if counts else None)


@given(usages, usages, usages)
def test_adding_has_no_order(a: Usage, b: Usage, c: Usage) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Usage() == a


@given(usages)
def test_usage_survives_encoding_and_omits_the_unknown(usage: Usage) -> None:
    encoded = encode(usage)
    assert msgspec.json.decode(encoded, type=Usage) == usage
    assert b"null" not in encoded


def test_cost_may_be_unknown() -> None:
    assert encode(Cost()) == b"{}"
    assert msgspec.json.decode(encode(Cost(0.0, "provider")), type=Cost) == Cost(0.0, "provider")


def test_a_sum_counts_tools_and_has_no_tier_of_its_own() -> None:
    flex = Usage(input=1, server_tools={"web_search": 1}, tier="flex", iterations=[Iteration("message", input=1)])
    other = Usage(input=2, server_tools={"web_search": 2, "file_search": 1}, tier="flex")
    assert flex + other == Usage(input=3, server_tools={"web_search": 3, "file_search": 1})
    assert Usage() + flex == Usage(input=1, server_tools={"web_search": 1})
