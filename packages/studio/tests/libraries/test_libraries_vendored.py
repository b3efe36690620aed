"""The vendored files: everything that the stacks name is there, with its licence, and the lock names no host."""

import json
import re
from pathlib import Path

import pytest

import heald_studio
from heald.core.errors import ConfigurationError
from heald_studio.cdn.packages import MISSING, find_file, is_installed, packages, read_file
from heald_studio.cdn.serve import serve_library
from heald_studio.stacks.installed import load_stacks

LOCK = Path(heald_studio.__file__).with_name("libraries") / "lock.json"
ADDRESS = re.compile(r"https://[^\"'`\s)>]+")
needs_libraries = pytest.mark.skipif(not is_installed(), reason=MISSING)

NAMED = sorted(
    {
        address
        for stack in load_stacks().values()
        for text in (stack.rules, *stack.scaffold.values())
        for address in ADDRESS.findall(text)
    }
)
OFTEN = [
    "https://cdn.tailwindcss.com?plugins=forms,typography",
    "https://cdn.jsdelivr.net/npm/@tailwindcss/browser@4",
    "https://unpkg.com/react@18/umd/react.development.js",
    "https://unpkg.com/react-dom@17/umd/react-dom.production.min.js",
    "https://unpkg.com/vue@3",
    "https://unpkg.com/vue@3/dist/vue.global.js",
    "https://cdn.jsdelivr.net/npm/bootstrap@5.0.2/dist/css/bootstrap.css",
    "https://stackpath.bootstrapcdn.com/bootstrap/5.0.0/js/bootstrap.min.js",
    "https://maxcdn.bootstrapcdn.com/font-awesome/4.7.0/css/font-awesome.min.css",
    "https://use.fontawesome.com/releases/v5.15.4/css/all.css",
    "https://cdnjs.cloudflare.com/ajax/libs/font-awesome/6.0.0/webfonts/fa-brands-400.woff2",
    "https://cdn.jsdelivr.net/npm/bootstrap-icons@1.10.0/font/bootstrap-icons.css",
    "https://cdn.jsdelivr.net/npm/@ionic/core/dist/ionic/svg/home.svg",
    "https://unpkg.com/ionicons@7.1.0/dist/ionicons/ionicons.esm.js",
    "https://esm.sh/react-dom@19/client",
    "https://esm.sh/react/jsx-runtime",
    "https://cdn.jsdelivr.net/npm/chart.js@4.4.0/dist/chart.umd.js",
]


@needs_libraries
@pytest.mark.parametrize("url", [*NAMED, *OFTEN])
def test_an_address_is_answered(url: str) -> None:
    answer = serve_library(url)
    assert answer is not None
    assert answer.status == 200
    assert answer.body
    kind = {"css": "text/css", "js": "text/javascript", "woff2": "font/woff2", "svg": "image/svg+xml"}
    suffix = url.rpartition(".")[2]
    if suffix in kind and "tailwindcss" not in url:
        assert answer.type.partition(";")[0] == kind[suffix]


@needs_libraries
def test_versions_go_to_the_nearest_that_is_there() -> None:
    old, new = (
        find_file("react", "umd/react.development.js", "17.0.2"),
        find_file("react", "cjs/react.production.js", "^19"),
    )
    assert old is not None
    assert new is not None
    assert (old[0].major, old[1]) == ("18", "umd/react.production.min.js")
    assert new[0].major == "19"
    assert find_file("react", "umd/none.js") is None
    older, newest = find_file("react", "", "18.2.0"), find_file("react", "")
    assert older is not None
    assert newest is not None
    assert (older[0].major, newest[0].major) == ("18", "19")


@needs_libraries
def test_one_module_for_each_package() -> None:
    versioned, plain = serve_library("https://esm.sh/react@19"), serve_library("https://esm.sh/react")
    assert versioned is not None
    assert plain is not None
    assert versioned.body.startswith(b'export * from "./react";')
    assert b"export const {" in plain.body
    names = plain.body.rpartition(b"export const {")[2]
    assert b"useState" in names
    assert b"__CLIENT_INTERNALS" in names
    client = serve_library("https://esm.sh/react-dom/client")
    assert client is not None
    assert client.body.startswith(b'import need0 from "../scheduler";\nimport need1 from "../react";')


@needs_libraries
def test_no_library_warns_of_being_a_library() -> None:
    for url in ("https://cdn.tailwindcss.com", "https://unpkg.com/@babel/standalone"):
        answer = serve_library(url)
        assert answer is not None
        assert b'console.warn("cdn.tailwindcss.com' not in answer.body
        assert b'console.warn("You are using the in-browser' not in answer.body


@needs_libraries
def test_every_package_brings_its_licence() -> None:
    for package in packages():
        names = {path.lower().partition(".")[0] for path in package.files}
        assert {"license", "readme"} & names, package.name


def test_the_lock_pins_everything_and_names_no_host() -> None:
    text = LOCK.read_text("utf-8")
    assert "http" not in text
    assert "registry" not in text
    for package in json.loads(text)["packages"]:
        assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"])
        assert re.fullmatch(r"sha512-[A-Za-z0-9+/]{86}==", package["integrity"])
        assert package["license"]
        assert package["main"] in package["keep"] or any("*" in pattern for pattern in package["keep"])


def test_the_notice_lists_every_package() -> None:
    notice = LOCK.with_name("NOTICE.md").read_text("utf-8")
    for package in packages():
        assert f"| {package.name} | {package.version} | {package.license} |\n" in notice


def test_without_the_files_one_sentence_states_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heald_studio.cdn.packages.VENDOR", tmp_path)
    assert serve_library("https://unpkg.com/vue@3") is None
    with pytest.raises(ConfigurationError, match=r"run packages/studio/vendor_libraries\.py"):
        read_file(packages()[0], packages()[0].main)
