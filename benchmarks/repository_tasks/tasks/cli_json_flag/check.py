import json

from referee import python

plain = python("-m", "stats", "poem.txt")
assert plain.stdout == "4 lines, 14 words, 73 characters\n", plain
for arguments in (["--json", "poem.txt"], ["poem.txt", "--json"]):
    result = python("-m", "stats", *arguments)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {"lines": 4, "words": 14, "characters": 73}, result.stdout
assert "--json" in python("-m", "stats", "--help").stdout
