"""Signed archives: every change is detected, what is redacted leaves no trace, and a later one extends an earlier."""

import io
import json
import random
import sys
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from example_counts import IS_LONG
from heald.core.errors import ConfigurationError
from heald.core.events import ExchangeRequest
from heald.core.messages import user_message
from heald.sessions.memory import MemoryStore
from heald.sessions.sessions import Sessions
from heald.sessions.signed_archive import Redaction, redact_archive, signed_lines, verify_archive
from heald.sessions.signing_key import SigningKey, read_key, read_or_create_key, read_public_key
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import Store
from heald.sessions.store_errors import BadArchive, ForgedArchive, NotSigned, SessionBusy
from heald_check import check_log
from sessions_bench import call, event, fresh, leased, log_of, model

FORGERIES = 10_000 if IS_LONG else 1_500


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    return read_or_create_key(tmp_path / "signing.key")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "s.db")
    yield store
    await store.close()


async def talk(store: Store, prompt: str = "Write to Anna.") -> str:
    name = await fresh(store, tools=["files"], workspace=None, permissions="auto")
    await go_on(store, name, prompt)
    return name


async def go_on(store: Store, name: str, prompt: str) -> None:
    write = [call("write_file", path="a.txt", content='Dear "Anna",\n')]
    session = await Sessions(store).open(name, model=model(write, "Anna has her letter now, jalapeño."))
    await session.run(prompt)
    await session.close()


async def signed(store: Store, name: str, key: SigningKey) -> bytes:
    return b"".join([line async for line in signed_lines(store, name, key)])


def redacted(archive: bytes, **what: object) -> bytes:
    redaction = Redaction(**what)  # pyright: ignore[reportArgumentType]
    return b"".join(line for line, _ in redact_archive(io.BytesIO(archive), redaction))


def is_refused(archive: bytes) -> bool:
    try:
        verify_archive(io.BytesIO(archive))
    except BadArchive:
        return True
    return False


async def test_a_signed_archive_is_verified_and_imported(store: SqliteStore, key: SigningKey) -> None:
    name = await talk(store)
    archive = await signed(store, name, key)
    verified = verify_archive(io.BytesIO(archive))
    log = await log_of(store, name)
    assert (verified.signed.session, verified.signed.last_seq) == (name, len(log))
    assert (verified.signed.key, verified.redacted) == (key.public, [])
    other = Sessions(MemoryStore())
    info = await other.import_from(io.BytesIO(archive), tools=["files"])
    assert info.title == "Write to Anna."
    assert check_log(await log_of(other.store, info.id)) == []
    assert not is_refused(await signed(other.store, info.id, key)), "a store in memory is signed too"
    session = await other.open(info.id, model=model("Hello."))
    assert session.workspace.files() == {"a.txt": 'Dear "Anna",\n'}
    await session.close()


async def test_every_change_of_a_byte_is_detected(store: SqliteStore, key: SigningKey) -> None:
    whole = await signed(store, await talk(store), key)
    dice = random.Random(15)
    for archive in (whole, redacted(whole, texts=["Anna"])):
        assert not is_refused(archive)
        for _ in range(FORGERIES // 2):
            at = dice.randrange(len(archive))
            byte = bytes([archive[at] ^ dice.randrange(1, 256)])
            assert is_refused(archive[:at] + byte + archive[at + 1 :]), (at, archive[at - 20 : at + 20], byte)


async def test_every_byte_of_the_signature_counts(store: SqliteStore, key: SigningKey) -> None:
    """Digits in the other case, and a line without its end, are the same to a lenient reader."""
    archive = await signed(store, await talk(store), key)
    start = archive.rstrip(b"\n").rindex(b"\n") + 1
    for at in range(start, len(archive)):
        for byte in (archive[at] ^ 0x20, archive[at] ^ 1):
            assert is_refused(archive[:at] + bytes([byte]) + archive[at + 1 :]), at


async def test_lines_cannot_be_left_out_added_or_moved(store: SqliteStore, key: SigningKey) -> None:
    lines = (await signed(store, await talk(store), key)).splitlines(keepends=True)
    for at in range(len(lines)):
        assert is_refused(b"".join(lines[:at] + lines[at + 1 :])), at
        assert is_refused(b"".join([*lines[:at], lines[at], lines[at], *lines[at + 1 :]])), at
        if at > 0:
            assert is_refused(b"".join([*lines[: at - 1], lines[at], lines[at - 1], *lines[at + 1 :]])), at
    assert is_refused(b"".join([*lines, b"\n"]))


async def test_what_is_redacted_leaves_no_trace(store: SqliteStore, key: SigningKey) -> None:
    archive = await signed(store, await talk(store), key)
    assert b"Anna" in archive
    public = redacted(archive, texts=["Anna"])
    verified = verify_archive(io.BytesIO(public))
    assert verified.signed == verify_archive(io.BytesIO(archive)).signed
    assert verified.redacted_contents == 1
    assert b"Anna" not in public
    assert sha256(b'Dear "Anna",\n').hexdigest().encode() not in public, "the hash of a short file confirms a guess"
    lines = public.splitlines()
    for seq in verified.redacted:
        assert json.loads(lines[seq]).keys() == {
            *("seq", "id", "session", "exchange", "type", "layer", "time", "epoch", "redacted")
        }
    with pytest.raises(BadArchive, match="was redacted"):
        await Sessions(MemoryStore()).import_from(io.BytesIO(public))


async def test_texts_in_json_within_json_are_redacted(store: SqliteStore, key: SigningKey) -> None:
    archive = await signed(store, await talk(store), key)
    public = redacted(archive, texts=['Dear "Anna"', "jalapeño"])
    assert b"Dear" not in public
    assert b"jalape" not in public
    assert not is_refused(public)


async def test_redaction_by_number_and_type_in_two_steps(store: SqliteStore, key: SigningKey) -> None:
    archive = await signed(store, await talk(store), key)
    once = redacted(archive, seqs=[3], types=["exchange_request"])
    twice = redacted(once, seqs=[3, 4])
    assert verify_archive(io.BytesIO(once)).redacted == [1, 3]
    assert verify_archive(io.BytesIO(twice)).redacted == [1, 3, 4]
    changed = redacted(archive, types=["file_changed"])
    assert verify_archive(io.BytesIO(changed)).redacted_contents == 1, "a content goes with the event that names it"


async def test_equal_data_has_different_salts(store: SqliteStore, key: SigningKey) -> None:
    name = await talk(store)
    salts = [json.loads(line)["salt"] for line in (await signed(store, name, key)).splitlines()[:-1]]
    assert len(set(salts)) == len(salts)
    assert {len(salt) for salt in salts} == {32}
    other = await talk(store)
    assert not {json.loads(line).get("salt") for line in (await signed(store, other, key)).splitlines()} & set(salts)


async def test_a_later_archive_extends_an_earlier_one(store: SqliteStore, key: SigningKey) -> None:
    name = await talk(store)
    first = verify_archive(io.BytesIO(await signed(store, name, key))).signed
    await Sessions(store).rename(name, "Another title")
    await go_on(store, name, "And once more.")
    archive = await signed(store, name, key)
    assert verify_archive(io.BytesIO(archive), earlier=first.last_seq).earlier_head == first.head
    assert (
        verify_archive(io.BytesIO(redacted(archive, texts=["Anna"])), earlier=first.last_seq).earlier_head == first.head
    )


async def test_a_log_that_is_thinned_out_keeps_its_chain(store: SqliteStore, key: SigningKey) -> None:
    name = await talk(store)
    before = verify_archive(io.BytesIO(await signed(store, name, key))).signed
    log = await log_of(store, name)
    assert await store.thin_out(seconds=-1.0) > 0
    assert await log_of(store, name) != log
    assert verify_archive(io.BytesIO(await signed(store, name, key))).signed.head == before.head


async def test_what_cannot_be_signed_or_verified(store: SqliteStore, key: SigningKey) -> None:
    lease = await leased(store, "ses_open")
    request = ExchangeRequest(user_message("Hi"))
    await store.append(lease, [event("ses_open", 1, request)], work="running")
    with pytest.raises(SessionBusy, match="open exchange"):
        await signed(store, "ses_open", key)
    name = await talk(store)
    plain = b"".join([line async for line in Sessions(store).export(name)])
    with pytest.raises(NotSigned, match="not signed"):
        verify_archive(io.BytesIO(plain))
    cut = (await signed(store, name, key)).splitlines(keepends=True)[:-1]
    with pytest.raises(NotSigned):
        verify_archive(io.BytesIO(b"".join(cut)))
    with pytest.raises(BadArchive, match="not an archive"):
        verify_archive(io.BytesIO(b""))


async def test_an_empty_session_is_signed(store: SqliteStore, key: SigningKey) -> None:
    name = await fresh(store)
    assert verify_archive(io.BytesIO(await signed(store, name, key))).signed.last_seq == 0


async def test_another_key_cannot_keep_the_signature(store: SqliteStore, key: SigningKey, tmp_path: Path) -> None:
    other = read_or_create_key(tmp_path / "other.key")
    archive = await signed(store, await talk(store), key)
    with pytest.raises(ForgedArchive, match="signature does not fit"):
        verify_archive(io.BytesIO(archive.replace(key.public.encode(), other.public.encode())))


def test_keys_are_files_of_their_owner(tmp_path: Path) -> None:
    path = tmp_path / "signing.key"
    key = read_or_create_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_or_create_key(path).public == read_key(path).public == key.public
    assert read_public_key(str(path)) == read_public_key(key.public) == key.public
    assert [file.name for file in tmp_path.iterdir()] == ["signing.key"]
    path.write_text("no key")
    for read in (read_key, read_or_create_key):
        with pytest.raises(ConfigurationError, match="Ed25519"):
            read(path)
    with pytest.raises(ConfigurationError, match="Ed25519"):
        read_public_key(str(path))
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_key(tmp_path / "none.key")


def test_without_the_package_the_advice_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(ConfigurationError, match=r"heald\[sign\]"):
        read_or_create_key(tmp_path / "signing.key")
