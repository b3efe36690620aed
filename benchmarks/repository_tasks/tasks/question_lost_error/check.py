import re

from referee import answer

assert re.search(r"\bdecode_document\b", answer())
assert re.search(r"\bdecoding(\.py)?\b", answer())
