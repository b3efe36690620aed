"""Own stacks over HTTP: `/studio` offers them, and projects are built, shown and exported with them."""

from pathlib import Path

from studio_parts import atelier, page

from serving_parts import S

OWN_STACK = '+++\nlabel = "House style"\nentry = "home.html"\npreview = "page"\n+++\nRules of the house.\n'


async def test_an_own_stack_is_offered_built_and_exported(tmp_path: Path) -> None:
    (tmp_path / "house.md").write_text(OWN_STACK)
    call = S.call("create_file", path="home.html", content=page("Own"))
    async with atelier(tmp_path, {"m": lambda: S([[call], "Built."])}, stacks=tmp_path) as server:
        offered = (await server.ask("GET", "/studio"))["stacks"]
        assert {"name": "house", "label": "House style"} in offered
        assert {"name": "html_tailwind", "label": "HTML and Tailwind"}.keys() == offered[0].keys()
        made = await server.project(stack="house", variants=1, models=["m"])
        state = await server.over(made["id"])
        (variant,) = state["versions"][0]["variants"]
        assert (variant["status"], variant["entry"]) == ("completed", "home.html")
        at = f"/projects/{made['id']}/versions/{state['versions'][0]['id']}/variants/0"
        assert b"<h1>Own</h1>" in await server.read(f"{at}/export?format=html")
        (tmp_path / "house.md").unlink()
        (tmp_path / "other.md").write_text(OWN_STACK)
        assert (await server.ask("GET", f"/projects/{made['id']}"))["stack"] == "house", "it is still shown"
        refused = await server.ask("POST", "/projects", 400, prompt={"text": "x"}, stack="house")
        assert "There is no stack 'house'" in refused["error"]["message"]
