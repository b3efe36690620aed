"""Reads a frame of a Figma file: its rendered picture, and an outline of its texts, fonts and colours.

A link is read over Figma's REST API with a personal access token; the token goes to that API alone. A file that holds
the answer of the API gives the outline without a picture.
"""

import asyncio
import os
from json import loads
from urllib.parse import parse_qs, quote, urlsplit

import msgspec

from heald.core.errors import ProviderError
from heald.core.json import JsonObject, as_object
from heald.core.lazy import lazy_pattern
from heald.providers.keys import find_key
from heald.providers.network_errors import network_error
from heald.providers.transport import BrokenRead, Response, Transport
from heald_studio.bad_input import BadInput
from heald_studio.input.figma_outline import describe_node, shorten, walk_nodes
from heald_studio.input.load import load_bytes
from heald_studio.input.pictures import MAX_BYTES

KEY_NAMES = ("FIGMA_TOKEN", "FIGMA_ACCESS_TOKEN")
API = "https://api.figma.com"
_LINK = lazy_pattern(
    r"/(?:file|design|proto)/(?P<key>[A-Za-z0-9]{8,64})(?:/branch/(?P<branch>[A-Za-z0-9]{8,64}))?(?:/|$)"
)
_NODE = lazy_pattern(r"I?\d{1,12}[:-]\d{1,12}(?:;\d{1,12}[:-]\d{1,12}){0,20}")
_MAX_ANSWER = 64_000_000
_CONNECT_SECONDS = 15.0
_SECONDS = 90.0
_FRAMES = ("FRAME", "COMPONENT", "COMPONENT_SET", "INSTANCE", "SECTION", "GROUP")


class FigmaLink(msgspec.Struct, frozen=True):
    """A file of Figma, and the node that a link names; empty for the first frame."""

    key: str
    node: str = ""


class FigmaFrame(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    outline: str
    """Its texts, fonts, colours and sizes, for a prompt."""
    picture: bytes | None = None
    """PNG."""


def is_figma_link(text: str) -> bool:
    """Whether a text is the address of a design in Figma."""
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        return False
    host = (parts.hostname or "").lower()
    return parts.scheme == "https" and host in ("figma.com", "www.figma.com") and bool(_LINK.match(parts.path))


def parse_link(text: str) -> FigmaLink:
    """Parse the address of a file or of a frame in it. Raises BadInput."""
    match = _LINK.match(urlsplit(text.strip()).path) if is_figma_link(text) else None
    if match is None:
        raise BadInput("That is not a link to a design in Figma; copy the link of a frame there.", "not_found")
    node = (parse_qs(urlsplit(text.strip()).query).get("node-id") or [""])[0]
    if node and not _NODE.fullmatch(node):
        raise BadInput("The link names no frame that can be read; copy the link of the frame anew.", "not_found")
    return FigmaLink(match["branch"] or match["key"], node.replace("-", ":"))


class FigmaClient:
    """Reads frames over the API of Figma. `api` is its address: by default `FIGMA_API_URL`, or that of Figma itself."""

    def __init__(self, token: str, *, api: str = "") -> None:
        self._token = token
        self._api = (api or os.environ.get("FIGMA_API_URL", "").strip() or API).rstrip("/")

    async def read_frame(self, link: FigmaLink) -> FigmaFrame:
        """Read the frame of a link: its tree and its picture. Raises BadInput."""
        node = link.node or await self._first_frame(link.key)
        query = quote(node, safe="")
        answer = await self._get(f"/v1/files/{link.key}/nodes?ids={query}")
        document = as_object(as_object(as_object(answer.get("nodes")).get(node)).get("document"))
        if not document:
            raise BadInput("The file in Figma has no such frame; copy the link of the frame anew.", "not_found")
        drawn = await self._get(f"/v1/images/{link.key}?ids={query}&format=png&scale=2")
        address = as_object(drawn.get("images")).get(node)
        if not isinstance(address, str) or not address:
            raise BadInput("Figma could not draw the frame; choose one that shows something.", "not_an_image")
        picture = await self._download(address)
        return FigmaFrame(name=_name(document), outline=describe_node(document), picture=picture)

    async def check(self) -> str:
        """Return the name of the user of the token. Raises BadInput."""
        answer = await self._get("/v1/me")
        return str(answer.get("handle") or answer.get("email") or "unknown")

    async def _first_frame(self, key: str) -> str:
        answer = await self._get(f"/v1/files/{key}?depth=2")
        return _find_frame(as_object(answer.get("document")))

    async def _download(self, address: str) -> bytes:
        """Load a drawn picture. It lies elsewhere, and the token is not sent there."""
        if address.startswith(f"{self._api}/"):
            return await self._request(address, {})
        return await load_bytes(address, limit=MAX_BYTES, name="The picture of the frame")

    async def _get(self, path: str) -> JsonObject:
        body = await self._request(self._api + path, {"x-figma-token": self._token})
        try:
            return as_object(loads(body))
        except (ValueError, RecursionError):
            raise BadInput("The answer of Figma cannot be read; try it later.", "unreachable") from None

    async def _request(self, url: str, headers: dict[str, str]) -> bytes:
        try:
            async with asyncio.timeout(_SECONDS):
                transport = await Transport.for_running_loop()
                sent = {"accept": "*/*", **headers}
                response = await transport.get(url, headers=sent, connect_timeout=_CONNECT_SECONDS)
                try:
                    body = await _read(response, url)
                except BaseException:
                    response.close()
                    raise
                response.release()
        except TimeoutError:
            raise BadInput(
                f"Figma did not answer within {_SECONDS:.0f} seconds; try it later.", "unreachable"
            ) from None
        except ProviderError as error:
            raise BadInput(f"Figma cannot be reached: {str(error)[:200]}", "unreachable") from None
        if response.status != 200:
            raise _refusal(response.status)
        return body


async def read_figma(source: str, *, client: FigmaClient | None = None) -> FigmaFrame:
    """Read a frame from a link, or from the text of a file that holds an answer of the API. Raises BadInput."""
    if source.lstrip().startswith("{"):
        return parse_file(source)
    link = parse_link(source)
    token = find_key(KEY_NAMES)
    if client is None and token is None:
        raise BadInput("Figma needs a token; set one in the settings, or export the frame as PNG.", "unreachable")
    return await (client or FigmaClient(token or "")).read_frame(link)


def parse_file(text: str) -> FigmaFrame:
    """Read the first frame of a file that holds an answer of the API. Raises BadInput."""
    try:
        content = as_object(loads(text))
    except (ValueError, RecursionError):
        raise BadInput("The file is not valid JSON; export it from Figma again.", "not_text") from None
    nodes = [as_object(as_object(answer).get("document")) for answer in as_object(content.get("nodes")).values()]
    document = next((node for node in nodes if node), as_object(content.get("document"))) or content
    if not document.get("type"):
        raise BadInput("The JSON holds no design of Figma; export a file or a frame of its REST API.", "not_text")
    if document.get("type") in ("DOCUMENT", "CANVAS"):
        document = _node_of(document, _find_frame(document))
    return FigmaFrame(name=_name(document), outline=describe_node(document))


def _find_frame(document: JsonObject) -> str:
    """Find the id of the first frame of a file. Raises BadInput."""
    for depth, node in walk_nodes(document):
        if 0 < depth <= 3 and node.get("type") in _FRAMES and isinstance(node.get("id"), str):
            return str(node["id"])
    raise BadInput("The file in Figma has no frame; draw one, or give the link of one.", "not_found")


def _node_of(document: JsonObject, node_id: str) -> JsonObject:
    return next(node for _, node in walk_nodes(document) if node.get("id") == node_id)


def _name(document: JsonObject) -> str:
    return shorten(document.get("name"))


async def _read(response: Response, url: str) -> bytes:
    try:
        body = await response.read_body(_MAX_ANSWER)
    except BrokenRead as broken:
        raise network_error(broken.cause, url) from None
    if body is None:
        raise BadInput("The frame is too large to be read from Figma; choose a part of it.", "too_large")
    return body


def _refusal(status: int) -> BadInput:
    match status:
        case 401 | 403:
            return BadInput("Figma refused the token for this file; set another one in the settings.", "unreachable")
        case 404:
            return BadInput("Figma has no such file, or not for this token; check the link.", "not_found")
        case 429:
            return BadInput("Figma gets too many requests with this token; wait a minute.", "unreachable")
        case _:
            return BadInput(f"Figma answered with the status {status}; try it later.", "unreachable")
