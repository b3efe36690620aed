"""The rules of the sandbox as a profile of macOS's `sandbox-exec`: everything is denied but what a command needs.

Heald runs commands in bubblewrap, which exists for Linux only. The profile is for an operator who confines commands on
a Mac: the workspace can be written but for its protected paths, programs can be read, the home folder cannot, and the
network ends at one port of the loopback, that of a proxy.
"""

from collections.abc import Sequence

_READABLE = (
    "/usr", "/bin", "/sbin", "/opt/homebrew", "/System", "/Library/Apple", "/Library/Developer", "/Library/Frameworks",
    "/private/var/db/timezone", "/private/etc/ssl", "/private/etc/localtime",
)  # fmt: skip
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/dtracehelper")
_SERVICES = ("com.apple.system.opendirectoryd.libinfo", "com.apple.system.logger", "com.apple.trustd.agent")


def macos_profile(
    folder: str, protected: Sequence[str], *, readable: Sequence[str] = (), port: int | None = None
) -> str:
    """Return the profile for a workspace. `protected` are paths in it.

    `folder` is an absolute path without links, as `realpath` returns it: the kernel compares real paths. Without a port
    there is no network at all.
    """
    top = folder.rstrip("/")
    rules = [
        "(version 1)",
        "(deny default)",
        "(allow process-fork)",
        "(allow process-exec)",
        "(allow signal (target same-sandbox))",
        "(allow sysctl-read)",
        *(f"(allow mach-lookup (global-name {_quote(name)}))" for name in _SERVICES),
        "(allow file-read-metadata)",
        *(f"(allow file-read* (subpath {_quote(path)}))" for path in (*_READABLE, *readable)),
        f"(allow file-read* file-write* (subpath {_quote(top)}))",
        '(allow file-read* file-write* (subpath "/private/tmp/heald"))',
        *(f"(allow file-read* file-write* (literal {_quote(path)}))" for path in _DEVICES),
        *_protect(top, protected),  # the last rule that matches counts
        "(deny network*)",
    ]
    if port is not None:
        rules.append(f'(allow network-outbound (remote ip "localhost:{port}"))')
    return "\n".join([*rules, ""])


def _protect(top: str, protected: Sequence[str]) -> list[str]:
    """Deny writing to protected paths, and moving the folders that lead to them."""
    paths = [path.strip("/") for path in protected]
    parents = dict.fromkeys(
        "/".join(path.split("/")[:depth]) for path in paths for depth in range(1, path.count("/") + 1)
    )
    return [
        *(f"(deny file-write* (subpath {_quote(f'{top}/{path}')}))" for path in paths),
        *(f"(deny file-write-unlink (literal {_quote(f'{top}/{path}')}))" for path in parents),
    ]


def _quote(text: str) -> str:
    """A string of the profile's language, which is that of Scheme."""
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise ValueError(f"The path {text!r} holds a control character.")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
