"""Checks the arguments of the public functions and classes by their annotations.

`checked` wraps a function, `check_fields` is called by a struct when it is made. Both raise ConfigurationError with one
sentence: which argument, what it must be, what it is, and the nearest valid value. An argument that is left at its
default is not checked, so a call costs about a microsecond more. What cannot be decided by a type (a protocol that is
not checkable at run time, a type variable) is accepted.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, wraps
from itertools import compress
from operator import is_not
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeVar, Union, cast, get_args, get_origin

import msgspec

from heald.core.errors import ConfigurationError

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Matches = Callable[[Any], bool]
_Parameters = dict[str, tuple[Any, _Matches, Any]]
"""The default of each parameter, the test of its values, and its annotation."""

_TEXTS = (str, bytes, bytearray)
_SETS = (set, frozenset)
_NOT_BY_CLASS = (Any, object, int, float)
"""Types that `isinstance` alone does not decide on: `True` is not an int here, and an int is a float."""
_NEAR = 0.6
_MAX_SHOWN = 60
_MISSING = object()


def checked(function: _Function) -> _Function:
    """Check the arguments of a function before it is called."""
    names: list[str] = []
    parameters: _Parameters = {}
    takes_any_keyword = False

    def read_signature() -> None:
        nonlocal takes_any_keyword
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                takes_any_keyword = True
            elif parameter.kind is not parameter.VAR_POSITIONAL:
                annotation = Any if parameter.annotation is parameter.empty else parameter.annotation
                parameters[parameter.name] = parameter.default, _matcher(annotation), annotation
                if parameter.kind is not parameter.KEYWORD_ONLY:
                    names.append(parameter.name)

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if not parameters:
            read_signature()
        for name, value in keywords.items():
            if name in parameters:
                default, matches, annotation = parameters[name]
                if value is not default and matches is not _accept and not matches(value):
                    raise ConfigurationError(f"{_title(function)}: {_fault(name, value, annotation)}")
            elif not takes_any_keyword:
                choices = [name for name in parameters if name != "self"]
                raise TypeError(
                    f"{_title(function)} has no argument {name!r}; {nearest_or_all(name, choices)}"
                ) from None
        for name, value in zip(names, arguments, strict=False):
            default, matches, annotation = parameters[name]
            if value is not default and matches is not _accept and not matches(value):
                raise ConfigurationError(f"{_title(function)}: {_fault(name, value, annotation)}")
        return function(*arguments, **keywords)

    return cast("_Function", call)


def checks_keywords(function: _Function) -> _Function:
    """Raise TypeError with the nearest name for a keyword that a function does not have. Values are not checked."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    parameters = frozenset(names)

    def refuse(keywords: Iterable[str]) -> None:
        check_keywords(function.__name__, keywords, [name for name in names if name != "self"])

    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def call_async(*arguments: Any, **keywords: Any) -> Any:
            if not parameters.issuperset(keywords):
                refuse(keywords)
            return await function(*arguments, **keywords)

        return cast("_Function", call_async)

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if not parameters.issuperset(keywords):
            refuse(keywords)
        return function(*arguments, **keywords)

    return cast("_Function", call)


class CheckedFields(msgspec.StructMeta):
    """The metaclass of structs that programs make. An unknown field raises TypeError with the nearest one."""

    if not TYPE_CHECKING:  # a type checker reads the fields of the struct

        def __call__(cls, *arguments: Any, **fields: Any) -> Any:  # noqa: N805
            try:
                return super().__call__(*arguments, **fields)
            except TypeError:
                check_keywords(cls.__name__, fields, cls.__struct_fields__)
                raise


def check_fields(value: msgspec.Struct) -> None:
    """Check the fields of a struct that a program makes: msgspec checks only those that it decodes."""
    kind = type(value)
    fields = _fields(kind)
    values = msgspec.structs.astuple(value)
    changed: Iterable[int] = compress(fields.plain, map(is_not, map(values.__getitem__, fields.plain), fields.defaults))
    containers = tuple(map(values.__getitem__, fields.containers))
    if any(containers) or tuple(map(type, containers)) != fields.factories:  # not all are empty ones of their own
        changed = sorted((*changed, *fields.containers))
    for index in changed:
        name, matches, annotation = fields.rows[index]
        if not matches(values[index]):
            raise ConfigurationError(f"{kind.__name__}: {_fault(name, values[index], annotation)}")


def check_value(title: str, name: str, value: object, annotation: Any, advice: str = "") -> None:
    """Check one argument of a function that is not `checked` as a whole. `advice` says what to do."""
    if not _matcher(annotation)(value):
        fault = _fault(name, value, annotation)
        raise ConfigurationError(f"{title}: {fault.removesuffix('.')}; {advice}" if advice else f"{title}: {fault}")


def check_keywords(title: str, keywords: Iterable[str], choices: Collection[str]) -> None:
    """Raise TypeError for a keyword that a function does not have."""
    for name in keywords:
        if name not in choices:
            raise TypeError(f"{title} has no argument {name!r}; {nearest_or_all(name, choices)}")


def check_positive(value: msgspec.Struct, names: Iterable[str]) -> None:
    """Raise ConfigurationError for a field that is set and not greater than 0."""
    for name in names:
        field = getattr(value, name)
        if field is not None and not field > 0:
            raise ConfigurationError(f"{type(value).__name__}: {name} is {field!r}; it must be greater than 0.")


def nearest(name: str, choices: Iterable[str], similarity: float = _NEAR) -> str | None:
    """Return the most similar choice, or None."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(choices), 1, similarity)), None)


def nearest_or_all(name: str, choices: Collection[str]) -> str:
    """Return the end of a sentence: the most similar choice, or all of them."""
    choice = nearest(name, choices)
    return f"did you mean {choice!r}?" if choice is not None else f"there are {', '.join(choices)}."


# --- one argument ----------------------------------------------------------------------------------------------------


def _title(function: Callable[..., Any]) -> str:
    owner, _, name = function.__qualname__.rpartition(".")
    return owner if name == "__init__" else name


class _Fields(msgspec.Struct, frozen=True):
    """The fields of a struct, by their numbers."""

    rows: list[tuple[str, _Matches, Any]]
    """The name, the test and the type of each."""
    plain: list[int]
    defaults: list[Any]
    """The default of each plain field."""
    containers: list[int]
    """The fields whose default is an empty container."""
    factories: tuple[type, ...]
    """The class of each of them."""


@cache
def _fields(kind: type[msgspec.Struct]) -> _Fields:
    infos = msgspec.structs.fields(kind)
    rows = [(info.name, _matcher(info.type), info.type) for info in infos]
    containers = [number for number, info in enumerate(infos) if isinstance(info.default_factory, type)]
    plain = [number for number in range(len(infos)) if number not in containers]
    defaults = [_MISSING if infos[number].default is msgspec.NODEFAULT else infos[number].default for number in plain]
    return _Fields(rows, plain, defaults, containers, tuple(infos[number].default_factory for number in containers))


def _fault(name: str, value: Any, annotation: Any) -> str:
    for kind in _kinds(annotation):
        item = _item_type(kind)
        if item is None or not _is_collection(value, get_origin(kind)):
            continue
        for number, entry in enumerate(cast("Iterable[Any]", value)):
            if not _matcher(item)(entry):
                return _fault(f"item {number} of {name}", entry, item)
    return f"{name} must be {_describe(annotation)}, not {_show(value)}{_hint(value, annotation)}"


def _show(value: Any) -> str:
    if value is None or isinstance(value, (str, int, float)):
        text = repr(value)
        return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return f"{_article(name)} {name}"


def _article(word: str) -> str:
    is_vowel = word[:1].lower() in "aeiou" and not word.lower().startswith(("uni", "ur", "us", "ut"))
    return "an" if is_vowel else "a"


def _hint(value: Any, annotation: Any) -> str:
    """Return the end of the sentence: what to write instead."""
    kinds = _kinds(annotation)
    structs = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]
    if len(structs) == 1 and isinstance(value, Mapping):
        return _struct_hint(structs[0], cast("Mapping[Any, Any]", value))
    if len(structs) == 1 and isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return _field_hint(structs[0], value)
    choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    if isinstance(value, str) and choices and (choice := nearest(value, choices)) is not None:
        return f"; did you mean {choice!r}?"
    for kind in kinds:
        item = _item_type(kind)
        if item is not None and _matcher(item)(value):
            return f"; put it in a list: [{_show(value)}]." if isinstance(value, str) else "; put it in a list."
    return "."


def _field_hint(kind: type[msgspec.Struct], value: str | float) -> str:
    """Return which field of a struct a plain value may be meant for."""
    names = [
        name
        for name, matches, annotation in _fields(kind).rows
        if (str not in _kinds(annotation) if isinstance(value, str) else annotation is not Any) and matches(value)
    ]
    if not names:
        return "."
    if len(names) == 1:
        return f"; write {kind.__name__}({names[0]}={value!r})."
    return f"; write {kind.__name__}(…={value!r}) with one of {', '.join(names)}."


def _struct_hint(kind: type[msgspec.Struct], value: Mapping[Any, Any]) -> str:
    names = kind.__struct_fields__
    for name in value:
        if name not in names:
            return f"; {kind.__name__} has no field {name!r}, {nearest_or_all(str(name), names)}"
    arguments = ", ".join(f"{name}={item!r}" for name, item in value.items())
    return f"; write {kind.__name__}({arguments if len(arguments) <= _MAX_SHOWN else '…'})."


# --- types -----------------------------------------------------------------------------------------------------------


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the type itself."""
    annotation = _plain(annotation)
    if get_origin(annotation) in (Union, UnionType):
        return tuple(kind for member in get_args(annotation) for kind in _kinds(member))
    return (annotation,)


def _plain(annotation: Any) -> Any:
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    return NoneType if annotation is None else annotation


def _item_type(annotation: Any) -> Any:
    """Return the type of the items of a sequence or a set, else None."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if not isinstance(origin, type) or not arguments or issubclass(origin, Mapping):
        return None
    return arguments[0] if issubclass(origin, Collection) or issubclass(list, origin) else None


def _describe(annotation: Any) -> str:
    """Return a type in words."""
    names: dict[str, None] = {}
    for kind in _kinds(annotation):
        if kind is msgspec.UnsetType:
            continue  # stands for an argument that is left out
        origin = get_origin(kind)
        if origin is Literal:
            names |= dict.fromkeys(repr(choice) for choice in get_args(kind))
        elif _item_type(kind) is not None:
            names["a list"] = None
        elif origin is not None and origin is not type:
            name = "function" if origin is Callable else getattr(origin, "__name__", str(origin))
            names[f"{_article(name)} {name}"] = None
        else:
            names[_WORDS.get(kind) or _class_words(kind)] = None
    words = list(names)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


_WORDS: dict[Any, str] = {
    NoneType: "None",
    str: "a str",
    bool: "True or False",
    float: "a number",
    int: "an int",
    dict: "a dict",
    Callable: "a function",
}


def _class_words(kind: Any) -> str:
    name = getattr(kind, "__name__", str(kind))
    return f"{_article(name)} {name}"


@cache
def _matcher(annotation: Any) -> _Matches:
    """Return a function that tells whether a value is of a type."""
    kinds = _kinds(annotation)
    if len(kinds) == 1:
        return _kind_matcher(kinds[0])
    if (classes := _plain_classes(kinds)) is not None:
        return lambda value: isinstance(value, classes)
    matchers = [_kind_matcher(kind) for kind in kinds]
    if any(matcher is _accept for matcher in matchers):
        return _accept
    if len(matchers) == 2 and kinds[1] is NoneType:  # the usual case
        first = matchers[0]
        return lambda value: value is None or first(value)
    plain = [kind for kind in kinds if _plain_classes((kind,)) is not None]
    classes = _plain_classes(plain) or ()
    slower = [matcher for kind, matcher in zip(kinds, matchers, strict=True) if kind not in plain]
    return lambda value: isinstance(value, classes) or any(matches(value) for matches in slower)


def _plain_classes(kinds: Iterable[Any]) -> tuple[type, ...] | None:
    """Return the classes of a union that holds nothing else, so that one `isinstance` decides on it."""
    classes: list[type] = []
    for kind in kinds:
        if kind is dict or get_origin(kind) is dict:
            classes += (dict, Mapping)
        elif not isinstance(kind, type) or kind in _NOT_BY_CLASS or getattr(kind, "_is_protocol", False):
            return None
        else:
            classes.append(kind)
    return tuple(classes)


def _kind_matcher(kind: Any) -> _Matches:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in (Any, object) or isinstance(kind, (TypeVar, str)):
        return _accept
    if origin is Literal:
        return lambda value: isinstance(value, (str, int)) and value in arguments
    if kind is Callable or origin is Callable or getattr(origin, "__name__", "") == "Callable":
        return callable
    if kind is float:
        return lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
    if kind is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    if (item := _item_type(kind)) is not None:
        return _items_matcher(cast("type", origin), item)
    return _class_matcher(origin if isinstance(origin, type) else kind)


def _class_matcher(kind: Any) -> _Matches:
    if not isinstance(kind, type):
        return _accept
    if (
        getattr(kind, "_is_protocol", False)
        and kind is not Protocol
        and not getattr(kind, "_is_runtime_protocol", False)
    ):
        return _protocol_matcher(kind)
    if kind is dict:
        return lambda value: isinstance(value, (dict, Mapping))
    return lambda value: isinstance(value, kind)


def _protocol_matcher(protocol: type) -> _Matches:
    """Accept what has the methods of a protocol: a plain value such as a text or a number has not."""
    members = {name: member for kind in protocol.__mro__ for name, member in vars(kind).items()}
    methods = [name for name, member in members.items() if callable(member) and not name.startswith("_")]
    return lambda value: all(hasattr(value, name) for name in methods)


def _items_matcher(origin: type, item: Any) -> _Matches:
    matches = _matcher(item)
    is_set = origin in _SETS

    def matches_items(value: Any) -> bool:
        if type(value) is list and not is_set:  # the usual case
            return not value or matches is _accept or all(map(matches, cast("Any", value)))
        if not isinstance(value, Collection):  # an iterator is read once, by the function itself
            return isinstance(value, origin)
        return _is_collection(cast("object", value), origin) and (
            matches is _accept or all(map(matches, cast("Any", value)))
        )

    return matches_items


def _is_collection(value: object, origin: Any) -> bool:
    """Whether a value is a collection that is accepted for a type: any but a text or a mapping, for most of them."""
    if isinstance(value, (*_TEXTS, Mapping)) or not isinstance(value, Collection):
        return False
    return origin not in _SETS or isinstance(value, _SETS)


def _accept(value: Any) -> bool:  # noqa: ARG001
    return True
