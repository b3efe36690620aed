"""The scripts that hold what previews of Svelte and Astro need beside the loader: a runtime and a compiler."""

import base64
import gzip
import json
import posixpath
import re
from functools import cache

from heald_studio.cdn.packages import find_file, read_file, wrap_commonjs

_SVELTE = "svelte"
_ENTRIES = {
    "svelte": "src/index-client.js",
    "svelte/animate": "src/animate/index.js",
    "svelte/attachments": "src/attachments/index.js",
    "svelte/easing": "src/easing/index.js",
    "svelte/events": "src/events/index.js",
    "svelte/internal/client": "src/internal/client/index.js",
    "svelte/internal/disclose-version": "src/internal/disclose-version.js",
    "svelte/internal/flags/async": "src/internal/flags/async.js",
    "svelte/internal/flags/legacy": "src/internal/flags/legacy.js",
    "svelte/legacy": "src/legacy/legacy-client.js",
    "svelte/motion": "src/motion/index.js",
    "svelte/reactivity": "src/reactivity/index-client.js",
    "svelte/reactivity/window": "src/reactivity/window/index.js",
    "svelte/store": "src/store/index-client.js",
    "svelte/transition": "src/transition/index.js",
}
"""The modules of Svelte that a project may import, and their files for the browser."""
_INNER = {**_ENTRIES, "#client/constants": "src/internal/client/constants.js"}
_ENVIRONMENT = "export const BROWSER = true;\nexport const DEV = false;\nexport const NODE = false;\n"
_IMPORT = re.compile(
    r"""^(?P<head>import\s+(?:[\w$*{}\s,]+?\sfrom\s+)?|export\s+(?:\*(?:\s+as\s+[\w$]+)?|\{[^}]*\})\s+from\s+)"""
    r"""(?P<quote>["'])(?P<name>[^"'\n]+)(?P=quote)""",
    re.MULTILINE,
)
_DOCUMENTATION = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*\n", re.MULTILINE | re.DOTALL)


@cache
def svelte_script() -> bytes | None:
    """Return the script that makes the modules of Svelte's runtime known, as an import map; None without its files."""
    if find_file(_SVELTE, _ENTRIES["svelte"]) is None:
        return None
    modules = _svelte_modules()
    table = json.dumps(modules, ensure_ascii=False).replace("</", "<\\/")
    names = json.dumps(sorted(name for name in _ENTRIES if "/internal/" not in name))
    every = json.dumps(sorted(_ENTRIES))
    return f"""(() => {{
const modules = {table};
const imports = {{}};
for (const [name, code] of Object.entries(modules)) {{
  imports[name] = URL.createObjectURL(new Blob([code], {{ type: "text/javascript" }}));
}}
const element = document.createElement("script");
element.type = "importmap";
element.textContent = JSON.stringify({{ imports }});
document.currentScript.after(element);
window.healdSvelte = {{ names: {names}, modules: {every} }};
}})();
""".encode()


def _svelte_modules() -> dict[str, str]:
    """Return the code of each module by the name that others import it by."""
    clsx = find_file("clsx", "dist/clsx.js")
    modules = {"esm-env": _ENVIRONMENT}
    if clsx is not None:
        modules["clsx"] = wrap_commonjs(read_file(*clsx).decode(), "clsx", "", "")
    names = {path: name for name, path in _ENTRIES.items()}
    waiting = list(_ENTRIES.values())
    while waiting:
        path = waiting.pop()
        if names.setdefault(path, f"{_SVELTE}/{path}") in modules:
            continue
        file = find_file(_SVELTE, path)
        if file is None:
            continue
        folder = posixpath.dirname(path)

        def renamed(match: re.Match[str], folder: str = folder) -> str:
            name = match["name"]
            target = posixpath.normpath(f"{folder}/{name}") if name.startswith(".") else _INNER.get(name)
            if target is None:
                return match[0]
            waiting.append(target)
            return f'{match["head"]}"{names.setdefault(target, f"{_SVELTE}/{target}")}"'

        modules[names[path]] = _IMPORT.sub(renamed, _DOCUMENTATION.sub("", read_file(*file).decode()))
    return modules


@cache
def astro_script() -> bytes | None:
    """Return the script with Astro's compiler and its WebAssembly, compressed; None without its files."""
    compiler = find_file("@astrojs/compiler", "dist/browser/index.cjs")
    program = find_file("@astrojs/compiler", "dist/astro.wasm")
    if compiler is None or program is None:
        return None
    wasm = base64.b64encode(gzip.compress(read_file(*program), 6, mtime=0))
    start = b"window.healdAstro={start(module,exports,fetch){" + read_file(*compiler) + b'\n},wasm:"'
    return start + wasm + b'"};\n'
