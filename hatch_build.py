"""Puts into the wheel what is made and not written: the page, the libraries that previews need, the price list."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_MADE = {
    "src/weft/server/built": "build_page.py",
    "src/weft/studio/libraries/vendor": "vendor_libraries.py",
    "src/weft/providers/prices/made": "make_prices.py",
}


class MadeFiles(BuildHookInterface[Any]):
    """Makes what is missing. An editable install takes what the make targets made."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        for folder, script in _MADE.items():
            subprocess.run([sys.executable, str(root / "scripts" / script)], check=True, cwd=root)
            build_data["force_include"][str(root / folder)] = folder.removeprefix("src/")
