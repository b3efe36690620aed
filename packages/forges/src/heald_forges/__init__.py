"""Forges: servers of git repositories with pull requests and reviews. GitHub, GitLab and Gitea (Forgejo, Codeberg) are
included; a distribution adds another as an entry point of the group `heald.forges`."""

from heald.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heald_forges.api import ForgeApi
    from heald_forges.forge import Forge, ForgeFailed, LineComment, NewPullRequest, PullRequest
    from heald_forges.kind import ForgeHost, ForgeKind
    from heald_forges.remote_forge import NoForgeToken, open_forge

__all__ = [
    "Forge",
    "ForgeApi",
    "ForgeFailed",
    "ForgeHost",
    "ForgeKind",
    "LineComment",
    "NewPullRequest",
    "NoForgeToken",
    "PullRequest",
    "open_forge",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "heald_forges.api": "ForgeApi",
        "heald_forges.forge": "Forge ForgeFailed LineComment NewPullRequest PullRequest",
        "heald_forges.kind": "ForgeHost ForgeKind",
        "heald_forges.remote_forge": "NoForgeToken open_forge",
    },
)
