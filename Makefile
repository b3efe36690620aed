# make test       set up what is missing, then check and test everything
#                 (PACKAGE=studio: one package of packages/ and those that it rests on)
# make test-fast  the core, the wires, the dialects, the engine: about half a minute
# make clients    all third-party clients against the server
# make check      format, lint, strict types and the layering test only
# make run        the server with its page; needs neither a key nor a network
# make demo       a picture becomes a page and an agent asks before it changes it, in the terminal
# make made       the generated files: the built page, the libraries of previews, the price list, models and icons
# make dist       all wheels, in dist/
# make fresh      try the wheels and the targets on an empty home, in an empty environment
# make stranger   try the README, the tutorial and the first visit from the wheels, with every Python that is installed
#                 (STRANGER="--python python3.13": with one); pictures of the steps are in build/stranger
# make bench      the benchmark tables, against peers, in interleaved runs, a quarter of an hour
#                 (BENCH="--rows bare,heald" QUICK=--quick: shorter; SHORT= : long conversations and many agents whole)
# make bench-check  this checkout against the last release, interleaved; fails where a row is over 10 % worse (AGAINST=commit)
# make bench-served  what serving a delta costs, compared with other servers
# make tasks      small coding and tool tasks with any model, compared with other agents:
#                 make tasks MODEL=name BASE_URL=http://127.0.0.1:8080/v1, or LOCAL=calls to fetch a small model and its server
# make eval       rebuild 72 pages from their pictures with the local converter, and renew docs/evaluation.md
#                 (JOBS=2 for two processes, RESUME=1 to continue a run that was stopped)
#                 make eval PAGES=folder: any folder of pictures NAME.png with their documents NAME.html, such as Design2Code;
#                 COUNT=20 draws so many of each group; the report is build/public-pages/report/report.html
# make hops       one exchange in eight clients: a thousand random hops with cut connections and killed servers
#                 (HOPS=250: fewer; SEED=9: other ones)
# make attack     try every attack of docs/attacks.md and attacks/*.toml, and print a table
#                 (ATTACK="--only preview": the rows that contain a word)
# make conform-sdks  compare the wires with the types of the providers' newest packages, and renew docs/wire-currency.md
# make recording  the recording of the README, from the real page
# make docs       renew the pages that are generated from the types
# make docs-site  the documentation site, in build/site
# make lock       renew the pinned requirements after a change of a pyproject.toml

export UV_PYTHON_DOWNLOADS = never
ROUNDS ?= 120000
PYTHON ?= $(shell sh scripts/choose_python.sh)
BIN := .venv/bin

# Compiled modules are kept: a process that may not keep them compiles the whole suite anew.
unexport PYTHONDONTWRITEBYTECODE

# More processes than cores, because many tests wait. The tests are collected once (tests/support/forked_workers.py).
CORES := $(shell getconf _NPROCESSORS_ONLN)
PARALLEL ?= --processes $(shell expr $(CORES) \* 3)

# With PACKAGE, the folders of that package and of those that it rests on (scripts/packages.py); else all.
TESTS := $(if $(PACKAGE),$(shell $(PYTHON) scripts/packages.py tests $(PACKAGE)))
TYPED := $(if $(PACKAGE),$(shell $(PYTHON) scripts/packages.py code $(PACKAGE)))
ifneq ($(PACKAGE),)
ifeq ($(TESTS),)
$(error PACKAGE=$(PACKAGE) has no tests)
endif
endif

.PHONY: test suite test-fast clients check style types quick-types run recording demo made made-page made-libraries made-models dist audit attack chaos hops conform-sdks fuzz fuzz-wires stranger fresh bench bench-served bench-check bench-environment tasks eval docs \
	docs-site lock clean system

# Style and types are checked beside the tests, which are collected by one process.
test: system made
	@$(MAKE) --no-print-directory -j 3 style quick-types suite

# Real browsers, sockets and signals, beside a thousand other tests. Nothing is tried twice, unless RETRY=1 lets what failed
# run once more, alone; a run that did not come to its end has failed.
ONCE_MORE = || { [ $$? -eq 1 ] && echo "Once more, alone:" && \
	$(BIN)/pytest -v $(TESTS) --last-failed --last-failed-no-failures=none; }
suite: .venv/ready
	$(BIN)/pytest $(PARALLEL) $(TESTS) $(if $(RETRY),$(ONCE_MORE))

CORE := packages/core/tests
# Files of these folders that try thousands of inputs or start processes: two seconds and more each.
SLOW := %_random.py %_races.py %_robustness.py %_tunnel.py %_chain.py %/test_visible_text.py %/test_features_files.py \
	%/test_result_size.py %/test_history_on_wires.py
FAST := tests/test_layers.py tests/test_public_modules.py $(filter-out $(SLOW),$(wildcard packages/server/tests/dialects/test_*.py \
	$(CORE)/core/test_*.py $(CORE)/wires/test_*.py $(CORE)/tools/workspace/test_*.py $(CORE)/tools/test_*.py \
	$(CORE)/agent/test_features_*.py $(CORE)/agent/test_folds_*.py \
	$(CORE)/providers/test_http1_*.py $(CORE)/providers/test_provider_turns.py $(CORE)/providers/test_provider_retry.py))

test-fast: .venv/ready
	$(BIN)/pytest --processes $(CORES) $(FAST) --hypothesis-profile=fast

# Third-party clients, installed from their registries into the user's cache. Their results are in docs/clients.md.
clients: .venv/ready
	$(BIN)/pytest -m "clients or not clients" packages/*/tests/clients packages/acp/tests/test_acp_real_agents.py \
		packages/cli/tests/test_cli_foreign_agents.py; status=$$?; \
		$(BIN)/python scripts/make_client_docs.py; exit $$status

check: style types
	$(BIN)/pytest tests/test_layers.py

style: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python scripts/check_english.py

# What has not changed since it was last checked is not checked again; TYPES=--all checks everything.
types: .venv/ready
	$(BIN)/python scripts/check_types.py $(TYPES) $(TYPED)

# pyright's strict mode needs most of the time of `make types`; here pyrefly checks the sources too.
quick-types: .venv/ready
	$(BIN)/python scripts/check_types.py --quick $(TYPES) $(TYPED)

run: .venv/ready made
	$(BIN)/heald serve $(SERVE)

# The recording of the README, light and dark; needs Chromium.
recording: .venv/ready made
	$(BIN)/python scripts/recording.py

demo: .venv/ready
	$(BIN)/heald demo

# The page is built while the registries are waited for.
made: .venv/ready
	@$(MAKE) --no-print-directory -j 3 made-page made-libraries made-models

made-page:
	@$(BIN)/python packages/server/build_page.py

made-libraries:
	@$(BIN)/python packages/core/make_prices.py
	@$(BIN)/python packages/studio/vendor_libraries.py

made-models:
	@$(BIN)/python packages/local/fetch_models.py
	@$(BIN)/python packages/local/fetch_icons.py
	@$(BIN)/python packages/local/make_notices.py

dist: .venv/ready
	$(BIN)/python scripts/make_release.py

audit: .venv/ready
	$(BIN)/python scripts/make_release.py --audit

chaos: .venv/ready
	$(BIN)/python -m benchmarks.soak.soak $(CHAOS)
	$(BIN)/python -m benchmarks.nodes.rounds --stall 2 4 8 20 --restart $(NODE_ROUNDS)
	$(BIN)/python -m benchmarks.nodes.rounds --freeze-news $(NODE_ROUNDS)

HOPS ?= 1000
SEED ?= 1
hops: .venv/ready
	HEALD_HOPS=$(HOPS) HEALD_HOPS_SEED=$(SEED) $(BIN)/pytest -s packages/heald/tests/hops

attack: .venv/ready
	$(BIN)/python scripts/run_attacks.py --processes $(CORES) $(ATTACK)

# The packages of the providers are installed into the user's cache; nothing of Heald depends on them.
conform-sdks: .venv/ready
	$(BIN)/python scripts/conform_sdks.py $(SDKS)

fuzz: .venv/ready
	HEALD_FUZZ_ROUNDS=40000 HEALD_FUZZ_SEED=$$(date +%s) $(BIN)/pytest -n 2 packages/studio/tests/fuzz packages/core/tests/agent/test_log_random.py \
		packages/core/tests/agent/test_answer_forms.py packages/core/tests/recordings/test_decode.py packages/core/tests/sessions/test_sessions_fork_contract.py \
		packages/core/tests/sessions/test_sessions_signed.py packages/core/tests/tools/schema/test_json_schema_random.py \
		packages/studio/tests/server/test_server_openapi_schemathesis.py packages/server/tests/dialects/test_dialect_random.py
	$(BIN)/pytest --processes $(CORES) -m "hypothesis and not clients" --hypothesis-profile=long

fuzz-wires: .venv/ready
	HEALD_FUZZ_ROUNDS=$(ROUNDS) HEALD_FUZZ_SEED=$$(date +%s) $(BIN)/pytest -s packages/core/tests/recordings/test_mutated_streams.py

# The README and the tutorial from the wheels, in an empty environment for each Python that is installed.
stranger: .venv/ready dist
	$(BIN)/python scripts/stranger.py $(STRANGER)

fresh:
	sh scripts/fresh_machine.sh --make

tasks: .venv-bench/ready
	.venv-bench/bin/python -m benchmarks.tasks $(if $(LOCAL),--local $(LOCAL),--model "$(MODEL)" --base-url "$(BASE_URL)") $(TASKS)

SHORT ?= --quick
bench-environment: .venv-bench/ready

# This checkout against the last release (AGAINST=commit), interleaved; fails where a row is over 10 % worse.
bench-check: .venv-bench/ready
	.venv-bench/bin/python -m benchmarks.check $(if $(AGAINST),--against $(AGAINST))

# What serving a delta costs, compared with other servers; renews the table of docs/benchmarks.md.
bench-served: .venv-bench/ready
	$(BIN)/python -m benchmarks.live $(QUICK)

bench: .venv-bench/ready
	.venv-bench/bin/python -m benchmarks.run $(BENCH)
	.venv-bench/bin/python -m benchmarks.history $(SHORT)
	.venv-bench/bin/python -m benchmarks.agents $(SHORT)
	.venv-bench/bin/python -m benchmarks.partial_json
	.venv-bench/bin/python -m benchmarks.sandbox
	$(BIN)/python -m benchmarks.websocket
	$(BIN)/python -m benchmarks.startup $(QUICK)
	$(BIN)/python -m benchmarks.live $(QUICK)
	$(BIN)/python -m benchmarks.first_token $(QUICK)
	$(BIN)/python -m benchmarks.fan_out $(QUICK)
	$(BIN)/python -m benchmarks.server --quick
	$(BIN)/python -m benchmarks.strangers
	$(BIN)/python -m benchmarks.render
	$(BIN)/python -m benchmarks.page

system:
	@sh scripts/system_packages.sh

JOBS ?= 1
ifdef PAGES
EVAL = $(BIN)/heald eval build/public-pages/drawn --models local/vision -o build/public-pages/report --resume
eval: .venv/ready made
	$(BIN)/python -m benchmarks.public_pages draw $(PAGES) build/public-pages/drawn $(if $(COUNT),--count $(COUNT))
	$(if $(RESUME),,rm -rf build/public-pages/report/rows)
	for share in $$(seq $(JOBS)); do $(EVAL) --share $$share/$(JOBS) & done; wait
	$(EVAL)
	$(BIN)/python -m benchmarks.public_pages table build/public-pages/report
else
EVAL = $(BIN)/heald eval benchmarks/pages/.cache --models local/vision -o build/evaluation --resume
eval: export HEALD_EVAL_TOOLS = benchmarks/pages/tools
eval: .venv/ready made
	npm ci --silent --no-audit --no-fund --prefix benchmarks/pages/tools
	$(BIN)/python -m benchmarks.pages.render
	$(if $(RESUME),,rm -rf build/evaluation/rows)
	for share in $$(seq $(JOBS)); do $(EVAL) --share $$share/$(JOBS) & done; wait
	$(EVAL)
	$(BIN)/python -m benchmarks.pages.report build/evaluation
endif

docs: .venv/ready
	$(BIN)/python scripts/make_event_docs.py
	$(BIN)/python scripts/make_event_types.py
	$(BIN)/python scripts/make_event_union.py
	$(BIN)/python scripts/make_api_types.py
	$(BIN)/python scripts/make_checker_docs.py
	$(BIN)/python scripts/make_config_docs.py
	$(BIN)/python scripts/make_feature_docs.py
	$(BIN)/python scripts/make_parameter_docs.py
	$(BIN)/python scripts/make_api_docs.py
	$(BIN)/python scripts/draw_packages.py

# VERSION is the folder of the version in build/site; LATEST=1 makes it the one that visitors see first.
VERSION ?= dev
docs-site: .venv-docs/ready
	.venv-docs/bin/python scripts/make_site.py --version $(VERSION) $(if $(LATEST),--latest)

.venv-docs/ready: docs/requirements.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	@touch $@

.venv/ready: pyproject.toml $(wildcard packages/*/pyproject.toml) requirements-dev.txt
	$(PYTHON) -m venv .venv
	@$(BIN)/python -c "import uv" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/python -m uv pip install --quiet -r requirements-dev.txt
	$(BIN)/python -m uv pip install --quiet --no-deps --no-build-isolation $(foreach package,$(wildcard packages/*/pyproject.toml),-e $(dir $(package)))
	@$(BIN)/python packages/core/make_prices.py
	@touch $@

.venv-bench/ready: .venv/ready benchmarks/requirements.txt benchmarks/setup.sh
	sh benchmarks/setup.sh $(BIN)/python
	@touch $@

lock: .venv/ready
	$(BIN)/python -m uv lock --quiet
	$(BIN)/python -m uv export --quiet --no-hashes --package heald --no-emit-workspace --no-header --no-annotate --no-dev -o requirements.txt
	$(BIN)/python -m uv export --quiet --no-hashes --no-emit-workspace --no-header --no-annotate -o requirements-dev.txt

clean:
	rm -rf .venv .venv-bench .venv-docs .pytest_cache .ruff_cache .hypothesis dist build
