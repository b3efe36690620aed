"""Describes the keys of a configuration table: type, allowed values, help and default."""

from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import msgspec

from weft.config.schema import COMMANDS, DATA_COMMANDS, SHARED, Everywhere, counts_everywhere
from weft.config.shared_tables import list_fields


class Key(msgspec.Struct, frozen=True):
    """One key of a table. See `option` for the fields that are declared there."""

    name: str
    table: str
    """The table that holds it, or "" for the top of the file."""
    annotation: Any
    choices: tuple[str, ...]
    number: type[int] | type[float] | None
    is_bool: bool
    is_list: bool
    is_names: bool
    """A name, or a list of names."""
    is_table: bool
    help: str = ""
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

    @property
    def words(self) -> str:
        """Allowed values, as in "must be …"."""
        return " or ".join(_describe_type(each) for each in _union_parts(self.annotation))

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
def describe_keys(table: type, name: str = "") -> dict[str, Key]:
    """The keys of a table, or of a struct whose fields are keys, in their order."""
    return {
        field: _describe_key(name, field, annotation, getattr(table, field))
        for field, annotation in list_fields(table).items()
    }


def convert_value(key: Key, value: Any, *, strict: bool = True) -> Any:
    """Convert a value to the type of its key. Raises ValueError with what it must be."""
    try:
        return msgspec.convert(value, key.annotation, strict=strict)
    except msgspec.ValidationError:
        raise ValueError(f"must be {key.words}") from None


def _describe_key(table: str, name: str, annotation: Any, declared: Any) -> Key:
    """Describe a key from its type and its `option`. A field of a struct has none."""
    options = dict(cast("dict[str, Any]", declared)) if isinstance(declared, dict) else {}
    kinds = {_kind_of(part) for part in _union_parts(annotation)}
    if options.get("default") is None and (list in kinds or kinds == {dict}):
        options["default"] = [] if list in kinds else {}
    return Key(
        name=name,
        table=table,
        annotation=annotation,
        choices=_literals(annotation),
        number=int if int in kinds else float if float in kinds else None,
        is_bool=kinds == {bool},
        is_list=kinds == {list},
        is_names=kinds == {list, str},
        is_table=kinds == {dict},
        **options,
    )


def _metas(annotation: Any) -> list[msgspec.Meta]:
    """The constraints of a type."""
    return [each for each in getattr(annotation, "__metadata__", ()) if isinstance(each, msgspec.Meta)]


def _unwrap(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _union_parts(annotation: Any) -> list[Any]:
    """The types that a key may have, with their constraints."""
    inner = _unwrap(annotation)
    return list(get_args(inner)) if get_origin(inner) in (Union, UnionType) else [annotation]


def _kind_of(annotation: Any) -> Any:
    inner = _unwrap(annotation)
    return get_origin(inner) or inner


def _literals(annotation: Any) -> tuple[str, ...]:
    """The values of a Literal, in the order of its declaration."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return next((found for each in get_args(annotation) if (found := _literals(each))), ())


def _describe_type(annotation: Any) -> str:
    kind = _kind_of(annotation)
    if kind is Literal:
        return f"one of {', '.join(sorted(map(str, get_args(_unwrap(annotation)))))}"
    if kind is dict:
        return "a table of texts" if get_args(_unwrap(annotation))[1:] == (str,) else "a table"
    if kind in (int, float):
        return f"a {'whole ' * (kind is int)}number{_describe_bounds(_metas(annotation))}"
    return {str: "text", bool: "true or false", list: "a list of texts"}.get(kind, "a table")


def _describe_bounds(metas: list[msgspec.Meta]) -> str:
    least, most, above = (
        next((value for meta in metas if (value := getattr(meta, name)) is not None), None)
        for name in ("ge", "le", "gt")
    )
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f" of at least {least}"
    return f" above {above}" if above is not None else ""
