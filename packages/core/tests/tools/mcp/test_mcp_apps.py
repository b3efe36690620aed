"""The pages of MCP apps, as servers declare them."""

from typing import Any

import mcp_types as types
import pytest

from heald.tools.mcp.apps import MAX_PAGE, MAX_RESULT, MEDIA_TYPE, app_data, is_for_model, page_address, read_page


def tool(**meta: Any) -> types.Tool:
    return types.Tool(name="t", input_schema={"type": "object"}, _meta=meta)


def page(text: str = "<p>", media_type: str = MEDIA_TYPE, **csp: Any) -> list[Any]:
    content = types.TextResourceContents(uri="ui://a", mime_type=media_type, text=text, _meta={"ui": {"csp": csp}})
    return [content]


@pytest.mark.parametrize(
    ("meta", "address"),
    [
        ({"ui": {"resourceUri": "ui://a/b"}}, "ui://a/b"),
        ({"ui/resourceUri": "ui://old"}, "ui://old"),
        ({"ui": {"resourceUri": "https://a.example"}}, None),
        ({"ui": {"resourceUri": 5}}, None),
        ({"ui": "ui://a"}, None),
        ({}, None),
    ],
)
def test_the_address_of_a_page(meta: dict[str, Any], address: str | None) -> None:
    assert page_address(tool(**meta)) == address


def test_tools_for_apps_alone_are_not_for_the_model() -> None:
    assert is_for_model(tool())
    assert is_for_model(tool(ui={"visibility": ["model", "app"]}))
    assert not is_for_model(tool(ui={"visibility": ["app"]}))


def test_only_origins_become_part_of_the_policy() -> None:
    hostile = ["https://a; script-src *", "https://a b", "*", "'unsafe-eval'", "http://a.example", "https://a/path", 5]
    app = read_page("ui://a", page(connectDomains=["https://a.example", "wss://b.example:8443", *hostile]))
    assert app is not None
    assert app.connect == ("https://a.example", "wss://b.example:8443")
    app = read_page("ui://a", page(resourceDomains=["https://*.example.com"], connectDomains="https://a.example"))
    assert app is not None
    assert (app.connect, app.resources) == ((), ("https://*.example.com",))


def test_other_resources_are_not_pages() -> None:
    assert read_page("ui://a", page(media_type="text/html")) is None
    assert read_page("ui://a", page("x" * (MAX_PAGE + 1))) is None
    assert read_page("ui://a", page("\n" * (MAX_PAGE // 2 + 1))) is None
    assert read_page("ui://a", page(media_type="text/html; profile=mcp-app")) is not None


def test_a_large_result_is_left_out_of_the_data() -> None:
    app = read_page("ui://a", page())
    assert app is not None
    small = types.CallToolResult(content=[], structured_content={"a": 1}, _meta={"b": 2})
    data = app_data(app, {"c": 3}, small)["app"]
    assert data["arguments"] == {"c": 3}
    assert data["result"]["structuredContent"] == {"a": 1}
    assert data["result"]["_meta"] == {"b": 2}
    large = types.CallToolResult(content=[types.TextContent(text="x" * MAX_RESULT)])
    assert "left out" in app_data(app, {}, large)["app"]["result"]["content"][0]["text"]
