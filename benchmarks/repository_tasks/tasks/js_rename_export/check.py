import re

from referee import node, text

script = """
import * as all from "./src/index.js";
const date = new Date(Date.UTC(2024, 1, 9));
console.log([
  Object.keys(all).sort().join(), all.formatDate(date), all.eventLine({ date, title: "Fair" }),
  all.range(date, date), all.visitors(12345),
].join("|"));
"""
expected = "eventLine,formatDate,range,visitors|09.02.2024|09.02.2024 Fair|09.02.2024 - 09.02.2024|12,345 visitors"
assert node(script) == expected, node(script)
for name in ("src/dates.js", "src/event.js", "src/range.js", "src/index.js", "README.md"):
    assert not re.search(r"\bfmt\b", text(name)), name
assert "const fmt = new Intl.NumberFormat" in text("src/numbers.js")
assert "`formatDate(date)`" in text("README.md")
