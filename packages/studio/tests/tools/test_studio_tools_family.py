"""The tools of a variant: their names, what they say of themselves, and another variant's code."""

from heald_studio.imaging.images import ImageMaker
from heald_studio.tools.family import TOOL_NAMES, studio_tools
from studio_tools_support import PAGE, call, finder, ran


def test_names_are_those_of_the_tools() -> None:
    tools = studio_tools(finder(), images=ImageMaker())
    assert tuple(tool.name for tool in tools) == TOOL_NAMES
    assert set(TOOL_NAMES) == {
        "screenshot_preview",
        "compare_with_target",
        "retrieve_option",
        "extract_assets",
        "save_assets",
        "generate_images",
        "edit_image",
        "remove_background",
        "lock_part",
        "edit_styles",
    }


def test_every_tool_describes_itself_and_its_arguments() -> None:
    for tool in studio_tools(finder(), images=ImageMaker()):
        assert len(tool.definition.description) > 40
        for name, field in tool.definition.input_schema["properties"].items():
            assert field.get("description"), f"{tool.name}: {name}"


def test_what_only_looks_is_a_read_and_what_writes_is_not() -> None:
    effects = {tool.name: tool.effect for tool in studio_tools(finder(), images=ImageMaker())}
    reading = {"screenshot_preview", "compare_with_target", "retrieve_option"}
    assert {name for name, effect in effects.items() if effect == "read"} == reading


def test_a_look_waits_for_every_writer_before_it() -> None:
    for tool in studio_tools(finder(), images=ImageMaker()):
        if tool.name in ("screenshot_preview", "compare_with_target"):
            assert tool.access is not None
            assert [(access.resource, access.changes) for access in tool.access({})] == [("file:", False)]


async def test_nothing_is_written_where_only_reading_is_permitted() -> None:
    done = await ran(
        call("generate_images", images=[{"prompt": "A hill", "name": "hill"}]),
        call("extract_assets"),
        call("save_assets"),
        call("edit_styles", css="div { color: red }"),
        call("edit_image", path="a.png", instruction="blur"),
        call("remove_background", paths=["a.png"]),
        permissions="read-only",
    )
    assert {result.status for result in done.results} == {"denied"}
    assert done.changed == []


async def test_a_rule_can_forbid_a_file() -> None:
    import heald

    rules = heald.Permissions("auto", ["deny generate_images(assets/logo*)"])
    done = await ran(
        call("generate_images", images=[{"prompt": "A hill", "name": "hill"}, {"prompt": "Ours", "name": "../logo"}]),
        call("generate_images", images=[{"prompt": "A hill", "name": "hill", "width": 64, "height": 64}]),
        permissions=rules,
    )
    assert [result.status for result in done.results] == ["denied", "ok"]
    assert done.changed == ["assets/hill.png"]


# --- retrieve_option -------------------------------------------------------------------------------------------------


async def test_an_option_is_read_counted_from_one() -> None:
    options = [{"index.html": b"<h1>One</h1>"}, {"index.html": b"<h1>Two</h1>", "assets/a.png": b"\x89PNG\r\n\x00"}]
    done = await ran(
        call("retrieve_option", option_number=1),
        call("retrieve_option", option_number=2),
        call("retrieve_option", option_number=3),
        call("retrieve_option", option_number=0),
        find=finder(options=options),
    )
    first, second, third, none = done.results
    assert "<h1>One</h1>" in first.text
    assert "<h1>Two</h1>" in second.text
    assert "assets/a.png (7 bytes, not text)" in second.text
    assert (third.status, third.text) == ("error", "not_found: There is no option 3; they are counted from 1.")
    assert none.status == "invalid_input"


async def test_a_long_option_is_cut_and_reports_it() -> None:
    done = await ran(
        call("retrieve_option", option_number=1), find=finder(options=[{"a.html": b"a" * 150_000, "b.html": b"b" * 10}])
    )
    assert done.result.truncated
    assert "[Cut here: 50,000 characters of a.html are left out.]" in done.result.text
    assert "=== b.html (10 characters) ===" in done.result.text
    assert len(done.result.text) < 100_500


async def test_styles_are_edited_by_the_declarations_that_differ() -> None:
    done = await ran(
        call("edit_styles", css="div{padding:8px}header h1{margin:0}"),
        call("edit_styles", css="div{padding:8px}"),
        call("edit_styles", css="no rule"),
        call("edit_styles", css="div{padding:8px}", page="about.html"),
        files={"index.html": PAGE},
    )
    assert [result.status for result in done.results] == ["ok", "ok", "error", "error"]
    assert done.results[0].text == "Rules: 1 changed, 1 added, in index.html."
    assert "nothing was changed" in done.results[1].text
    assert done.changed == ["index.html"]
    page = done.workspace.read_text("index.html")
    assert "div{background:#e0d2b0;padding:8px;width:200px}" in page
    assert "header h1 { margin: 0; }" in page
