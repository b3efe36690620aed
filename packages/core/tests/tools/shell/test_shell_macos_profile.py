"""The profile for `sandbox-exec`, by its text: no machine of the tests runs macOS."""

from pathlib import Path

import pytest

from heald.tools.shell import sandbox as sandbox_module
from heald.tools.shell.macos_profile import macos_profile
from heald.tools.shell.sandbox import Sandbox


def expressions(text: str) -> list[str]:
    """The rules of a profile, which must be balanced outside of strings."""
    rules, depth, start, in_string, escaped = list[str](), 0, 0, False, False
    for at, char in enumerate(text):
        if escaped:
            escaped = False
        elif in_string:
            escaped, in_string = char == "\\", char != '"'
        elif char == '"':
            in_string = True
        elif char == "(":
            start, depth = (at if depth == 0 else start), depth + 1
        elif char == ")":
            depth -= 1
            assert depth >= 0
            if depth == 0:
                rules.append(text[start : at + 1])
    assert depth == 0
    assert not in_string
    return rules


def test_everything_is_denied_but_the_workspace() -> None:
    rules = expressions(macos_profile("/Users/me/project", [".git/hooks/", ".mcp.json"], readable=["/opt/tools"]))
    assert rules[:2] == ["(version 1)", "(deny default)"]
    writable = [rule for rule in rules if rule.startswith("(allow") and "file-write*" in rule and "subpath" in rule]
    assert writable == [
        '(allow file-read* file-write* (subpath "/Users/me/project"))',
        '(allow file-read* file-write* (subpath "/private/tmp/heald"))',
    ]
    assert '(allow file-read* (subpath "/opt/tools"))' in rules
    assert not any('(subpath "/")' in rule or '(subpath "/Users")' in rule for rule in rules)
    assert not any("allow network" in rule for rule in rules)


def test_protected_paths_come_after_the_workspace() -> None:
    rules = expressions(macos_profile("/w", [".git/hooks/", ".mcp.json"]))
    workspace = rules.index('(allow file-read* file-write* (subpath "/w"))')
    assert rules.index('(deny file-write* (subpath "/w/.git/hooks"))') > workspace
    assert rules.index('(deny file-write* (subpath "/w/.mcp.json"))') > workspace
    assert rules.index('(deny file-write-unlink (literal "/w/.git"))') > workspace


def test_the_network_ends_at_the_proxy() -> None:
    rules = expressions(macos_profile("/w", [], port=61080))
    assert rules[-2:] == ["(deny network*)", '(allow network-outbound (remote ip "localhost:61080"))']


def test_names_cannot_add_rules() -> None:
    hostile = '/w/a"))(allow default)(x "\\'
    rules = expressions(macos_profile(hostile, []))
    assert "(allow default)" not in rules
    assert len(rules) == len(expressions(macos_profile("/w", [])))
    with pytest.raises(ValueError, match="control character"):
        macos_profile("/w\n(allow default)", [])


def test_the_sandbox_writes_its_own_rules(tmp_path: Path) -> None:
    text = Sandbox(readable=["/opt/tools"]).macos_profile(str(tmp_path), 61080)
    for path in (".git/hooks", ".git/config", ".mcp.json", "AGENTS.md", ".claude"):
        assert f'(deny file-write* (subpath "{tmp_path.resolve()}/{path}"))' in text


@pytest.mark.parametrize(("platform", "advice"), [("darwin", "container or virtual machine"), ("win32", "WSL 2")])
def test_the_refusal_elsewhere_names_what_to_do(monkeypatch: pytest.MonkeyPatch, platform: str, advice: str) -> None:
    monkeypatch.setattr(sandbox_module.sys, "platform", platform)
    reason = sandbox_module._unavailable.__wrapped__(None)  # pyright: ignore[reportPrivateUsage]
    assert reason is not None
    assert advice in reason
