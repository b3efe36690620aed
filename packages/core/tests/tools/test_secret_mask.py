"""The mask: every form of a value, texts in pieces, and a cost that is linear."""

import base64
import json
import random
import string
from collections.abc import Callable
from urllib.parse import quote

import pytest

from heald.core.messages import Text
from heald.tools.secret_mask import SecretMask, find_marks
from heald.tools.secret_values import SecretValue

VALUE = 'p/ss "w0rd"&+é~X'
MARK = "[hidden: DB_PASS of .env]"
MASK = SecretMask([SecretValue(VALUE, "DB_PASS", ".env"), SecretValue("letmein", "DB_PIN", ".env", "DB_PIN=")])


@pytest.mark.parametrize(
    "form",
    [
        VALUE,
        quote(VALUE, safe=""),
        quote(VALUE),
        quote(VALUE, safe="").replace("%2F", "%2f").replace("%C3%A9", "%c3%a9").replace("%2B", "%2b"),
        json.dumps(VALUE, ensure_ascii=False)[1:-1],
        json.dumps(VALUE)[1:-1],
    ],
)
def test_every_form_is_hidden(form: str) -> None:
    assert MASK.hide(f"é before {form} behind") == f"é before {MARK} behind"


@pytest.mark.parametrize("width", [0, 20, 64, 76])
@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_is_hidden_at_every_place_and_width(width: int, shift: int, encode: Callable[[bytes], bytes]) -> None:
    text = encode(f"{'x' * (shift + 50)}{VALUE}\nOTHER=1{'y' * 60}".encode()).decode()
    lines = [text[start : start + width] for start in range(0, len(text), width)] if width else [text]
    masked = MASK.hide("data: " + "\n".join(lines) + "\nend")
    assert "[hidden: base64 with DB_PASS of .env]" in masked
    assert encode(VALUE.encode())[4:16].decode() not in masked.replace("\n", "")
    assert masked.startswith("data: ")
    assert masked.endswith("\nend")


def test_a_short_value_is_hidden_behind_its_name_only() -> None:
    assert MASK.hide("letmein") == "letmein"
    assert MASK.hide("x:1:DB_PIN=letmein\n") == "x:1:DB_PIN=[hidden: DB_PIN of .env]\n"
    assert MASK.hide("DB_PIN=letmein2 MY_DB_PIN=letmein") == "DB_PIN=letmein2 MY_DB_PIN=letmein"


def test_a_text_without_values_is_the_same_object() -> None:
    text = "nothing to hide é"
    assert MASK.hide(text) is text
    assert SecretMask().hide(text) is text


def test_content_and_data() -> None:
    assert MASK.hide_content([Text(VALUE), Text("b")]) == [Text(MARK), Text("b")]
    assert MASK.hide_json({"a": [VALUE, 1, {VALUE: None}]}) == {"a": [MARK, 1, {MARK: None}]}


def test_marks_are_found() -> None:
    text = f"{MARK} and [hidden: base64 with KEY of a/.env.local]"
    assert find_marks(text) == [("DB_PASS", ".env"), ("KEY", "a/.env.local")]
    odd = SecretMask([SecretValue("tr0ub4dor&3", 'a"]\n', "x]\\/.env")]).hide("tr0ub4dor&3")
    assert find_marks(json.loads(json.dumps(odd))) == [("a___", "x__/.env")]


def _stream(mask: SecretMask, pieces: list[str]) -> list[str]:
    """Return what is displayed of a text in pieces."""
    held, displayed = "", list[str]()
    for piece in pieces:
        text = mask.hide(held + piece)
        length = mask.held_back(text)
        held = text[len(text) - length :]
        displayed.append(text[: len(text) - length])
    return [*displayed, held]


@pytest.mark.parametrize("seed", range(40))
def test_a_value_in_pieces_is_hidden(seed: int) -> None:
    chance = random.Random(seed)
    values = [
        "".join(chance.choices(string.ascii_letters + string.digits + "/&", k=chance.randint(8, 40))) for _ in range(20)
    ]
    mask = SecretMask([SecretValue(value, f"K{number}", ".env") for number, value in enumerate(values)])
    parts = list[str]()
    for _ in range(30):
        value = chance.choice(values)
        form = chance.choice([value, quote(value, safe=""), base64.b64encode(value.encode()).decode()])
        parts += [
            "".join(chance.choices("abc \n=", k=chance.randint(0, 30))),
            " ",
            form,
            chance.choice(["\n", " "]),
        ]
    text = "".join(parts)
    cuts = sorted(chance.randrange(len(text)) for _ in range(60))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    displayed = "".join(_stream(mask, pieces))
    for value in values:
        assert value not in displayed
        assert base64.b64encode(value.encode())[:-4].decode() not in displayed
    assert displayed.count("[hidden: ") == 30


def test_wrapped_base64_in_pieces_is_hidden() -> None:
    mask = SecretMask([SecretValue("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "K", ".env")])
    text = base64.encodebytes(b"x" * 45 + b"sk_live_4eC39HqLyjWDarjtT1zdp7dc" + b"y" * 70).decode()
    for cut in range(1, len(text)):
        displayed = "".join(_stream(mask, [text[:cut], text[cut:]]))
        assert "[hidden: base64 with K of .env]" in displayed, cut


def test_what_only_begins_like_a_value_comes_at_the_end() -> None:
    mask = SecretMask([SecretValue("sk_live_4eC39HqLyj", "K", ".env")])
    assert mask.held_back("text sk_live_4") == len("sk_live_4")
    assert mask.held_back("a line.\n") == 0
    assert "".join(_stream(mask, ["text sk_li", "ke this"])) == "text sk_like this"
