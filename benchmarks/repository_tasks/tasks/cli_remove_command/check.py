from referee import python, text


def todo(*arguments):
    return python("todo.py", "--file", "check.json", *arguments)


for title in ("Tea", "Milk", "Bread"):
    assert todo("add", title).returncode == 0
result = todo("remove", "2")
assert result.returncode == 0 and result.stdout.strip() == "Removed: Milk", result
assert todo("list").stdout == "1. Tea\n2. Bread\n"
before = text("check.json")
for number in ("3", "0"):
    result = todo("remove", number)
    assert result.returncode == 1, result
    assert result.stderr.strip() == f"No entry {number}" and not result.stdout.strip(), result
    assert text("check.json") == before
assert todo("remove", "1").returncode == 0
assert todo("list").stdout == "1. Bread\n"
