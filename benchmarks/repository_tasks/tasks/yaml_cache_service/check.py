import re

from referee import load, text


def scalar(word):
    word = word.strip()
    if word[:1] == "[" and word[-1:] == "]":
        return [scalar(part) for part in word[1:-1].split(",") if part.strip()]
    if word[:1] in ("'", '"'):
        return word[1 : word.index(word[0], 1)]
    return re.sub(r"\s+#.*", "", word)


def parse(lines, depth=0):
    """A small part of YAML: mappings, lists of scalars and flow lists. Takes lines off the list."""
    result = None
    while lines and len(lines[0]) - len(lines[0].lstrip()) >= depth:
        indent = len(lines[0]) - len(lines[0].lstrip())
        assert indent == depth, f"indentation of {lines[0]!r}"
        line = lines.pop(0).strip()
        if line.startswith("- "):
            result = [] if result is None else result
            result.append(scalar(line[2:]))
            continue
        result = {} if result is None else result
        key, _, value = line.partition(":")
        assert key not in result, f"{key} occurs twice"
        if value.strip():
            result[key] = scalar(value)
        elif lines:
            inner = len(lines[0]) - len(lines[0].lstrip())
            deeper = inner > depth or (inner == depth and lines[0].lstrip().startswith("- "))
            result[key] = parse(lines, inner) if deeper else None
        else:
            result[key] = None
    return result


source = text("compose.yaml")
assert "\t" not in source
stack = parse([line for line in source.splitlines() if line.strip() and not line.lstrip().startswith("#")])

services = stack["services"]
assert set(stack) == {"services", "volumes"} and set(services) == {"web", "db", "cache"}, stack
assert services["cache"]["image"] == "redis:7" and "ports" not in services["cache"]
assert services["db"] == {"image": "postgres:16", "volumes": ["data:/var/lib/postgresql/data"]}
web = services["web"]
assert web["image"] == "guestbook:2.1" and web["ports"] == ["8000:8000"]
assert sorted(web["depends_on"]) == ["cache", "db"]
assert web["environment"] == {
    "DATABASE_URL": "postgres://db:5432/guestbook",
    "LOG_LEVEL": "info",
    "CACHE_URL": "redis://cache:6379/0",
}, web["environment"]
assert stack["volumes"] == {"data": None}
assert "# the data survives an update" in source
assert re.search(r"^- `?CACHE_URL`?\W+\w+", text("README.md"), re.M)
assert "- `DATABASE_URL`: where" in text("README.md")
