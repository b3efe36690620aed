"""Events of clients that speak another protocol than ours."""

from heald.core.events import StatePayload
from heald.core.json import JsonObject


class ClientPayload(StatePayload, frozen=True):
    """A request of a client of another protocol."""


class ResponseRequested(ClientPayload, frozen=True):
    """A client of `/v1/responses` asked for a response. Its seq is a part of the response's id."""

    type = "response_requested"
    exchange: str
    """The exchange that the response begins or continues."""
    parameters: JsonObject
    """The parameters of the request, as the response shows them."""
    input: str
    """The SHA-256 of the request's input items as JSON. A stored session has a blob of this name."""
    continues: bool = False
    """An earlier response held the beginning of the exchange."""
    begin: int | None = None
    """The seq after which the response begins, if its client joined an exchange that another client had begun."""
