"""Writes the licences of the models and the icon sets into `src/heald_local/models/THIRD_PARTY_NOTICES.txt`.

They are the files that `fetch_models.py` and `fetch_icons.py` put there, out of the packages that they fetched.
"""

import sys

import fetch_icons
import fetch_models

NOTICES = fetch_models.MODELS / "THIRD_PARTY_NOTICES.txt"


def bundled() -> dict[str, tuple[str, ...]]:
    """Return what the package contains of others, by name and version, and the licence files of each."""
    name, _, version = fetch_models.WHEEL.partition("==")
    models = {f"{name} {version} (text models)": tuple(fetch_models.LICENSES.values())}
    icons = {f"{name} {version} (icons)": (f"LICENSE-{name}",) for name, version in fetch_icons.PACKAGES}
    return models | icons


def third_party_notices() -> str:
    sections = ["The local converter contains these models and icons.\n"]
    for title, names in bundled().items():
        paths = [fetch_models.MODELS / name for name in names]
        missing = [path.name for path in paths if not path.is_file()]
        if missing:
            sys.exit(f"The licence {missing[0]} is missing; remove {fetch_models.MODELS} and run `make made`.")
        text = "\n\n".join(path.read_text("utf-8").strip() for path in paths)
        sections.append(f"{'#' * 80}\n{title}\n\n{text}\n")
    return "\n".join(sections)


if __name__ == "__main__":
    NOTICES.write_text(third_party_notices(), "utf-8")
