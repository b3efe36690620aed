"""The route that pushes a project to a git remote, with the git and the credentials of this machine."""

from weft.server.errors import ApiError
from weft.server.operations import ApiCall, Operation, is_operator
from weft.server.views import Body, Name
from weft.sessions.store import Store
from weft.studio.git_push import PushResult, collect_commits, default_branch, push_commits
from weft.studio.project import VariantRef
from weft.studio.studio import Studio
from weft.studio.variants import read_session_files


class PushBody(Body, frozen=True, kw_only=True):
    remote: Name
    """The address of the remote, https or ssh, without a password."""
    branch: Name = ""
    """By default weft/ and the title of the project."""


class PushRoutes:
    def __init__(self, studio: Studio, store: Store) -> None:
        self._studio = studio
        self._store = store

    def operations(self) -> list[Operation]:
        path = "/projects/{project}/versions/{version}/variants/{variant}/push"
        errors = ("not_found", "forbidden")
        return [
            Operation("POST", path, self.push, "Push it to git.", PushResult, PushBody, errors=errors, tag="studio")
        ]

    async def push(self, call: ApiCall) -> PushResult:
        """Push the versions that led to a variant. Git's credentials are the operator's, so only they may."""
        project = await self._studio.get(call.owner, call.path["project"])
        if not is_operator(call):
            raise ApiError(
                "forbidden", "Only the person who runs this server pushes to git; download the files instead."
            )
        body: PushBody = call.body
        number = call.path["variant"]
        base = VariantRef(call.path["version"], int(number) if number.isdigit() and len(number) < 5 else -1)
        commits = await collect_commits(project, base, lambda session: read_session_files(self._store, session))
        return await push_commits(body.remote, body.branch.strip() or default_branch(project), commits)
