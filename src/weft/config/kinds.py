"""A key of the schema: what it may hold, in words, and what is said of it."""

from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import UnsetType
from msgspec.inspect import (
    BoolType,
    CustomType,
    DictType,
    FloatType,
    IntType,
    ListType,
    LiteralType,
    Metadata,
    StrType,
    StructType,
    Type,
    UnionType,
    type_info,
)


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of one key."""

    type: Any
    words: str
    """What it may hold, as in "must be …"."""
    said: str
    user_only: bool
    """No folder may say it."""
    is_path: bool
    is_list: bool
    """A list and nothing else."""
    required: bool


@cache
def kinds_of(table: type[msgspec.Struct]) -> dict[str, Kind]:
    """The keys of a table, in their order."""
    info = type_info(table)
    assert isinstance(info, StructType)
    return {field.encode_name: _kind(table, field.name, field.type, field.required) for field in info.fields}


def converted(kind: Kind, value: Any, *, strict: bool = True) -> Any:
    """The value, if it fits. Raises ValueError with what it must be."""
    try:
        return msgspec.convert(value, kind.type, strict=strict)
    except msgspec.ValidationError:
        raise ValueError(f"must be {kind.words}") from None


def _kind(table: type[msgspec.Struct], name: str, info: Type, required: bool) -> Kind:
    said = ""
    extra: dict[str, Any] = {}
    while isinstance(info, Metadata):
        said = said or cast("dict[str, str]", info.extra_json_schema or {}).get("description", "")
        extra |= cast("dict[str, Any]", info.extra or {})
        info = info.type
    parts = [each for each in (info.types if isinstance(info, UnionType) else (info,)) if not _is_unset(each)]
    return Kind(
        type=next(field.type for field in msgspec.structs.fields(table) if field.name == name),
        words=" or ".join(_words(each) for each in parts),
        said=said,
        user_only=bool(extra.get("user_only")),
        is_path=bool(extra.get("path")),
        is_list=len(parts) == 1 and isinstance(parts[0], ListType),
        required=required,
    )


def _is_unset(info: Type) -> bool:
    return isinstance(info, CustomType) and info.cls is UnsetType


def _words(info: Type) -> str:
    match info:
        case Metadata(type=inner):
            return _words(inner)
        case StrType():
            return "text"
        case BoolType():
            return "true or false"
        case IntType():
            return f"a whole number{_bounds(info)}"
        case FloatType():
            return f"a number{_bounds(info)}"
        case LiteralType(values=values):
            return f"one of {', '.join(map(str, values))}"
        case ListType():
            return "a list of texts"
        case DictType():
            return "a table of texts"
        case _:
            return "a table"


def _bounds(info: IntType | FloatType) -> str:
    if info.ge is not None and info.le is not None:
        return f" from {info.ge} to {info.le}"
    if info.ge is not None:
        return f" of at least {info.ge}"
    return f" above {info.gt}" if info.gt is not None else ""
