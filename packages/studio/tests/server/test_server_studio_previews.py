"""Previews: addresses that nobody can guess, pages that can do nothing."""

import asyncio
import base64
import gzip
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from studio_parts import Atelier, atelier, page, variants_of, writer

from serving_parts import OTHER, TOKEN, S


async def _variant(server: Atelier, **body: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    made = await server.project(models=["one"], variants=1, **body)
    state = await server.over(made["id"])
    return state, variants_of(state)[0]


async def _status(server: Atelier, path: str) -> int:
    """Of a request by a stranger, whose path is sent as it stands."""
    host = server.url.removeprefix("http://")
    name, _, port = host.partition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1])


async def test_a_preview_needs_no_token_and_may_do_nothing(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        _, variant = await _variant(server, stack="html_css")
        async with (
            aiohttp.ClientSession(server.url) as stranger,
            stranger.get(variant["preview"]) as answer,
        ):
            assert answer.status == 200
            text = await answer.text()
            assert "<h1>One</h1>" in text
            assert text.index("postMessage") < text.index("<title>")  # the bridge is there before anything else
            policy = answer.headers["Content-Security-Policy"]
            directives = {words[0]: " ".join(words[1:]) for words in (part.split() for part in policy.split(";"))}
            assert directives["sandbox"] == "allow-scripts"
            assert (
                directives["default-src"]
                == directives["frame-src"]
                == directives["object-src"]
                == directives["form-action"]
                == "'none'"
            )
            origin_of_preview = f"{server.url}{variant['preview']}"
            assert directives["connect-src"] == origin_of_preview
            assert directives["frame-ancestors"] == server.url
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert "Set-Cookie" not in answer.headers
        assert await _status(server, variant["preview"] + "nothing.css") == 404


async def test_a_ticket_cannot_be_guessed_or_bent(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        _, variant = await _variant(server)
        ticket = variant["preview"].split("/")[2]
        raw = base64.urlsafe_b64decode(ticket + "=" * (-len(ticket) % 4))
        assert TOKEN.encode() not in raw
        bent = [
            bytes([raw[0] ^ 1]) + raw[1:],
            raw[:-2] + bytes([raw[-2] ^ 1]) + raw[-1:],
            raw[:16] + raw[16:].replace(b",0,", b",1,"),
            raw[16:],
            raw[:16],
            b"",
            b"\0" * 64,
        ]
        tried = [base64.urlsafe_b64encode(guess).decode().rstrip("=") for guess in bent]
        tried += ["%00", "..", "%2e%2e", "x" * 5000, "%C3%A4", ticket[:-4], ticket[::-1], "null"]
        for guess in tried:
            assert await _status(server, f"/preview/{guess}/") == 404, guess
        assert await _status(server, f"/preview/{ticket}/") == 200
        for path in ("../../health", "..%2f..%2fhealth", "%2e%2e/x", "a%00b", "//health"):
            assert await _status(server, f"/preview/{ticket}/{path}") == 404, path


async def test_a_ticket_is_good_for_one_variant_and_as_long_as_its_token(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        state, variant = await _variant(server)
        theirs = {"Authorization": f"Bearer {OTHER}"}
        async with aiohttp.ClientSession(server.url, headers=theirs) as other:
            for path in (f"/projects/{state['id']}", f"/projects/{state['id']}/events"):
                async with other.get(path) as answer:
                    assert answer.status == 404
            async with other.post(
                "/projects", json={"prompt": {"text": "x"}, "models": ["one"], "variants": 1}
            ) as answer:
                preview_of_other = variants_of(await answer.json())[0]["preview"]
        assert preview_of_other != variant["preview"]
        async with server.client.post("/tokens/rotate") as answer:
            token = (await answer.json())["token"]
        assert await _status(server, variant["preview"]) == 404
        ours = {"Authorization": f"Bearer {token}"}
        async with server.client.get(f"/projects/{state['id']}", headers=ours) as answer:
            fresh = variants_of(await answer.json())[0]["preview"]
        assert await _status(server, fresh) == 200


async def test_a_preview_goes_with_its_project(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        state, variant = await _variant(server)
        await server.ask("DELETE", f"/projects/{state['id']}", 204)
        assert await _status(server, variant["preview"]) == 404


async def test_an_error_in_a_frame_is_a_page_that_may_be_framed(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        state, variant = await _variant(server, stack="html_css")
        await server.client.delete(f"/projects/{state['id']}")
        async with server.client.get(variant["preview"], headers={"Sec-Fetch-Dest": "iframe"}) as answer:
            assert answer.status == 404
            assert answer.content_type == "text/html"
            assert f"frame-ancestors {server.url}" in answer.headers["Content-Security-Policy"]
            assert "postMessage" not in await answer.text()  # the page around it retries what has no bridge
        async with server.client.get(variant["preview"]) as answer:
            assert answer.content_type == "application/json"


async def test_a_preview_shows_the_files_as_they_are_now(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        state, _ = await _variant(server, stack="html_css")
        base = {"version": state["versions"][0]["id"], "variant": 0}
        files = {"style/a.css": "h1 { background: url(../dot.svg) }", "dot.svg": "<svg/>", "index.html": page("Mine")}
        edited = await server.ask("POST", f"/projects/{state['id']}/versions", 201, kind="edit", base=base, files=files)
        preview = edited["variants"][0]["preview"]
        assert b"<h1>Mine</h1>" in await server.read(preview)
        assert b"../dot.svg" in await server.read(f"{preview}style/a.css")
        assert await server.read(f"{preview}dot.svg") == b"<svg/>"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
async def test_a_preview_accepts_nothing(tmp_path: Path, method: str) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        _, variant = await _variant(server)
        async with (
            aiohttp.ClientSession(server.url) as stranger,
            stranger.request(method, variant["preview"], headers={"Origin": "null"}) as answer,
        ):
            assert answer.status in (401, 403, 405)


async def test_a_draft_is_shown_by_the_same_rules(tmp_path: Path) -> None:
    """The page that it is given to is empty, is of no variant, and needs a ticket all the same."""
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        _, variant = await _variant(server, stack="html_css")
        async with aiohttp.ClientSession(server.url) as stranger:
            async with stranger.get(variant["preview"]) as answer:
                whole = answer.headers["Content-Security-Policy"]
            async with stranger.get(variant["preview"] + "_draft") as answer:
                assert answer.status == 200
                assert answer.headers["Content-Security-Policy"] == whole
                text = await answer.text()
                assert ">One<" not in text
                assert text.count("</script") == 1
        ticket = variant["preview"].split("/")[2]
        assert await _status(server, f"/preview/{ticket[::-1]}/_draft") == 404


async def test_in_a_tab_of_its_own_a_page_stands_in_a_frame(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        state, variant = await _variant(server, stack="html_css")
        base = {"version": state["versions"][0]["id"], "variant": 0}
        files = {"dot.svg": "<svg/>", "a.css": "h1 {}", "about.html": page("About")}
        edited = await server.ask("POST", f"/projects/{state['id']}/versions", 201, kind="edit", base=base, files=files)
        preview = edited["variants"][0]["preview"]
        alone = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none"}
        async with aiohttp.ClientSession(server.url, headers=alone) as stranger:
            for path in ("", "about.html", "dot.svg", "?a='\"><script>1</script>"):
                async with stranger.get(preview + path) as answer:
                    assert answer.status == 200
                    text = await answer.text()
                    assert 'sandbox="allow-scripts"' in text, path
                    assert "<script" not in text, path
                    assert "One" not in text, path
                    policy = answer.headers["Content-Security-Policy"]
                    assert f"frame-src {server.url}{preview};" in policy
                    assert "default-src 'none'" in policy
                    assert "script-src" not in policy
                    assert "frame-ancestors 'none'" in policy
            async with stranger.get(preview + "a.css") as answer:
                assert await answer.text() == "h1 {}"
            async with stranger.get(preview + "nothing.html") as answer:
                assert answer.status == 404
        assert variant["preview"] != preview


async def test_a_link_for_reading_shows_the_newest_finished_page_without_a_token(tmp_path: Path) -> None:
    nothing = lambda: S(["I write no page."])  # noqa: E731
    async with atelier(tmp_path, {"one": writer("One"), "none": nothing}) as server:
        project = await server.project("A page", variants=1, models=["one"])
        await server.over(project["id"])
        shares = f"/projects/{project['id']}/shares"
        link = await server.ask("POST", shares, 201)
        writing = await server.ask("POST", shares, 201, writable=True)
        assert "path" not in writing
        base = {"version": project["versions"][0]["id"], "variant": 0}
        update = {"kind": "update", "base": base, "prompt": {"text": "Fail."}, "models": ["none"], "variants": 1}
        await server.ask("POST", f"/projects/{project['id']}/versions", 201, **update)
        await server.over(project["id"])

        async def look(path: str) -> tuple[int, str]:
            async with server.client.get(path, headers={"Authorization": ""}) as answer:
                return answer.status, await answer.text()

        status, html = await look(link["path"])
        assert status == 200
        assert "<h1>One</h1>" in html
        assert (await look(link["path"].replace(link["secret"], writing["secret"])))[0] == 404
        assert (await look(link["path"].replace(link["secret"], "rubbish")))[0] == 404
        await server.ask("DELETE", f"{shares}/{link['id']}", 204)
        assert (await look(link["path"]))[0] == 404


async def test_a_guest_uses_neither_the_git_nor_the_figma_of_the_operator(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        project = await server.project("A page", variants=1, models=["one"])
        await server.over(project["id"])
        version = project["versions"][0]["id"]
        writing = await server.ask("POST", f"/projects/{project['id']}/shares", 201, writable=True)
        push = f"/projects/{project['id']}/versions/{version}/variants/0/push"
        link = "https://www.figma.com/design/AbCdEfGhIjKlMnOp/Shop?node-id=1-2"
        update = {"kind": "update", "base": {"version": version, "variant": 0}, "prompt": {"figma": link}}

        async def asked(path: str, body: Any, headers: dict[str, str]) -> int:
            async with server.client.post(path, json=body, headers=headers) as answer:
                return answer.status

        guest = {"X-Heald-Share": writing["secret"]}
        for path, body in ((push, {"remote": "ext::sh"}), (f"/projects/{project['id']}/versions", update)):
            assert await asked(path, body, guest) == 403
            assert await asked(path, body, {}) == 400  # what the operator may ask for is judged for itself


async def test_the_libraries_of_a_preview_are_sent_compressed(tmp_path: Path) -> None:
    """Every preview of a React page loads three megabytes of them."""
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        _, variant = await _variant(server)
        address = variant["preview"] + "_libraries/unpkg.com/@babel/standalone"
        async with aiohttp.ClientSession(server.url, auto_decompress=False) as stranger:
            async with stranger.get(address, headers={"Accept-Encoding": "identity"}) as answer:
                plain = await answer.read()
                assert "Content-Encoding" not in answer.headers
            for _ in range(2):
                async with stranger.get(address, headers={"Accept-Encoding": "gzip, br"}) as answer:
                    packed = await answer.read()
                    assert answer.headers["Content-Encoding"] == "gzip"
                    assert answer.headers["Vary"] == "Accept-Encoding"
                    assert "max-age" in answer.headers["Cache-Control"]
                    assert "sandbox" in answer.headers["Content-Security-Policy"]
                assert gzip.decompress(packed) == plain
                assert len(packed) * 4 < len(plain)
