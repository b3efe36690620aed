"""An HTTP connection of uvicorn whose invalid requests are answered with an API error."""

from contextlib import suppress

import h11

from heald.core.json import encode
from heald_server.http.bounded_http import BoundedHttp
from heald_server.http.errors import ApiError
from heald_server.http.request_scope import SECURITY_HEADERS


class HttpProtocol(BoundedHttp):
    """A connection whose invalid requests are answered with an API error."""

    def send_400_response(self, msg: str) -> None:
        """Answer an invalid request with an API error."""
        if self.cycle is not None and not self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
            self.cycle.disconnected = True  # its body is invalid: nobody waits for the response
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # a response has begun
            return
        headers = [*SECURITY_HEADERS, (b"content-type", b"application/json"), (b"connection", b"close")]
        body = encode(ApiError("invalid", "This is not a valid HTTP request.").data())
        with suppress(h11.LocalProtocolError):  # a response to HEAD has no body
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
