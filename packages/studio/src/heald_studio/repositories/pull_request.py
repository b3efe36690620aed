"""Opens a pull request for the branch of a change: pushed by git, created by the API of the forge."""

import asyncio
import os
import tempfile

from heald.tools.git.program import GitAccess, GitFailed, run_git
from heald.tools.git.repository import GitRepository
from heald_forges.forge import NewPullRequest, PullRequest
from heald_forges.remote_forge import open_forge
from heald_studio.export.git_push import PushFailed, check_branch, check_remote, push_branch
from heald_studio.repositories.change_branch import ChangeBranch

_REF = "refs/heads/pushed"


async def open_pull_request(changes: ChangeBranch, title: str, body: str, *, is_draft: bool = False) -> PullRequest:
    """Push the change and open a pull request for it, or return the open one. The token is looked for first: nothing is
    pushed without one. Raises BranchRefused, PushFailed, ForgeFailed and NoForgeToken."""
    repository, state, commit = await asyncio.to_thread(changes.newest_commit)
    address, push_address = await asyncio.to_thread(changes.find_remote)
    forge = await open_forge(address)
    push_address, branch = check_remote(push_address, local=True), check_branch(state.branch)
    with tempfile.TemporaryDirectory(prefix="heald-push-") as folder:
        place = await asyncio.to_thread(_make_bare, folder, repository, commit)
        await push_branch(place, push_address, _REF, branch, local=True)
    present = await forge.find_pull_request(branch)
    if present is not None:
        return present
    new = NewPullRequest(title=title, body=body, branch=branch, base=state.base, is_draft=is_draft)
    return await forge.create_pull_request(new)


def _make_bare(folder: str, repository: GitRepository, commit: str) -> str:
    """Make a bare repository with one branch that borrows the objects: git that pushes never reads the settings of the
    repository, which may name programs. Returns its real path."""
    folder = os.path.realpath(folder)
    access = GitAccess(readable=(repository.objects,), writable=(folder,))
    env = {"GIT_DIR": folder}
    try:
        run_git(
            folder, ("init", "--quiet", "--bare", f"--object-format={repository.object_format}"), access=access, env=env
        )
        with open(os.path.join(folder, "objects", "info", "alternates"), "wb") as file:
            file.write(os.fsencode(f"{repository.objects}\n"))
        run_git(folder, ("update-ref", _REF, commit), access=access, env=env)
    except GitFailed as error:
        raise PushFailed(f"Git could not prepare the push: {error}") from None
    return folder
