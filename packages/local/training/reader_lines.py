"""Draws lines of text as browsers do: HarfBuzz shapes them, FreeType draws them, in many fonts, sizes and spacings.

A line is an array of 48 rows, 0 to 255: how much of each pixel is ink, cropped as the converter crops lines.
"""

import ctypes
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import freetype
import numpy as np
import uharfbuzz
from numpy.typing import NDArray
from PIL import Image
from reader_letters import ARABIC, CYRILLIC, GREEK, HEBREW, NUMBERS, is_leftward, to_label

HEIGHT = 48
WIDEST = 1536
STEP = 64  # widths are grouped in steps of this
SCRIPTS = {"cyrillic": 0.28, "greek": 0.07, "hebrew": 0.14, "arabic": 0.2, "korean": 0.25, "latin": 0.06}
LANGUAGES = {
    "cyrillic": ("ru", "ru", "ru", "uk", "uk", "bg", "sr", "mk"),
    "greek": ("el",),
    "hebrew": ("he",),
    "arabic": ("ar", "ar", "ar", "fa"),
    "korean": ("ko",),
    "latin": ("en",),
}
OF_SCRIPT = {"cyrillic": "Жд", "greek": "Ωλ", "hebrew": "אש", "arabic": "عم", "korean": "한글", "latin": "Rg"}
ALL_LETTERS = {"cyrillic": CYRILLIC, "greek": GREEK, "hebrew": HEBREW[:27], "arabic": ARABIC}
SYLLABLES = "".join(chr(code) for code in range(0xAC00, 0xD7A4))
COMMON_SYLLABLES = "".join(each for each in SYLLABLES if len(each.encode("euc_kr")) == 2)  # the 2,350 of KS X 1001
Cover = NDArray[np.uint8]


class Font:
    """A font file: what it holds, and its glyphs as drawn last."""

    def __init__(self, file: Path) -> None:
        self.name = file.stem
        self._face = freetype.Face(str(file))
        face = uharfbuzz.Face(file.read_bytes())
        self._shaper = uharfbuzz.Font(face)
        self.letters = frozenset(map(chr, face.unicodes))
        self._glyphs: dict[tuple[int, int], tuple[Cover, int, int]] = {}
        self._flags = 0

    def set_size(self, size: float, hinted: bool, slant: float) -> None:
        self._face.set_char_size(round(size * 64))
        self._shaper.scale = (round(size * 64), round(size * 64))
        self._flags = freetype.FT_LOAD_NO_BITMAP | (
            freetype.FT_LOAD_TARGET_LIGHT if hinted else freetype.FT_LOAD_NO_HINTING
        )
        self._matrix = freetype.Matrix(0x10000, round(slant * 0x10000), 0, 0x10000)
        self._glyphs.clear()

    def shape(self, text: str, leftward: bool) -> list[tuple[int, float, float, float, int]]:
        """Return glyph, advance, two offsets in pixels and cluster, from left to right."""
        buffer = uharfbuzz.Buffer()
        buffer.add_str(text)
        buffer.guess_segment_properties()
        buffer.direction = "rtl" if leftward else "ltr"
        uharfbuzz.shape(self._shaper, buffer)
        return [
            (info.codepoint, at.x_advance / 64, at.x_offset / 64, at.y_offset / 64, info.cluster)
            for info, at in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True)
        ]

    def glyph(self, number: int, phase: int) -> tuple[Cover, int, int]:
        """Draw a glyph `phase` quarters of a pixel to the right; also its left and top."""
        found = self._glyphs.get((number, phase))
        if found is None:
            self._face.set_transform(self._matrix, freetype.Vector(phase * 16, 0))
            self._face.load_glyph(number, self._flags)
            slot = self._face.glyph
            slot.render(freetype.FT_RENDER_MODE_NORMAL)
            bitmap = slot.bitmap._FT_Bitmap  # its `buffer` is a list, which is slow
            size = bitmap.rows * bitmap.pitch
            data = ctypes.string_at(bitmap.buffer, size) if size else b""
            rows = np.frombuffer(data, np.uint8).reshape(bitmap.rows, bitmap.pitch or 1)[:, : bitmap.width]
            found = self._glyphs[number, phase] = rows, slot.bitmap_left, slot.bitmap_top
        return found


@dataclass
class Setting:
    """How a few lines are set."""

    font: Font
    other: Font
    size: float
    hinted: bool
    spacing: float
    space: float
    underlined: bool


class LineMaker:
    """Makes lines from word lists and fonts; the same seed makes the same lines."""

    def __init__(self, folder: Path, seed: int, held: bool = False) -> None:
        self._dice = random.Random(seed)
        held_names = set((folder / "held.txt").read_text().split())
        files = sorted((folder / "fonts").glob("*.ttf"))
        self._files = [file for file in files if (file.stem.split("__")[0] in held_names) == held]
        self._fonts: dict[Path, Font] = {}
        listed = (folder / "fonts.txt").read_text().splitlines()
        scripts = {name: set(rest.split()) for name, _, rest in (line.partition(" ") for line in listed)}
        self._of = {script: [file for file in self._files if script in scripts[file.stem]] for script in SCRIPTS}
        self._words = {
            each: (folder / "words" / f"{each}.txt").read_text("utf-8").split()
            for own in LANGUAGES.values()
            for each in own
        }

    def lines(self, script: str | None = None) -> Iterator[tuple[Cover, str, str]]:
        """Yield lines without end: the ink, the label, the script."""
        dice = self._dice
        while True:
            which = script or dice.choices(list(SCRIPTS), list(SCRIPTS.values()))[0]
            setting = self._setting(which)
            for _ in range(10):
                tokens = self._tokens(which, dice.choice(LANGUAGES[which]))
                made = self._draw(tokens, setting)
                if made is not None:
                    yield *made, which

    def _font(self, file: Path) -> Font:
        if file not in self._fonts:
            self._fonts[file] = Font(file)
        return self._fonts[file]

    def _setting(self, script: str) -> Setting:
        dice = self._dice
        size = dice.choice(
            (10, 11, 12, 12, 13, 13, 14, 14, 14, 15, 15, 16, 16, 16, 17, 18, 18, 20, 22, 24, 27, 28, 32, 36, 40, 48, 56)
        )
        if dice.random() < 0.25:
            size += dice.random()
        if dice.random() < 0.15:
            size *= 2
        font, other = self._font(dice.choice(self._of[script])), self._font(dice.choice(self._of["latin"]))
        hinted, slant = dice.random() < 0.3, dice.choice((0.12, 0.2)) if dice.random() < 0.05 else 0.0
        for each in (font, other):
            each.set_size(size, hinted, slant)
        spaced = script != "arabic" and dice.random() < 0.15
        spacing = size * dice.uniform(-0.03, 0.14) if spaced else 0.0
        space = size * dice.uniform(-0.04, 0.1) if dice.random() < 0.2 else 0.0
        return Setting(font, other, size, hinted, spacing, space, dice.random() < 0.08)

    def _tokens(self, script: str, language: str) -> list[str]:
        """Return words in logical order, with punctuation and figures."""
        dice = self._dice
        count = dice.choice((1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 8, 10, 12, 14))
        case = dice.choices(("sentence", "lower", "title", "upper"), (0.5, 0.15, 0.17, 0.18))[0]
        foreign = dice.choice((0.0, 0.0, 0.08, 0.25))
        words: list[str] = []
        for place in range(count):
            roll = dice.random()
            if roll < 0.1 or (count == 1 and roll < 0.15):
                words.append(self._figure(script))
                continue
            if script != "latin" and dice.random() < foreign:
                word = self._word("en", "latin")
                words.append(dice.choice((word.title(), word.title(), word.upper(), word)))
                continue
            word = self._word(language, script)
            if case == "upper":
                word = word.upper().translate(str.maketrans("ΆΈΉΊΌΎΏ", "ΑΕΗΙΟΥΩ"))
            elif case == "title" or (case == "sentence" and (place == 0 or dice.random() < 0.12)):
                word = word[:1].upper() + word[1:]
            words.append(self._punctuate(word, script, place == count - 1))
        return words

    def _word(self, language: str, script: str) -> str:
        dice, words = self._dice, self._words[language]
        roll = dice.random()
        if script == "korean" and roll < 0.25:
            pool = SYLLABLES if roll < 0.05 else COMMON_SYLLABLES
            return "".join(dice.choice(pool) for _ in range(dice.randint(1, 4)))
        if script in ALL_LETTERS and roll < 0.06:
            return "".join(dice.choice(ALL_LETTERS[script]) for _ in range(dice.randint(1, 7)))
        return words[min(int(len(words) * dice.random() ** 1.7), len(words) - 1)]

    def _punctuate(self, word: str, script: str, last: bool) -> str:
        dice = self._dice
        roll = dice.random()
        comma, question = ("،", "؟") if script == "arabic" else (",", "?")
        if roll < 0.1 or (last and roll < 0.22):
            return word + dice.choice(
                (comma, comma, ".", ".", ":", "!", question, "؛" if script == "arabic" else ";", "…")
            )
        if roll < 0.26:
            opening, closing = dice.choice(("()", "()", "«»", '""', "“”", "„“", "‘’", "[]"))
            return opening + word + closing
        if roll > 0.985:
            return dice.choice(("•", "→", "—", "–", "·", "©", "★", "✓", "/", "|", "&", "+", "-"))
        if roll > 0.965 and script != "arabic":
            return f"{word}{dice.choice('-/–')}{word[:3]}"
        return word

    def _figure(self, script: str) -> str:
        dice = self._dice
        whole = str(dice.randrange(10 ** dice.randint(1, 5)))
        kind = dice.randrange(12)
        money = {"cyrillic": "₽₴€", "hebrew": "₪$€", "korean": "₩$€", "arabic": "$€£"}.get(script, "€$£")
        text = (
            whole, whole, f"{whole}%", f"{dice.randint(1, 999)},{dice.randrange(1000):03}", f"{dice.randint(1, 99)}.{dice.randrange(100):02}",
            f"{dice.randint(0, 23)}:{dice.randrange(60):02}", f"{dice.randint(1, 28):02}.{dice.randint(1, 12):02}.{dice.randint(1990, 2030)}",
            f"{dice.choice(money)}{whole}", str(dice.randint(1980, 2030)), f"+{dice.randint(1, 99)} {dice.randrange(1000):03} {dice.randrange(10000):04}",
            f"{dice.randint(1, 28)}/{dice.randint(1, 12)}", f"№{whole}" if script == "cyrillic" else f"#{whole}",
        )[kind]  # fmt: skip
        if script == "cyrillic" and dice.random() < 0.2:
            return f"{dice.randint(1, 99)} {dice.randrange(1000):03} ₽"
        if script == "korean" and dice.random() < 0.35:
            return whole + dice.choice(("원", "개", "명", "월", "일", "년", "시", "분", "위", "건", "박", "층"))
        if script == "arabic" and text.isdigit() and dice.random() < 0.4:
            return text.translate(str.maketrans("0123456789", dice.choice(("٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹"))))
        return text

    def _draw(self, tokens: list[str], setting: Setting) -> tuple[Cover, str] | None:
        base = is_leftward("".join(tokens))
        runs: list[tuple[bool, list[str]]] = []
        for token in tokens:
            leftward = is_leftward(token)
            digits = base and not leftward and not any(each.isalpha() for each in token)
            if digits and " " in token:
                token = token.replace(" ", "")
            if runs and runs[-1][0] == leftward and not digits:
                runs[-1][1].append(token)
            else:
                runs.append((leftward, [token]))
        if base:
            runs.reverse()
        parts = [(leftward, " ".join(words)) for leftward, words in runs]
        label = " ".join(to_label(text) for _, text in parts)
        if any(each not in NUMBERS for each in label) or not label:
            return None
        cover = self._paint(parts, setting)
        crop = self._crop(cover, setting) if cover is not None else None
        return (crop, label) if crop is not None else None

    def _paint(self, parts: list[tuple[bool, str]], setting: Setting) -> Cover | None:
        pieces: list[tuple[Cover, int, int]] = []
        pen = 4.0
        for number, (leftward, text) in enumerate(parts):
            if number:
                pen += setting.size * 0.27 + setting.space + setting.spacing
            spans = list(_spans(text, setting.font, setting.other))
            if any(font is None for font, _ in spans):
                return None
            for font, span in reversed(spans) if leftward else spans:
                assert font is not None
                for glyph, advance, right, up, cluster in font.shape(span, leftward):
                    at = pen + right
                    phase = 0 if setting.hinted else int(at * 4) % 4
                    drawn, left, top = font.glyph(glyph, phase)
                    if drawn.size:
                        pieces.append((drawn, int(at) + left, round(up) + top))
                    if advance:
                        advance += setting.spacing + (setting.space if span[cluster : cluster + 1] == " " else 0.0)
                    pen += round(advance) if setting.hinted else advance
        if not pieces or pen > 2600:
            return None
        first = min(left for _, left, _ in pieces)
        above, below = max(top for _, _, top in pieces), max(len(drawn) - top for drawn, _, top in pieces)
        canvas = np.zeros((above + below, max(left + drawn.shape[1] for drawn, left, _ in pieces) - first), np.uint8)
        for drawn, left, top in pieces:
            part = canvas[above - top : above - top + len(drawn), left - first : left - first + drawn.shape[1]]
            np.maximum(part, drawn, out=part)
        return canvas

    def _crop(self, cover: Cover, setting: Setting) -> Cover | None:
        """Crop as the converter does, not always exactly, and scale to the height."""
        dice = self._dice
        dark = cover > 30
        if dark.sum() < 6:
            return None
        rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
        cover = cover[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        tall = len(cover)
        if tall < 6:
            return None
        margin = max(2, round(tall * 0.18))
        loose = dice.random() < 0.25
        top, bottom = (max(margin + round(dice.uniform(-0.12, 0.3) * tall), 0) if loose else margin for _ in range(2))
        left, right = (
            max(margin + round(dice.uniform(-0.15, 0.8) * tall), 0) if dice.random() < 0.2 else margin for _ in range(2)
        )
        canvas = np.zeros((top + tall + bottom, left + cover.shape[1] + right), np.uint8)
        canvas[top : top + tall, left : left + cover.shape[1]] = cover
        if setting.underlined and bottom >= 2:
            canvas[top + tall : top + tall + max(1, round(setting.size / 16)), left : left + cover.shape[1]] = 255
        if dice.random() < 0.04:
            edge = canvas[:1] if dice.random() < 0.5 else canvas[-1:]
            edge[:, dice.randrange(canvas.shape[1]) :] = dice.randrange(60, 255)
        width = round(canvas.shape[1] * HEIGHT / len(canvas) * dice.uniform(0.85, 1.15))
        if not 16 <= width <= WIDEST:
            return None
        image = Image.fromarray(canvas)
        if dice.random() < 0.1:
            scale = dice.uniform(0.7, 1.5)
            image = image.resize(
                (max(round(image.width * scale), 8), max(round(image.height * scale), 10)), Image.Resampling.BILINEAR
            )
        return np.asarray(image.resize((width, HEIGHT), Image.Resampling.BILINEAR))


def _spans(text: str, font: Font, other: Font) -> Iterator[tuple[Font | None, str]]:
    """Split a text into spans that one font has; letters that the first lacks are of the other."""
    last: Font | None = font
    start = 0
    for place, letter in enumerate(text):
        own = font if letter in font.letters or letter == " " else other if letter in other.letters else None
        if letter == " " and place:
            own = last
        if place and own is not last:
            yield last, text[start:place]
            start = place
        last = own
    yield last, text[start:]
