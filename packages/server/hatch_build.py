"""Puts into the wheel what is made and not written: the page."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class MadeFiles(BuildHookInterface[Any]):
    """Makes what is missing. An editable install uses what `make made` made."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        subprocess.run([sys.executable, str(Path(self.root) / "build_page.py")], check=True, cwd=self.root)
        build_data["artifacts"].append("src/heald_server/page/built/**")
