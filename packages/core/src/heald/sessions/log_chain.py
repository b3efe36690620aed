"""The hash chain over the lines of a signed archive.

A line has two parts. The public part is the beginning of its JSON: the number, type and time of an event. The private
part is the rest: a salt and the data. The chain takes the public part as it is and of the private part only a hash.
Data can therefore be replaced by that hash, and the chain stays the same. The salt keeps a reader from finding short
data by hashing guesses.
"""

import re
from hashlib import blake2b
from typing import NamedTuple

from heald.sessions.store_errors import ForgedArchive

_SALT = b'"salt":"'
_REDACTED = b'"redacted":"'
_BYTES = 32
START = bytes(_BYTES)
"""The chain of a log without events."""
_private_hash = blake2b(digest_size=_BYTES, person=b"heald private")
_link_hash = blake2b(digest_size=_BYTES, person=b"heald link")
"""Hashes without data. To copy one takes half the time of making it."""
_redacted_end = re.compile(rb'"redacted":"([0-9a-f]{64})"}\n\Z')


class ChainedLine(NamedTuple):
    """A line of a signed archive as the chain takes it. A tuple, because a large archive has very many."""

    public: bytes
    commitment: bytes
    """The hash of the private part."""
    is_redacted: bool


def add_salt(line: bytes, private: bytes, salt: str) -> bytes:
    """Return a line whose private part begins with a salt. `private` is the key with which that part begins."""
    at = line.index(private)
    return b"".join((line[:at], _SALT, salt.encode(), b'",', line[at:]))


def read_line(line: bytes) -> ChainedLine:
    """Split a line of a signed archive. Raises ForgedArchive for a line of another form."""
    at = line.find(_SALT)  # a quote in a text is escaped, so this is a key
    if at >= 0:
        hashed = _private_hash.copy()
        hashed.update(line[at:])
        return ChainedLine(line[:at], hashed.digest(), False)
    if end := _redacted_end.search(line):
        return ChainedLine(line[: end.start()], bytes.fromhex(end[1].decode()), True)
    raise ForgedArchive("it has a line that is neither signed nor redacted")


def redact_line(line: bytes) -> bytes:
    """Replace the private part of a line by its hash."""
    chained = read_line(line)
    return b"".join((chained.public, _REDACTED, chained.commitment.hex().encode(), b'"}\n'))


def extend_chain(chain: bytes, line: ChainedLine) -> bytes:
    """Return the chain behind a line. Both hashes have a fixed length, so the parts cannot be shifted."""
    hashed = _link_hash.copy()
    hashed.update(chain + line.public + line.commitment)
    return hashed.digest()
