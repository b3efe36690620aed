"""The type parameters of public classes, with defaults for type checkers.

Defaults of type parameters and `TypeForm` need Python 3.13 and later; type checkers know them on every version. At run
time a parameter has no meaning, so plain type variables stand for them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, TypeForm, TypeVar

    OutputT = TypeVar("OutputT", covariant=True, default=None)
    DepsT = TypeVar("DepsT", covariant=True, default=object)
else:
    from typing import ParamSpec, TypeVar

    class TypeForm:
        """Any type, also one that is not a class, such as `Literal["a", "b"]`."""

        def __class_getitem__(cls, _: object) -> Any:
            return Any

    OutputT = TypeVar("OutputT", covariant=True)
    DepsT = TypeVar("DepsT", covariant=True)

RequestT = TypeVar("RequestT")
"""The type of the answer of one request: `output=` of `run`, `send` and `stream`."""
Parameters = ParamSpec("Parameters")
"""The parameters of a function that is a tool."""
ReturnT = TypeVar("ReturnT", covariant=True)
"""What a function that is a tool returns."""

__all__ = ["DepsT", "OutputT", "Parameters", "RequestT", "ReturnT", "TypeForm"]
