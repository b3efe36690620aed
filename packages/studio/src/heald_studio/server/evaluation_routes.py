"""Routes for the evaluation pages of a design page: runs of models on pictures, their results side by side, the
requests that models got, and the difference of two requests.

An error has its sentence in `detail` as well, where those pages look for it.
"""

from base64 import b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any, TypeVar

import msgspec
from starlette.responses import Response, StreamingResponse

from heald.core.errors import HealdError
from heald.core.json import JsonObject, encode
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError, api_error_of
from heald_server.http.operations import ApiCall, Operation, json_response
from heald_server.routes.fields import Body
from heald_studio.prompt.compare_requests import InputComparison, compare_inputs
from heald_studio.prompt.reports import PromptReport, ReportSummary, find_report, list_reports
from heald_studio.server.evaluation_results import EvaluationResults, shared_pictures
from heald_studio.server.evaluations import Evaluations
from heald_studio.studio import Studio

_MAX_MODELS = 50
_MAX_INPUT = 8_000_000
_NDJSON = "application/x-ndjson"
T = TypeVar("T")


class EvaluationInput(msgspec.Struct, frozen=True):
    name: str
    path: str
    """Names it in a run."""


class EvaluationRun(Body, frozen=True, kw_only=True):
    models: Annotated[list[str], msgspec.Meta(max_length=_MAX_MODELS)]
    stack: str
    files: list[str] = []
    """Paths of the pictures; all of them if there are none."""
    diff_mode: bool = False
    """Whether pictures that already have a page of today are skipped."""


class ResultsFolder(msgspec.Struct, frozen=True):
    name: str
    path: str
    modified_time: float


class ComparedFolders(msgspec.Struct, frozen=True, kw_only=True):
    """The folders to compare, by their paths."""

    folder1: str
    folder2: str = ""
    folder3: str = ""
    folder4: str = ""
    folder5: str = ""
    folder6: str = ""
    folder7: str = ""
    folder8: str = ""
    folder9: str = ""


class ComparedPages(msgspec.Struct, frozen=True):
    input: str
    """The picture as a data: URL."""
    outputs: list[str]
    """The page of each folder, as one document; empty where there is none."""


class Comparison(msgspec.Struct, frozen=True):
    evals: list[ComparedPages]
    folder_names: list[str]


class ReportsView(msgspec.Struct, frozen=True, kw_only=True):
    reports: list[ReportSummary]
    total_size_bytes: int
    reports_directory: str = ""
    """Empty: reports are read from the logs of variants."""


class ReportQuery(msgspec.Struct, frozen=True):
    filename: str


class PruneBody(Body, frozen=True, kw_only=True):
    max_age_days: float = 7


class Pruned(msgspec.Struct, frozen=True):
    deleted_count: int
    freed_bytes: int


class ComparisonBody(Body, frozen=True, kw_only=True):
    left_json: Annotated[str, msgspec.Meta(max_length=_MAX_INPUT)]
    right_json: Annotated[str, msgspec.Meta(max_length=_MAX_INPUT)]


class EvaluationRoutes:
    def __init__(self, studio: Studio, context: ServerContext, evaluations: Evaluations) -> None:
        self._studio = studio
        self._context = context
        self._evaluations = evaluations

    def operations(self) -> list[Operation]:
        operation = partial(Operation, tag="studio")
        reports = "/prompt-reports"
        return [
            operation("GET", "/eval_input_files", self.inputs, "Pictures for evaluations.", list[EvaluationInput]),
            operation(
                "POST",
                "/run_evals_stream",
                self.run,
                "Have models rebuild pictures; the progress as lines of JSON.",
                body=EvaluationRun,
                media_type=_NDJSON,
            ),
            operation("GET", "/output_folders", self.folders, "Results of evaluations.", list[ResultsFolder]),
            operation(
                "GET",
                "/best-of-n-evals",
                self.compare,
                "The pages of several results, side by side.",
                Comparison,
                query=ComparedFolders,
                errors=("not_found",),
            ),
            operation("GET", reports, self.reports, "Requests that variants sent to models.", ReportsView),
            operation(
                "GET",
                f"{reports}/content",
                _detailed(self.report),
                "One such request.",
                PromptReport,
                query=ReportQuery,
                errors=("not_found",),
            ),
            operation(
                "POST",
                f"{reports}/prune",
                _prune,
                "Delete old reports. There are none of their own: they end with their projects.",
                Pruned,
                PruneBody,
            ),
            operation(
                "POST",
                "/openai-input-compare",
                _detailed(_compare_requests),
                "The first difference of two requests.",
                InputComparison,
                ComparisonBody,
            ),
        ]

    async def inputs(self, _: ApiCall) -> list[EvaluationInput]:
        return [EvaluationInput(name, name) for name in self._evaluations.list_pictures()]

    async def run(self, call: ApiCall) -> Response:
        requested_run: EvaluationRun = call.body
        self._studio.find_stack(requested_run.stack)
        self._evaluations.check_pictures(requested_run.files)
        for model in requested_run.models:
            self._context.models.open(model)
        return StreamingResponse(self._lines(call.owner, requested_run), media_type=_NDJSON)

    async def _lines(self, owner: str, run: EvaluationRun) -> AsyncGenerator[bytes]:
        async with aclosing(self._progress(owner, run)) as events:
            try:
                async for event in events:
                    yield encode(event) + b"\n"
            except HealdError as error:
                yield encode({"type": "error", "message": str(error)}) + b"\n"

    async def _progress(self, owner: str, run: EvaluationRun) -> AsyncGenerator[JsonObject]:
        models = list(dict.fromkeys(run.models))
        pictures = list(dict.fromkeys(run.files)) or self._evaluations.list_pictures()
        missing = {model: await self._missing(owner, model, run, pictures) for model in models}
        total = sum(len(missing_pictures) for missing_pictures in missing.values())
        done = 0
        yield {
            "type": "start",
            "total_tasks": total,
            "total_models": len(models),
            "diff_mode": run.diff_mode,
            "total_skipped_existing": len(models) * len(pictures) - total,
        }
        for number, model in enumerate(models, 1):
            yield {
                "type": "model_start",
                "model": model,
                "model_index": number,
                "total_models": len(models),
                "model_tasks": len(missing[model]),
                "model_skipped_existing": len(pictures) - len(missing[model]),
            }
            done_here = 0
            async with aclosing(self._evaluations.run(owner, model, run.stack, missing[model])) as steps:
                async for step in steps:
                    done += 1
                    done_here += 1
                    yield {
                        "type": "task_complete",
                        "model": model,
                        "input_file": step.picture,
                        "success": not step.error,
                        "error": step.error or None,
                        "completed_tasks": done_here,
                        "total_tasks": len(missing[model]),
                        "global_completed_tasks": done,
                        "global_total_tasks": total,
                    }
        written = [f"{model}/{picture}" for model, missing_pictures in missing.items() for picture in missing_pictures]
        yield {"type": "complete", "completed_tasks": done, "total_tasks": total, "output_files": written}

    async def _missing(self, owner: str, model: str, run: EvaluationRun, pictures: Sequence[str]) -> list[str]:
        """The pictures of a run that a model has to rebuild."""
        if not run.diff_mode:
            return list(pictures)
        results = await self._evaluations.results.open(owner, model, run.stack)
        return [picture for picture in pictures if not await self._evaluations.page(owner, results, picture)]

    async def folders(self, call: ApiCall) -> list[ResultsFolder]:
        listed = await self._evaluations.results.list_all(call.owner)
        return [ResultsFolder(results.name, results.id, results.changed) for results in listed if results.projects]

    async def compare(self, call: ApiCall) -> Comparison:
        named = [name for name in msgspec.structs.astuple(call.query) if name]
        results = [await self._evaluations.results.get(call.owner, name) for name in named]
        pages = [await self._compare_one(call.owner, results, picture) for picture in shared_pictures(results)]
        return Comparison([page for page in pages if page is not None], [folder.name for folder in results])

    async def _compare_one(
        self, owner: str, results: Sequence[EvaluationResults], picture: str
    ) -> ComparedPages | None:
        outputs = [await self._evaluations.page(owner, folder, picture) for folder in results]
        if not any(outputs):
            return None
        kind, data = await self._evaluations.target(owner, results, picture)
        return ComparedPages(f"data:{kind};base64,{b64encode(data).decode()}", outputs)

    async def reports(self, call: ApiCall) -> ReportsView:
        listed = await list_reports(self._context.sessions.store, call.owner)
        return ReportsView(reports=listed, total_size_bytes=sum(report.size_bytes for report in listed))

    async def report(self, call: ApiCall) -> PromptReport:
        return await find_report(self._context.sessions.store, call.owner, call.query.filename)


async def _compare_requests(call: ApiCall) -> InputComparison:
    try:
        return compare_inputs(call.body.left_json, call.body.right_json)
    except RecursionError:
        raise ApiError("invalid", "A request is nested too deeply to be compared.") from None


async def _prune(_: ApiCall) -> Pruned:
    return Pruned(0, 0)


def _detailed(handler: Callable[[ApiCall], Awaitable[T]]) -> Callable[[ApiCall], Awaitable[Any]]:
    """Give errors of a handler the field `detail`."""

    async def answer(call: ApiCall) -> T | Response:
        try:
            return await handler(call)
        except (ApiError, HealdError) as error:
            api_error = api_error_of(error)
            assert api_error is not None
            data = api_error.data() | {"detail": api_error.message}
            return json_response(data, api_error.status, api_error.headers)

    return answer
