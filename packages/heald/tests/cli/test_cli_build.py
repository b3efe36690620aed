"""`heald build`, against a scripted model server, into real folders."""

import asyncio
import json
import shlex
import shutil
import signal
import sys
from pathlib import Path

import pytest

from cli_bench import Ran, finish, is_one_line_error, run, started
from cli_pages import PAGE, builder, changer, here, picture
from heald.core.messages import ToolCall
from heald.testing.server import Hang, Reply, ScriptedServer
from heald.testing.streams import wire_stream
from needed_programs import needs_chromium

pytestmark = pytest.mark.usefixtures("headless_shell")

Capture = pytest.CaptureFixture[str]


def words(server: ScriptedServer, *arguments: str) -> list[str]:
    models = [] if "--model" in arguments else ["--model", "m"]
    return ["build", "--base-url", f"{server.url}/v1", *models, *arguments]


async def build(capsys: Capture, server: ScriptedServer, *arguments: str) -> Ran:
    return await run(capsys, *words(server, *arguments))


async def test_one_variant_goes_into_the_folder_itself(capsys: Capture) -> None:
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, "--text", "A bakery", "-o", "site")
    assert ran.code == 0, ran.err
    assert here("site/index.html").read_text() == PAGE
    assert ran.out.startswith("site/  m  completed  ")
    assert "m: wrote index.html" in ran.err
    assert "\x1b" not in ran.out + ran.err
    assert "A bakery" in json.dumps(server.requests[0].body["messages"])


async def test_several_go_into_folders_of_their_own(capsys: Capture) -> None:
    async with ScriptedServer(builder) as server:
        ran = await build(
            capsys, server, "--text", "A bakery", "--variants", "2", "--model", "one,plain", "--json", "-o", "o"
        )
    said = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert [variant["status"] for variant in said["variants"]] == ["completed", "completed"]
    assert {variant["model"] for variant in said["variants"]} == {"one", "plain"}
    assert [variant["folder"] for variant in said["variants"]] == ["o/1", "o/2"]
    for variant in said["variants"]:
        text = here(f"{variant['folder']}/index.html").read_text()
        assert ("Something else" in text) == (variant["model"] == "plain")
    assert said["variants"][0]["usage"]["output"] > 0


async def test_a_model_for_each_variant_is_the_number_of_variants(capsys: Capture) -> None:
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, "--text", "x", "--model", "a", "--model", "b", "--model", "c")
    assert ran.code == 0
    assert sorted(path.name for path in here("out").iterdir()) == ["1", "2", "3"]


async def test_one_that_fails_stands_behind_the_others(capsys: Capture) -> None:
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, "--text", "x", "--model", "broken", "--model", "fine")
    assert ran.code == 0
    assert here("out/1/index.html").read_text() == PAGE
    assert not here("out/2").exists()
    assert "Variant 1 (broken) failed: " in ran.err
    assert "no such thing" in ran.err


async def test_all_fail(capsys: Capture) -> None:
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, "--text", "x", "--model", "broken")
    assert (ran.code, ran.out) == (1, "")
    assert not here("out").exists()


async def test_a_page_that_the_limit_of_turns_cut_off_is_kept_and_named(capsys: Capture) -> None:
    numbers = iter(range(100))

    def endless(_: object) -> Reply:
        number = next(numbers)
        call = ToolCall(id=f"call_{number}", name="create_file", input={"path": "index.html", "content": f"{number}"})
        return Reply(wire_stream("chat", calls=[call]))

    async with ScriptedServer(endless) as server:
        ran = await build(capsys, server, "--text", "x", "-o", "site")
        as_json = await build(capsys, server, "--text", "x", "-o", "other", "--json")
    assert ran.code == as_json.code == 3
    assert here("site/index.html").read_text() == "19"
    sentence = "The exchange reached its budget of 20 turns."
    assert f"Variant 1 (m) is not complete: {sentence}" in ran.err
    variant = json.loads(as_json.out)["variants"][0]
    assert (variant["status"], variant["note"]) == ("limit", sentence)


async def test_the_picture_reaches_the_model(capsys: Capture) -> None:
    shot = picture(here("shot.png"))
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, str(shot), "--no-score", "--stack", "html_css")
    assert ran.code == 0, ran.err
    assert "data:image/png;base64," in json.dumps(server.requests[0].body["messages"])


async def test_a_page_that_is_there_is_changed(capsys: Capture) -> None:
    site = here("site")
    site.mkdir()
    (site / "index.html").write_text(PAGE)
    (site / "logo.txt").write_text("kept")
    async with ScriptedServer(changer) as server:
        ran = await build(capsys, server, "--from", "site", "--text", "Evenings", "-o", "site", "--force")
    assert ran.code == 0, ran.err
    assert "Every evening." in (site / "index.html").read_text()
    assert (site / "logo.txt").read_text() == "kept"


async def test_a_request_that_changes_nothing_is_reported_with_the_answer_and_fails(capsys: Capture) -> None:
    site = here("site")
    site.mkdir()
    (site / "index.html").write_text(PAGE)
    async with ScriptedServer(lambda _request: Reply(wire_stream("chat", text="I cannot move it."))) as server:
        ran = await build(capsys, server, "--from", "site", "--text", "Move it", "-o", "other")
    assert ran.code == 1
    assert "Nothing was changed. It answered: I cannot move it." in ran.err


async def test_a_request_that_the_converter_refuses_fails_with_the_reason(capsys: Capture) -> None:
    site = here("site")
    site.mkdir()
    (site / "index.html").write_text(PAGE)
    arguments = "--from", "site", "--model", "local/vision", "--text", "Add a newsletter form", "-o", "other"
    ran = await run(capsys, "build", *arguments)
    assert ran.code == 1
    sentence = "failed: The local converter has no language model and cannot do this; choose a model with a key"
    assert f"(local/vision) {sentence}" in ran.err
    assert ran.err.count("choose a model with a key") == 1
    assert "completed" not in ran.out + ran.err
    assert " %" not in ran.out
    assert not here("other").exists()


async def test_a_design_system_goes_into_the_prompt(capsys: Capture) -> None:
    here("house.md").write_text("# House\nEverything is mauve.")
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, "--text", "x", "--design-system", "house.md")
    assert ran.code == 0, ran.err
    assert "Everything is mauve." in json.dumps(server.requests[0].body["messages"])


@needs_chromium
async def test_the_design_of_a_repository_goes_into_the_prompt_and_the_page_is_compared(capsys: Capture) -> None:
    here("shop").mkdir()
    here("shop/app.css").write_text(":root { --brand: #8a2be2 }")
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, "--text", "x", "--design", "shop", "--stack", "html_css")
    assert ran.code == 0, ran.err
    assert "- `--brand`: #8a2be2" in json.dumps(server.requests[0].body["messages"])
    assert "Variant 1 keeps to the design system by 0 %; other values: #" in ran.err


async def test_what_is_kept_is_shown_by_the_server(capsys: Capture, tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, "--text", "A bakery", "--data", str(data), "--json")
    project = json.loads(ran.out)["project"]
    listed = await run(capsys, "sessions", "list", "--all", "--json", "--data", str(data))
    kinds = {json.loads(line)["id"]: json.loads(line)["kind"] for line in listed.out.splitlines()}
    assert kinds.pop(project) == "project"
    assert list(kinds.values()) == ["variant"]


@needs_chromium
async def test_the_score_is_reported(capsys: Capture) -> None:
    shot = picture(here("shot.png"))
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, str(shot), "--json", "--stack", "html_css")
    (variant,) = json.loads(ran.out)["variants"]
    assert 0 < variant["score"]["overall"] < 1, ran.err


async def test_without_a_browser_there_is_a_page_and_no_score(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALD_CHROMIUM", "/nowhere/chromium")
    shot = picture(here("shot.png"))
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, str(shot))
    assert ran.code == 0
    assert "The pages were not scored; `heald doctor` shows" in ran.err


# --- wrong usage ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.png"], "missing.png"),
        (["--text", "x", "--stack", "cobol"], "There is no stack 'cobol'"),
        (["--from", "nowhere"], "nowhere does not exist"),
        (["--text", "x", "--design-system", "no.md"], "no.md cannot be read"),
        ([], "There is nothing to build"),
        (["--text", "x", "--variants", "0"], "--variants is at least 1"),
        (["notes.txt"], "not a picture"),
        (["https://example.org"], "capture that page with --url https://example.org"),
        (["A page for a bakery"], "give a text with --text 'A page for a bakery'"),
        (["screen.mp4"], "give it with --video screen.mp4"),
        (["site.html"], "to change an existing page, give it with --from site.html"),
    ],
)
async def test_what_cannot_be_built_is_reported_before_anything_is_asked(
    capsys: Capture, arguments: list[str], said: str
) -> None:
    here("notes.txt").write_text("no picture")
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, *arguments)
        assert server.requests == []
    assert ran.code == 2
    assert is_one_line_error(ran)
    assert said in ran.err


async def test_a_folder_with_something_in_it_is_left_alone(capsys: Capture) -> None:
    out = here("out")
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, "--text", "x")
        assert server.requests == []
        assert (ran.code, "is not empty" in ran.err) == (2, True)
        assert (await build(capsys, server, "--text", "x", "--force")).code == 0
    assert (out / "mine.txt").read_text() == "mine"


async def test_a_folder_that_cannot_be_written_is_reported_before_anything_is_paid_for(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_open(path: Path, _: int) -> bool:
        return path.name != "closed"

    here("notes.txt").write_text("no folder")
    async with ScriptedServer(builder) as server:
        ran = await build(capsys, server, "--text", "x", "-o", "notes.txt/out")
        assert (ran.code, "notes.txt is not a folder" in ran.err) == (2, True)
        here("closed").mkdir()
        monkeypatch.setattr("os.access", is_open)  # root may write everywhere
        ran = await build(capsys, server, "--text", "x", "-o", str(here("closed") / "deep" / "out"))
        assert (ran.code, "Nothing can be written to" in ran.err) == (2, True)
        assert server.requests == []


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed here")
async def test_a_page_that_the_disk_has_no_room_for_is_kept_elsewhere(tmp_path: Path) -> None:
    small, elsewhere = tmp_path / "small", tmp_path / "kept"
    small.mkdir()
    elsewhere.mkdir()
    with_full_disk = [
        "bwrap",
        "--dev-bind",
        "/",
        "/",
        "--size",
        "4096",
        "--tmpfs",
        str(small),
        "--setenv",
        "TMPDIR",
        str(elsewhere),
    ]
    fill = f'head -c 99999 /dev/zero > {shlex.quote(str(small))}/filler; exec "$@"'
    async with ScriptedServer(builder) as server:
        build = words(server, "--text", "A bakery", "-o", str(small / "out"))
        command = [*with_full_disk, "sh", "-c", fill, "sh", sys.executable, "-m", "heald_cli.main", *build]
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        ran = await finish(process)
    assert ran.code == 0, ran.err
    [folder] = elsewhere.glob("heald-build-*")
    assert (folder / "index.html").read_text() == PAGE
    why = "'index.html' could not be used: No space left on device."
    assert f"heald: The page could not be written to {small / 'out'}: {why} It is in {folder} instead." in ran.err
    assert ran.out.startswith(f"{folder}/  m  completed  ")


async def test_no_model_and_no_key(capsys: Capture) -> None:
    ran = await run(capsys, "build", "--text", "x", "--model", "anthropic/claude-sonnet-4-6")
    assert (ran.code, "ANTHROPIC_API_KEY" in ran.err) == (2, True)
    assert (await run(capsys, "build", "--text", "x", "--wire", "chat")).code == 2
    assert (await run(capsys, "build", "--text", "x", "--base-url", "http://127.0.0.1:1")).code == 2


async def test_ctrl_c_ends_all_variants() -> None:
    script = Reply([*wire_stream("chat", text=["Let me", "see"])[:2], Hang()])
    async with (
        ScriptedServer(lambda _: script) as server,
        started(*words(server, "--text", "x", "--variants", "2")) as process,
    ):
        async with asyncio.timeout(60):
            while len(server.requests) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        process.send_signal(signal.SIGINT)
        for request in server.requests:
            await asyncio.wait_for(request.closed_early.wait(), 60)
        ran = await finish(process, seconds=60)
    assert ran.code == 130, ran.err
    assert "1 m: stopped" in ran.err
    assert "2 m: stopped" in ran.err
    assert "Traceback" not in ran.err


async def test_lines_that_change_in_place_on_a_terminal(tmp_path: Path) -> None:
    if shutil.which("script") is None:
        pytest.skip("the program script is not installed")
    async with ScriptedServer(builder) as server:
        command = shlex.join([sys.executable, "-m", "heald_cli.main", *words(server, "--text", "x", "--variants", "2")])
        process = await asyncio.create_subprocess_exec(
            "script",
            "-qec",
            command,
            str(tmp_path / "typescript"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(60):
            out, _ = await process.communicate()
    text = out.decode()
    assert process.returncode == 0
    assert "\x1b[2A\r\x1b[J" in text
    assert "✓ 1" in text
    assert "out/2/" in text


async def test_a_model_that_writes_nothing_has_built_nothing(capsys: Capture) -> None:
    async with ScriptedServer(lambda _: Reply(wire_stream("chat", text="A bakery is a nice idea."))) as server:
        ran = await build(capsys, server, "--text", "A bakery", "-o", "site")
    assert (ran.code, ran.out) == (1, "")
    assert "The model wrote no page" in ran.err
    assert "It answered: A bakery is a nice idea." in ran.err
    assert not here("site").exists()


async def test_all_stacks_are_listed(capsys: Capture) -> None:
    ran = await run(capsys, "build", "--stack", "list")
    assert (ran.code, ran.err) == (0, "")
    assert {"html_tailwind", "react_tailwind"} <= {line.split()[0] for line in ran.out.splitlines()}
