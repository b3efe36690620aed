import re

from referee import answer

assert re.search(r"\b(6|six)\b", answer(), re.IGNORECASE)
