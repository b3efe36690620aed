"""The formats of notifications: signatures of Standard Webhooks, and messages of Web Push, by published examples."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hook_receiver import Received, receiving
from test_notify_webhooks import call, notifying

from heald.core.errors import ConfigurationError
from heald_notify.delivery import SCHEDULE, Delivery
from heald_notify.signature import new_secret, parse_secret, signature_headers
from heald_notify.web_push import decode_base64url, encode_base64url, encrypt_message


def test_a_signature_is_that_of_the_reference_libraries() -> None:
    headers = signature_headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("secret", ["whsec_", "whsec_short", "whsec_" + "?" * 32, "whsec_" + "A" * 100])
def test_a_secret_of_another_form_is_refused(secret: str) -> None:
    with pytest.raises(ConfigurationError, match="The secret is not valid"):
        parse_secret(secret)
    assert len(parse_secret(new_secret())) == 32


def test_a_push_message_is_that_of_rfc_8291() -> None:
    message = encrypt_message(
        b"When I grow up, I want to be a watermelon",
        decode_base64url("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
        decode_base64url("BTBZMqHH6r4Tts7J_aSIgg"),
        salt=decode_base64url("DGv6ra1nlYgDCS1FRnbzlw"),
        private_number=int.from_bytes(decode_base64url("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")),
    )
    assert encode_base64url(message) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
        "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


async def test_a_subscribed_browser_can_read_the_notification(tmp_path: Path) -> None:
    browser = ec.generate_private_key(ec.SECP256R1())
    point = browser.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    auth = b"0123456789abcdef"
    async with receiving() as receiver, notifying(tmp_path, public_url="https://heald.example") as served:
        keys = {"public_key": encode_base64url(point), "secret": encode_base64url(auth)}
        await call(served, "POST", "/webhooks", 400, kind="push", url=receiver.url, public_key="AAAA", secret="AAAA")
        await call(served, "POST", "/webhooks", 201, kind="push", url=receiver.url, **keys)
        server_key = (await call(served, "GET", "/webhooks/push-key"))["public_key"]
        session = await served.session(model="m")
        await served.send(session)
        (received,) = await receiver.wait_for(1)
    assert (received.headers["content-encoding"], received.headers["ttl"]) == ("aes128gcm", "86400")
    message = json.loads(_decrypt(received.body, browser, point, auth))
    assert (message["title"], message["link"]) == ("Done.", f"https://heald.example/#/decide/{session}")
    assert _claims(received, server_key)["aud"] == f"http://{receiver.authority}"


def _decrypt(body: bytes, browser: ec.EllipticCurvePrivateKey, point: bytes, auth: bytes) -> bytes:
    """Decrypt as a browser does."""
    salt, sender, text = body[:16], body[21:86], body[86:]
    shared = browser.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))

    def derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
        return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)

    secret = derive(shared, auth, b"WebPush: info\0" + point + sender, 32)
    key = derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = derive(secret, salt, b"Content-Encoding: nonce\0", 12)
    return AESGCM(key).decrypt(nonce, text, None).removesuffix(b"\x02")


def _claims(received: Received, server_key: str) -> dict[str, Any]:
    """The claims of the token, whose signature is checked with the key of the server."""
    fields = received.headers["authorization"].removeprefix("vapid ").split(", ")
    token, key = fields[0].removeprefix("t="), fields[1].removeprefix("k=")
    assert key == server_key
    signed, _, signature = token.rpartition(".")
    numbers = decode_base64url(signature)
    r, s = int.from_bytes(numbers[:32]), int.from_bytes(numbers[32:])
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode_base64url(key))
    public.verify(encode_dss_signature(r, s), signed.encode(), ec.ECDSA(SHA256()))
    return json.loads(base64.urlsafe_b64decode(signed.partition(".")[2] + "=="))


def test_attempts_follow_the_schedule_and_the_receiver_may_ask_for_more_time() -> None:
    delivery = Delivery(id="m.e", endpoint="e", type="exchange.ended", root="s", session="s", seq=1, time=0.0)
    times: list[float] = []
    while delivery.state == "pending":
        times.append(delivery.next_at)
        delivery = delivery.fail("No.", delivery.next_at, SCHEDULE, spread=0.0)
    assert len(times) == 10
    assert times[:4] == [0, 5, 305, 2105]
    assert 3 * 86_400 < times[-1] < 4 * 86_400
    again = delivery.replay()
    assert (again.id, again.state, again.attempts) == ("m.e", "pending", 0)
    assert again.fail("Later.", 0.0, SCHEDULE, spread=0.0, retry_after=60.0).next_at == 60.0
    assert again.fail("Later.", 0.0, SCHEDULE, spread=0.0, retry_after=1e9).next_at == 86_400.0


async def test_the_command_adds_lists_rotates_and_removes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from heald_cli.main import main

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def heald(*words: str) -> tuple[int, str, str]:
        code = await asyncio.to_thread(main, ["webhooks", *words, "--data", str(tmp_path)])
        output = capsys.readouterr()
        return code, output.out, output.err

    async with receiving() as receiver:
        code, secret, _ = await heald("add", receiver.url, "--event", "approval.waiting")
        assert code == 0
        assert len(parse_secret(secret.strip())) == 32
        code, out, _ = await heald("list", "--json")
        hook = json.loads(out)
        assert (hook["events"], hook["secret"]) == (["approval.waiting"], f"…{secret.strip()[-4:]}")
        assert (await heald("rotate", hook["id"][:8]))[1] != secret
        assert "0 notifications are sent again" in (await heald("replay", hook["id"], "--hours", "1"))[2]
        assert "STATE" in (await heald("deliveries", hook["id"], "--dead"))[1]
        assert (await heald("remove", hook["id"]))[0] == 0
        assert (await heald("list", "--json"))[1] == ""
        code, _, err = await heald("add", "https://10.0.0.1/hook")
        assert code != 0
        assert "10.0.0.1 is not on the public internet" in err
        code, _, err = await heald("add", "--ntfy", "https://ntfy.sh/")
        assert code != 0
        assert "a server and a topic" in err
