"""The TLS trust of a request, from the environment."""

import os
import ssl
import sys
from functools import cache


@cache
def tls_context() -> ssl.SSLContext:
    """The shared TLS context; it honours SSL_CERT_FILE, SSL_CERT_DIR and REQUESTS_CA_BUNDLE."""
    context = ssl.create_default_context()
    bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")
    if bundle and os.path.exists(bundle):
        context.load_verify_locations(bundle)
    if sys.platform != "win32":
        context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context
