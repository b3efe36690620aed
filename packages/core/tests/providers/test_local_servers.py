"""Model servers of this machine are found by asking, quickly, and nobody else is asked."""

import json
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from heald.commands.model_options import complete_model
from heald.providers.local_servers import LocalServers

OLLAMA = {"models": [{"name": "llama3.2:latest"}, {"name": "qwen3:8b"}, {"name": "nomic-embed-text:latest"}]}
OPENAI = {"object": "list", "data": [{"id": "org/model-a", "object": "model", "owned_by": "vllm"}]}
GGUF = {"object": "list", "data": [{"id": "/home/ann/models/tiny.Q4.gguf", "owned_by": "llamacpp"}]}


@contextmanager
def serving(answers: dict[str, object], *, delay: float = 0, status: int = 200) -> Generator[tuple[str, list[str]]]:
    """A server with these answers; its address, and what was asked of it."""
    asked: list[str] = []
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.path} {self.headers.get('authorization', '')}".strip())
            over.wait(delay)
            answer = answers.get(self.path)
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status if answer is not None else 404)
            self.send_header("content-type", "application/json")
            self.send_header("location", "http://127.0.0.1:1/")
            self.end_headers()
            with suppress(OSError):  # who asked may have gone
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False  # it waits for them when it closes
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs on this machine is not asked: a port that is closed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}"
    for name in ("LMSTUDIO_BASE_URL", "VLLM_BASE_URL", "LLAMACPP_BASE_URL"):
        monkeypatch.setenv(name, f"{closed}/v1")
    monkeypatch.setenv("OLLAMA_HOST", closed)


def test_all_four_are_found_with_names_that_sessions_use(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        serving({"/api/tags": OLLAMA}) as (ollama, _),
        serving({"/v1/models": OPENAI}) as (vllm, asked),
        serving({"/v1/models": GGUF}) as (llamacpp, _),
        serving({"/v1/models": {"data": [{"id": "qwen2.5-7b"}]}}) as (lmstudio, _),
    ):
        monkeypatch.setenv("OLLAMA_HOST", ollama)
        monkeypatch.setenv("VLLM_BASE_URL", f"{vllm}/v1")
        monkeypatch.setenv("VLLM_API_KEY", "a-local-key")
        monkeypatch.setenv("LLAMACPP_BASE_URL", f"{llamacpp}/v1")
        monkeypatch.setenv("LMSTUDIO_BASE_URL", f"{lmstudio}/v1")
        models = {server.provider: server.models for server in LocalServers().find()}
    assert models == {
        "ollama": ("ollama/llama3.2", "ollama/qwen3:8b"),
        "lmstudio": ("lmstudio/qwen2.5-7b",),
        "llamacpp": ("llamacpp/tiny.Q4.gguf",),
        "vllm": ("vllm/org/model-a",),
    }
    assert asked == ["/v1/models Bearer a-local-key"]


def test_nobody_there_is_nothing_found_at_once() -> None:
    begun = time.monotonic()
    assert LocalServers().find() == ()
    print(f"asked in {time.monotonic() - begun:.3f} s")


@pytest.mark.parametrize(
    "answer", [b"<html>", b"{", b"[]", b'{"models": 3}', b'{"models": [{"name": 1}, {"name": ""}, {"name": "a\\nb"}]}']
)
def test_an_answer_of_somebody_else_is_no_server(monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
    with serving({"/api/tags": answer}) as (address, asked):
        monkeypatch.setenv("OLLAMA_HOST", address)
        assert LocalServers().find() == ()
        assert asked


@pytest.mark.parametrize("status", [301, 401, 500])
def test_only_a_plain_success_counts(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    with serving({"/api/tags": OLLAMA}, status=status) as (address, _):
        monkeypatch.setenv("OLLAMA_HOST", address)
        assert LocalServers().find() == ()


def test_a_slow_server_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({"/api/tags": OLLAMA}, delay=60) as (address, _):
        monkeypatch.setenv("OLLAMA_HOST", address)
        begun = time.monotonic()
        assert LocalServers().find() == ()
        assert time.monotonic() - begun < 50


@pytest.mark.parametrize(
    "address", ["http://192.0.2.1:11434", "http://10.0.0.1", "http://example.com:11434", "http://169.254.169.254"]
)
def test_only_this_machine_is_asked(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("somebody else was asked")

    monkeypatch.setattr("http.client.HTTPConnection.connect", refuse)
    monkeypatch.setenv("OLLAMA_HOST", address)
    servers = LocalServers(["ollama"])
    assert servers.find() == ()


def test_what_was_found_holds_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({"/api/tags": OLLAMA}) as (address, asked):
        monkeypatch.setenv("OLLAMA_HOST", address)
        servers = LocalServers(["ollama"])
        assert servers.known() == ()  # nothing is waited for
        assert servers.find() == servers.find() == servers.known() != ()
        assert len(asked) == 1
        old = LocalServers(["ollama"], holds=0)
        old.find()
        old.find()
        assert len(asked) == 3


def test_context_sizes_are_read_where_servers_report_them(monkeypatch: pytest.MonkeyPatch) -> None:
    props = {"default_generation_settings": {"n_ctx": 4096}}
    trained = {"data": [{"id": "/models/tiny.gguf", "meta": {"n_ctx_train": 32_768}}]}
    with (
        serving({"/v1/models": {"data": [{"id": "a", "max_model_len": 8192}, {"id": "b"}]}}) as (vllm, _),
        serving({"/v1/models": trained, "/props": props}) as (llamacpp, _),
        serving({"/v1/models": {"data": [{"id": "c", "loaded_context_length": "8"}]}}) as (lmstudio, _),
    ):
        for name, address in (("VLLM", vllm), ("LLAMACPP", llamacpp), ("LMSTUDIO", lmstudio)):
            monkeypatch.setenv(f"{name}_BASE_URL", f"{address}/v1")
        sizes = {server.provider: server.context_sizes for server in LocalServers().find()}
    assert sizes == {"vllm": {"vllm/a": 8192}, "llamacpp": {"llamacpp/tiny.gguf": 4096}, "lmstudio": {}}


def test_a_server_on_a_busy_machine_has_seconds_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({"/api/tags": OLLAMA}, delay=1) as (address, _):
        monkeypatch.setenv("OLLAMA_HOST", address)
        assert [server.provider for server in LocalServers().find()] == ["ollama"]


@pytest.mark.parametrize(
    ("name", "model"),
    [("qwen3:8b", "ollama/qwen3:8b"), ("llama3.2:latest", "ollama/llama3.2"), ("org/model-a", "vllm/org/model-a")],
)
def test_a_name_without_a_provider_is_that_of_a_server_which_has_it(
    monkeypatch: pytest.MonkeyPatch, name: str, model: str
) -> None:
    with serving({"/api/tags": OLLAMA}) as (ollama, _), serving({"/v1/models": OPENAI}) as (vllm, asked):
        monkeypatch.setenv("OLLAMA_HOST", ollama)
        monkeypatch.setenv("VLLM_BASE_URL", f"{vllm}/v1")
        assert complete_model(name) == model
        assert asked
        asked.clear()
        assert complete_model("openai/gpt-5") == "openai/gpt-5"
        assert asked == []  # a name with a provider needs no search
        assert complete_model("gpt-5") == "gpt-5"
