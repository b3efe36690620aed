"""The tables about small models in docs/benchmarks.md are those of the stored results."""

from benchmarks.small_models import PAGE, replace_section


def test_the_page_holds_the_tables_of_the_results() -> None:
    page = PAGE.read_text("utf-8")
    assert replace_section(page) == page, "run python -m benchmarks.small_models"
