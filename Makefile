# Two commands do everything on a machine with Python (3.11 to 3.13), pip and make:
#   make demo    judge the bundled example
#   make test    lint, types, the quick tests that need nothing but this checkout
# A change must also pass `make test-data joints`, and the proofs of the areas that it touches
# (`make proofs-for BASE=COMMIT` names them; docs/testing.md). Every environment is installed from its
# lock in requirements/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROJECTS := pyproject.toml packages/languages/pyproject.toml packages/research/pyproject.toml
READY := $(VENV)/.ready-for-users
READY_DEV := $(VENV)/.ready-for-developers
CHROMIUM := $(or $(shell command -v chromium),$(VENV)/.chromium)
PYTEST_OPTIONS := -n 2 --dist worksteal
# The commit that `check` and `proofs-for` compare with.
BASE ?= HEAD

# `attacks` before `documents`, which reads the page whose tables it writes.
PROOFS := examiner models browser cluster harnesses papers attacks documents statistics
PROOF_ENVIRONMENTS := $(PROOFS:%=$(VENV)/proofs/%/.ready)
# Environments with PyTorch: its CPU build is named first, so that nothing fetches gigabytes of CUDA.
WITH_TORCH := examiner models documents
TORCH := torch==2.13.0

# With it set, as images for containers do, every process of a test compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check test test-core test-data joints yardstick yardstick-accept properties proof $(PROOFS:%=proof-%) \
    proofs-for test-times size wheel lint types bench docs upgrade clean

# Install a lock and this checkout into an environment: $(call install,FOLDER,LOCK)
define install
$(1)/bin/pip install --quiet --disable-pip-version-check -r requirements/$(2).txt
$(1)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . \
    --editable packages/languages --editable packages/research
endef

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(READY): requirements/base.txt $(PROJECTS) | $(BIN)/python
	$(call install,$(VENV),base)
	@touch $@

$(READY_DEV): requirements/dev.txt $(PROJECTS) | $(BIN)/python
	$(call install,$(VENV),dev)
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

# What has changed since a commit: ruff, mypy, the nearest tests.
check: $(READY_DEV)
	$(BIN)/python scripts/check.py $(BASE)

test: lint types
	$(BIN)/pytest $(PYTEST_OPTIONS) -m "not needs_data and not proof and not joint" --stage test

# The core where it alone is installed: its own quick tests, in an environment without research.
test-core: requirements/dev.txt $(PROJECTS) | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/core
	$(VENV)/core/bin/pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	$(VENV)/core/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
	    --editable .
	$(VENV)/core/bin/pytest $(PYTEST_OPTIONS) -m "not needs_data and not proof and not joint" \
	    --ignore tests/research --ignore tests/recipes

# The tests that read public data (docs/datasets.md) and are quick.
test-data: $(READY_DEV)
	$(BIN)/pytest $(PYTEST_OPTIONS) -m "needs_data and not proof and not joint" \
	    --require-data --timeout 180 --stage test-data

# Where parts meet: a browser, killed runs, processes, a faulty server, the wheel. Always checked.
joints: $(READY_DEV) $(CHROMIUM)
	$(BIN)/pytest $(PYTEST_OPTIONS) -m joint --timeout 180 --stage joints

# Debian's Chromium, where no chromium is on the path.
$(VENV)/.chromium: | $(BIN)/python
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium
	@touch $@

# What the product says now against what was recorded: before and after code moves (CONTRIBUTING.md).
#   make yardstick ALL=differences.jsonl
#   make yardstick-accept ENTRY="judge/examiner commands/agree" REASON="dates in Dutch are read"
yardstick: $(READY_DEV)
	$(BIN)/python scripts/yardstick.py $(if $(ALL),--all "$$ALL")

yardstick-accept: $(READY_DEV)
	$(BIN)/python scripts/yardstick.py --accept "$$ENTRY" --reason "$$REASON"

# The areas whose proofs the changes since a commit touch, uncommitted ones included.
proofs-for:
	@$(PYTHON) scripts/proofs.py for $(BASE)

# The tests of properties (Hypothesis) with 25 times as many examples.
properties: $(READY_DEV)
	$(BIN)/pytest $(PYTEST_OPTIONS) -m hypothesis --hypothesis-profile thorough --timeout 1200

# Measure the stages and write the tables of docs/testing.md; those of the proofs are from their stamps.
test-times: test test-data joints
	$(PYTHON) scripts/proofs.py tables

# What is slow or heavy, by area, each in an environment of its own; a whole run that passed leaves a
# stamp in tests/proofs, to be committed, and its tables in docs/testing.md and docs/robustness.md.
proof: $(PROOFS:%=proof-%)

# One at a time, for its tests compare waits and bound processor time and memory.
proof-attacks: PYTEST_OPTIONS := -n 0

$(PROOFS:%=proof-%): proof-%: $(VENV)/proofs/%/.ready
	PATH="$(CURDIR)/$(VENV)/proofs/$*/bin:$$PATH" $(VENV)/proofs/$*/bin/pytest $(PYTEST_OPTIONS) \
	    -m "proof(area='$*')" --timeout 1200 --stage $*
	$(VENV)/proofs/$*/bin/python scripts/proofs.py stamp $*

$(PROOF_ENVIRONMENTS): $(VENV)/proofs/%/.ready: requirements/%.txt $(PROJECTS)
	$(PYTHON) -m venv $(@D)
	$(if $(filter $*,$(WITH_TORCH)),$(@D)/bin/pip install --quiet --disable-pip-version-check $(TORCH))
	$(call install,$(@D),$*)
	$(foreach pins,$(wildcard requirements/$*-no-deps.txt),$(@D)/bin/pip install --quiet \
	    --disable-pip-version-check --no-deps -r $(pins))
	@touch $@

$(VENV)/proofs/browser/.ready: $(CHROMIUM)
$(VENV)/proofs/documents/.ready: $(CHROMIUM) $(VENV)/.shell-tools
$(VENV)/proofs/harnesses/.ready: $(VENV)/proofs/harnesses/tools/.ready

# What the documents' shell blocks call.
$(VENV)/.shell-tools: | $(BIN)/python
	command -v curl && command -v jq && command -v openssl \
	    || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y curl jq openssl)
	@touch $@

# ragas, deepeval and promptfoo want other versions of what the other harnesses have, or Node.
$(VENV)/proofs/harnesses/tools/.ready: requirements/tools.txt $(PROJECTS)
	$(PYTHON) -m venv $(@D)
	$(call install,$(@D),tools)
	command -v npm || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y npm)
	npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional --omit=peer \
	    --prefix $(@D) promptfoo@0.121.20 @libsql/linux-$$(node -p process.arch)-gnu
	@touch $@

# Renew every lock; then run everything before you commit them. An environment has the versions of
# `base` and `dev` wherever nothing in it refuses them: uv prefers what the output file has.
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-annotate \
    --no-emit-index-url --no-emit-package markscheme --override requirements/unlocked.txt \
    --custom-compile-command "make upgrade"

upgrade: | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade uv
	rm -f requirements/base.txt
	set -e; from=; for name in base dev docs tools $(PROOFS); do \
	    [ -z "$$from" ] || cp requirements/$$from.txt requirements/$$name.txt; \
	    $(LOCK) requirements/$$name.in -o requirements/$$name.txt >/dev/null; \
	    case $$name in base|dev) from=$$name;; esac; \
	done

# Lines, files, tokens, documented public names by folder.
size:
	$(PYTHON) scripts/size.py

# The wheel, built and installed in environments of its own: the README's examples run from it.
wheel:
	$(PYTHON) scripts/check_wheel.py

docs: $(VENV)/docs/.ready
	$(VENV)/docs/bin/mkdocs build --strict

$(VENV)/docs/.ready: requirements/docs.txt $(PROJECTS)
	$(PYTHON) -m venv $(@D)
	$(call install,$(@D),docs)
	@touch $@

bench: $(VENV)/proofs/models/.ready
	$(VENV)/proofs/models/bin/python -m benchmarks

# What can be built again. Runs and ledgers of paid replies (runs/) stay.
clean:
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
