"""Serves a model file with llama.cpp's server: python serve_model.py MODEL [--no-calls]. Runs where xllamacpp is.

With `--no-calls` the server does not parse calls of tools. Answers are the likeliest ones, which can be repeated.
"""

import os
import sys
import time
from importlib import import_module
from typing import Any

CONTEXT = 8192


def serve(model: str, *, parses_calls: bool) -> None:
    library: Any = import_module("xllamacpp")
    options = library.CommonParams()
    options.model.path = model
    options.n_ctx = CONTEXT
    options.n_parallel = 1
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = os.cpu_count() or 1
    options.use_jinja = parses_calls
    options.sampling.temp = 0.0
    options.sampling.seed = 1
    server = library.Server(options)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    serve(sys.argv[1], parses_calls="--no-calls" not in sys.argv)
