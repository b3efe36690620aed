"""nginx for tests: the program, and its start in a folder of its own."""

import shutil
from pathlib import Path

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")

_CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {settings}
}}
"""


def nginx_command(folder: Path, settings: str) -> list[str]:
    """Write the configuration with these settings of `http`, and return the command that starts nginx with it."""
    assert NGINX is not None
    config = folder / "nginx.conf"
    config.write_text(_CONFIG.format(folder=folder, settings=settings))
    return [NGINX, "-e", str(folder / "error.log"), "-c", str(config)]
