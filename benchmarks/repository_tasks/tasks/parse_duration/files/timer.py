from durations import format_duration, parse_duration


def start(setting):
    return f"Timer set to {format_duration(parse_duration(setting))}"
