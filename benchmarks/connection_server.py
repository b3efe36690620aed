"""A server for `benchmarks.connections`: it streams deltas over HTTP/1.1 and HTTP/2, as the client's TLS asks for.

    python -m benchmarks.connection_server CERTIFICATE      prints {"port": …}

A path `/COUNT/PAUSE` is COUNT deltas with PAUSE milliseconds before each but the first.
"""

import asyncio
import json
import ssl
import sys
from contextlib import suppress

import h2.config
import h2.connection
import h2.events

DELTA = b'data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":" harbour"}}],"model":"bench"}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_CHUNK = b"%x\r\n%b\r\n" % (len(DELTA), DELTA)


def read_path(path: str) -> tuple[int, float]:
    """The number of deltas, and the seconds between them."""
    _, count, pause = path.split("/")
    return int(count), int(pause) / 1000


async def serve_http1(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        count, pause = read_path(head.split(b" ")[1].decode())
        writer.write(HEAD)
        for number in range(count):
            if number:
                await asyncio.sleep(pause)
            writer.write(_CHUNK)
        writer.write(b"0\r\n\r\n")


async def serve_http2(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    connection.initiate_connection()
    streams: set[asyncio.Task[None]] = set()

    async def stream(number: int, path: str) -> None:
        count, pause = read_path(path)
        connection.send_headers(number, [(":status", "200"), ("content-type", "text/event-stream")])
        for sent in range(count):
            if sent:
                await asyncio.sleep(pause)
            connection.send_data(number, DELTA, end_stream=sent == count - 1)
            writer.write(connection.data_to_send())

    writer.write(connection.data_to_send())
    while data := await reader.read(65536):
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                path = next(value for name, value in event.headers if name == b":path")
                streams.add(asyncio.create_task(stream(event.stream_id, path.decode())))
        writer.write(connection.data_to_send())


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    protocol = writer.get_extra_info("ssl_object").selected_alpn_protocol()
    with suppress(OSError, asyncio.IncompleteReadError):
        await (serve_http2 if protocol == "h2" else serve_http1)(reader, writer)
    writer.close()


async def main(certificate: str) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    tls.set_alpn_protocols(["h2", "http/1.1"])
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
