"""Pull requests of GitHub, and of GitHub Enterprise Server."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from heald.core.json import JsonObject, as_list, as_object
from heald_forges.api import ForgeApi
from heald_forges.forge import LineComment, NewPullRequest, PullRequest
from heald_forges.kind import ForgeHost, ForgeKind

_HEADERS = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}


class GitHubForge:
    """A repository on GitHub."""

    kind = "GitHub"

    def __init__(self, api: ForgeApi, path: str) -> None:
        self._api = api
        self._owner = path.partition("/")[0]
        self._repository = f"/repos/{path}"

    async def default_branch(self) -> str:
        return str(as_object(await self._api.get(self._repository)).get("default_branch") or "main")

    async def find_pull_request(self, branch: str) -> PullRequest | None:
        head = quote(f"{self._owner}:{branch}", safe="")
        answer = as_list(await self._api.get(f"{self._repository}/pulls?state=open&head={head}"))
        pulls = (read_pull(pull) for pull in answer)
        return next((pull for pull in pulls if pull.branch == branch), None)

    async def create_pull_request(self, new: NewPullRequest) -> PullRequest:
        body: JsonObject = {"title": new.title, "body": new.body, "head": new.branch, "base": new.base}
        if new.is_draft:
            body["draft"] = True
        return read_pull(await self._api.post(f"{self._repository}/pulls", body))

    async def post_review(self, pull_request: PullRequest, summary: str, comments: Sequence[LineComment]) -> None:
        lines = [{"path": note.path, "line": note.line, "side": "RIGHT", "body": note.text} for note in comments]
        body = {"body": summary, "event": "COMMENT", "comments": lines}
        await self._api.post(f"{self._repository}/pulls/{pull_request.number}/reviews", body)


def read_pull(value: Any) -> PullRequest:
    """Read a pull request as GitHub and Gitea describe it."""
    pull = as_object(value)
    head = as_object(pull.get("head"))
    return PullRequest(
        number=int(pull.get("number") or 0),
        url=str(pull.get("html_url") or ""),
        title=str(pull.get("title") or ""),
        branch=str(head.get("ref") or ""),
        base=str(as_object(pull.get("base")).get("ref") or ""),
        commit=str(head.get("sha") or ""),
    )


GITHUB = ForgeKind(
    title="GitHub",
    api_path="/api/v3",
    probe="/meta",
    auth_headers=lambda token: {**_HEADERS, "authorization": f"Bearer {token}"},
    make_forge=GitHubForge,
    hosts=(
        ForgeHost(host="github.com", api_url="https://api.github.com", token_variables=("GH_TOKEN", "GITHUB_TOKEN")),
    ),
)
