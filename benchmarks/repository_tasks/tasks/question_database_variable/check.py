import re

from referee import answer

assert re.search(r"\bLEDGER_STORE_PATH\b", answer())
assert not re.search(r"\bLEDGER_(DATABASE|DB)(_PATH|_FILE)?\b|DATABASE_URL", answer()), "this variable does not exist"
