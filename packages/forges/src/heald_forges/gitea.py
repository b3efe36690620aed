"""Pull requests of Gitea, Forgejo and Codeberg."""

from collections.abc import Sequence

from heald.core.json import as_list, as_object
from heald_forges.api import ForgeApi
from heald_forges.forge import LineComment, NewPullRequest, PullRequest
from heald_forges.github import read_pull
from heald_forges.kind import ForgeHost, ForgeKind

_PAGE = 50
_MOST_PAGES = 20
_DRAFT = "WIP: "
"""Gitea has no field for drafts: a title that begins with this is one."""


class GiteaForge:
    """A repository on Gitea."""

    kind = "Gitea"

    def __init__(self, api: ForgeApi, path: str) -> None:
        self._api = api
        self._repository = f"/repos/{path}"

    async def default_branch(self) -> str:
        return str(as_object(await self._api.get(self._repository)).get("default_branch") or "main")

    async def find_pull_request(self, branch: str) -> PullRequest | None:
        for page in range(1, _MOST_PAGES + 1):  # the list has no filter for a branch
            answer = as_list(await self._api.get(f"{self._repository}/pulls?state=open&limit={_PAGE}&page={page}"))
            pulls = [read_pull(pull) for pull in answer]
            match = next((pull for pull in pulls if pull.branch == branch), None)
            if match is not None or not pulls:
                return match
        return None

    async def create_pull_request(self, new: NewPullRequest) -> PullRequest:
        title = f"{_DRAFT}{new.title}" if new.is_draft else new.title
        body = {"title": title, "body": new.body, "head": new.branch, "base": new.base}
        return read_pull(await self._api.post(f"{self._repository}/pulls", body))

    async def post_review(self, pull_request: PullRequest, summary: str, comments: Sequence[LineComment]) -> None:
        lines = [{"path": note.path, "new_position": note.line, "body": note.text} for note in comments]
        body = {"body": summary, "event": "COMMENT", "comments": lines}
        await self._api.post(f"{self._repository}/pulls/{pull_request.number}/reviews", body)


GITEA = ForgeKind(
    title="Gitea",
    api_path="/api/v1",
    probe="/version",
    auth_headers=lambda token: {"authorization": f"token {token}"},
    make_forge=GiteaForge,
    hosts=(ForgeHost(host="codeberg.org", api_url="https://codeberg.org/api/v1", token_variables=("CODEBERG_TOKEN",)),),
)
