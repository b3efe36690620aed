"""Pull requests and reviews on GitHub, GitLab and Gitea, each with a server that answers as the real one does."""

import pytest

from heald.core.errors import AuthenticationFailed
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald_forges.forge import ForgeFailed, LineComment, NewPullRequest, PullRequest
from heald_forges.remote import ForgeRemote, parse_remote
from heald_forges.remote_forge import NoForgeToken, open_forge, token_variables

TOKEN = "secret-token-8841"
NEW = NewPullRequest(title="Add a door", body="It opens.", branch="topic/door", base="main")
PULL = {
    "number": 7,
    "html_url": "https://example.org/me/site/pull/7",
    "title": "Add a door",
    "head": {"ref": "topic/door"},
    "base": {"ref": "main"},
}
MERGE_REQUEST = {
    "iid": 7,
    "web_url": "https://example.org/me/site/pull/7",
    "title": "Add a door",
    "source_branch": "topic/door",
    "target_branch": "main",
    "diff_refs": {"base_sha": "b", "start_sha": "s", "head_sha": "h"},
}
MADE = PullRequest(number=7, url=PULL["html_url"], title="Add a door", branch="topic/door", base="main")  # pyright: ignore[reportArgumentType]
NOTE = LineComment("src/door.py", 12, "It never closes.")


def use_token(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """Store the token of the server. Returns the address of a remote on it."""
    address = f"{server.url}/me/site.git"
    monkeypatch.setenv(parse_remote(address).token_variable, TOKEN)
    return address


def as_pulls(api: str, probe: str, *, filters: bool) -> "ScriptedServer":
    """A server as GitHub and Gitea are."""

    def answer(request: ReceivedRequest) -> Reply:
        place, _, query = request.path.partition("?")
        if place == f"{api}{probe}":
            return Reply.json({"version": "1.0"})
        if not place.startswith(api):
            return Reply([b"<h1>Not found</h1>"], status=404, content_type="text/html")
        if TOKEN not in request.headers.get("authorization", ""):
            return Reply.json({"message": "Bad credentials"}, 401)
        repository = f"{api}/repos/me/site"
        match (request.method, place):
            case ("GET", path) if path == repository:
                return Reply.json({"default_branch": "trunk"})
            case ("GET", path) if path == f"{repository}/pulls":
                is_first = filters or "page=1" in query.split("&")
                return Reply.json([PULL] if is_first else [])
            case ("POST", path) if path == f"{repository}/pulls":
                return Reply.json(PULL, 201)
            case ("POST", path) if path == f"{repository}/pulls/7/reviews":
                return Reply.json({"id": 1})
            case _:
                return Reply.json({"message": "Not Found"}, 404)

    return ScriptedServer(answer)


def as_gitlab() -> ScriptedServer:
    def answer(request: ReceivedRequest) -> Reply:
        place = request.path.partition("?")[0]
        if place == "/api/v4/version" or request.headers.get("private-token") != TOKEN:
            return Reply.json({"message": "401 Unauthorized"}, 401 if place.startswith("/api/v4") else 404)
        project = "/api/v4/projects/me%2Fsite"
        match (request.method, place):
            case ("GET", path) if path == project:
                return Reply.json({"default_branch": "trunk"})
            case ("GET", path) if path == f"{project}/merge_requests":
                return Reply.json([MERGE_REQUEST])
            case ("GET", path) if path == f"{project}/merge_requests/7":
                return Reply.json(MERGE_REQUEST)
            case ("POST", path) if path.startswith(f"{project}/merge_requests"):
                return Reply.json(MERGE_REQUEST, 201)
            case _:
                return Reply.json({"message": "404 Not Found"}, 404)

    return ScriptedServer(answer)


def sent(server: ScriptedServer, end: str) -> list[dict[str, object]]:
    return [request.body for request in server.requests if request.method == "POST" and request.path.endswith(end)]


@pytest.mark.parametrize(("api", "probe", "kind"), [("/api/v3", "/meta", "GitHub"), ("/api/v1", "/version", "Gitea")])
async def test_pull_requests_of_github_and_gitea(
    api: str, probe: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with as_pulls(api, probe, filters=kind == "GitHub") as server:
        forge = await open_forge(use_token(server, monkeypatch))
        assert forge.kind == kind
        assert await forge.default_branch() == "trunk"
        assert await forge.find_pull_request("topic/door") == MADE
        assert await forge.find_pull_request("other") is None
        assert await forge.create_pull_request(NEW) == MADE
        await forge.post_review(MADE, "One remark.", [NOTE])
    assert sent(server, "/pulls") == [
        {"title": "Add a door", "body": "It opens.", "head": "topic/door", "base": "main"}
    ]
    review = sent(server, "/reviews")[0]
    assert (review["event"], review["body"]) == ("COMMENT", "One remark.")
    line = {"line": 12, "side": "RIGHT"} if kind == "GitHub" else {"new_position": 12}
    assert review["comments"] == [{"path": "src/door.py", "body": "It never closes.", **line}]


async def test_merge_requests_of_gitlab(monkeypatch: pytest.MonkeyPatch) -> None:
    async with as_gitlab() as server:
        forge = await open_forge(use_token(server, monkeypatch))
        assert (forge.kind, await forge.default_branch()) == ("GitLab", "trunk")
        assert await forge.find_pull_request("topic/door") == MADE
        assert await forge.create_pull_request(NEW) == MADE
        await forge.post_review(MADE, "One remark.", [NOTE])
    assert sent(server, "/merge_requests")[0]["source_branch"] == "topic/door"
    position = sent(server, "/discussions")[0]["position"]
    assert position == {
        **MERGE_REQUEST["diff_refs"],  # type: ignore[dict-item]
        "position_type": "text",
        "new_path": "src/door.py",
        "old_path": "src/door.py",
        "new_line": 12,
    }
    assert sent(server, "/notes") == [{"body": "One remark."}]


async def test_a_refusal_is_a_sentence_without_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    replies = [
        Reply.json({"message": "Validation Failed", "errors": [{"message": f"No commits, {TOKEN}"}]}, 422),
        Reply.json({"message": "Bad credentials"}, 401),
        Reply.json({"message": "Moved Permanently"}, 301, {"location": "https://elsewhere.example.org/"}),
    ]
    async with ScriptedServer([Reply.json({"version": "1"}), *replies]) as server:
        forge = await open_forge(use_token(server, monkeypatch))
        with pytest.raises(ForgeFailed, match=r"Validation Failed; No commits, \[token\]"):
            await forge.create_pull_request(NEW)
        with pytest.raises(AuthenticationFailed, match="refused the token of FORGE_TOKEN_"):
            await forge.create_pull_request(NEW)
        with pytest.raises(ForgeFailed, match="has moved"):
            await forge.create_pull_request(NEW)


async def test_a_server_that_is_no_forge_and_a_host_without_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    async with ScriptedServer(lambda _: Reply([b"<h1>hello</h1>"], content_type="text/html")) as server:
        with pytest.raises(NoForgeToken, match=r"There is no token for 127\.0\.0\.1"):
            await open_forge(f"{server.url}/me/site")
        assert not server.requests
        with pytest.raises(
            ForgeFailed,
            match=r"does not answer as a forge \(Gitea, GitHub, GitLab\); check the address of the remote\.$",
        ):
            await open_forge(use_token(server, monkeypatch))
    assert not any(TOKEN in str(request.headers) for request in server.requests)


def test_addresses_of_remotes() -> None:
    for address in (
        "git@github.com:me/site.git",
        "https://github.com/me/site",
        "ssh://git@github.com:2222/me/site.git",
        "https://name:password@github.com/me/site.git/",
        "http://github.com:8080/me/site",
    ):
        assert parse_remote(address) == ForgeRemote("https", "github.com", "me/site"), address
    assert parse_remote("http://localhost:3000/a/b/c.git") == ForgeRemote("http", "localhost:3000", "a/b/c")
    for address in ("/srv/site.git", "../site", "https://github.com/me", "ext::sh -c true", "https://h/../x", ""):
        with pytest.raises(ForgeFailed, match="is not on a forge"):
            parse_remote(address)
    with pytest.raises(ForgeFailed) as caught:
        parse_remote("https://name:password@github.com/me")
    assert "password" not in str(caught.value)


def test_a_token_belongs_to_its_host() -> None:
    assert token_variables(parse_remote("git@github.com:me/site")) == (
        *("GH_TOKEN", "GITHUB_TOKEN", "FORGE_TOKEN_GITHUB_COM"),
    )
    names = {parse_remote(f"https://{host}/me/site").token_variable for host in ("git-a.org", "git.a.org", "git.a-org")}
    assert names == {"FORGE_TOKEN_GIT__A_ORG", "FORGE_TOKEN_GIT_A_ORG", "FORGE_TOKEN_GIT_A__ORG"}
    assert "GITHUB_TOKEN" not in token_variables(parse_remote("https://github.com.evil.example/me/site"))
