"""Documents that come with a request to the studio are read by its models."""

from base64 import b64decode, b64encode
from pathlib import Path

import heald
from heald.core.messages import File
from heald.providers.scripted import ScriptedRequest
from heald.sessions.sqlite import SqliteStore
from serving_parts import Script, context_on, serving


def _url(data: bytes) -> str:
    return f"data:application/octet-stream;base64,{b64encode(data).decode()}"


async def test_pdf_and_text_files_reach_the_model_and_others_are_refused(tmp_path: Path) -> None:
    files: list[File] = []

    def answer(request: ScriptedRequest) -> str:
        files.extend(block for block in request.messages[-1].content if isinstance(block, File))
        return "Nothing to do."

    scripts: dict[str, Script] = {"reader": lambda: heald.testing.ScriptedModel([answer])}
    documents = [
        {"name": "sales.csv", "data": _url(b"\xef\xbb\xbfmonth,sum\n")},
        {"name": "paper.pdf", "data": _url(b"%PDF-1.4\n\x00\xff")},
    ]
    async with serving(context_on(SqliteStore(tmp_path / "s.db", durable=False), scripts)) as server:
        body = {"prompt": {"text": "a page", "documents": documents}, "models": ["reader"], "variants": 1}
        async with server.client.post("/projects", json=body) as reply:
            assert reply.status == 201, await reply.text()
            project = (await reply.json())["id"]
        async with server.client.get(f"/projects/{project}/events") as stream:
            async for line in stream.content:
                if b'"failed"' in line or b'"completed"' in line:
                    break
        assert [(file.name, file.media_type) for file in files] == [
            ("sales.csv", "text/plain"),
            ("paper.pdf", "application/pdf"),
        ]
        assert b64decode(files[0].data or "") == b"month,sum\n"
        refused = {"prompt": {"text": "a page", "documents": [{"name": "x.bin", "data": _url(b"\x00\xff\xfe")}]}}
        async with server.client.post("/projects", json=refused) as reply:
            assert reply.status == 400
            assert "x.bin is neither a PDF nor a text" in await reply.text()
