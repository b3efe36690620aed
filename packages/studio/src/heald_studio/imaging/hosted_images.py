"""The base of image providers: their key, their model and their label."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from heald_studio.imaging.api import ImageApi


class HostedImages:
    """The constructor, the label and the key lookup that all providers share."""

    name: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    """The environment variables that may hold the key."""
    default_model: ClassVar[str]
    default_url: ClassVar[str]
    key_header: ClassVar[tuple[str, str]] = ("authorization", "Bearer ")
    """The header that carries the key, and the prefix of the key in it."""

    def __init__(self, key: str, model: str = "", *, base_url: str = "", **limits: Any) -> None:
        header, prefix = self.key_header
        address = base_url or self.default_url
        self._api = ImageApi(self.name, address, key, self.keys[0], {header: f"{prefix}{key}"}, **limits)
        self._model = model or self.default_model

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], model: str = "") -> Self | None:
        key = next((environ[name] for name in cls.keys if environ.get(name)), None)
        return None if key is None else cls(key, model)

    @property
    def label(self) -> str:
        return f"{self.name} {self._model}"
