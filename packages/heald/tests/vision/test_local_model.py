"""The converter by its names: found by the factory, offered by the server, the default where there is no key."""

import subprocess
import sys

import pytest

import heald
from heald.core.errors import ConfigurationError, UnknownProvider
from heald.providers.local_servers import LocalServer, LocalServers
from heald.providers.resolve import find
from heald_local import model as local_model
from heald_local.model import LABEL, LocalVision
from heald_server.models import KnownModels
from heald_studio.default_models import models_for, rank_models
from local_support import needs_vision


class Here(LocalServers):
    """Ollama runs here, whatever this machine has."""

    def known(self) -> tuple[LocalServer, ...]:
        return (LocalServer("ollama", "http://127.0.0.1:11434", ("ollama/llama3.2",)),)


def test_the_factory_knows_it_by_name() -> None:
    assert find("local/vision") == LocalVision()
    assert find("local/vision-responsive") == LocalVision(mode="responsive")
    with pytest.raises(UnknownProvider, match="There is no local model 'gpt'; there are local/vision and"):
        find("local/gpt")
    with pytest.raises(UnknownProvider, match="names no model"):
        find("local/")
    with pytest.raises(UnknownProvider, match="did you mean 'local'"):
        find("locale/vision")


class Nobody(LocalServers):
    """No model server runs here."""

    def known(self) -> tuple[LocalServer, ...]:
        return ()


@needs_vision
def test_it_is_the_default_where_no_language_model_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert KnownModels(servers=Nobody()).default == "local/vision"
    models = KnownModels(servers=Here())
    assert models.default == "ollama/llama3.2"
    assert models.open("local/vision") == LocalVision()
    views = {view.name: view for view in models.list_models()}
    assert views["local/vision"].label == LABEL == "Local converter (no language model)"
    assert (
        views["local/vision-responsive"].label == f"Responsive {LABEL[0].lower()}{LABEL[1:]}"
    )  # cards cut the end off
    assert views["ollama/llama3.2"].provider == "ollama"
    ranked = rank_models(list(views))
    assert ranked == ["ollama/llama3.2", "local/vision", "local/vision-responsive"]
    assert models_for(ranked, pictures=False) == ["ollama/llama3.2"]
    assert models_for(ranked, pictures=True) == ["local/vision", "local/vision-responsive"]
    alone = ["local/vision", "local/vision-responsive"]
    assert models_for(rank_models(alone), pictures=False) == alone
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-a-test")
    assert models.default == "anthropic/claude-sonnet-4-6"
    assert "local/vision" not in rank_models([view.name for view in models.list_models()], models.default)


def test_without_its_parts_it_is_not_offered_and_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "available", lambda: False)
    models = KnownModels(servers=Nobody())
    assert models.default == ""
    assert not [view for view in models.list_models() if view.provider == "local"]
    with pytest.raises(ConfigurationError, match=r"set a key such as ANTHROPIC_API_KEY, or install the local model"):
        models.open("")
    with pytest.raises(
        ConfigurationError, match=r"local/vision needs more than is installed; pip install 'heald\[local\]'"
    ):
        heald.providers.open_provider_session("local/vision")


def test_listing_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom heald_server.models import KnownModels\nKnownModels().default\n"
        "heavy = ('numpy', 'PIL', 'onnxruntime', 'cv2', 'heald_local.see')\n"
        "print(*(name for name in heavy if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
