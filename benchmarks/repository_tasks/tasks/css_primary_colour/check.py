import hashlib
import re

from referee import text

css = text("styles/site.css")
assert "--primary: #0a7d5a;" in css.lower()
assert css.lower().count("#0a7d5a") == 1, "the new colour is written out"
assert not re.search(r"#3366cc(?!33)", css, re.IGNORECASE), "the old colour is left"
assert css.count("#3366cc33") == 2
assert css.count("var(--primary)") == 10, css.count("var(--primary)")
before = css.replace("--primary: #0a7d5a", "--primary: var(--primary)").replace("--primary: #0A7D5A", "--primary: var(--primary)")
assert hashlib.sha256(before.strip().encode()).hexdigest() == "8982f41c612da7a6c423b21dd8a1b1b243ce3f08ef668c605155ec6e696eb927", "something else changed"
assert "color: #3366cc" in text("styles/print.css"), "styles/print.css changed"
