# make test    set up what is missing, then check and test everything
# make test-fast  the core, the wires, the dialects, the engine: about 45 seconds
# make clients  all of other people's clients against the server
# make check   format, lint, types and the layering test only
# make run     the server with its page; needs neither a key nor a network
# make demo    an agent at work over every wire, in the terminal
# make made    what is made and not written: the built page, the libraries of previews, the price list
# make dist    both wheels, in dist/
# make fresh   try the wheels and the targets as a stranger would: empty home, empty environment
# make bench   the benchmark tables, against peers, in interleaved runs, a quarter of an hour
#              (BENCH="--rows bare,weft" QUICK=--quick: shorter; SHORT= : long conversations and many agents whole)
# make tasks   small coding and tool tasks with any model, beside other agents: make tasks MODEL=name BASE_URL=http://127.0.0.1:8080/v1,
#              or LOCAL=calls to fetch a small model and its server
# make eval    rebuild 72 pages from their pictures with the local converter, and renew docs/evaluation.md
#              (JOBS=2 for two processes, RESUME=1 to go on with a run that was stopped)
# make docs    renew the pages that are made from the types
# make lock    renew the pinned requirements after a change of pyproject.toml

export UV_PYTHON_DOWNLOADS = never
PYTHON ?= python3
BIN := .venv/bin

# Compiled modules are kept: a process that may not keep them compiles the whole suite anew.
unexport PYTHONDONTWRITEBYTECODE

# More processes than cores, because many tests wait. The tests are collected once (tests/forked_workers.py).
CORES := $(shell getconf _NPROCESSORS_ONLN)
PARALLEL ?= --processes $(shell expr $(CORES) \* 3)

.PHONY: test suite test-fast clients check style types run demo made dist audit chaos fuzz fresh bench tasks eval docs lock clean system

# The types are checked beside the tests.
test: system made style
	@$(MAKE) --no-print-directory -j 2 types suite

# Real browsers, sockets and signals: what fails beside a thousand other tests is tried once more, alone, and named.
# A run that did not come to its end has failed.
suite: .venv/ready
	$(BIN)/pytest $(PARALLEL) || { [ $$? -eq 1 ] && echo "Once more, alone:" && \
		$(BIN)/pytest -v --last-failed --last-failed-no-failures=none; }

FAST := tests/test_layers.py tests/test_doors.py tests/core tests/wires tests/tools/workspace \
	$(wildcard tests/tools/test_*.py tests/agent/test_features_*.py tests/agent/test_folds_*.py) \
	$(filter-out %_random.py,$(wildcard tests/dialects/test_*.py)) \
	$(wildcard tests/providers/test_http1_*.py tests/providers/test_provider_turns.py tests/providers/test_provider_retry.py)

test-fast: .venv/ready
	$(BIN)/pytest --processes $(CORES) $(FAST) --hypothesis-profile=fast

# Other people's clients, installed from their registries into the user's cache.
clients: .venv/ready
	$(BIN)/pytest -m "clients or not clients" tests/clients

check: style types
	$(BIN)/pytest tests/test_layers.py

style: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/ready
	$(BIN)/pyright

run: .venv/ready made
	$(BIN)/weft serve $(SERVE)

demo: .venv/ready
	$(BIN)/weft demo

made: .venv/ready
	@$(BIN)/python scripts/make_prices.py
	@$(BIN)/python scripts/vendor_libraries.py
	@$(BIN)/python packages/local/fetch_models.py
	@$(BIN)/python packages/local/fetch_icons.py
	@$(BIN)/python scripts/build_page.py

dist: .venv/ready
	$(BIN)/python scripts/make_release.py

audit: .venv/ready
	$(BIN)/python scripts/make_release.py --audit

chaos: .venv/ready
	$(BIN)/python -m benchmarks.soak.soak $(CHAOS)

fuzz: .venv/ready
	WEFT_FUZZ_ROUNDS=40000 WEFT_FUZZ_SEED=$$(date +%s) $(BIN)/pytest -n 2 tests/fuzz tests/agent/test_log_random.py \
		tests/server/test_server_openapi_schemathesis.py

fresh:
	sh scripts/fresh_machine.sh --make

tasks: .venv-bench/ready
	.venv-bench/bin/python -m benchmarks.tasks $(if $(LOCAL),--local $(LOCAL),--model "$(MODEL)" --base-url "$(BASE_URL)") $(TASKS)

SHORT ?= --quick
bench: .venv-bench/ready
	.venv-bench/bin/python -m benchmarks.run $(BENCH)
	.venv-bench/bin/python -m benchmarks.history $(SHORT)
	.venv-bench/bin/python -m benchmarks.agents $(SHORT)
	.venv-bench/bin/python -m benchmarks.partial_json
	.venv-bench/bin/python -m benchmarks.sandbox
	$(BIN)/python -m benchmarks.startup $(QUICK)
	$(BIN)/python -m benchmarks.live $(QUICK)
	$(BIN)/python -m benchmarks.fan_out $(QUICK)
	$(BIN)/python -m benchmarks.server --quick
	$(BIN)/python -m benchmarks.render
	$(BIN)/python -m benchmarks.page

system:
	@sh scripts/system_packages.sh

JOBS ?= 1
EVAL = $(BIN)/weft eval benchmarks/pages/.cache --models local/vision -o build/evaluation --resume
eval: export WEFT_EVAL_TOOLS = benchmarks/pages/tools
eval: .venv/ready made
	npm ci --silent --no-audit --no-fund --prefix benchmarks/pages/tools
	$(BIN)/python -m benchmarks.pages.render
	$(if $(RESUME),,rm -rf build/evaluation/rows)
	for share in $$(seq $(JOBS)); do $(EVAL) --share $$share/$(JOBS) & done; wait
	$(EVAL)
	$(BIN)/python -m benchmarks.pages.report build/evaluation

docs: .venv/ready
	$(BIN)/python scripts/make_event_docs.py
	$(BIN)/python scripts/make_event_types.py
	$(BIN)/python scripts/make_api_types.py
	$(BIN)/python scripts/make_checker_docs.py
	$(BIN)/python scripts/make_config_docs.py
	$(BIN)/python scripts/make_feature_docs.py
	$(BIN)/python scripts/make_api_docs.py
	$(BIN)/python scripts/draw_house.py

.venv/ready: pyproject.toml packages/local/pyproject.toml requirements-dev.txt
	$(PYTHON) -m venv .venv
	@$(BIN)/python -c "import uv" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/python -m uv pip install --quiet -r requirements-dev.txt
	$(BIN)/python -m uv pip install --quiet --no-deps -e . -e packages/local
	@$(BIN)/python scripts/make_prices.py
	@touch $@

.venv-bench/ready: .venv/ready benchmarks/requirements.txt benchmarks/setup.sh
	sh benchmarks/setup.sh $(BIN)/python
	@touch $@

lock: .venv/ready
	$(BIN)/python -m uv lock --quiet
	$(BIN)/python -m uv export --quiet --no-hashes --no-emit-workspace --no-header --no-annotate --no-dev -o requirements.txt
	$(BIN)/python -m uv export --quiet --no-hashes --no-emit-workspace --no-header --no-annotate -o requirements-dev.txt

clean:
	rm -rf .venv .venv-bench .pytest_cache .ruff_cache .hypothesis dist build
