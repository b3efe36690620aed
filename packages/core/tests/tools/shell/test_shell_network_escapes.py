# ruff: noqa: ASYNC221
"""Ways around the proxy of a sandboxed command. Each is tried for real; none arrives anywhere."""

import asyncio
import shutil
import socket
import ssl
import struct
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from network_bench import PUBLIC, NetworkBench, Outcome, is_closed, start_server

from heald.tools.shell.network.listener_program import PORT
from heald.tools.shell.network.proxy import ProxyLimits
from heald.tools.shell.sandbox import PATH, Sandbox
from heald.tools.web.fetcher import allow_hosts

OK = "allowed.example.org"
EVIL = "evil.example.org"


@dataclass
class Sink:
    """A server of the machine that records what arrives, and answers as a web server."""

    port: int = 0
    received: list[bytes] = field(default_factory=list[bytes])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.received.append(head)
            body = b"x" * 1_000_000 if b"/large" in head else b"REACHED"
            if b"/redirect" in head:
                start = f"HTTP/1.1 302 Found\r\nLocation: http://{EVIL}/stolen\r\nContent-Length: 0\r\n\r\n".encode()
            else:
                start = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
            writer.write(start)
            await writer.drain()
            rest = await reader.read(65536)  # what follows the request on the same connection
            if rest:
                self.received.append(rest)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            self.received.append(getattr(error, "partial", b"") or b"(opened)")
        finally:
            writer.close()


@dataclass
class Bench:
    network: NetworkBench
    sink: Sink

    async def run(self, command: str) -> Outcome:
        return await self.network.run(command)

    async def raw(self, request: str) -> str:
        """Send bytes to the proxy from inside and return what it answers. `request` is for printf."""
        script = f"exec 3<>/dev/tcp/127.0.0.1/{PORT}; printf '{request}' >&3; timeout 10 cat <&3"
        return (await self.run(script)).whole


@pytest.fixture
async def bench(tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    if not sandbox.has_network:
        pytest.skip("this bubblewrap or processor has no network for commands")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "ws"
    folder.mkdir()
    sink = Sink()
    server, sink.port = await start_server(sink.serve)
    yield Bench(NetworkBench(folder, [OK], {80: sink.port, 443: sink.port}), sink)
    server.close()
    await server.wait_closed()


def require(program: str) -> None:
    if shutil.which(program, path=PATH) is None:
        pytest.skip(f"{program} is not installed where the sandbox reads programs")


async def test_the_allowed_host_is_reached(bench: Bench) -> None:
    """Without this the other tests would prove nothing."""
    outcome = await bench.run(f"curl -sS http://{OK}/x")
    assert "REACHED" in outcome.text
    assert len(bench.sink.received) == 1
    assert bench.network.dialled == [(PUBLIC, 80)]


@pytest.mark.parametrize(
    "command",
    [
        "curl -sS -m 5 --noproxy '*' http://127.0.0.1:{port}/",  # this machine, directly
        "curl -sS -m 5 --noproxy '*' http://93.184.215.14/",  # a public address, directly
        "curl -sS -m 5 --noproxy '*' -g 'http://[::1]:{port}/'",  # IPv6 loopback
        "curl -sS -m 5 --noproxy '*' -g 'http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/'",  # public IPv6
        "NO_PROXY='*' no_proxy='*' curl -sS -m 5 http://{ok}/",  # the environment without a proxy
        "env -i /usr/bin/curl -sS -m 5 http://{ok}/",
        "exec 3<>/dev/tcp/127.0.0.1/{port} && echo REACHED >&3",
        "exec 3<>/dev/tcp/169.254.169.254/80 && echo REACHED",
        "echo x > /dev/udp/127.0.0.1/53; cat /etc/resolv.conf; getent hosts {ok}",  # DNS
        "exec 3<>/dev/tcp/8.8.8.8/53 && echo REACHED",
        "curl -sS -m 5 --socks5-hostname 127.0.0.1:61080 http://{ok}/",  # SOCKS to the proxy
        "curl -sS -m 5 --socks4a 127.0.0.1:61080 http://{ok}/",
        "curl -sS -m 5 ftp://{ok}/",  # curl sends ftp:// in absolute form
        "curl -sS -m 5 -x http://127.0.0.1:61081 http://{ok}/",  # another port of the loopback
        "curl -sS -m 5 --unix-socket /run/docker.sock http://{ok}/",
        "curl -sS -m 5 --unix-socket /var/run/docker.sock http://{ok}/",
        "curl -sS -m 5 --abstract-unix-socket heald-test http://{ok}/",
        "ip link add dummy0 type dummy; ip addr add 10.0.0.1/8 dev lo; echo done",
    ],
)
async def test_direct_ways(bench: Bench, command: str) -> None:
    with socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0heald-test")
        abstract.listen()
        outcome = await bench.run(command.format(port=bench.sink.port, ok=OK))
    assert "REACHED" not in outcome.text
    assert bench.sink.received == []
    assert bench.network.dialled == []


@pytest.mark.parametrize(
    "place",
    [
        *("127.0.0.1:443", "10.0.0.1:443", "169.254.169.254:443", "93.184.215.14:443", "[::1]:443"),
        *("[::ffff:127.0.0.1]:443", "[::ffff:7f00:1]:443", "[64:ff9b::7f00:1]:443", "2130706433:443", "0x7f000001:443"),
        *("0177.0.0.1:443", "127.1:443", "0:443", "localhost:443", "metadata.google.internal:443", "router.lan:443"),
        *(f"{EVIL}:443", f"{OK}.evil.example.org:443", f"{OK}:22", f"{OK}:8080", f"{OK}:0", f"{OK}@{EVIL}:443"),
        *(f"{OK}%00.{EVIL}:443", f"{OK}#{EVIL}:443", f"http://{OK}:443", f"{OK}", f"{OK}:443:443"),
    ],
)
async def test_tunnels_to_other_places(bench: Bench, place: str) -> None:
    answer = await bench.raw(
        f"CONNECT {place.replace('%', '%%')} HTTP/1.1\\r\\nHost: {place.replace('%', '%%')}\\r\\n\\r\\n"
    )
    assert answer.startswith(("HTTP/1.1 403", "HTTP/1.1 400"))
    assert bench.network.dialled == []
    assert bench.network.resolved == []  # a question to a name server carries data away as well


async def test_names_of_private_addresses(bench: Bench) -> None:
    for address in ("127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.1", "100.100.100.200"):
        bench.network.names[OK] = [address]
        outcome = await bench.run(f"curl -sS http://{OK}/")
        assert "not on the public internet" in outcome.text
    assert bench.network.dialled == []


async def test_a_name_that_changes_its_answer(bench: Bench) -> None:
    """The address that was checked is the one that is dialled; each connection is checked."""
    bench.network.names[OK] = [PUBLIC, "127.0.0.1"]
    outcome = await bench.run(f"curl -sS http://{OK}/; curl -sS http://{OK}/")
    assert outcome.text.count("REACHED") == 1
    assert bench.network.dialled == [(PUBLIC, 80)]
    assert bench.network.resolved == [OK, OK]


@pytest.mark.parametrize(
    "request_text",
    [
        f"CONNECT {OK}:443 HTTP/1.1\\r\\nHost: {EVIL}:443\\r\\n\\r\\n",  # Host other than CONNECT
        f"GET http://{OK}/ HTTP/1.1\\r\\nHost: {EVIL}\\r\\n\\r\\n",  # absolute form other than Host
        f"GET http://{EVIL}/ HTTP/1.1\\r\\nHost: {OK}\\r\\n\\r\\n",
        f"GET http://{OK}/ HTTP/1.1\\r\\nHost: {OK}\\r\\nHost: {EVIL}\\r\\n\\r\\n",
        f"GET http://{OK}/ HTTP/1.1\\r\\n\\r\\n",  # no Host
        f"GET / HTTP/1.1\\r\\nHost: {OK}\\r\\n\\r\\n",  # origin form
        f"GET http://{OK}@{EVIL}/ HTTP/1.1\\r\\nHost: {OK}\\r\\n\\r\\n",
        f"GET http://{OK}\\\\@{EVIL}/ HTTP/1.1\\r\\nHost: {OK}\\r\\n\\r\\n",
        f"GET https://{OK}/ HTTP/1.1\\r\\nHost: {OK}\\r\\n\\r\\n",
        f"GET ftp://{OK}/ HTTP/1.1\\r\\nHost: {OK}\\r\\n\\r\\n",
        f"GET http://{OK}/ HTTP/1.1\\r\\nHost: {OK}\\r\\n Host: {EVIL}\\r\\n\\r\\n",  # a folded line
        f"GET http://{OK}/ HTTP/1.1\\r\\nHost : {OK}\\r\\n\\r\\n",
        f"GET http://{OK}/ HTTP/1.1\\r\\nHost: {OK}\\nX: y\\r\\n\\r\\n",  # a bare line feed
        f"GET http://{OK}/\\tHTTP/1.1\\r\\nHost: {OK}\\r\\n\\r\\n",
        f"PUT http://{OK}/ HTTP/1.1\\r\\nHost: {OK}\\r\\nContent-Length: 1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n",
        f"POST http://{OK}/ HTTP/1.1\\r\\nHost: {OK}\\r\\nTransfer-Encoding: xchunked\\r\\n\\r\\n",
        f"POST http://{OK}/ HTTP/1.1\\r\\nHost: {OK}\\r\\nContent-Length: 1\\r\\nContent-Length: 2\\r\\n\\r\\n",
        f"POST http://{OK}/ HTTP/1.1\\r\\nHost: {OK}\\r\\nContent-Length: +1\\r\\n\\r\\n",
        f"PRI * HTTP/2.0\\r\\nHost: {OK}\\r\\n\\r\\n",
    ],
)
async def test_requests_that_can_be_read_in_two_ways(bench: Bench, request_text: str) -> None:
    answer = await bench.raw(request_text)
    assert answer.startswith(("HTTP/1.1 400", "HTTP/1.1 403"))
    assert bench.network.dialled == []
    assert bench.sink.received == []


async def test_a_second_request_on_the_connection_is_not_sent(bench: Bench) -> None:
    first = f"GET http://{OK}/one HTTP/1.1\\r\\nHost: {OK}\\r\\nConnection: keep-alive\\r\\n\\r\\n"
    second = f"GET /two HTTP/1.1\\r\\nHost: {EVIL}\\r\\n\\r\\n"
    answer = await bench.raw(first + second)
    assert "connection: close" in answer.lower()
    await bench.raw(f"POST http://{OK}/three HTTP/1.1\\r\\nHost: {OK}\\r\\nContent-Length: 2\\r\\n\\r\\nab{second}")
    chunked = f"POST http://{OK}/four HTTP/1.1\\r\\nHost: {OK}\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"
    await bench.raw(f"{chunked}2;x=y\\r\\nab\\r\\n0\\r\\nTrailer: x\\r\\n\\r\\n{second}")
    received = b"".join(bench.sink.received)
    assert received.count(b" HTTP/1.1\r\n") == 3
    assert b"/two" not in received
    assert EVIL.encode() not in received


async def test_fields_between_the_command_and_the_proxy_are_not_sent(bench: Bench) -> None:
    await bench.run(
        f"curl -sS -H 'Connection: X-Hop' -H 'X-Hop: 1' -H 'Proxy-Authorization: x' -H 'Upgrade: h2c' http://{OK}/"
    )
    head = bench.sink.received[0].lower()
    assert b"x-hop" not in head
    assert b"proxy-authorization" not in head
    assert b"upgrade" not in head


async def test_a_redirect_is_a_new_connection(bench: Bench) -> None:
    outcome = await bench.run(f"curl -sSL http://{OK}/redirect")
    assert f"{EVIL} was refused" in outcome.whole
    assert len(bench.sink.received) == 1


# --- TLS ------------------------------------------------------------------------------------------------------------


def _hello(server_name: str | None, *extensions: tuple[int, bytes]) -> bytes:
    """A ClientHello. Raw, because no library writes the odd ones."""
    body = b"\x03\x03" + bytes(32) + b"\0" + b"\0\x02\x13\x01" + b"\x01\0"
    parts = b""
    if server_name is not None:
        name = server_name.encode()
        entry = struct.pack(">BH", 0, len(name)) + name
        parts += struct.pack(">HHH", 0, len(entry) + 2, len(entry)) + entry
    for kind, content in extensions:
        parts += struct.pack(">HH", kind, len(content)) + content
    body += struct.pack(">H", len(parts)) + parts
    message = b"\x01" + len(body).to_bytes(3) + body
    return b"\x16\x03\x01" + struct.pack(">H", len(message)) + message


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (_hello(EVIL), "it must name"),
        (_hello(None), "names no host"),
        (_hello(OK, (0xFE0D, b"x" * 8)), "encrypted"),
        (_hello(OK, (0, b"\0\x09\0\0\x06evil.x")), "several servers"),
        (b"GET / HTTP/1.1\r\nHost: evil\r\n\r\n", "not encrypted with TLS"),
        (b"SSH-2.0-x\r\n", "not encrypted with TLS"),
        (b"\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00", "ClientHello"),
    ],
)
async def test_tunnels_carry_tls_to_the_named_host_only(bench: Bench, first: bytes, reason: str) -> None:
    (bench.network.folder / "first").write_bytes(first)
    outcome = await bench.run(
        f"exec 3<>/dev/tcp/127.0.0.1/{PORT}; printf 'CONNECT {OK}:443 HTTP/1.1\\r\\nHost: {OK}:443\\r\\n\\r\\n' >&3; "
        "head -n 2 <&3; cat first >&3; timeout 10 cat <&3"
    )
    assert "200 Connection established" in outcome.text
    assert reason in outcome.whole
    assert all(data == b"(opened)" for data in bench.sink.received)  # opened, and nothing sent


async def test_tls_reaches_the_named_host_unopened(bench: Bench, tmp_path: Path) -> None:
    require("curl")
    require("openssl")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
         "-subj", f"/CN={OK}", "-addext", f"subjectAltName=DNS:{OK}"],
        check=True, capture_output=True,
    )  # fmt: skip
    names: list[str] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.sni_callback = lambda _sock, name, _context: names.append(name or "")  # type: ignore[assignment]
    server = await asyncio.start_server(bench.sink.serve, "127.0.0.1", 0, ssl=context)
    bench.network.ports[443] = server.sockets[0].getsockname()[1]
    shutil.copy(certificate, bench.network.folder / "ca.pem")
    outcome = await bench.run(
        f"curl -sS --cacert ca.pem https://{OK}/x; "
        f"openssl s_client -proxy 127.0.0.1:{PORT} -connect {OK}:443 -servername {EVIL} </dev/null; "
        f"openssl s_client -proxy 127.0.0.1:{PORT} -connect {OK}:443 -noservername </dev/null"
    )
    server.close()
    assert "REACHED" in outcome.text
    assert names == [OK]


# --- processes and sockets ----------------------------------------------------------------------------------------


async def test_a_process_does_not_outlive_the_command(bench: Bench) -> None:
    await bench.run(f"(setsid nohup sh -c 'sleep 2; curl -sS http://{OK}/late' >/dev/null 2>&1 &) ; exit 0")
    await asyncio.sleep(3)
    assert bench.sink.received == []


async def test_another_sandbox_and_this_machine_do_not_reach_the_listener(bench: Bench) -> None:
    held = asyncio.create_task(bench.run("sleep 4"))
    await asyncio.sleep(1)
    assert is_closed(PORT)  # in the namespace of this machine there is none
    alone = NetworkBench(bench.network.folder, [])
    outcome = await alone.run(f"curl -sS http://{OK}/; ls -a /run; ls /proc | grep -c '^[0-9]'")
    assert f"{OK} was refused" in outcome.text
    await held
    assert bench.sink.received == []


async def test_without_a_proxy_there_is_no_network(bench: Bench) -> None:
    from heald.tools.shell.command_output import CommandOutput
    from heald.tools.shell.process import Process

    output = CommandOutput()
    command = f"env | grep -ci proxy; exec 3<>/dev/tcp/127.0.0.1/{PORT} && echo REACHED"
    process = Process(Sandbox().prepare(str(bench.network.folder), command), output)
    await process.wait(30)
    assert output.close().startswith("0\n")
    assert "REACHED" not in output.close()


@pytest.mark.parametrize("family", [16, 17, 40, 38, 31, 44])  # netlink, packet, vsock, alg, bluetooth, xdp
async def test_other_families_of_sockets(bench: Bench, family: int) -> None:
    require("perl")
    outcome = await bench.run(f'perl -e \'print socket(my $s, {family}, 3, 0) ? "OPEN" : "refused: $!"\'')
    assert "OPEN" not in outcome.text
    assert "refused" in outcome.text


async def test_raw_sockets(bench: Bench) -> None:
    require("perl")
    outcome = await bench.run('perl -e \'print socket(my $s, 2, 3, 1) ? "OPEN" : "refused"\'')
    assert outcome.text == "refused"


async def test_sockets_of_the_session_are_absent(bench: Bench, tmp_path: Path) -> None:
    """ssh-agent, X11, D-Bus and the like: neither their variables nor their files are there."""
    agent = tmp_path / "agent.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(agent))
        listener.listen()
        outcome = await bench.run(
            "env | grep -E 'SSH_AUTH_SOCK|DISPLAY|DBUS|WAYLAND|DOCKER'; ls /tmp/.X11-unix /run/user /run/dbus; "
            f"curl -sS -m 5 --unix-socket {agent} http://x/; find / -type s -not -path '/proc/*' 2>/dev/null"
        )
    assert "=" not in outcome.text
    assert ".sock" not in outcome.text.replace(str(agent), "")


async def test_the_listener_program_cannot_be_changed_or_run_again(bench: Bench) -> None:
    outcome = await bench.run(
        "cd /run; echo x > heald-listener; rm heald-listener; mv /run /r; ./heald-listener /bin/echo REACHED; echo $?"
    )
    assert "REACHED" not in outcome.text
    assert outcome.text.rstrip().endswith("125")


# --- limits -------------------------------------------------------------------------------------------------------


async def test_bytes_are_limited(bench: Bench) -> None:
    bench.network.limits = ProxyLimits(bytes=100_000)
    outcome = await bench.run(f"curl -s http://{OK}/large | wc -c; curl -s http://{OK}/ || echo over")
    size, rest = outcome.text.split()
    assert int(size) <= 100_000
    assert rest == "over"


async def test_connections_are_limited(bench: Bench) -> None:
    bench.network.limits = ProxyLimits(connections=4)
    opened = " ".join(f"exec {fd}<>/dev/tcp/127.0.0.1/{PORT};" for fd in range(10, 14))
    outcome = await bench.run(
        f"{opened} curl -s http://{OK}/ || echo full; exec 10>&-; "
        f"for i in $(seq 100); do curl -s http://{OK}/ && break; sleep 0.1; done"
    )
    assert outcome.text == "full\nREACHED"


async def test_a_silent_connection_ends(bench: Bench) -> None:
    bench.network.limits = ProxyLimits(head_seconds=0.5, idle_seconds=0.5)
    outcome = await bench.run(f"exec 3<>/dev/tcp/127.0.0.1/{PORT}; timeout 20 cat <&3; echo ended $?")
    assert "ended 0" in outcome.text


async def test_a_private_host_that_the_operator_allows(bench: Bench) -> None:
    """Only the operator opens a private network, and another port."""
    with allow_hosts(["wiki.lan:8080"]):
        bench.network.names["wiki.lan"] = ["10.1.2.3"]
        outcome = await bench.run("curl -sS http://wiki.lan:8081/; curl -sS http://wiki.lan/")
        assert outcome.text.count("was refused") == 2
        assert bench.network.dialled == []
        await bench.run("curl -sS http://wiki.lan:8080/")
        assert bench.network.dialled == [("10.1.2.3", 8080)]
