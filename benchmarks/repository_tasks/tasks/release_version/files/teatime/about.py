from teatime import __version__


def about():
    return f"teatime {__version__}"
