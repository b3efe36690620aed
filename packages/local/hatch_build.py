"""Puts the text models and the icon sets into the wheel."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Models(BuildHookInterface[Any]):
    """Fetches them if they are missing. An editable install takes what `make made` fetched."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        for program in ("fetch_models.py", "fetch_icons.py", "make_notices.py"):
            subprocess.run([sys.executable, str(root / program)], check=True, cwd=root)
        build_data["artifacts"].append("src/heald_local/models/*")
