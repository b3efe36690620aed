"""Merge requests of GitLab."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from heald.core.json import JsonObject, as_list, as_object
from heald_forges.api import ForgeApi
from heald_forges.forge import LineComment, NewPullRequest, PullRequest
from heald_forges.kind import ForgeHost, ForgeKind

_DRAFT = "Draft: "
"""GitLab has no field for drafts: a title that begins with this is one."""


class GitLabForge:
    """A project on GitLab."""

    kind = "GitLab"

    def __init__(self, api: ForgeApi, path: str) -> None:
        self._api = api
        self._project = f"/projects/{quote(path, safe='')}"

    async def default_branch(self) -> str:
        return str(as_object(await self._api.get(self._project)).get("default_branch") or "main")

    async def find_pull_request(self, branch: str) -> PullRequest | None:
        place = f"{self._project}/merge_requests?state=opened&source_branch={quote(branch, safe='')}"
        requests = (_read_request(request) for request in as_list(await self._api.get(place)))
        return next((request for request in requests if request.branch == branch), None)

    async def create_pull_request(self, new: NewPullRequest) -> PullRequest:
        body: JsonObject = {
            "title": f"{_DRAFT}{new.title}" if new.is_draft else new.title,
            "description": new.body,
            "source_branch": new.branch,
            "target_branch": new.base,
        }
        return _read_request(await self._api.post(f"{self._project}/merge_requests", body))

    async def post_review(self, pull_request: PullRequest, summary: str, comments: Sequence[LineComment]) -> None:
        place = f"{self._project}/merge_requests/{pull_request.number}"
        refs = as_object(as_object(await self._api.get(place)).get("diff_refs"))
        shas = {name: refs.get(name) for name in ("base_sha", "start_sha", "head_sha")}
        for note in comments:
            position = {"position_type": "text", "new_path": note.path, "old_path": note.path, "new_line": note.line}
            await self._api.post(f"{place}/discussions", {"body": note.text, "position": {**shas, **position}})
        if summary:
            await self._api.post(f"{place}/notes", {"body": summary})


def _read_request(value: Any) -> PullRequest:
    request = as_object(value)
    return PullRequest(
        number=int(request.get("iid") or 0),
        url=str(request.get("web_url") or ""),
        title=str(request.get("title") or ""),
        branch=str(request.get("source_branch") or ""),
        base=str(request.get("target_branch") or ""),
        commit=str(request.get("sha") or ""),
    )


GITLAB = ForgeKind(
    title="GitLab",
    api_path="/api/v4",
    probe="/version",
    auth_headers=lambda token: {"private-token": token},
    make_forge=GitLabForge,
    hosts=(ForgeHost(host="gitlab.com", api_url="https://gitlab.com/api/v4", token_variables=("GITLAB_TOKEN",)),),
)
