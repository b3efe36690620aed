"""Writes the sections of the training pages."""

from controls import Look, button, radio, select, slider, switch, text_area, text_field, tick_box


def _row(content: str, gap: int, more: str = "") -> str:
    return f'<div style="display:flex;align-items:center;gap:{gap}px;{more}">{content}</div>'


def _card(look: Look, content: str, more: str = "") -> str:
    edge = look.rng.choice(
        [
            f"border:1px solid {look.line};",
            "box-shadow:0 2px 10px #0002;",
            f"border:1px solid {look.line};box-shadow:0 1px 3px #0002;",
            "",
        ]
    )
    return f'<div style="background:{look.card};border-radius:{look.radius}px;padding:{look.gap}px;box-sizing:border-box;{edge}{more}">{content}</div>'


def _grid(look: Look, cells: list[str], columns: int) -> str:
    return (
        f'<div style="display:grid;grid-template-columns:repeat({columns},1fr);gap:{look.gap}px">{"".join(cells)}</div>'
    )


def _title(look: Look, level: float = 1.5) -> str:
    return f'<div style="font-size:{look.size * level:.0f}px;font-weight:{look.rng.choice([400, 600, 700, 800])};margin-bottom:{look.gap // 2}px">{look.words.phrase(1, 5)}</div>'


def _soft(look: Look, text: str, share: float = 0.88) -> str:
    return f'<div style="color:{look.soft};font-size:{look.size * share:.1f}px">{text}</div>'


def header(look: Look, wide: int) -> str:
    rng = look.rng
    links = "".join(f"<a>{look.words.phrase(1, 1)}</a>" for _ in range(rng.randint(2, 5) if wide > 600 else 1))
    logo = look.icon(rng.choice([20, 24, 28, 32]), look.accent) + f"<b>{look.words.phrase(1, 1)}</b>"
    tools = (
        look.icon(20)
        + (text_field(look, "200px") if wide > 900 and rng.random() < 0.5 else "")
        + (button(look) if wide > 600 else look.icon(24))
    )
    return f'<div style="display:flex;align-items:center;gap:{look.gap}px;padding:12px {look.gap}px;background:{look.card};border-bottom:1px solid {look.line}">{logo}<span style="flex:1"></span>{links}{tools}</div>'


def hero_over(look: Look, wide: int) -> str:
    """A photograph behind text, with or without a veil."""
    rng = look.rng
    veil = rng.choice(
        [
            "",
            "",
            "linear-gradient(#0008,#0008),",
            "linear-gradient(90deg,#000b,#0000),",
            "linear-gradient(#0000,#000a),",
            "linear-gradient(#fffa,#fffa),",
        ]
    )
    tone = "#111" if "fff" in veil else rng.choice(["#fff", "#fff", "#fff", "#fde68a", "#111"])
    size = rng.randint(22, 60) if wide > 600 else rng.randint(20, 32)
    shadow = rng.choice(["", "text-shadow:0 2px 6px #000a;"]) if tone == "#fff" else ""
    side = rng.choice(["left", "center"])
    marks = _row(
        "".join(look.icon(colour=tone) for _ in range(rng.randint(0, 4))), 14, f"justify-content:{side};margin:8px 0;"
    )
    return (
        f'<div data-part="photo" data-over="1" style="background:{veil}url({rng.choice(look.photos)}) center/cover;color:{tone};{shadow}text-align:{side};'
        f'padding:{rng.randint(30, 110)}px {rng.randint(20, 80)}px;{rng.choice(["", f"border-radius:{look.radius}px;margin:{look.gap}px"])}">'
        f'<div style="font-size:{size}px;font-weight:{rng.choice([400, 600, 700, 800])};line-height:1.15">{look.words.phrase(2, 6)}</div>'
        f'<div style="font-size:{rng.choice([13, 14, 16, 18, 20])}px;margin:12px 0">{look.words.sentence()}</div>{marks}{button(look)} {button(look)}</div>'
    )


def captions(look: Look, wide: int) -> str:
    """Photographs with a few words on each."""
    rng = look.rng
    cells = [
        f'<div data-part="photo" data-over="1" style="background:url({rng.choice(look.photos)}) center/cover;border-radius:{look.radius}px;height:{rng.randint(110, 260)}px;'
        f'display:flex;flex-direction:column;justify-content:{rng.choice(["end", "center", "start"])};padding:14px;box-sizing:border-box;color:{rng.choice(["#fff", "#fff", "#111"])}">'
        f'<b style="font-size:{rng.randint(13, 26)}px">{look.words.phrase(1, 4)}</b><span style="font-size:{rng.randint(11, 15)}px">{look.words.phrase(1, 4)}</span>'
        + (look.icon(colour="#fff") if rng.random() < 0.4 else "")
        + "</div>"
        for _ in range(rng.randint(2, 6))
    ]
    return _grid(look, cells, rng.choice([2, 3, 4]) if wide > 600 else rng.choice([1, 2]))


def hero_split(look: Look, wide: int) -> str:
    rng = look.rng
    words = f'<div style="flex:1">{_title(look, 2.6)}{_soft(look, look.words.paragraph(), 1.1)}<div style="margin-top:16px">{button(look, True)} {button(look, False)}</div></div>'
    picture = look.photo(
        f"width:{rng.randint(35, 50) if wide > 600 else 100}%;height:{rng.randint(160, 380)}px;border-radius:{look.radius}px"
    )
    parts = [words, picture]
    rng.shuffle(parts)
    return f'<div style="display:flex;gap:{2 * look.gap}px;align-items:center;{"" if wide > 600 else "flex-direction:column;"}">{"".join(parts)}</div>'


def features(look: Look, wide: int) -> str:
    rng = look.rng
    cells: list[str] = []
    for _ in range(rng.randint(3, 8)):
        mark = look.icon(colour=rng.choice([look.accent, look.ink, look.soft]))
        if rng.random() < 0.35:
            side = rng.choice([40, 48, 56, 64])
            mark = f'<div style="width:{side}px;height:{side}px;border-radius:{rng.choice([8, 12, 99])}px;display:flex;align-items:center;justify-content:center;background:{rng.choice([look.ground, look.accent])};color:{look.ink}">{look.icon(side // 2)}</div>'
        cells.append(_card(look, mark + _title(look, 1.1) + _soft(look, look.words.sentence())))
    return _grid(look, cells, rng.choice([2, 3, 4]) if wide > 600 else 1)


def products(look: Look, wide: int) -> str:
    rng = look.rng
    high = rng.randint(90, 240)
    cells = [
        _card(
            look,
            look.photo(f"width:100%;height:{high}px;border-radius:{look.radius // 2}px")
            + f"<div>{look.words.phrase(1, 4)}</div>"
            + _row(
                f"<b>{look.words.figure()}</b>"
                + "".join(look.icon(14, look.accent) for _ in range(rng.choice([0, 1, 5])))
                + (button(look) if rng.random() < 0.4 else look.icon(18)),
                4,
                "justify-content:space-between;flex-wrap:wrap;",
            ),
        )
        for _ in range(rng.randint(2, 6))
    ]
    return _grid(look, cells, rng.choice([3, 4]) if wide > 600 else 2)


def gallery(look: Look, wide: int) -> str:
    rng = look.rng
    bend = rng.choice([0, look.radius])
    cells = [
        look.photo(f"width:100%;height:{rng.randint(80, 200)}px;border-radius:{bend}px")
        for _ in range(rng.randint(3, 9))
    ]
    return _grid(look, cells, rng.choice([3, 4, 5]) if wide > 600 else 2)


def form(look: Look, wide: int) -> str:
    rng = look.rng
    fields: list[str] = []
    for _ in range(rng.randint(3, 9)):
        control = rng.choice([text_field, text_field, text_field, select, select, lambda each: text_area(each)])(look)
        label = (
            f'<div style="font-size:{look.size * 0.9:.0f}px;margin-bottom:6px">{look.words.phrase(1, 3)}</div>'
            if rng.random() < 0.85
            else ""
        )
        note = _soft(look, look.words.phrase(2, 6), 0.8) if rng.random() < 0.2 else ""
        fields.append(f"<div>{label}{control}{note}</div>")
    agree = _row(tick_box(look, rng.random() < 0.5) + f"<span>{look.words.phrase(2, 7)}</span>", 8)
    return _card(
        look,
        _title(look)
        + _grid(look, fields, rng.choice([1, 2, 3]) if wide > 600 else 1)
        + agree
        + f'<div style="margin-top:14px">{button(look, True)} {button(look, False)}</div>',
        f"max-width:{rng.choice([420, 620, 900, 1200])}px",
    )


def choices(look: Look, wide: int) -> str:
    """Lists of check boxes, radio buttons and sliders, as in the filters of a shop."""
    rng = look.rng
    groups: list[str] = []
    for _ in range(rng.randint(2, 6)):
        kind = rng.choice(["tick", "tick", "radio", "radio", "slider", "chips"])
        count = rng.randint(2, 6)
        if kind == "slider":
            inner = "".join(
                f'<div style="margin:10px 0">{_row(f"<span>{look.words.phrase(1, 2)}</span><span>{look.words.figure()}</span>", 8, "justify-content:space-between;")}{slider(look)}</div>'
                for _ in range(count // 2)
            )
        elif kind == "chips":
            inner = "".join(
                f'<span style="display:inline-block;padding:4px 10px;margin:3px;border:1px solid {look.line};border-radius:99px">{look.words.phrase(1, 2)}</span>'
                for _ in range(count)
            )
        else:
            chosen, boxed = rng.randrange(count), rng.random() < 0.25
            rows = [
                _row(
                    (tick_box(look, rng.random() < 0.5) if kind == "tick" else radio(look, number == chosen))
                    + f'<span style="flex:1">{look.words.phrase(1, 4)}</span>'
                    + (f"<span>{look.words.figure()}</span>" if rng.random() < 0.3 else ""),
                    rng.choice([6, 8, 12]),
                    f"margin:{rng.randint(4, 10)}px 0;"
                    + (f"border:1px solid {look.line};border-radius:{look.radius}px;padding:12px;" if boxed else ""),
                )
                for number in range(count)
            ]
            inner = "".join(rows)
        groups.append(_card(look, _title(look, 1.05) + inner))
    return _grid(look, groups, rng.choice([2, 3, 4]) if wide > 600 else 1)


def settings(look: Look, wide: int) -> str:
    rng = look.rng
    rows: list[str] = []
    for _ in range(rng.randint(3, 8)):
        mark = look.icon(rng.choice([16, 20, 24])) if rng.random() < 0.5 else ""
        control = rng.choice(
            [
                switch(look, rng.random() < 0.5),
                switch(look, rng.random() < 0.5),
                tick_box(look, rng.random() < 0.5),
                button(look),
                select(look, "150px"),
                f'<div style="width:140px">{slider(look)}</div>',
                look.icon(16),
                f"<span>{look.words.figure()}</span>",
            ]
        )
        rows.append(
            _row(
                f'{mark}<div style="flex:1"><div>{look.words.phrase(1, 4)}</div>{_soft(look, look.words.phrase(2, 8)) if rng.random() < 0.5 else ""}</div>{control}',
                14,
                f"padding:12px 0;border-bottom:1px solid {look.line};",
            )
        )
    return _card(look, _title(look) + "".join(rows))


def table(look: Look, wide: int) -> str:
    rng = look.rng
    columns, ticked = rng.randint(3, 6) if wide > 600 else 2, rng.random() < 0.6
    rows: list[str] = []
    for number in range(rng.randint(4, 9)):
        cells = [look.words.phrase(1, 3) if rng.random() < 0.5 else look.words.figure() for _ in range(columns)]
        if number and rng.random() < 0.3:
            cells[-1] = (
                f'<span style="padding:2px 8px;border-radius:9px;background:{look.ground};color:{look.accent};font-size:12px">{look.words.phrase(1, 1)}</span>'
            )
        start = f"<td>{tick_box(look, rng.random() < 0.4)}</td>" if ticked else ""
        end = f"<td>{look.icon(16)} {look.icon(16)}</td>" if rng.random() < 0.4 and wide > 600 else ""
        rows.append(f"<tr>{start}{''.join(f'<td>{cell}</td>' for cell in cells)}{end}</tr>")
    pages = "".join(
        f'<span style="width:28px;height:28px;line-height:28px;text-align:center;border:1px solid {look.line};border-radius:4px">{each}</span>'
        for each in range(1, 6)
    )
    return _card(
        look,
        f'<table style="width:100%;border-collapse:collapse" class="lined">{"".join(rows)}</table>'
        + _row(pages, 6, "margin-top:10px;"),
    )


def figures(look: Look, wide: int) -> str:
    """Numbers, bars, lines and rings, which are neither photographs nor icons."""
    rng = look.rng
    cells: list[str] = []
    for _ in range(rng.randint(2, 4)):
        bars = "".join(
            f'<i style="flex:1;height:{rng.randint(8, 90)}px;background:{rng.choice([look.accent, look.soft])};border-radius:2px"></i>'
            for _ in range(rng.randint(5, 14))
        )
        points = " ".join(f"{each * 20},{rng.randint(5, 75)}" for each in range(11))
        drawn = rng.choice([
            f'<div style="display:flex;align-items:end;gap:5px;height:92px">{bars}</div>',
            f'<svg viewBox="0 0 200 80" style="width:100%;height:92px"><polyline points="{points}" fill="none" stroke="{look.accent}" stroke-width="2"/></svg>',
            f'<div style="height:8px;border-radius:4px;background:{look.line}"><div style="width:{rng.randint(10, 95)}%;height:8px;border-radius:4px;background:{look.accent}"></div></div>',
            f'<div style="width:80px;height:80px;border-radius:50%;background:conic-gradient({look.accent} {rng.randint(20, 90)}%,{look.line} 0)"></div>',
        ])  # fmt: skip
        cells.append(
            _card(
                look,
                _soft(look, look.words.phrase(1, 3))
                + f'<b style="font-size:{rng.randint(20, 40)}px">{look.words.figure()}</b>'
                + drawn,
            )
        )
    return _grid(look, cells, len(cells) if wide > 600 else 1)


def people(look: Look, wide: int) -> str:
    """A list with round photographs or initials, as in a chat or comments."""
    rng = look.rng
    rows: list[str] = []
    for _ in range(rng.randint(2, 7)):
        side = rng.choice([24, 32, 40, 48, 56])
        face = look.photo(f"width:{side}px;height:{side}px;border-radius:50%;flex:none")
        if rng.random() < 0.5:
            letters = "".join(rng.choice("ABCDEFGHJKLMNOPQRSTUVWXYZ8") for _ in range(rng.randint(1, 2)))
            face = f'<span style="width:{side}px;height:{side}px;line-height:{side}px;border-radius:{rng.choice([50, 50, 20])}%;text-align:center;background:{rng.choice([look.accent, look.soft, look.line])};color:#fff;flex:none;font-size:{side * 0.42:.0f}px">{letters}</span>'
        dot = (
            f'<i style="width:9px;height:9px;border-radius:50%;background:{rng.choice(["#22c55e", look.accent, look.line])}"></i>'
            if rng.random() < 0.4
            else ""
        )
        marks = "".join(look.icon(16) + f"<span>{look.words.figure()}</span>" for _ in range(rng.randint(0, 3)))
        rows.append(
            _row(
                f'{face}<div style="flex:1;min-width:0"><b>{look.words.phrase(1, 2)}</b>{_soft(look, look.words.sentence())}</div>{dot}{marks}',
                12,
                "margin:10px 0;",
            )
        )
    return _card(look, "".join(rows))


def article(look: Look, wide: int) -> str:
    rng = look.rng
    shown = (
        look.photo(
            f"width:100%;height:{rng.randint(150, 340)}px;margin:14px 0;border-radius:{rng.choice([0, look.radius])}px"
        )
        if rng.random() < 0.6
        else ""
    )
    points = "".join(f"<li>{look.words.phrase(3, 9)}</li>" for _ in range(rng.randint(0, 5)))
    return f'<div style="max-width:{rng.choice([620, 760, 1000])}px">{_title(look, 2)}<p>{look.words.paragraph()}</p>{shown}<p>{look.words.paragraph()}</p><ul>{points}</ul></div>'


def toolbar(look: Look, wide: int) -> str:
    rng = look.rng
    marks = "".join(
        rng.choice(
            [look.icon, look.icon, look.icon, lambda: f"<b>{rng.choice('BIUSAHTQ8')}</b>", lambda: button(look)]
        )()
        for _ in range(rng.randint(4, 16) if wide > 600 else 5)
    )
    return _row(
        marks,
        rng.randint(6, 22),
        f"padding:8px 12px;background:{look.card};border:1px solid {look.line};border-radius:{look.radius}px;flex-wrap:wrap;",
    )


def brands(look: Look, wide: int) -> str:
    rng = look.rng
    cells = "".join(
        f'<span style="display:flex;align-items:center;gap:8px">{look.icon(rng.choice([20, 24, 32, 40, 56]))}{f"<b>{look.words.phrase(1, 1)}</b>" if rng.random() < 0.5 else ""}</span>'
        for _ in range(rng.randint(4, 10))
    )
    return _row(
        cells, rng.randint(16, 44), f"flex-wrap:wrap;justify-content:center;color:{rng.choice([look.ink, look.soft])};"
    )


def footer(look: Look, wide: int) -> str:
    rng = look.rng
    cells = [
        f"<div><b>{look.words.phrase(1, 1)}</b>{''.join(f'<div>{look.words.phrase(1, 3)}</div>' for _ in range(rng.randint(3, 6)))}</div>"
        for _ in range(4 if wide > 600 else 2)
    ]
    return f'<div style="background:{look.ground};padding:{look.gap}px;border-top:1px solid {look.line};font-size:{look.size * 0.88:.0f}px">{_grid(look, cells, len(cells))}{_row("".join(look.icon(20) for _ in range(rng.randint(2, 6))), 14, "margin-top:16px;")}</div>'


def player(look: Look, wide: int) -> str:
    rng = look.rng
    keys = "".join(look.icon(rng.choice([20, 24, 32])) for _ in range(5))
    return _card(
        look,
        _row(
            look.photo("width:72px;height:72px;flex:none")
            + f'<div style="flex:1"><b>{look.words.phrase(1, 3)}</b>{_row(f"<small>0:{rng.randint(10, 59)}</small>" + slider(look) + "<small>3:40</small>", 10)}</div>{keys}',
            14,
        ),
    )


def survey(look: Look, wide: int) -> str:
    rng = look.rng
    rows: list[str] = []
    for _ in range(rng.randint(2, 5)):
        chosen = rng.randrange(5)
        cells = "".join(f'<td style="text-align:center">{radio(look, each == chosen)}</td>' for each in range(5))
        rows.append(f"<tr><td>{look.words.phrase(3, 7)}</td>{cells}</tr>")
    return _card(
        look,
        _title(look)
        + f'<table style="width:100%" class="lined">{"".join(rows)}</table>'
        + text_area(look)
        + button(look, True),
    )


def inbox(look: Look, wide: int) -> str:
    rng = look.rng
    rows = [
        _row(
            tick_box(look, rng.random() < 0.3)
            + look.icon(16, rng.choice(["#eab308", look.soft]))
            + f'<b style="width:130px">{look.words.phrase(1, 2)}</b><span style="flex:1">{look.words.phrase(3, 8)}</span>{switch(look, rng.random() < 0.5) if rng.random() < 0.2 else ""}<small>{look.words.figure()}</small>',
            12,
            f"padding:9px;border-bottom:1px solid {look.line};",
        )
        for _ in range(rng.randint(4, 10))
    ]
    return _card(look, "".join(rows))
