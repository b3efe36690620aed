"""Keeps the files of finished variants that were read last: a preview asks for each of its files alone."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping

from weft.studio.project import Variant

_MAX_VARIANTS = 16
_MAX_BYTES = 48_000_000


class FinishedFiles:
    """The files by session and end: a variant that is repaired or continued has another end."""

    def __init__(self) -> None:
        self._files: OrderedDict[tuple[str, float | None], Mapping[str, bytes]] = OrderedDict()
        self._size = 0

    async def read(
        self, variant: Variant, read_files: Callable[[str], Awaitable[Mapping[str, bytes]]]
    ) -> Mapping[str, bytes]:
        """Return the files of a variant. Those of one that is being built are read anew."""
        key = variant.session, variant.ended
        if variant.is_done and key in self._files:
            self._files.move_to_end(key)
            return self._files[key]
        files = await read_files(variant.session)
        if variant.is_done and key not in self._files:
            self._files[key] = files
            self._size += _size(files)
            while self._files and (len(self._files) > _MAX_VARIANTS or self._size > _MAX_BYTES):
                self._size -= _size(self._files.popitem(last=False)[1])
        return files


def _size(files: Mapping[str, bytes]) -> int:
    return sum(map(len, files.values()))
