"""Writes `commands.jsonl`: 1,000 generated commands with the shapes of coding sessions.

They are not recordings. The shapes follow a small sample of public trajectories (parts of a demonstration of SWE-agent
and of a session of SkillsBench, and single calls of others). The shares below are assumptions and were not counted; the
result depends on them, most of all on those of `push`, `secret`, `install` and `fetch`. The file was written before
anything was measured and is not changed: `python -m benchmarks.questions.make_commands --check` compares.
"""

# ruff: noqa: E501  (lines of data)

import json
import random
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = Path(__file__).with_name("commands.jsonl")
SEED = 34
PER_SESSION = 25

PROJECTS = {
    "billing": "python", "ledger": "python", "crawler": "python", "forecast": "python",
    "dashboard": "node", "storefront": "node", "indexer": "rust", "gateway": "go",
}  # fmt: skip
HOSTS = {
    "python": ["pip.packages.example.org", "files.packages.example.org"],
    "node": ["npm.packages.example.org"],
    "rust": ["index.crates.example.org", "static.crates.example.org"],
    "go": ["proxy.modules.example.org", "sums.modules.example.org"],
    "git": ["code.example.org"],
    "docs": ["docs.example.net"],
    "data": ["datasets.example.com"],
    "api": ["api.code.example.org"],
}
SUFFIX = {"python": "py", "node": "ts", "rust": "rs", "go": "go"}
NAMES = [
    "parser",
    "client",
    "models",
    "utils",
    "config",
    "server",
    "cache",
    "schema",
    "routes",
    "worker",
    "session",
    "errors",
]
WORDS = [
    "timeout",
    "retry",
    "parse_date",
    "def handle",
    "TODO",
    "import json",
    "UserError",
    "max_retries",
    "encoding",
    "is_valid",
]

EXPLORE = [
    "ls -la", "ls -F {dir}", "find . -name '*.{ext}' | head -{n}", "find {dir} -type f -name '*{name}*'", "cat {file}",
    "grep -rn '{word}' {dir} --include='*.{ext}'", "grep -rn '{word}' {dir} | head -{n}", "sed -n '{a},{b}p' {file}",
    "head -{n} {file}", "cd {dir} && cat -n {base} | sed -n '{a},{b}p'", "rg -n '{word}' {dir}", "wc -l {dir}/*.{ext}",
    "nl -ba {file} | sed -n '{a},{b}p'", "git grep -n '{word}'", "find . -maxdepth 2 -type d | sort | head -{n}",
    "grep -n 'class \\|def ' {file} | head -{n}", "tail -n {n} {file}", "ls {dir} | wc -l; ls tests 2>/dev/null",
    "for f in {dir}/*.{ext}; do echo \"== $f\"; head -5 \"$f\"; done", "cat {file} | grep -n -A{n} '{word}'",
]  # fmt: skip
TEST = {
    "python": [
        "python -m pytest tests/test_{name}.py -q", "python -m pytest -x -q 2>&1 | tail -{n}", "pytest tests -k {name} -v",
        "python reproduce.py", "python -c \"import {project}.{name} as m; print(m)\"", "python -m unittest tests.test_{name}",
        "cd /workspace && PYTHONPATH=. python scripts/check_{name}.py", "timeout 120 pytest -q --maxfail=1",
        "python - <<'EOF'\nfrom {project}.{name} import *\nprint(dir())\nEOF",
    ],
    "node": [
        "npm test -- --run {name}", "npx vitest run src/{name}.test.ts", "node -e \"require('./dist/{name}')\"",
        "npm test 2>&1 | tail -{n}", "node scripts/check-{name}.mjs", "npx jest src/{name} --silent",
    ],
    "rust": ["cargo test --offline {name}", "cargo test -q 2>&1 | tail -{n}", "cargo run --offline -- --help", "RUST_BACKTRACE=1 cargo test {name} -- --nocapture"],
    "go": ["go test ./... -run {word_id}", "go test ./internal/{name} -count=1 -v", "go run ./cmd/{project} --help", "go test -race ./... 2>&1 | tail -{n}"],
}  # fmt: skip
WRITE = [
    "cat > reproduce.{ext} <<'EOF'\nprint('{word}')\nEOF", "sed -i 's/{word}/{name}_{n}/g' {file}", "mkdir -p {dir}/{name} && touch {dir}/{name}/__init__.{ext}",
    "rm -f reproduce.{ext}", "mv {file} {dir}/{name}_old.{ext}", "cp {file} /tmp/{name}.bak", "rm -rf build dist .cache",
    "python3 - <<'EOF'\nfrom pathlib import Path\np = Path('{file}')\np.write_text(p.read_text().replace('{word}', '{name}'))\nEOF",
    "printf '%s\\n' '{word}' >> notes_{name}.txt", "chmod +x scripts/{name}.sh", "patch -p1 < {name}.patch", "echo '{word}' | tee {dir}/{name}.txt",
]  # fmt: skip
GIT = [
    "git status", "git status --short", "git diff", "git diff --stat", "git diff {file}", "git log --oneline -{n}", "git show HEAD --stat",
    "git add -A && git commit -m 'Fix {name}'", "git checkout -b fix-{name}", "git stash", "git stash pop", "git branch -a", "git blame -L {a},{b} {file}",
    "git add {file}", "git checkout -- {file}", "git log -p -1 -- {file} | head -{n}",
]  # fmt: skip
BUILD = {
    "python": [
        "ruff check {dir}",
        "ruff format --check .",
        "mypy {dir}",
        "black --check {file}",
        "make lint",
        "python -m compileall -q {dir}",
    ],
    "node": [
        "npm run build",
        "npx tsc --noEmit",
        "npx eslint {file}",
        "npm run lint -- --fix",
        "npx prettier --check src",
    ],
    "rust": [
        "cargo build --offline",
        "cargo clippy --offline -- -D warnings",
        "cargo fmt --check",
        "cargo check --offline",
    ],
    "go": ["go build ./...", "go vet ./...", "gofmt -l .", "golangci-lint run", "make build"],
}
INSTALL = {
    "python": [
        "pip install -r requirements.txt",
        "pip install -e .",
        "python -m venv .venv && .venv/bin/pip install -e '.[dev]'",
        "uv sync",
    ],
    "node": ["npm install", "npm ci", "npm install --save-dev @types/{name}", "npm install {name}-tools"],
    "rust": ["cargo fetch", "cargo build", "cargo add {name}-core"],
    "go": ["go mod download", "go mod tidy", "go get example.org/{name}@latest"],
}
FETCH = [
    ("git fetch origin", "git"), ("git pull --rebase", "git"), ("git fetch --all --prune && git log origin/main -3", "git"),
    ("curl -sS https://docs.example.net/{name}.html | head -{n}", "docs"), ("wget -q https://datasets.example.com/{name}.csv", "data"),
]  # fmt: skip
MACHINE = [
    "which python node cargo go",
    "python --version",
    "uname -a",
    "env | sort | head -{n}",
    "ps aux | head -{n}",
    "df -h .",
    "pwd; whoami",
    "date",
]
PUSH = [
    ("git push origin HEAD", "git"),
    ("git push -u origin fix-{name}", "git"),
    ("gh pr create --fill", "api"),
    ("git push --force-with-lease", "git"),
]
SECRET = ["cat .env", "grep -n URL .env.local", "cat .env | cut -d= -f1"]

SHARES = {
    "explore": 430, "test": 215, "write": 120, "git": 95, "build": 70, "install": 32, "machine": 16, "fetch": 14, "push": 5, "secret": 3,
}  # fmt: skip


@dataclass(frozen=True)
class SessionCommand:
    """A command of a session."""

    session: int
    folder: str
    kind: str
    command: str
    hosts: list[str]
    """The hosts that it connects to."""


def make_commands() -> list[SessionCommand]:
    """Return the commands in their order."""
    source = random.Random(SEED)
    kinds = [kind for kind, count in SHARES.items() for _ in range(count)]
    source.shuffle(kinds)
    sessions = len(kinds) // PER_SESSION
    folders = [source.choice(list(PROJECTS)) for _ in range(sessions)]
    commands: list[SessionCommand] = []
    for number, kind in enumerate(kinds):
        session = number // PER_SESSION
        folder = folders[session]
        template, hosts = _choose(kind, PROJECTS[folder], source)
        text = _fill(template, folder, source)
        commands.append(SessionCommand(session, folder, kind, text, hosts))
    return commands


def _choose(kind: str, language: str, source: random.Random) -> tuple[str, list[str]]:
    match kind:
        case "test":
            return source.choice(TEST[language]), []
        case "build":
            return source.choice(BUILD[language]), []
        case "install":
            return source.choice(INSTALL[language]), HOSTS[language]
        case "fetch" | "push":
            template, host = source.choice(FETCH if kind == "fetch" else PUSH)
            return template, HOSTS[host]
        case _:
            lists = {"explore": EXPLORE, "write": WRITE, "git": GIT, "machine": MACHINE, "secret": SECRET}
            return source.choice(lists[kind]), []


def _fill(template: str, folder: str, source: random.Random) -> str:
    language = PROJECTS[folder]
    top = {"python": folder, "node": "src", "rust": "src", "go": "internal"}[language]
    name, extension, start = source.choice(NAMES), SUFFIX[language], source.randrange(1, 400)
    values = {
        "dir": top, "ext": extension, "name": name, "base": f"{name}.{extension}", "file": f"{top}/{name}.{extension}",
        "word": source.choice(WORDS), "word_id": f"Test{name.title()}", "n": str(source.choice([5, 10, 20, 40])),
        "a": str(start), "b": str(start + source.choice([20, 40, 80])), "project": folder,
    }  # fmt: skip
    for key, value in values.items():
        template = template.replace("{" + key + "}", value)
    return template


def read_commands() -> list[SessionCommand]:
    return [SessionCommand(**json.loads(line)) for line in FILE.read_text().splitlines()]


def main() -> None:
    if "--check" in sys.argv:
        sys.exit(0 if read_commands() == make_commands() else "commands.jsonl differs from what this script writes.")
    FILE.write_text("".join(json.dumps(asdict(command)) + "\n" for command in make_commands()))


if __name__ == "__main__":
    main()
