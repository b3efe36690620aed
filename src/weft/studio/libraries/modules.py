"""Packages that only come as CommonJS, as the ES modules that a page can import.

Every address of a package leads to one module, however its version is written, so that a page never has two Reacts.
"""

import re

_EXPORT = re.compile(r"^\s*exports\.([A-Za-z_$][\w$]*)\s*=(?!=)", re.MULTILINE)
_REQUIRE = re.compile(r"""\brequire\((["'])([^"']+)\1\)""")

FILES = {
    ("clsx", ""): "dist/clsx.js",
    ("lucide-react", ""): "dist/cjs/lucide-react.js",
    ("react", ""): "cjs/react.production.js",
    ("react", "jsx-runtime"): "cjs/react-jsx-runtime.production.js",
    ("react-dom", ""): "cjs/react-dom.production.js",
    ("react-dom", "client"): "cjs/react-dom-client.production.js",
    ("scheduler", ""): "cjs/scheduler.production.js",
}
"""The file behind each name that can be imported: package and sub-path."""

_NAMES = {"clsx": ("clsx",)}
"""Names of packages that export in a way that cannot be read off."""


def as_module(source: str, name: str, up: str, suffix: str) -> str:
    """A CommonJS file as an ES module; what it requires is imported from beside it."""
    needs = list(dict.fromkeys(found[2] for found in _REQUIRE.finditer(source)))
    imports = "".join(f'import need{at} from "{up}{need}{suffix}";\n' for at, need in enumerate(needs))
    table = ",".join(f'"{need}":need{at}' for at, need in enumerate(needs))
    names = _NAMES.get(name) or tuple(dict.fromkeys(_EXPORT.findall(source)))
    named = "".join(f",{each}" for each in names if each != "default")
    return (
        f"{imports}const needs={{{table}}};\n"
        "const module={exports:{}};\n"
        f"(function(module,exports,require){{{source}\n}})(module,module.exports,(name)=>needs[name]);\n"
        f"export default module.exports;\nexport const {{{named[1:]}}}=module.exports;\n"
    )


def pointer(target: str) -> str:
    """A module that is another one."""
    return f'export * from "{target}";\nexport {{default}} from "{target}";\n'
