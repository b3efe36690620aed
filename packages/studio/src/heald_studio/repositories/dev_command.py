"""Reads from a repository's `package.json` how its packages are installed, its dev server started and its tests run."""

import hashlib
import os
from collections.abc import Mapping

import msgspec

from heald.tools.git.private_folder import read_bounded

_FRAMEWORKS = (
    ("next", "Next"),
    ("nuxt", "Nuxt"),
    ("astro", "Astro"),
    ("@sveltejs/kit", "SvelteKit"),
    ("@remix-run/dev", "Remix"),
    ("vite", "Vite"),
)
"""Packages that name the framework of a project. A project of the first ones may have the later ones too."""
_LOCK_FILES = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
)
_INSTALL = {
    "npm": "npm ci --no-audit --no-fund",
    "pnpm": "pnpm install --frozen-lockfile",
    "yarn": "yarn install --frozen-lockfile",
    "bun": "bun install --frozen-lockfile",
}
_SCRIPTS = ("dev", "start", "serve")
"""Scripts that start a dev server, the usual one first."""
_NO_TESTS = "no test specified"  # in the script that `npm init` writes


class _Package(msgspec.Struct, frozen=True):
    scripts: dict[str, str] = {}
    dependencies: dict[str, str] = {}
    dev_dependencies: dict[str, str] = msgspec.field(name="devDependencies", default_factory=dict[str, str])


class DevCommand(msgspec.Struct, frozen=True, kw_only=True):
    """The commands of a repository. They are its own: nothing of them runs before a person has agreed."""

    framework: str
    manager: str
    """The package manager that the lock file names."""
    command: str
    script: str
    """The text of the script that the command runs."""
    install: str
    test: str
    """Empty if the repository has no tests."""

    @property
    def digest(self) -> str:
        """Identifies what a person agrees to: another script needs another agreement."""
        parts = (self.command, self.script, self.install, self.test)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def read_dev_command(folder: str) -> DevCommand | None:
    """Return the commands of a repository; None if it has no `package.json` with a script for a dev server."""
    try:
        package = msgspec.json.decode(read_bounded(os.path.join(folder, "package.json")), type=_Package)
    except msgspec.DecodeError:
        return None
    script = next((name for name in _SCRIPTS if package.scripts.get(name)), None)
    if script is None:
        return None
    names = {**package.dependencies, **package.dev_dependencies}
    manager = _find_manager(folder)
    return DevCommand(
        framework=next((label for name, label in _FRAMEWORKS if name in names), "Node"),
        manager=manager,
        command=f"{manager} run {script}",
        script=package.scripts[script],
        install=_install_command(folder, manager),
        test=_test_command(package.scripts, manager),
    )


def is_installed(folder: str) -> bool:
    """Whether the packages of a repository were installed."""
    return any(os.path.exists(os.path.join(folder, name)) for name in ("node_modules", ".pnp.cjs"))


def _find_manager(folder: str) -> str:
    return next((name for file, name in _LOCK_FILES if os.path.isfile(os.path.join(folder, file))), "npm")


def _install_command(folder: str, manager: str) -> str:
    has_lock = any(os.path.isfile(os.path.join(folder, file)) for file, name in _LOCK_FILES if name == manager)
    return _INSTALL[manager] if has_lock else f"{manager} install"


def _test_command(scripts: Mapping[str, str], manager: str) -> str:
    text = scripts.get("test", "")
    return f"{manager} run test" if text and _NO_TESTS not in text else ""
