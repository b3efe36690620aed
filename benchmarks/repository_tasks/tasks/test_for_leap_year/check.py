from pathlib import Path

from referee import tests_pass, text

source = text("dates.py")
assert source.count("return year % 4 == 0\n") == 1, "dates.py changed"
assert "def test_april" in text("tests/test_dates.py") and "def test_february" in text("tests/test_dates.py")
assert not tests_pass(), "no test fails because of the bug"
fixed = source.replace("return year % 4 == 0", "return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)")
Path("dates.py").write_text(fixed)
assert tests_pass(), "a test fails although the bug is fixed"
