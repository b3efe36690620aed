"""`heald verify`: verifies a signed export of a session, and prints what it proves."""

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from heald.commands.options import add_options
from heald.commands.terminal import BOLD, DIM, GREEN, RED, Colours
from heald.commands.text_columns import align_columns, truncate
from heald.config.paths import data_path
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald.core.turn import Usage
from heald.sessions.signed_archive import SignedHead, VerifiedArchive, read_signed_head, verify_archive
from heald.sessions.signing_key import KEY_FILE, read_key, read_public_key
from heald.sessions.store_errors import BadArchive
from heald.tools.sanitize import sanitize_text
from heald_check.proven_log import ProvenDecision, ProvenExchange, ProvenLog

EXAMPLES = """examples:
  heald verify bakery.heald                              signed with the key of this machine
  heald verify bakery.heald --key 5f0c…                  signed by somebody whose key you know
  heald verify bakery.heald --extends last-week.heald    nothing of last week's log was changed or removed

exit status: 0 proven, 1 changed, not signed, or signed with a key that is not known here"""
_SUMMARY = 100
_NAME = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="export that 'heald sessions export --sign' has written")
    parser.add_argument(
        "--key",
        action="append",
        default=[],
        metavar="KEY",
        help="public key that you trust: its 64 digits or a PEM file; repeatable (that of this machine)",
    )
    parser.add_argument(
        "--extends", metavar="FILE", help="earlier signed export of the session, or only its last line, that must agree"
    )
    add_options(parser, "verify")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    keys = [read_public_key(name) for name in options.key] or _machine_keys(options.data)
    log = ProvenLog()
    try:
        earlier = _read_earlier(options.extends) if options.extends else None
        verified = _verify(options.file, log, earlier)
        problem = _find_problem(verified, earlier, keys)
    except BadArchive as error:
        return _print_refusal(options.file, str(error), as_json=options.json)
    exchanges = log.exchanges()
    if options.json:
        print(encode_text(_report_json(options.file, verified, exchanges, problem)))
        return 1 if problem else 0
    print(*_report_lines(options.file, verified, exchanges, problem), sep="\n")
    return 1 if problem else 0


def _machine_keys(data: str | None) -> list[str]:
    path = data_path(data) / KEY_FILE
    return [read_key(path).public] if path.exists() else []


def _verify(name: str, log: ProvenLog, earlier: SignedHead | None) -> VerifiedArchive:
    try:
        with Path(name).open("rb") as file:
            return verify_archive(file, log.add, earlier=earlier.last_seq if earlier is not None else 0)
    except OSError as error:
        raise ConfigurationError(f"{name} cannot be read: {error.strerror}.") from None


def _read_earlier(name: str) -> SignedHead:
    """Return the signed head of an earlier export. Its events need not be there: the signature is about their hash."""
    try:
        with Path(name).open("rb") as file:
            line = b""
            for line in file:  # noqa: B007  # the last one counts
                pass
    except OSError as error:
        raise ConfigurationError(f"{name} cannot be read: {error.strerror}.") from None
    try:
        return read_signed_head(line)
    except BadArchive as error:
        raise BadArchive(f"{name}: {error}") from None


def _find_problem(verified: VerifiedArchive, earlier: SignedHead | None, keys: Sequence[str]) -> str:
    """Return why a file with a valid signature does not prove what it should; empty if it does."""
    signed = verified.signed
    if signed.key not in keys:
        whose = "none of the named ones" if keys else "not known here"
        return (
            f"The signature is valid, but its key is {whose}; ask the signer for the key, compare it, and pass it with "
            f"--key {signed.key}."
        )
    if earlier is None:
        return ""
    if earlier.key not in {*keys, signed.key}:
        return f"The earlier export was signed with another key, {earlier.key}."
    if earlier.session != signed.session:
        return f"The earlier export is of another session, {sanitize_text(earlier.session)}."
    if earlier.last_seq > signed.last_seq:
        return f"The log has {signed.last_seq:,} events; the earlier export had {earlier.last_seq:,}."
    if earlier.last_seq > 0 and verified.earlier_head != earlier.head:
        return f"The first {earlier.last_seq:,} events are not those of the earlier export."
    return ""


def _print_refusal(name: str, problem: str, *, as_json: bool) -> int:
    if as_json:
        print(encode_text({"file": name, "proven": False, "problem": problem}))
    else:
        print(f"{sanitize_text(name)}: {Colours(sys.stdout)('not proven', BOLD, RED)}. {sanitize_text(problem)}")
    return 1


def _report_json(
    name: str, verified: VerifiedArchive, exchanges: Sequence[ProvenExchange], problem: str
) -> dict[str, object]:
    return {
        "file": name,
        "proven": not problem,
        "problem": problem or None,
        "signed": verified.signed,
        "redacted": verified.redacted,
        "redacted_contents": verified.redacted_contents,
        "exchanges": exchanges,
    }


def _report_lines(name: str, verified: VerifiedArchive, exchanges: Sequence[ProvenExchange], problem: str) -> list[str]:
    paint = Colours(sys.stdout)
    signed = verified.signed
    outcome = paint("not proven", BOLD, RED) if problem else paint("proven", BOLD, GREEN)
    owner = f" of {sanitize_text(signed.owner)}" if signed.owner else ""
    redacted = f"; {len(verified.redacted):,} are redacted" if verified.redacted else ""
    lines = [
        f"{sanitize_text(name)}: {outcome}. {problem}".rstrip(" .") + ".",
        *align_columns(
            [
                ["session", f"{sanitize_text(signed.session)}{owner}, {signed.last_seq:,} events{redacted}"],
                ["signed", f"{_time(signed.time)} by the signer's clock"],
                ["key", signed.key],
                ["head", signed.head],
            ]
        ),
        "",
    ]
    for exchange in exchanges:
        models = sanitize_text(", ".join(exchange.models)) or "no model"
        tokens = f"{_count_tokens(exchange.usage):,} tokens"
        lines.append(
            f"{_time(exchange.time)}  {models}  {exchange.status}, {exchange.turns} turns, {tokens}, "
            f"{_cost(exchange.cost_usd)}"
        )
        lines += [f"  {_describe(decision)}" for decision in exchange.decisions]
    costs = [exchange.cost_usd for exchange in exchanges]
    total = sum(cost for cost in costs if cost is not None)
    unknown = f", and {costs.count(None):,} of an unknown cost" if None in costs else ""
    lines.append(paint(f"{len(exchanges):,} exchanges, {_cost(total)}{unknown}", DIM))
    return lines


def _describe(decision: ProvenDecision) -> str:
    """Return a line about an approval. Its summary shows hidden characters already."""
    call = f"{decision.tool} {' '.join(decision.summary.split())}".strip() or "a redacted call"
    notes = [
        *(["always"] if decision.always else []),
        *(["with other arguments"] if decision.changed else []),
        *([decision.reason] if decision.reason else []),
    ]
    note = f" ({'; '.join(notes)})" if notes else ""
    text = truncate(sanitize_text(f"{call}{note}"), _SUMMARY)
    by = f" by {truncate(sanitize_text(decision.by), _NAME)}" if decision.by else ""
    return f"{_time(decision.time)}  event {decision.seq}  {decision.decision}{by}: {text}"


def _count_tokens(usage: Usage) -> int:
    return sum(filter(None, (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning)))


def _cost(usd: float | None) -> str:
    return "unknown cost" if usd is None else f"${usd:.4f}"


def _time(time: float) -> str:
    return datetime.fromtimestamp(time).strftime("%Y-%m-%d %H:%M:%S")
