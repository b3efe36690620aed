"""Motifs of placeholders: drawings that stand for a subject, such as a landscape or a cup."""

from collections.abc import Callable
from math import cos, pi, sin
from random import Random

from PIL import ImageDraw

from heald_studio.imaging.palette import Colour, mix_colours

_WHITE, _BLACK = (255, 255, 255), (0, 0, 0)
Pen = ImageDraw.ImageDraw
Place = tuple[float, float, float, float]
"""Left, top, right and bottom."""
Motif = Callable[[Pen, Place, Colour, Colour, Random], None]


def abstract(pen: Pen, place: Place, main: Colour, second: Colour, random: Random) -> None:
    left, top, right, bottom = place
    width, height = right - left, bottom - top
    tones = (mix_colours(main, _WHITE, 0.25), mix_colours(second, _WHITE, 0.15), mix_colours(main, second, 0.5))
    for number in range(5):
        radius = min(width, height) * random.uniform(0.16, 0.46)
        x, y = left + width * random.random(), top + height * random.random()
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=tones[number % 3])


def landscape(pen: Pen, place: Place, main: Colour, second: Colour, random: Random) -> None:
    left, top, right, bottom = place
    width, height = right - left, bottom - top
    radius = min(width, height) * 0.11
    x, y = left + width * random.uniform(0.62, 0.82), top + height * 0.26
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=mix_colours(second, _WHITE, 0.65))
    for depth, (level, swing) in enumerate(((0.5, 0.2), (0.63, 0.14), (0.78, 0.08))):
        start, waves = random.random() * 2 * pi, random.uniform(1.2, 2.2)
        ridge = [
            (left + width * step / 40, top + height * (level - swing * sin(start + waves * pi * step / 20) * 0.6))
            for step in range(41)
        ]
        shade = mix_colours(mix_colours(main, _WHITE, 0.4 - 0.2 * depth), _BLACK, 0.12 * depth)
        pen.polygon([*ridge, (right, bottom), (left, bottom)], fill=shade)


def sea(pen: Pen, place: Place, main: Colour, second: Colour, random: Random) -> None:
    left, top, right, bottom = place
    width, height = right - left, bottom - top
    radius = min(width, height) * 0.13
    x, y = left + width * random.uniform(0.35, 0.65), top + height * 0.46
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=mix_colours(second, _WHITE, 0.55))
    for depth in range(4):
        level, start = top + height * (0.52 + 0.11 * depth), random.random() * 2 * pi
        waves = [(left + width * step / 60, level + height * 0.012 * sin(start + step * pi / 5)) for step in range(61)]
        shade = mix_colours(mix_colours(main, _WHITE, 0.3), _BLACK, 0.12 * depth)
        pen.polygon([*waves, (right, bottom), (left, bottom)], fill=shade)


def skyline(pen: Pen, place: Place, main: Colour, second: Colour, random: Random) -> None:
    left, top, right, bottom = place
    width, height = right - left, bottom - top
    for depth in range(2):
        x = left
        shade = mix_colours(main, _WHITE, 0.35) if depth == 0 else mix_colours(main, _BLACK, 0.25)
        while x < right:
            wide = width * random.uniform(0.06, 0.13)
            roof = top + height * random.uniform(0.2 + 0.2 * depth, 0.55 + 0.15 * depth)
            pen.rectangle((x, roof, x + wide, bottom), fill=shade)
            if depth:
                _draw_windows(pen, (x, roof, x + wide, bottom), mix_colours(second, _WHITE, 0.5), random)
            x += wide


def _draw_windows(pen: Pen, place: Place, colour: Colour, random: Random) -> None:
    left, top, right, bottom = place
    step = max((right - left) / 4, 4.0)
    y = top + step
    while y < bottom - step:
        for column in range(1, 4):
            if random.random() < 0.5:
                x = left + column * step - step / 4
                pen.rectangle((x, y, x + step / 2, y + step / 2), fill=colour)
        y += step


def person(pen: Pen, place: Place, main: Colour, second: Colour, _: Random) -> None:
    left, top, right, bottom = place
    side = right - left
    x, skin = (left + right) / 2, mix_colours(second, _WHITE, 0.5)
    pen.ellipse((left, top, right, bottom), fill=mix_colours(main, _WHITE, 0.55))
    pen.pieslice((x - side * 0.34, top + side * 0.6, x + side * 0.34, top + side * 1.24), 180, 360, fill=main)
    pen.ellipse((x - side * 0.17, top + side * 0.16, x + side * 0.17, top + side * 0.54), fill=skin)
    pen.pieslice(
        (x - side * 0.18, top + side * 0.14, x + side * 0.18, top + side * 0.48),
        180,
        360,
        fill=mix_colours(main, _BLACK, 0.4),
    )


def dish(pen: Pen, place: Place, main: Colour, second: Colour, random: Random) -> None:
    left, top, right, bottom = place
    side = right - left
    x, y = (left + right) / 2, (top + bottom) / 2
    for radius, colour in (
        (0.48, mix_colours(main, _WHITE, 0.9)),
        (0.36, mix_colours(main, _WHITE, 0.7)),
        (0.27, second),
    ):
        pen.ellipse((x - side * radius, y - side * radius, x + side * radius, y + side * radius), fill=colour)
    for _ in range(7):
        turn, far, size = random.random() * 2 * pi, random.uniform(0.04, 0.19), random.uniform(0.03, 0.06)
        a, b = x + side * far * cos(turn), y + side * far * sin(turn)
        pen.ellipse(
            (a - side * size, b - side * size, a + side * size, b + side * size), fill=mix_colours(main, _WHITE, 0.1)
        )


def cup(pen: Pen, place: Place, main: Colour, second: Colour, _random: Random) -> None:
    left, top, right, _ = place
    side = right - left
    edge = max(1, round(side * 0.05))
    pen.ellipse(
        (left + side * 0.62, top + side * 0.42, left + side * 0.88, top + side * 0.68), outline=main, width=edge
    )
    box = (left + side * 0.2, top + side * 0.36, left + side * 0.72, top + side * 0.82)
    pen.rounded_rectangle(box, side * 0.1, fill=main)
    pen.rectangle((box[0], box[1], box[2], box[1] + side * 0.07), fill=mix_colours(second, _BLACK, 0.2))
    for number in range(3):
        x = left + side * (0.32 + 0.14 * number)
        pen.line(
            [(x + side * 0.02 * sin(step), top + side * (0.3 - 0.022 * step)) for step in range(8)],
            fill=mix_colours(second, _WHITE, 0.5),
            width=max(1, edge // 2),
        )


def chart(pen: Pen, place: Place, main: Colour, second: Colour, random: Random) -> None:
    left, top, right, bottom = place
    width, height = right - left, bottom - top
    pen.rounded_rectangle(place, width * 0.04, fill=mix_colours(main, _WHITE, 0.92))
    for number in range(6):
        x = left + width * (0.1 + 0.14 * number)
        y = top + height * (0.75 - random.uniform(0.1, 0.5))
        colour = second if number == 4 else mix_colours(main, _WHITE, 0.2)
        pen.rounded_rectangle((x, y, x + width * 0.09, top + height * 0.85), width * 0.015, fill=colour)
    pen.line((left + width * 0.06, top + height * 0.85, right - width * 0.06, top + height * 0.85), fill=main, width=3)


def screen(pen: Pen, place: Place, main: Colour, second: Colour, random: Random) -> None:
    left, top, right, bottom = place
    width, height = right - left, bottom - top
    frame = (left + width * 0.06, top + height * 0.16, right - width * 0.06, top + height * 0.74)
    pen.rounded_rectangle(frame, width * 0.04, fill=mix_colours(main, _BLACK, 0.35))
    inner = (frame[0] + width * 0.03, frame[1] + width * 0.03, frame[2] - width * 0.03, frame[3] - width * 0.03)
    pen.rectangle(inner, fill=mix_colours(main, _WHITE, 0.85))
    pen.rectangle((inner[0], inner[1], inner[2], inner[1] + height * 0.08), fill=mix_colours(main, _WHITE, 0.3))
    for row in range(3):
        y = inner[1] + height * (0.14 + 0.09 * row)
        far = inner[0] + (inner[2] - inner[0]) * random.uniform(0.45, 0.85)
        pen.rectangle(
            (inner[0] + width * 0.05, y, far, y + height * 0.035),
            fill=second if row == 0 else mix_colours(main, _WHITE, 0.5),
        )
    pen.polygon(
        [
            (left, top + height * 0.84),
            (right, top + height * 0.84),
            (right - width * 0.06, top + height * 0.74),
            (left + width * 0.06, top + height * 0.74),
        ],
        fill=mix_colours(main, _BLACK, 0.15),
    )


def plant(pen: Pen, place: Place, main: Colour, second: Colour, random: Random) -> None:
    left, top, right, bottom = place
    side = right - left
    x, foot = (left + right) / 2, top + side * 0.66
    for number in range(7):
        turn = pi * (0.12 + 0.127 * number)
        length = side * random.uniform(0.38, 0.52)
        tip = (x + length * cos(turn), foot - length * sin(turn))
        across = (side * 0.07 * sin(turn), side * 0.07 * cos(turn))
        middle = ((x + tip[0]) / 2, (foot + tip[1]) / 2)
        leaf = [
            (x, foot),
            (middle[0] + across[0], middle[1] + across[1]),
            tip,
            (middle[0] - across[0], middle[1] - across[1]),
        ]
        pen.polygon(leaf, fill=mix_colours(main, _WHITE if number % 2 else _BLACK, 0.2))
    pen.polygon(
        [(x - side * 0.2, foot), (x + side * 0.2, foot), (x + side * 0.14, bottom), (x - side * 0.14, bottom)],
        fill=second,
    )


def box(pen: Pen, place: Place, main: Colour, second: Colour, _random: Random) -> None:
    left, top, right, _ = place
    side = right - left
    x, y = (left + right) / 2, top + side * 0.3
    far, low = side * 0.38, side * 0.19
    pen.polygon([(x, y - low), (x + far, y), (x, y + low), (x - far, y)], fill=mix_colours(main, _WHITE, 0.5))
    pen.polygon([(x - far, y), (x, y + low), (x, y + low + side * 0.42), (x - far, y + side * 0.42)], fill=main)
    pen.polygon(
        [(x + far, y), (x, y + low), (x, y + low + side * 0.42), (x + far, y + side * 0.42)],
        fill=mix_colours(main, _BLACK, 0.25),
    )
    pen.polygon(
        [
            (x - far * 0.55, y - low * 0.45),
            (x + far * 0.45, y + low * 0.55),
            (x + far * 0.45, y + low * 0.55 + side * 0.12),
            (x + far * 0.3, y + low * 0.7 + side * 0.12),
            (x + far * 0.3, y + low * 0.7),
            (x - far * 0.7, y - low * 0.3),
        ],
        fill=second,
    )


def emblem(pen: Pen, place: Place, main: Colour, second: Colour, random: Random) -> None:
    left, top, right, bottom = place
    side = right - left
    pen.rounded_rectangle(place, side * 0.22, fill=main)
    corners = random.choice((3, 4, 5, 6))
    turn = -pi / 2 if corners != 4 else 0.0
    x, y = (left + right) / 2, (top + bottom) / 2
    shape = [
        (x + side * 0.3 * cos(turn + 2 * pi * k / corners), y + side * 0.3 * sin(turn + 2 * pi * k / corners))
        for k in range(corners)
    ]
    pen.polygon(shape, fill=mix_colours(second, _WHITE, 0.7))
    pen.ellipse((x - side * 0.1, y - side * 0.1, x + side * 0.1, y + side * 0.1), fill=main)


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


MOTIFS: tuple[tuple[frozenset[str], Motif, bool], ...] = (
    (
        _words(
            "person portrait avatar face man woman people girl boy child team customer user author founder doctor chef"
        ),
        person,
        True,
    ),
    (_words("logo icon emblem badge brand symbol mark"), emblem, True),
    (_words("sea ocean beach lake water wave boat coast river sunset sunrise island harbour harbor"), sea, False),
    (
        _words("mountain hill landscape valley forest nature field desert sky hiking trail countryside park"),
        landscape,
        False,
    ),
    (_words("city skyline building office street house apartment architecture hotel tower town room"), skyline, False),
    (_words("coffee cup tea mug espresso latte cappuccino drink"), cup, True),
    (
        _words(
            "food dish meal plate pizza salad burger pasta cake bread breakfast lunch dinner restaurant soup dessert"
        ),
        dish,
        True,
    ),
    (_words("chart graph dashboard analytics report statistic finance data"), chart, True),
    (_words("laptop computer screen app phone website software device monitor tablet interface desk"), screen, True),
    (_words("plant flower tree leaf garden bouquet succulent"), plant, True),
    (
        _words("product box package bag shoe bottle watch gift item shirt furniture chair lamp camera headphone"),
        box,
        True,
    ),
)
"""The words, their motif, and whether it is drawn alone in the middle."""
