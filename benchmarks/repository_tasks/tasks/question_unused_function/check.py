import re

from referee import answer

names = set(re.findall(r"\b(chop|plural|initials|bullet|quote)\b", answer()))
assert names == {"initials"}, names
