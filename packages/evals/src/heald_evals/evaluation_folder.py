"""The folder of the evaluations of a project: results, logs and recordings."""

import re
from collections.abc import Iterable
from hashlib import sha256
from os import PathLike
from pathlib import Path

import msgspec

from heald.config.paths import DATABASE
from heald.core.errors import ConfigurationError
from heald.core.json import encode
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import Store, iterate_sessions
from heald_evals.case_outcome import CaseOutcome

DEFAULT_FOLDER = ".heald/evals"
"""In the working folder, or in the root folder of pytest."""
RESULTS = "results.jsonl"
_IGNORED = f"{DATABASE}*\n{RESULTS}\n*.part\n"
_RUNS_WITH_LOGS = 10
_decoder = msgspec.json.Decoder(CaseOutcome)


class EvaluationFolder:
    """The files of evaluations: `results.jsonl` with one outcome a line, `sessions.db` with the logs of the cases, and
    `recordings` with the traffic of models, by evaluation and case.

    Several processes may use it at once. git ignores all of it but the recordings.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._results = self.path / RESULTS

    def create(self) -> None:
        """Create the folder if it does not exist. Raises ConfigurationError if that is impossible."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            ignored = self.path / ".gitignore"
            if not ignored.exists():
                ignored.write_text(_IGNORED, "utf-8")
        except OSError as error:
            raise ConfigurationError(
                f"The folder {self.path} cannot be created: {error.strerror}; name another one."
            ) from None

    def open_store(self) -> Store:
        """Open the store of the logs."""
        return SqliteStore(self.path / DATABASE)

    def find_recording(self, evaluation: str, case: str) -> Path:
        """Return the path of the recorded traffic of a case."""
        return self.path / "recordings" / _file_name(evaluation) / f"{_file_name(case)}.jsonl"

    def append_outcome(self, outcome: CaseOutcome) -> None:
        """Add a line to the results."""
        try:
            self._results.touch(mode=0o600)  # answers may hold what is private
            with self._results.open("a+b") as file:
                size = file.seek(0, 2)
                file.seek(max(size - 1, 0))
                is_cut = size > 0 and file.read(1) != b"\n"  # by a crash
                file.write((b"\n" if is_cut else b"") + encode(outcome) + b"\n")
        except OSError as error:
            raise ConfigurationError(f"{self._results} cannot be written: {error.strerror}.") from None

    def read_outcomes(self) -> list[CaseOutcome]:
        """Return all stored outcomes, the oldest first."""
        return read_outcomes(self._results) if self._results.exists() else []

    async def delete_old_logs(self, store: Store, evaluation: str) -> None:
        """Delete the logs of an evaluation except those of its last 10 runs. Results stay."""
        outcomes = [outcome for outcome in self.read_outcomes() if outcome.evaluation == evaluation]
        runs = list(dict.fromkeys(outcome.run for outcome in outcomes))
        old_runs = set(runs[:-_RUNS_WITH_LOGS])
        old_sessions = {outcome.session for outcome in outcomes if outcome.run in old_runs}
        if not old_sessions:
            return
        for session in [info.id async for info in iterate_sessions(store) if info.id in old_sessions]:
            await store.delete(session)


def read_outcomes(path: Path) -> list[CaseOutcome]:
    """Read a results file. A line that is not an outcome, such as one that a crash cut off, is skipped. Raises
    ConfigurationError if the file cannot be read."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise ConfigurationError(f"The results {path} cannot be read: {error.strerror}.") from None
    return list(_decode(lines))


def _decode(lines: Iterable[bytes]) -> Iterable[CaseOutcome]:
    for line in lines:
        try:
            yield _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue


def _file_name(name: str) -> str:
    """Return a name that any file system accepts, different for different names."""
    plain = re.sub(r"[^\w-]+", "-", name).strip("-")[:60]
    return plain if plain == name else f"{plain}-{sha256(name.encode()).hexdigest()[:8]}"
