"""A component of a repository: its name, its file, its props and its stories."""

import msgspec


class ComponentProp(msgspec.Struct, frozen=True):
    name: str
    values: tuple[str, ...] = ()
    """The values that it accepts; empty if they are not listed."""


class DesignComponent(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    file: str
    props: tuple[ComponentProp, ...] = ()
    stories: tuple[str, ...] = ()
    """The names of its stories in Storybook."""
