"""The last results of a function, by arguments that cannot be hashed."""

from heald.core.recent_results import RecentResults


def test_equal_arguments_have_one_result_until_it_is_the_oldest() -> None:
    results = RecentResults[str](size=2)
    assert results.find(["a"]) is None
    assert results.add(["a"], "first") == "first"
    results.add(["b"], "second")
    assert (results.find(["a"]), results.find(["b"]), results.find([])) == ("first", "second", None)
    results.add(["c"], "third")
    assert (results.find(["a"]), results.find(["b"]), results.find(["c"])) == (None, "second", "third")
