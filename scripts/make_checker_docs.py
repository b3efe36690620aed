"""Writes the table of log invariants into docs/testing.md. `make docs` runs it; a test checks that it is up to date."""

from pathlib import Path

from heald_check.checker.invariants import INVARIANTS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "testing.md"
BEGIN = "<!-- invariants: made by scripts/make_checker_docs.py -->"
END = "<!-- end of invariants -->"


def invariants_table() -> str:
    rows = [f"| `{code}` | {sentence} |" for code, sentence in INVARIANTS.items()]
    return "\n".join(["| code | invariant |", "|---|---|", *rows])


def updated_page(page: str) -> str:
    """Return the page with the table between its two markers renewed."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{invariants_table()}\n{END}{after}"


def main() -> None:
    PAGE.write_text(updated_page(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
