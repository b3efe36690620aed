"""`/generate-code`: a design page that brings everything along in one message, unchanged."""

import asyncio
import base64
import io
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from PIL import Image
from studio_parts import Atelier, atelier, model_at, page, picture, writer

from heald.core.errors import ServerFault
from heald.core.json import encode_text, loads
from heald.core.messages import Image as Shown
from heald.core.messages import Text
from heald.providers.scripted import ScriptedRequest as Asked
from heald.testing.server import Hang, Pause, Reply, ScriptedServer
from heald.testing.streams import wire_stream
from serving_parts import S, Script

Frames = list[dict[str, Any]]


def _message(**changes: Any) -> dict[str, Any]:
    """What the page sends, with everything that it may hold."""
    usual: dict[str, Any] = {
        "generationType": "create",
        "inputMode": "image",
        "prompt": {"text": "", "images": [picture()], "videos": [], "selectedElementHtml": None},
        "history": [],
        "fileState": None,
        "optionCodes": [],
        "generatedCodeConfig": "html_css",
        "designSystem": None,
        "isImageGenerationEnabled": True,
        "isAssetExtractionEnabled": True,
        "openAiApiKey": "sk-CANARY",
        "openAiBaseURL": "http://127.0.0.1:9/v1",
        "anthropicApiKey": "sk-CANARY",
        "geminiApiKey": None,
        "replicateApiKey": None,
        "screenshotOneApiKey": None,
        "editorTheme": "cobalt",
        "isTermOfServiceAccepted": False,
        "codeGenerationModel": "gpt_4",
    }
    return usual | changes


async def _receive_all(server: Atelier, message: object, *, patience: float = 60.0) -> tuple[Frames, int | None, str]:
    """All that the page is sent, how the socket was closed, and why."""
    frames: Frames = []
    async with asyncio.timeout(patience), server.client.ws_connect("/generate-code") as socket:
        await (socket.send_str(message) if isinstance(message, str) else socket.send_json(message))
        while True:
            received = await socket.receive()
            if received.type != aiohttp.WSMsgType.TEXT:
                return frames, socket.close_code, str(received.extra or "")
            frames.append(loads(received.data))


def _of(frames: Frames, variant: int) -> Frames:
    about_all = ("variantCount", "variantModels")
    return [frame for frame in frames if frame["variantIndex"] == variant and frame["type"] not in about_all]


def _words(asked: Asked) -> str:
    return "".join(part.text for message in asked.messages for part in message.content if isinstance(part, Text))


def _pictures(asked: Asked) -> int:
    return sum(isinstance(part, Shown) for message in asked.messages for part in message.content)


class _Listening:
    """A model that keeps what it was asked."""

    def __init__(self, *calls: Any) -> None:
        self.asked: list[Asked] = []
        self._calls = calls

    def __call__(self) -> Any:
        def first(asked: Asked) -> Any:
            self.asked.append(asked)
            return ["I see. ", *self._calls] if self._calls else "Nothing to do."

        def second(asked: Asked) -> str:
            self.asked.append(asked)
            return "Built."

        return S([first, second])


async def test_several_variants_report_their_own_story_on_one_socket(tmp_path: Path) -> None:
    scripts: dict[str, Script] = {"one": writer("One", pause=0.001), "two": writer("Two", pause=0.001)}
    async with atelier(tmp_path, scripts) as server:
        frames, code, _ = await _receive_all(server, _message(numVariants=4))
        assert code == 1000
        assert frames[0] == {"type": "variantCount", "value": "4", "variantIndex": 0}
        assert Counter(frame["type"] for frame in frames)["variantCount"] == 1
        assert frames[1] == {"type": "variantModels", "data": {"models": ["one"] * 4}, "variantIndex": 0}
        for index in range(4):
            story = _of(frames, index)
            kinds = [frame["type"] for frame in story]
            order = [kinds.index(kind) for kind in ("status", "assistant", "toolStart", "setCode", "toolResult")]
            assert order == sorted(order)
            assert kinds[-1] == "variantComplete"
            start = next(frame for frame in story if frame["type"] == "toolStart")
            result = next(frame for frame in story if frame["type"] == "toolResult")
            assert start["eventId"] == result["eventId"]
            assert start["data"]["name"] == "create_file"
            assert result["data"]["ok"] is True
            assert [frame for frame in story if frame["type"] == "setCode"][-1]["value"] == page("One")
            answer_text = "".join(frame["value"] for frame in story if frame["type"] == "assistant")
            assert answer_text.replace("\n", "") == "I see a page. Built."
        indexes = [frame["variantIndex"] for frame in frames[1:]]
        assert indexes != sorted(indexes), "they come as they happen, not one after the other"
        assert "CANARY" not in str(frames)
        (project,) = (await server.ask("GET", "/projects"))["projects"]
        await server.check(project)


async def test_what_a_model_thinks_is_reported(tmp_path: Path) -> None:
    script = lambda: S([[S.think("A plain page. "), S.call("create_file", path="index.html", content="x")], "Done."])  # noqa: E731
    async with atelier(tmp_path, {"one": script}) as server:
        frames, _, _ = await _receive_all(server, _message(numVariants=1))
        thoughts = [frame for frame in frames if frame["type"] == "thinking"]
        assert "".join(frame["value"] for frame in thoughts) == "A plain page. "
        assert len({frame["eventId"] for frame in thoughts}) == 1


async def test_a_creation_has_four_variants_and_an_update_two(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        frames, _, _ = await _receive_all(server, _message())
        assert frames[0]["value"] == "4"
        update = _message(generationType="update", inputMode="text", prompt={"text": "Blue.", "images": []})
        frames, _, _ = await _receive_all(
            server, update | {"fileState": {"path": "index.html", "content": page("Old")}}
        )
        assert frames[0]["value"] == "2"


async def test_an_update_goes_on_from_history_file_options_and_element(tmp_path: Path) -> None:
    edit = S.call("edit_file", path="index.html", old_text="<h1>Old</h1>", new_text="<h1>New</h1>")
    model = _Listening(edit, S.call("retrieve_option", option_number=2))
    message = _message(
        generationType="update",
        inputMode="image",
        prompt={"text": "Like this.", "images": [picture("JPEG")], "videos": [], "selectedElementHtml": "<h1>Old</h1>"},
        history=[
            {"role": "user", "text": "A harbour.", "images": [picture()], "videos": []},
            {"role": "assistant", "text": page("Older"), "images": [], "videos": []},
            {"role": "user", "text": "Call it Old.", "images": [], "videos": []},
            {"role": "assistant", "text": page("Old"), "images": [], "videos": []},
        ],
        fileState={"path": "index.html", "content": page("Old")},
        optionCodes=[page("First"), page("Second")],
        designSystem="Buttons are octagonal.",
        numVariants=1,
    )
    async with atelier(tmp_path, {"one": model}) as server:
        frames, code, _ = await _receive_all(server, message)
        assert code == 1000
        assert frames[-1]["type"] == "variantComplete"
        assert [frame["value"] for frame in frames if frame["type"] == "setCode"][-1] == page("Old").replace(
            "<h1>Old", "<h1>New"
        )
        first, second = model.asked
        words = _words(first)
        for phrase in ("A harbour.", "Call it Old.", "Like this.", "<h1>Old</h1>"):
            assert phrase in words
        assert _pictures(first) == 2
        assert "Buttons are octagonal." in first.settings.system
        assert "<h1>Second</h1>" in encode_text(second.messages[-1])


async def test_the_request_in_the_history_is_not_doubled_and_an_unchanged_page_is_shown(tmp_path: Path) -> None:
    """The page appends its request to the history that it sends, and begins each version without code."""
    model = _Listening()
    whole = "Make it blue.\n\nThe selected element is <h1>Old</h1>."
    message = _message(
        generationType="update",
        prompt={
            "text": "Make it blue.",
            "fullText": whole,
            "images": [picture()],
            "selectedElementHtml": "<h1>Old</h1>",
        },
        history=[
            {"role": "user", "text": "A page."},
            {"role": "assistant", "text": page("Old")},
            {"role": "user", "text": whole, "images": [picture()]},
        ],
        fileState={"path": "index.html", "content": page("Old")},
        numVariants=1,
    )
    async with atelier(tmp_path, {"one": model}) as server:
        frames, code, _ = await _receive_all(server, message)
        assert code == 1000
        assert _words(model.asked[0]).count("Make it blue.") == 1
        assert _pictures(model.asked[0]) == 1
        assert [frame["value"] for frame in frames if frame["type"] == "setCode"] == [page("Old")]


async def test_an_update_without_a_file_accepts_the_code_of_the_history(tmp_path: Path) -> None:
    model = _Listening(S.call("edit_file", path="index.html", old_text="<h1>Old</h1>", new_text="<h1>New</h1>"))
    history = [{"role": "user", "text": "A page."}, {"role": "assistant", "text": page("Old")}]
    message = _message(generationType="update", prompt={"text": "Call it New."}, history=history, numVariants=1)
    async with atelier(tmp_path, {"one": model}) as server:
        frames, _, _ = await _receive_all(server, message)
        assert [frame["data"]["ok"] for frame in frames if frame["type"] == "toolResult"] == [True]
        assert "<h1>New</h1>" in [frame["value"] for frame in frames if frame["type"] == "setCode"][-1]


async def test_a_recording_is_shown_as_pictures(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (120, 80), colour) for colour in ("white", "navy", "orange")]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=900)
    video = base64.b64encode(out.getvalue()).decode()
    for prompt in (
        {"text": "", "images": [], "videos": [f"data:image/gif;base64,{video}"]},
        {"text": "", "images": [f"data:video/mp4;base64,{video}"], "videos": []},  # where an older page puts it
    ):
        model = _Listening(S.call("create_file", path="index.html", content=page("Clip")))
        async with atelier(tmp_path, {"one": model}) as server:
            received, _, _ = await _receive_all(server, _message(inputMode="video", prompt=prompt, numVariants=1))
        assert received[-1]["type"] == "variantComplete"
        assert _pictures(model.asked[0]) == 3
        assert "At 0.0 s:" in _words(model.asked[0])


@pytest.mark.parametrize(
    ("flag", "tools"),
    [
        ("isImageGenerationEnabled", {"generate_images", "edit_image", "remove_background"}),
        ("isAssetExtractionEnabled", {"extract_assets"}),
    ],
)
async def test_tools_are_left_out_as_the_page_wants(tmp_path: Path, flag: str, tools: set[str]) -> None:
    model = _Listening()
    async with atelier(tmp_path, {"one": model}) as server:
        await _receive_all(server, _message(numVariants=1))
        await _receive_all(server, _message(numVariants=1) | {flag: False})
    before, after = ({tool.name for tool in asked.tools} for asked in model.asked)
    assert before - after == tools & before
    assert "create_file" in after
    for name in tools:
        assert f"`{name}`" not in model.asked[1].settings.system


@pytest.mark.parametrize("code", [4333, 1000, 1001])
async def test_closing_with_4333_cancels_and_any_other_code_does_not(tmp_path: Path, code: int) -> None:
    pieces = wire_stream("chat", text=["Let me ", "see."])
    last = Hang() if code == 4333 else Pause(0.7)
    async with (
        ScriptedServer(lambda _: Reply([*pieces[:2], last, *pieces[2:]])) as endpoint,
        atelier(tmp_path, {"one": lambda: model_at(endpoint)}) as server,
    ):
        async with server.client.ws_connect("/generate-code") as socket:
            await socket.send_json(_message(numVariants=2))
            answering: set[int] = set()
            while len(answering) < 2:
                frame = loads((await asyncio.wait_for(socket.receive(), 120)).data)
                if frame["type"] == "assistant":
                    answering.add(frame["variantIndex"])
            await socket.close(code=code)
        if code == 4333:
            for request in endpoint.requests:
                await asyncio.wait_for(request.closed_early.wait(), 60)
        (project,) = (await server.ask("GET", "/projects"))["projects"]
        state = await server.over(project["id"])
        expected = "cancelled" if code == 4333 else "failed"  # it went on to its end, without a page
        assert [variant["status"] for variant in state["versions"][0]["variants"]] == [expected] * 2
        assert all(request.closed_early.is_set() == (code == 4333) for request in endpoint.requests)
        await server.check(state)


async def test_a_page_that_cancels_at_once_cancels_all(tmp_path: Path) -> None:
    slow: Script = lambda: S([["It takes a while. " * 500]], piece=4, pause=0.02)  # noqa: E731
    async with atelier(tmp_path, {"one": slow}) as server:
        async with server.client.ws_connect("/generate-code") as socket:
            await socket.send_json(_message())
            assert loads((await socket.receive()).data)["type"] == "variantCount"
            await socket.close(code=4333)
        (project,) = (await server.ask("GET", "/projects"))["projects"]
        state = await server.over(project["id"])
        assert {variant["status"] for variant in state["versions"][0]["variants"]} == {"cancelled"}


async def test_one_that_fails_reports_it_and_the_others_go_on(tmp_path: Path) -> None:
    scripts: dict[str, Script] = {
        "anthropic/claude-opus-4-6": writer("Good"),
        "gemini/gemini-3-pro-preview": lambda: S([[S.fail(ServerFault("The provider is out of order."))]] * 20),
    }
    async with atelier(tmp_path, scripts) as server:
        frames, code, _ = await _receive_all(server, _message(numVariants=2))
        assert code == 1000
        kinds = {(frame["variantIndex"], frame["type"]) for frame in frames}
        assert (0, "variantComplete") in kinds
        assert [frame["value"] for frame in _of(frames, 1) if frame["type"] == "variantError"] == [
            "The provider is out of order."
        ]
        assert "error" not in {kind for _, kind in kinds}


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([], id="no file"),
        pytest.param([S.call("create_file", path="style.css", content="h1 {}")], id="another file"),
        pytest.param([S.call("create_file", path="index.html", content="  ")], id="an empty page"),
    ],
)
async def test_a_variant_without_a_page_is_never_complete(calls: list[Any], tmp_path: Path) -> None:
    scripts: dict[str, Script] = {
        "anthropic/claude-opus-4-6": writer("Good"),
        "gemini/gemini-3-pro-preview": lambda: S([["I see. ", *calls], "All is well."]),
    }
    async with atelier(tmp_path, scripts) as server:
        frames, code, _ = await _receive_all(server, _message(numVariants=2))
        (project,) = (await server.ask("GET", "/projects"))["projects"]
        variants = (await server.over(project["id"]))["versions"][0]["variants"]
    assert code == 1000
    assert [frame["type"] for frame in (_of(frames, 0)[-1], _of(frames, 1)[-1])] == ["variantComplete", "variantError"]
    assert _of(frames, 1)[-1]["value"].startswith("The model wrote no page; retry it")
    assert [variant["status"] for variant in variants] == ["completed", "failed"]


async def test_where_all_fail_the_socket_closes_with_4332(tmp_path: Path) -> None:
    broken: Script = lambda: S([[S.fail(ServerFault("The provider is out of order."))]] * 20)  # noqa: E731
    async with atelier(tmp_path, {"one": broken}) as server:
        frames, code, why = await _receive_all(server, _message(numVariants=2))
        assert code == 4332
        assert why == "The provider is out of order."
        assert frames[-1]["type"] == "error"
        assert Counter(frame["type"] for frame in frames)["variantError"] == 2


async def test_a_variant_that_cannot_even_begin_is_reported(tmp_path: Path) -> None:
    def unavailable() -> Any:
        raise ServerFault("The key of this model was taken away.")

    async with atelier(tmp_path, {"one": unavailable}) as server:
        frames, code, _ = await _receive_all(server, _message(numVariants=2), patience=20)
        assert code == 4332
        errors = [frame for frame in frames if frame["type"] == "variantError"]
        assert {frame["variantIndex"] for frame in errors} == {0, 1}
        assert {frame["value"] for frame in errors} == {"The key of this model was taken away."}


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("", "The message cannot be read"),
        ("{", "The message cannot be read"),
        ("[]", "The message cannot be read"),
        ('{"prompt": 7}', "The message cannot be read"),
        (_message(prompt={"text": "", "images": []}), "There is nothing to build"),
        (_message(prompt={"images": ["data:image/png;base64,AAAA"]}), "Picture 1"),
        (_message(prompt={"images": ["/etc/passwd"]}), "begins with https://"),
        (_message(generatedCodeConfig="cobol"), "There is no stack 'cobol'"),
        (_message(generatedCodeConfig="käse" * 40), "There is no stack"),
        (
            _message(generationType="update", prompt={"text": "x"}, fileState={"path": "../x", "content": "y"}),
            "'..'",
        ),
    ],
)
async def test_what_cannot_be_done_closes_with_4332_and_one_sentence(
    tmp_path: Path, message: object, sentence: str
) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        (error,), code, why = await _receive_all(server, message, patience=20)
        assert error["type"] == "error"
        assert sentence in error["value"]
        assert "\n" not in error["value"]
        assert code == 4332
        assert error["value"].startswith(why)
        assert (await server.ask("GET", "/projects"))["projects"] == []


async def test_a_change_is_made_by_the_model_that_wrote_the_page(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One"), "two": writer("Two")}) as server:
        project = await server.project(models=["two"], variants=1)
        await server.over(project["id"])
        changes: dict[str, Any] = {"generationType": "update", "prompt": {"text": "Larger."}}
        for content, model in ((page("Two"), "two"), (page("Elsewhere"), "one")):
            state = {"path": "index.html", "content": content}
            frames, code, reason = await _receive_all(server, _message(fileState=state, **changes))
            assert code == 1000, reason
            models = next(frame["data"]["models"] for frame in frames if frame["type"] == "variantModels")
            assert models == [model, model]
