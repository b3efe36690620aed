from referee import load

parse = load("durations").parse_duration
for text, seconds in {"90": 90, "0": 0, "45s": 45, "1h30m": 5400, "2h 5m 10s": 7510, "90m": 5400, "3h": 10800}.items():
    assert parse(text) == seconds, text
for text in ("", "abc", "1x", "h", "1h30", "m5", "-5s", "1.5h"):
    try:
        value = parse(text)
    except ValueError:
        continue
    raise AssertionError(f"{text!r} gives {value}")
assert load("timer").start("1h30m") == "Timer set to 1:30:00"
