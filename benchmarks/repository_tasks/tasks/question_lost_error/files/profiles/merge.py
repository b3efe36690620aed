DEFAULTS = {"theme": "light", "language": "en"}


def with_defaults(profile):
    return {**DEFAULTS, **profile}
