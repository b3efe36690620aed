import re

from referee import load, tests_pass, text

wrap = load("layout").wrap
assert wrap("one two three", 8) == ["one two", "three"]
assert wrap("one two three", 9, indent=2) == ["  one two", "  three"]
assert wrap("one two three", 8, indent=2) == ["  one", "  two", "  three"]
assert wrap("one two three", 10, justify=True, indent=2) == ["  one  two", "  three"]
assert tests_pass()
rows = re.findall(r"^\| *`?(\w+)`? *\| *`?(\w+)`? *\| *(\S.*?) *\|$", text("docs/layout.md"), re.M)
table = {row[0]: row[1] for row in rows}
assert table == {"option": "default", "width": "72", "justify": "False", "indent": "0"}, table
