from pathlib import Path

from referee import load, python

RouteError = load("routes.errors").RouteError
read = load("routes.reader").read_routes
assert issubclass(RouteError, Exception) and not issubclass(RouteError, ValueError)
assert read("# c\nA B 1\n") == [("A", "B", 1.0)]
for text, number in {"A B": 1, "A B 1\n\n# x\nA B far": 4, "# c\nA B 1 2": 2}.items():
    try:
        read(text)
    except RouteError as error:
        assert str(error).startswith(f"line {number}: "), error
    else:
        raise AssertionError(text)
result = python("cli.py", "sample.txt")
assert result.returncode == 0 and result.stdout == "2 routes, 15.6 km\n", result
Path("broken.txt").write_text("A B 1\nA B\n")
result = python("cli.py", "broken.txt")
assert result.returncode == 2 and result.stderr.startswith("Error: line 2: ") and not result.stdout, result
assert "Traceback" not in result.stderr
