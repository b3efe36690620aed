"""Web Push: messages that only the browser can read (RFC 8291 and 8188), from a server that it knows (RFC 8292)."""

import base64
import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, encode

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec

_RECORD_BYTES = 4096
_TOKEN_SECONDS = 12 * 3600
_KEEP_SECONDS = 24 * 3600
_POINT_BYTES, _AUTH_BYTES = 65, 16


class PushKeys(msgspec.Struct, frozen=True):
    """The key pair of a server (P-256), by which push services know it. Both keys are base64url."""

    private_key: str
    public_key: str
    contact: str = "mailto:heald@localhost.invalid"


def decode_base64url(text: str) -> bytes:
    """Decode base64url with or without padding. Raises ConfigurationError."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise ConfigurationError("A key of the subscription is not valid base64url.") from None


def encode_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def check_subscription(public_key: str, auth: str) -> None:
    """Raise ConfigurationError if the keys of a subscription are not valid."""
    if len(decode_base64url(public_key)) != _POINT_BYTES or len(decode_base64url(auth)) != _AUTH_BYTES:
        raise ConfigurationError("The keys of the subscription have the wrong length; subscribe again.")
    _load_point(decode_base64url(public_key))


def new_push_keys() -> PushKeys:
    """Return a new key pair. Raises ConfigurationError if the package for it is missing."""
    curves, _ = _import_curve()
    private = curves.generate_private_key(curves.SECP256R1())
    number = private.private_numbers().private_value
    return PushKeys(encode_base64url(number.to_bytes(32)), encode_base64url(_point(private.public_key())))


def push_request(
    url: str, public_key: str, auth: str, text: bytes, keys: PushKeys, moment: float
) -> tuple[dict[str, str], bytes]:
    """Return the headers and the encrypted body of a push message."""
    parts = urlsplit(url)
    claims: JsonObject = {
        "aud": f"{parts.scheme}://{parts.netloc}",
        "exp": int(moment) + _TOKEN_SECONDS,
        "sub": keys.contact,
    }
    headers = {
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "TTL": str(_KEEP_SECONDS),
        "Authorization": f"vapid t={_sign_token(claims, keys)}, k={keys.public_key}",
    }
    return headers, encrypt_message(text, decode_base64url(public_key), decode_base64url(auth))


def encrypt_message(
    text: bytes, receiver: bytes, auth: bytes, *, salt: bytes | None = None, private_number: int | None = None
) -> bytes:
    """Encrypt a text for a browser. `salt` and `private_number` are random, except in tests."""
    curves, _ = _import_curve()
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt = salt or os.urandom(16)
    curve = curves.SECP256R1()
    private = (
        curves.generate_private_key(curve)
        if private_number is None
        else curves.derive_private_key(private_number, curve)
    )
    sender = _point(private.public_key())
    shared = private.exchange(curves.ECDH(), _load_point(receiver))
    secret = _derive(shared, auth, b"WebPush: info\0" + receiver + sender, 32)
    key = _derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\0", 12)
    head = salt + _RECORD_BYTES.to_bytes(4) + bytes([len(sender)]) + sender
    return head + AESGCM(key).encrypt(nonce, text + b"\x02", None)


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)


def _sign_token(claims: JsonObject, keys: PushKeys) -> str:
    """Return a JSON Web Token with an ES256 signature."""
    curves, decode_signature = _import_curve()
    from cryptography.hazmat.primitives.hashes import SHA256

    head = encode_base64url(encode({"typ": "JWT", "alg": "ES256"}))
    signed = f"{head}.{encode_base64url(encode(claims))}"
    number = int.from_bytes(decode_base64url(keys.private_key))
    private = curves.derive_private_key(number, curves.SECP256R1())
    r, s = decode_signature(private.sign(signed.encode(), curves.ECDSA(SHA256())))
    return f"{signed}.{encode_base64url(r.to_bytes(32) + s.to_bytes(32))}"


def _import_curve():
    try:
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
    except ImportError:
        raise ConfigurationError(f"Web Push needs the package cryptography: {install_advice('notify')}") from None
    return ec, decode_dss_signature


def _load_point(data: bytes):
    curves, _ = _import_curve()
    try:
        return curves.EllipticCurvePublicKey.from_encoded_point(curves.SECP256R1(), data)
    except ValueError:
        raise ConfigurationError("The public key of the subscription is not a point of P-256.") from None


def _point(key: "ec.EllipticCurvePublicKey") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
