"""The journal of submitted batches, so that a restarted program finds their answers."""

import os
from pathlib import Path

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, encode
from heald.providers.batch import BatchAnswer

BatchGroup = tuple[str, str, str]
"""The properties that a batch has in common: the address, the wire and the model."""
_OK = 200


class _Entry(msgspec.Struct, omit_defaults=True):
    """A line of the journal: a batch that was submitted, or an answer."""

    batch: str = ""
    group: BatchGroup = ("", "", "")
    requests: list[str] = []
    request: str = ""
    status: int = 0
    body: JsonObject | None = None


class BatchJournal:
    """The batches and answers of one piece of work, in a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.answers: dict[str, BatchAnswer] = {}
        self.open_batches: dict[str, tuple[BatchGroup, list[str]]] = {}
        if path.exists():
            self._read()

    def add_batch(self, batch: str, group: BatchGroup, requests: list[str]) -> None:
        self.open_batches[batch] = (group, requests)
        self._append(_Entry(batch=batch, group=group, requests=requests))

    def add_answer(self, request: str, answer: BatchAnswer) -> None:
        self.answers[request] = answer
        self._append(_Entry(request=request, status=answer.status, body=answer.body))

    def find_batch(self, request: str) -> str | None:
        """Return the batch that holds a request without an answer."""
        return next((name for name, (_, names) in self.open_batches.items() if request in names), None)

    def _append(self, entry: _Entry) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            file.write(encode(entry) + b"\n")
            file.flush()

    def _read(self) -> None:
        content = self._path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                self._add(msgspec.json.decode(line, type=_Entry))
            except msgspec.DecodeError:
                raise ConfigurationError(f"{self._path}, line {number} is not from a batch; remove the file.") from None
        if len(whole) < len(content):  # the program was killed while it wrote the last line
            os.truncate(self._path, len(whole))
        for name, (_, requests) in list(self.open_batches.items()):
            if all(request in self.answers for request in requests):
                del self.open_batches[name]

    def _add(self, entry: _Entry) -> None:
        if entry.batch:
            self.open_batches[entry.batch] = (entry.group, entry.requests)
        elif entry.body is not None and entry.status == _OK:
            self.answers[entry.request] = BatchAnswer(entry.status, entry.body)
        else:  # a failed request is sent once more
            for _, requests in self.open_batches.values():
                if entry.request in requests:
                    requests.remove(entry.request)
