"""Gathers what lines are made of: fonts and word lists.

    python reader_inputs.py FONTS OUT

FONTS has a folder for each family with its TTF files; words come from the package `wordfreq`. OUT gets `fonts/`,
`fonts.txt` (the scripts of each font), `words/` and `held.txt` (families that are only measured on).
"""

import sys
import unicodedata
from pathlib import Path

import uharfbuzz
from reader_letters import ARABIC, ARABIC_MARKS, CYRILLIC, GREEK, HEBREW, LATIN, MARKS, is_leftward
from reader_lines import COMMON_SYLLABLES, SYLLABLES
from wordfreq import top_n_list

HELD = "golos-text pt-serif fira-sans-condensed play literata alef ibm-plex-sans-hebrew almarai markazi-text gowun-dodum gothic-a1 do-hyeon"
WHOLE = ("noto-sans-kr__400Regular", "nanum-gothic__400Regular", "ibm-plex-sans-kr__400Regular")  # all 11,172 syllables
STYLES = ("400Regular", "700Bold", "300Light", "400Regular_Italic")
PROBES = {
    "cyrillic": "АЯаяЁёЖщ", "greek": "ΑΩαωςάώ", "hebrew": HEBREW[:27], "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوية",
    "korean": "한글쓰기값", "latin": LATIN[:94],
}  # fmt: skip
KEPT = " " + LATIN + MARKS + CYRILLIC + GREEK + HEBREW + ARABIC + "ی" + ARABIC_MARKS
COUNT = 30_000
SERBIAN = (
    "nj њ",
    "lj љ",
    "dž џ",
    *(f"{a} {b}" for a, b in zip("abvgdđežzijklmnoprstćufhcčš", "абвгдђежзијклмнопрстћуфхцчш", strict=True)),
)


def reduce_font(source: Path, target: Path) -> str:
    """Write a font with the reader's letters alone, without instructions; return its scripts."""
    face = uharfbuzz.Face(source.read_bytes())
    known = {chr(code) for code in face.unicodes}
    scripts = [script for script, probe in PROBES.items() if known.issuperset(probe)]
    if not scripts:
        return ""
    hangul = (SYLLABLES if target.stem in WHOLE else COMMON_SYLLABLES) if "korean" in scripts else ""
    wanted = uharfbuzz.SubsetInput()
    wanted.unicode_set.update(map(ord, KEPT + hangul))
    wanted.flags = uharfbuzz.SubsetFlags.NO_HINTING
    target.write_bytes(uharfbuzz.subset(face, wanted).blob.data)
    return " ".join(scripts)


def words_of(language: str) -> list[str]:
    if language == "sr":
        words = [
            each
            for each in top_n_list("sh", COUNT)
            if each.isalpha() and each.isascii() | any(x in each for x in "čćžšđ")
        ]
        for pair in SERBIAN:
            words = [each.replace(*pair.split()) for each in words]
        return [each for each in words if not any("a" <= letter <= "z" for letter in each)]
    words = top_n_list(language, COUNT)
    if language in ("ar", "fa", "he"):
        plain = ("".join(letter for letter in word if unicodedata.category(letter) != "Mn") for word in words)
        return [
            word
            for word in plain
            if word and is_leftward(word) and all(letter in ARABIC + HEBREW + "ی" for letter in word)
        ]
    if language == "ko":
        return [word for word in words if all("\uac00" <= letter <= "\ud7a3" for letter in word)]
    if language == "el":
        words = [f"{word[:-1]}ς" if word.endswith("σ") else word for word in words]
    own = {"el": GREEK, "en": LATIN}.get(language, CYRILLIC)
    return [word for word in words if all(letter in own for letter in word)]


def main() -> None:
    fonts, out = Path(sys.argv[1]), Path(sys.argv[2])
    for part in ("fonts", "words"):
        (out / part).mkdir(parents=True, exist_ok=True)
    (out / "held.txt").write_text(HELD)
    jobs: list[tuple[Path, Path]] = []
    for family in sorted(each for each in fonts.iterdir() if each.is_dir()):
        found = {style: next(family.rglob(f"*_{style}.ttf"), None) for style in STYLES}
        light = sum(family.name.encode()) % 4  # a light or slanted one of every fourth family each
        wanted = ("400Regular", "700Bold", *(STYLES[2:3] if light == 0 else STYLES[3:] if light == 1 else ()))
        jobs += [
            (found[style], out / "fonts" / f"{family.name}__{style}.ttf")
            for style in wanted
            if found[style] is not None
        ]
    scripts = [reduce_font(*job) for job in jobs]
    (out / "fonts.txt").write_text(
        "".join(f"{job[1].stem} {own}\n" for job, own in zip(jobs, scripts, strict=True) if own)
    )
    for language in ("ru", "uk", "bg", "sr", "mk", "el", "he", "ar", "fa", "ko", "en"):
        (out / "words" / f"{language}.txt").write_text("\n".join(words_of(language)), "utf-8")


if __name__ == "__main__":
    main()
