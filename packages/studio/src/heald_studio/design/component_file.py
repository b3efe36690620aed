"""The components of one source file: React functions, Vue and Svelte files, with the props that they declare."""

import posixpath
import re
from collections.abc import Iterator
from itertools import islice

from heald.core.lazy import lazy_pattern
from heald_studio.design.component import ComponentProp, DesignComponent
from heald_studio.design.script_value import ScriptExpression, ScriptReader, as_dict, as_list

COMPONENT_FILE = lazy_pattern(
    r"(?:^|/)(?:components?|ui|primitives|elements|atoms|molecules|organisms|widgets|design-system|lib)/"
    r"(?:[^/]+/)*[^/]+\.(?:tsx|jsx|vue|svelte)$"
)
NOT_COMPONENT = lazy_pattern(r"\.(?:stories|story|test|spec|cy|d)\.|__tests__|/tests?/|__mocks__|/icons?/")
_EXPORTED = lazy_pattern(
    r"export\s+(?:default\s+)?(?:async\s+)?(?:function|class|const|let)\s+(?P<name>[A-Z]\w*)|"
    r"export\s+default\s+(?:\w+\()*(?P<default>[A-Z]\w*)|export\s*\{(?P<list>[^{}]{0,4000})\}"
)
_DEFINED = lazy_pattern(r"(?m)^(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function|class|const|let)\s+([A-Z]\w*)")
_NOT_FUNCTION = lazy_pattern(
    r"(?:export\s+)?(?:const|let)\s+\w+[^=\n]*=\s*(?:createContext|React\.createContext|[\"'\d\[{]|z\.|new\s)"
)
_VARIANTS = lazy_pattern(r"(?:const|let)\s+(\w+)\s*=\s*(?:cva|tv)\(")
_PROPS = r"(?:interface\s+{name}\b[^{{]*|type\s+{name}\b[^=]*=[^{{;]*)\{{"
_MEMBER = lazy_pattern(r"(?:readonly\s+)?[\"']?([A-Za-z_$][\w$-]*)[\"']?\??\s*(?:\([^)]*\))?\s*:\s*(.*)", re.DOTALL)
_LITERAL = lazy_pattern(r"[\"']([^\"']*)[\"']")
_ONE_OF = lazy_pattern(r"oneOf\(\s*\[([^\]]*)\]")
_DEFINE_PROPS = lazy_pattern(r"defineProps\s*(?:<\s*(?P<type>\{|[A-Za-z]\w*))?|(?<![\w.])props\s*:\s*(?=[\[{])")
_SVELTE_LET = lazy_pattern(r"(?<![\w.])export\s+let\s+(\w+)\s*(?::\s*([^=;\n]+))?")
_SVELTE_PROPS = lazy_pattern(
    r"(?:let|const)\s*\{(?P<names>[^{}]{0,4000})\}\s*(?::\s*(?P<type>\w+|\{))?[^=]*=\s*\$props\("
)
_MAX_PROPS = 14
_MAX_VALUES = 12
_MAX_COMPONENTS = 12  # of one file
_IGNORED_PROPS = frozenset(["class", "className", "children", "style", "key", "ref", "slot"])


def read_components(path: str, text: str) -> list[DesignComponent]:
    """Read the components of a file; none if it has none."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    if stem == "index":
        stem = posixpath.basename(posixpath.dirname(path))
    if path.endswith(".vue"):
        return [DesignComponent(name=_pascal(stem), file=path, props=_bounded(_vue_props(text)))]
    if path.endswith(".svelte"):
        if stem.startswith("+"):
            return []  # a page of SvelteKit
        return [DesignComponent(name=_pascal(stem), file=path, props=_bounded(_svelte_props(text)))]
    return list(islice(_react_components(path, text), _MAX_COMPONENTS))


def _react_components(path: str, text: str) -> Iterator[DesignComponent]:
    starts = {match[1]: match.start() for match in _DEFINED.finditer(text)}
    order = sorted(starts.values())
    variants = dict(_variant_sets(text))
    for name in _exported_names(text):
        start = starts.get(name)
        if start is None or name.isupper() or _NOT_FUNCTION.match(text, start):
            continue
        end = next((other for other in order if other > start), len(text))
        props = list(_react_props(name, text, text[start:end], variants))
        yield DesignComponent(name=name, file=path, props=_bounded(props))


def _exported_names(text: str) -> list[str]:
    names: dict[str, None] = {}
    for match in _EXPORTED.finditer(text):
        if match["list"] is not None:
            words = [
                entry.strip().removeprefix("type ").partition(" as ")[0].strip() for entry in match["list"].split(",")
            ]
            names |= dict.fromkeys(word for word in words if word[:1].isupper())
        else:
            names[match["name"] or match["default"]] = None
    return list(names)


def _variant_sets(text: str) -> Iterator[tuple[str, list[ComponentProp]]]:
    """Yield what `cva` and `tv` declare: the name of each set, and its variants as props."""
    end = 0
    for match in _VARIANTS.finditer(text):
        at = text.find("variants:", match.end())
        if match.start() < end:
            continue
        following = _VARIANTS.search(text, match.end())
        if at < 0 or (following is not None and at > following.start()):
            continue
        reader = ScriptReader(text)
        values = as_dict(reader.read(at + len("variants:")))
        end = reader.end
        if values:
            yield (
                match[1],
                [ComponentProp(name, tuple(as_dict(choices))) for name, choices in values.items()],
            )


def _react_props(name: str, text: str, body: str, variants: dict[str, list[ComponentProp]]) -> Iterator[ComponentProp]:
    declared = ""
    for type_name in dict.fromkeys([f"{name}Props", *re.findall(r"\b(\w*Props)\b", body[:400])]):
        match = re.search(_PROPS.format(name=re.escape(type_name)), text)
        if match is not None:
            declared = text[match.start() : match.end()]
            yield from _members(_block(text, match.end() - 1))
            break
    else:
        inline = re.match(r"[^{]*\(\s*\{[^{}]*\}\s*:\s*[^{}()]*\{", body[:3000])
        if inline is not None:
            declared = body[: inline.end()]
            yield from _members(_block(body, inline.end() - 1))
        else:
            destructured = re.match(r"[^{]*?\(\s*\{([^{}]*)\}", body[:3000])
            if destructured is not None:
                yield from _names(destructured[1])
    for set_name, props in variants.items():
        if set_name in body or set_name in declared:
            yield from props
    if match := re.search(rf"{re.escape(name)}\.propTypes\s*=\s*(?=\{{)", text):
        values = ScriptReader(text).read(match.end())
        for prop, kind in as_dict(values).items():
            choices = _ONE_OF.search(kind.text) if isinstance(kind, ScriptExpression) else None
            yield ComponentProp(prop, tuple(_LITERAL.findall(choices[1])) if choices else ())


def _vue_props(text: str) -> Iterator[ComponentProp]:
    match = _DEFINE_PROPS.search(text)
    if match is None:
        return
    if match["type"] == "{":
        yield from _members(_block(text, match.start("type")))
    elif match["type"]:
        declared = re.search(_PROPS.format(name=re.escape(match["type"])), text)
        if declared is not None:
            yield from _members(_block(text, declared.end() - 1))
    else:
        at = match.end()
        opening = re.compile(r"\s*\(?\s*").match(text, at)
        values = ScriptReader(text).read(opening.end() if opening is not None else at)
        for name in as_dict(values) or as_list(values):
            if isinstance(name, str):
                yield ComponentProp(name)


def _svelte_props(text: str) -> Iterator[ComponentProp]:
    for match in _SVELTE_LET.finditer(text):
        yield ComponentProp(match[1], _union(match[2] or ""))
    match = _SVELTE_PROPS.search(text)
    if match is not None:
        declared = (
            re.search(_PROPS.format(name=re.escape(match["type"])), text) if match["type"] not in (None, "{") else None
        )
        if declared is not None:
            yield from _members(_block(text, declared.end() - 1))
        else:
            yield from _names(match["names"])


def _members(block: str) -> Iterator[ComponentProp]:
    """Yield the members of a TypeScript type."""
    block = re.sub(r"/\*.*?\*/|//[^\n]*", "", block, flags=re.DOTALL)
    for part in _split_members(block):
        member = _MEMBER.fullmatch(part.strip())
        if member is not None:
            yield ComponentProp(member[1], _union(member[2]))


def _split_members(block: str) -> Iterator[str]:
    part, depth = "", 0
    for letter in block:
        if letter in "{([<":
            depth += 1
        elif letter in "})]" or (letter == ">" and not part.endswith("=")):
            depth -= 1
        if depth <= 0 and (
            letter in ";," or (letter == "\n" and part.strip() and not part.rstrip().endswith((":", "|", "&")))
        ):
            yield part
            part = ""
        elif letter == "\n" and not part.strip():
            part = ""
        else:
            part += letter
    yield part


def _names(text: str) -> Iterator[ComponentProp]:
    """Yield the names that a pattern takes out of the props."""
    for entry in text.split(","):
        name = re.match(r"\s*([A-Za-z_$][\w$]*)", entry)
        if name is not None and "..." not in entry:
            yield ComponentProp(name[1])


def _union(text: str) -> tuple[str, ...]:
    """Return the texts of a union type such as "sm" | "lg"; none if it has anything else."""
    parts = [part.strip() for part in text.strip().rstrip(";").split("|") if part.strip()]
    literals = [_LITERAL.fullmatch(part) for part in parts]
    return tuple(literal[1] for literal in literals if literal) if parts and all(literals) else ()


def _block(text: str, at: int) -> str:
    """Return what stands between the brace at a place and the one that closes it."""
    depth = 0
    for end in range(at, min(len(text), at + 20_000)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[at + 1 : end]
    return ""


def _bounded(props: Iterator[ComponentProp] | list[ComponentProp]) -> tuple[ComponentProp, ...]:
    """Return the props without those that every component has; one that is declared twice keeps its values."""
    result: dict[str, ComponentProp] = {}
    for prop in props:
        if prop.name not in _IGNORED_PROPS and (prop.name not in result or prop.values):
            result[prop.name] = ComponentProp(prop.name[:60], tuple(value[:40] for value in prop.values[:_MAX_VALUES]))
    return tuple(result.values())[:_MAX_PROPS]


def _pascal(stem: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[-_. ]", stem))
