"""A studio on a real store, with scripted models behind it and no server in front of it."""

import io
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from PIL import Image

import heald
from heald.agent.model_chain import ModelLike
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.messages import Image as Shown
from heald.core.messages import Message, Text
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald_check import check_log
from heald_server.access.tokens import AccessTokens
from heald_server.context import ServerContext
from heald_server.models import ModelView, ProviderView
from heald_server.settings import ServerSettings
from heald_studio.input.pictures import read_picture
from heald_studio.projects.project import Project, Variant, Version
from heald_studio.request import BuildRequest, View
from heald_studio.server.host import open_studio
from heald_studio.studio import Studio

S = heald.testing.ScriptedModel
OWNER = "ann"
Script = Callable[[], ModelLike]


class Scripts:
    """Models by name. What each of them was asked is kept."""

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        self.scripts = dict(scripts)
        self.opened: dict[str, list[heald.testing.ScriptedModel]] = {}

    @property
    def default(self) -> str:
        return next(iter(self.scripts), "")

    def open(self, name: str) -> ModelLike:
        if name not in self.scripts:
            raise ConfigurationError(f"There is no model {name!r}; choose one of {', '.join(self.scripts)}.")
        model = self.scripts[name]()
        if isinstance(model, heald.testing.ScriptedModel):
            self.opened.setdefault(name, []).append(model)
        return model

    def list_models(self) -> Sequence[ModelView]:
        return [ModelView(name, "scripted") for name in self.scripts]

    def list_providers(self) -> Sequence[ProviderView]:
        return []


class Desk:
    """A studio, and what its models were told."""

    def __init__(self, studio: Studio, context: ServerContext, models: Scripts) -> None:
        self.studio = studio
        self.context = context
        self.models = models

    async def built(self, brief: BuildRequest) -> tuple[Project, Version]:
        """A project whose first version is over."""
        project = await self.studio.create(OWNER, brief)
        version = await self.studio.wait_version(OWNER, project.id, project.versions[0].id)
        return await self.studio.get(OWNER, project.id), version

    def asked(self, name: str, number: int = 0) -> list[Message]:
        """What the first turn of a model was asked with."""
        return next(model.requests[0].messages for model in self.models.opened[name][number:] if model.requests)

    def instructions(self, name: str) -> str:
        return self.models.opened[name][0].requests[0].settings.system

    async def log(self, variant: Variant) -> list[Event]:
        return [event async for event in iterate_events(self.context.sessions.store, variant.session)]

    async def check(self, version: Version) -> None:
        """The log of every variant keeps the invariants."""
        for variant in version.variants:
            assert not check_log(await self.log(variant))


@asynccontextmanager
async def desk(folder: Path, scripts: Mapping[str, Script] | Script, **options: Any) -> AsyncGenerator[Desk]:
    models = Scripts({"one": scripts} if callable(scripts) else scripts)
    context = ServerContext(
        Sessions(SqliteStore(folder / "studio.db", durable=False)),
        models,
        settings=ServerSettings(port=0, goodbye_seconds=0.0),
        tokens=AccessTokens({"a-token-of-the-studio": OWNER}),
    )
    studio = open_studio(context, **({"scores": False} | options))
    await context.start()
    try:
        yield Desk(studio, context, models)
    finally:
        await context.stop()


def writes(files: Mapping[str, str] | str, *, piece: int = 64, pause: float = 0.0) -> Script:
    """A model that writes files and says so."""
    pages = {"index.html": files} if isinstance(files, str) else files

    def made() -> heald.testing.ScriptedModel:
        calls = [S.call("create_file", path=path, content=text) for path, text in pages.items()]
        return S([["I see. ", *calls], "Built."], piece=piece, pause=pause)

    return made


def page(title: str = "Harbour") -> str:
    return f"<!doctype html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"


def picture(kind: str = "PNG", size: tuple[int, int] = (160, 100), colour: str = "navy", **options: Any) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, kind, **options)
    return out.getvalue()


def view(data: bytes | None = None, label: str = "") -> View:
    return View(read_picture(data or picture()), label)


def texts_of(message: Message) -> str:
    return "".join(part.text for part in message.content if isinstance(part, Text))


def images_of(message: Message) -> list[Shown]:
    return [part for part in message.content if isinstance(part, Shown)]
