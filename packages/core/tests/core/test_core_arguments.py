"""Arguments are checked against unions of classes: one `isinstance` for most of them, but `True` is not an int."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import pytest

from heald.core.arguments import checked
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.core.messages import Message, user_message


@checked
def _accept(
    *,
    name: str | bytes | None = None,
    number: int | str | None = None,
    anything: Any | None = None,
    messages: Sequence[Message | JsonObject] = (),
) -> None:
    pass


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "a"},
        {"name": b"a"},
        {"number": 3},
        {"anything": object()},
        {"messages": [user_message("Hi."), {"role": "user"}, MappingProxyType({"role": "user"})]},
    ],
)
def test_values_of_a_union_are_accepted(arguments: dict[str, Any]) -> None:
    _accept(**arguments)


@pytest.mark.parametrize("arguments", [{"name": 3}, {"number": True}, {"number": 1.5}, {"messages": ["Hi."]}])
def test_values_of_another_type_are_refused(arguments: dict[str, Any]) -> None:
    (name,) = arguments
    with pytest.raises(ConfigurationError, match=name):
        _accept(**arguments)
