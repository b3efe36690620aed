from referee import run


def words(*arguments):
    return run("node", "bin/words.js", *arguments)


assert words("sample.txt").stdout == "3 a\n2 and\n1 bird\n1 cat\n1 dog\n"
for arguments in (["--limit", "2", "sample.txt"], ["sample.txt", "--limit", "2"]):
    result = words(*arguments)
    assert result.returncode == 0 and result.stdout == "3 a\n2 and\n", result
assert words("sample.txt", "--limit", "99").stdout.count("\n") == 5
for value in (["0"], ["two"], ["-1"], ["1.5"], []):
    result = words("sample.txt", "--limit", *value)
    assert result.returncode == 2 and result.stderr.strip() and not result.stdout, (value, result)
assert words().returncode == 2
