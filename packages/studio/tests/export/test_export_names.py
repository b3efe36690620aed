"""What neither leaves with a project nor enters with one: secrets, repositories, names that some system cannot hold."""

import io
import zipfile

import pytest

from heald_studio.bad_input import BadInput
from heald_studio.export.files import LEFT_OUT, reason_to_stay, zip_project
from heald_studio.input.projects import unpack_zip

STAY = {
    ".env": "secrets",
    "config/.env.local": "secrets",
    "keys/server.pem": "secrets",
    ".git/config": "repository",
    "sub/.GIT/hooks/x": "repository",
    ".g\u200cit/config": "repository",
    "\uff0egit/config": "repository",
    ".hg/store": "repository",
    "con.txt": "name",
    "a/NUL": "name",
    "lpt1.html": "name",
    "what?.html": "name",
    "a:b.txt": "name",
    "trailing./x": "name",
    "space /x": "name",
}
TRAVEL = ["index.html", ".env.example", "src/git.ts", "a/constant.js", ".gitignore", "Grüße.html", "nullable.css"]


@pytest.mark.parametrize("path", STAY)
def test_reasons(path: str) -> None:
    assert STAY[path] in (reason_to_stay(path) or "")


@pytest.mark.parametrize("path", TRAVEL)
def test_ordinary_names(path: str) -> None:
    assert reason_to_stay(path) is None


def test_an_export_lists_what_it_leaves_out() -> None:
    files: dict[str, str | bytes] = {"index.html": "<p>hi</p>", ".env": "KEY=CANARY", ".git/config": "x"}
    data = zip_project(files, "demo")
    assert b"CANARY" not in data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert sorted(archive.namelist()) == [f"demo/{LEFT_OUT}", "demo/index.html"]
        assert archive.read(f"demo/{LEFT_OUT}").decode() == (
            ".env: it may hold secrets\n.git/config: it belongs to a repository\n"
        )
    assert zip_project({"index.html": "x"}, "demo") == zip_project({"index.html": "x"}, "demo")
    assert LEFT_OUT.encode() not in zip_project({"index.html": "x"}, "demo")


@pytest.mark.parametrize("path", [path for path in STAY if "\u200c" not in path])
def test_an_import_refuses_them(path: str) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("index.html", "<p>hi</p>")
        archive.writestr(path, "x")
    with pytest.raises(BadInput):
        unpack_zip(out.getvalue())
