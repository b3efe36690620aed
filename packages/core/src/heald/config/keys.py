"""Describes the keys of a configuration table: type, allowed values, help and default."""

from collections.abc import Callable, Sequence
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import msgspec

from heald.config.command_tables import command_table, find_command, shared_tables
from heald.config.schema import TOP_KEYS, Everywhere
from heald.config.table import list_fields


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
    at_top: bool = True
    completions: Callable[[], Sequence[str]] | None = None

    @property
    def flag(self) -> str:
        return self.own_flag or f"--{self.name.replace('_', '-')}"

    @property
    def words(self) -> str:
        """Allowed values, as in "must be …"."""
        if self.has_named_choices:
            return f"one of {', '.join(sorted(self.choices))}"
        return " or ".join(_describe_type(part) for part in _union_parts(self.annotation))

    @property
    def has_named_choices(self) -> bool:
        """Whether the allowed texts are the names of plugins. Otherwise the type has them."""
        return self.annotation is str and bool(self.choices)

    @property
    def counts_at_top(self) -> bool:
        """Whether the key may also stand at the top of a file, for every command that has it."""
        return self.at_top and self.name in TOP_KEYS

    def variables(self) -> list[str]:
        """Environment variables that set the key, the stronger last."""
        general = [f"HEALD_{self.name.upper()}"] if self.counts_at_top else []
        return [*general, *([f"HEALD_{self.table.upper()}_{self.name.upper()}"] if self.table else [])]


@cache
def command_keys(command: str) -> dict[str, Key]:
    """Settings of a command, by the attribute of its options."""
    declared = find_command(command)
    if declared is None:
        return {}
    keys = {name: describe_keys(Everywhere)[name] for name in declared.keys}
    table = command_table(command)
    if table is not None:
        keys |= describe_keys(table, command)
    for name, shared, some in shared_tables(command):
        described = describe_keys(shared, name)
        keys |= {f"{name}_{key}": described[key] for key in (described if some is None else some)}
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
        converted = msgspec.convert(value, key.annotation, strict=strict)
    except msgspec.ValidationError:
        raise ValueError(f"must be {key.words}") from None
    if key.has_named_choices and converted not in key.choices:
        raise ValueError(f"must be {key.words}")
    return converted


def _describe_key(table: str, name: str, annotation: Any, declared: Any) -> Key:
    """Describe a key from its type and its `option`. A field of a struct has none."""
    options = dict(cast("dict[str, Any]", declared)) if isinstance(declared, dict) else {}
    choices = options.pop("choices", None)
    kinds = {_kind_of(part) for part in _union_parts(annotation)}
    if options.get("default") is None and (list in kinds or kinds == {dict}):
        options["default"] = [] if list in kinds else {}
    return Key(
        name=name,
        table=table,
        annotation=annotation,
        choices=tuple(choices()) if choices is not None else _literals(annotation),
        number=int if int in kinds else float if float in kinds else None,
        is_bool=kinds == {bool},
        is_list=kinds == {list},
        is_names=kinds == {list, str},
        is_table=kinds == {dict},
        **options,
    )


def _metas(annotation: Any) -> list[msgspec.Meta]:
    """The constraints of a type."""
    return [meta for meta in getattr(annotation, "__metadata__", ()) if isinstance(meta, msgspec.Meta)]


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
    return next((literals for part in get_args(annotation) if (literals := _literals(part))), ())


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
