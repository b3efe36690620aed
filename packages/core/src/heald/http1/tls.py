"""The TLS trust of a request, from the environment, and sessions that a later connection resumes."""

import os
import ssl
import sys
from functools import cache

MAX_SESSIONS = 256
"""Hosts whose last session is remembered."""


class ResumingContext(ssl.SSLContext):
    """The trust of a client. A new connection to a host resumes the session of the last one: the server sends and signs
    no certificate again, and none is checked. If the server refuses, the handshake is a whole one."""

    def __init__(self, protocol: int = ssl.PROTOCOL_TLS_CLIENT) -> None:  # `__new__` has used the protocol
        self.sessions: dict[str, ssl.SSLSession] = {}
        """The last session of each host, the newest last."""

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        if session is None and isinstance(server_hostname, str):
            session = self.sessions.get(server_hostname)
        return super().wrap_bio(incoming, outgoing, server_side, server_hostname, session)

    def remember(self, connection: ssl.SSLObject) -> None:
        """Keep the session of a connection whose server has answered. TLS 1.3 sends it after the handshake."""
        host, session = connection.server_hostname, connection.session
        if not isinstance(host, str) or session is None or not session.has_ticket:
            return
        self.sessions.pop(host, None)
        self.sessions[host] = session
        while len(self.sessions) > MAX_SESSIONS:
            del self.sessions[next(iter(self.sessions))]


@cache
def tls_context() -> ssl.SSLContext:
    """The shared TLS context; it honours SSL_CERT_FILE, SSL_CERT_DIR, REQUESTS_CA_BUNDLE and SSLKEYLOGFILE."""
    context = ResumingContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs()
    if sys.version_info >= (3, 13):  # as ssl.create_default_context does
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | ssl.VERIFY_X509_STRICT
    if key_log := os.environ.get("SSLKEYLOGFILE"):
        context.keylog_filename = key_log
    bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")
    if bundle and os.path.exists(bundle):
        context.load_verify_locations(bundle)
    if sys.platform != "win32":
        context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context
