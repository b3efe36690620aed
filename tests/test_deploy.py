"""The files that start three nodes: compose, nginx, Kubernetes. Each is read by a tool of its own kind."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from registry_clients import python_folder
from repository import ROOT

DEPLOY = ROOT / "deploy"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
NODES = ["node-1", "node-2", "node-3"]


def test_nginx_balances_the_nodes_of_compose() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    servers = re.findall(r"server (\S+):7878", (DEPLOY / "nginx.conf").read_text("utf-8"))
    assert servers == NODES
    assert sorted(name for name, service in services.items() if "nodes" in service.get("profiles", ())) == [
        "balancer",
        "database",
        *NODES,
    ]
    assert list(services["balancer"]["depends_on"]) == NODES
    stores = {services[name]["environment"]["HEALD_SERVE_STORE"] for name in NODES}
    assert len(stores) == 1


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_nginx_accepts_its_configuration(tmp_path: Path) -> None:
    assert NGINX is not None
    config = tmp_path / "nginx.conf"
    text = (DEPLOY / "nginx.conf").read_text("utf-8")
    config.write_text(re.sub(r"node-\d:7878", "127.0.0.1:7878", text).replace(" /tmp/", f" {tmp_path}/"))
    command = [NGINX, "-t", "-e", str(tmp_path / "error.log"), "-c", str(config)]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stderr
    assert "warn" not in checked.stderr


@pytest.mark.clients
def test_kubernetes_accepts_the_manifests() -> None:
    program = python_folder("kubernetes-validate==1.37.0") / "kubernetes-validate"
    manifests = sorted(str(path) for path in (DEPLOY / "kubernetes").glob("*.yaml"))
    checked = subprocess.run([program, *manifests], capture_output=True, text=True, timeout=300)
    report = checked.stdout + checked.stderr
    assert checked.returncode == 0, report
    assert report.count("passed for resource") == 6, report
