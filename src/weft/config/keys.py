"""Describes the keys of a configuration table: type, allowed values, help and default."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast, get_args, get_origin

import msgspec
from msgspec import inspect

from weft.config.schema import COMMANDS, DATA_COMMANDS, SHARED, Everywhere, counts_everywhere


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table. See `schema.option` for the fields that are declared there."""

    name: str
    table: str
    """The table that holds it, or "" for the top of the file."""
    annotation: Any
    words: str
    """Allowed values, as in "must be …"."""
    help: str
    choices: tuple[str, ...]
    number: type[int] | type[float] | None
    is_bool: bool
    is_list: bool
    is_names: bool
    """A name, or a list of names."""
    is_table: bool = False
    default: Any = None
    without: str = ""
    group: str = ""
    metavar: str = ""
    aliases: tuple[str, ...] = ()
    is_path: bool = False
    user_only: bool = False
    required: bool = False
    own_flag: str = ""

    @property
    def flag(self) -> str:
        return self.own_flag or f"--{self.name.replace('_', '-')}"

    def variables(self, command: str) -> list[str]:
        """Environment variables that set the key for a command, the stronger last."""
        general = [f"WEFT_{self.name.upper()}"] if counts_everywhere(command, self.name) else []
        return [*general, *([f"WEFT_{self.table.upper()}_{self.name.upper()}"] if self.table else [])]


@cache
def command_keys(command: str) -> dict[str, Key]:
    """Settings of a command, by the attribute of its options."""
    if command in DATA_COMMANDS:
        return {name: describe_keys(Everywhere)[name] for name in DATA_COMMANDS[command]}
    keys = dict(describe_keys(COMMANDS[command], command)) if command in COMMANDS else {}
    for name, (table, commands) in SHARED.items():
        if command in commands:
            keys |= {f"{name}_{key}": each for key, each in describe_keys(table, name).items()}
    return keys


@cache
def describe_keys(table: type[msgspec.Struct], name: str = "") -> dict[str, Key]:
    """The keys of a table, in their order."""
    info = inspect.type_info(table)
    assert isinstance(info, inspect.StructType)
    types = {field.name: field.type for field in msgspec.structs.fields(table)}
    return {
        field.encode_name: _describe_key(name, field.encode_name, types[field.name], field.type)
        for field in info.fields
    }


def convert_value(key: Key, value: Any, *, strict: bool = True) -> Any:
    """Convert a value to the type of its key. Raises ValueError with what it must be."""
    try:
        return msgspec.convert(value, key.annotation, strict=strict)
    except msgspec.ValidationError:
        raise ValueError(f"must be {key.words}") from None


def _describe_key(table: str, name: str, annotation: Any, info: inspect.Type) -> Key:
    text = ""
    extra: dict[str, Any] = {}
    while isinstance(info, inspect.Metadata):
        text = text or cast("dict[str, str]", info.extra_json_schema or {}).get("description", "")
        extra |= cast("dict[str, Any]", info.extra or {})
        info = info.type
    parts = [_unwrap(each) for each in (info.types if isinstance(info, inspect.UnionType) else (info,))]
    kinds = {type(part) for part in parts}
    if inspect.ListType in kinds and extra.get("default") is None:
        extra["default"] = []
    if kinds == {inspect.DictType} and extra.get("default") is None:
        extra["default"] = {}
    return Key(
        name=name,
        table=table,
        annotation=annotation,
        words=" or ".join(_describe_type(each) for each in parts),
        help=text,
        choices=_literals(annotation),
        number=int if inspect.IntType in kinds else float if inspect.FloatType in kinds else None,
        is_bool=kinds == {inspect.BoolType},
        is_list=kinds == {inspect.ListType},
        is_names=kinds == {inspect.ListType, inspect.StrType},
        is_table=kinds == {inspect.DictType},
        **extra,
    )


def _unwrap(info: inspect.Type) -> inspect.Type:
    return _unwrap(info.type) if isinstance(info, inspect.Metadata) else info


def _literals(annotation: Any) -> tuple[str, ...]:
    """The values of a Literal, in the order of its declaration."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return next((found for each in get_args(annotation) if (found := _literals(each))), ())


def _describe_type(info: inspect.Type) -> str:
    match info:
        case inspect.StrType():
            return "text"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return f"a whole number{_describe_bounds(info)}"
        case inspect.FloatType():
            return f"a number{_describe_bounds(info)}"
        case inspect.LiteralType(values=values):
            return f"one of {', '.join(map(str, values))}"
        case inspect.ListType():
            return "a list of texts"
        case inspect.DictType(value_type=inspect.StrType()):
            return "a table of texts"
        case _:
            return "a table"


def _describe_bounds(info: inspect.IntType | inspect.FloatType) -> str:
    if info.ge is not None and info.le is not None:
        return f" from {info.ge} to {info.le}"
    if info.ge is not None:
        return f" of at least {info.ge}"
    return f" above {info.gt}" if info.gt is not None else ""
