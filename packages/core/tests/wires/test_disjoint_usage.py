import pytest

from heald.core.turn import Usage
from heald.wires.usage_counts import as_count, disjoint_usage, first_count


@pytest.mark.parametrize(
    ("prompt", "completion", "total", "read", "write", "reasoning", "usage"),
    [
        (None, None, None, None, None, None, Usage()),
        (10, 5, 15, None, None, None, Usage(input=10, output=5)),
        (10, 5, 15, 4, 3, None, Usage(input=3, cache_read=4, cache_write=3, output=5)),
        (10, 5, 15, 0, None, 0, Usage(input=10, cache_read=0, output=5, reasoning=0)),
        (10, 9, 19, None, None, 4, Usage(input=10, output=5, reasoning=4)),
        (10, 9, None, None, None, 4, Usage(input=10, output=5, reasoning=4)),
        (10, 9, 23, None, None, 4, Usage(input=10, output=9, reasoning=4)),  # beside, as the total says
        (10, 4, None, None, None, 40, Usage(input=10, output=4, reasoning=40)),  # beside, as its size says
        (10, 10, 20, None, None, 11, Usage(input=10, output=0, reasoning=10)),  # an estimate that overshoots
        (3, 5, 8, 7, None, None, Usage(input=0, cache_read=3, output=5)),  # a part is not more than the whole
        (3, 5, None, 7, None, None, Usage(input=0, cache_read=3, output=5)),
        (10, 5, 15, 8, 7, None, Usage(input=0, cache_read=8, cache_write=2, output=5)),
        (10, 5, 15, None, 17, None, Usage(input=0, cache_write=10, output=5)),
        (3, 5, 15, 7, None, None, Usage(input=3, cache_read=7, output=5)),  # beside, as the total says
        (None, 5, None, 7, None, None, Usage(cache_read=7, output=5)),
    ],
)
def test_totals_become_disjoint_buckets(
    prompt: int | None,
    completion: int | None,
    total: int | None,
    read: int | None,
    write: int | None,
    reasoning: int | None,
    usage: Usage,
) -> None:
    buckets = disjoint_usage(
        prompt=prompt, completion=completion, total=total, cache_read=read, cache_write=write, reasoning=reasoning
    )
    assert buckets == usage


def test_zero_is_known() -> None:
    assert first_count(None, 0, 5) == 0
    assert first_count(None, None) is None


@pytest.mark.parametrize("value", [-1, True, 2.0, "3", None, 10**400, [1]])
def test_what_cannot_be_a_count_is_unknown(value: object) -> None:
    assert as_count(value) is None
