# One door to everything. `make help` lists what is behind it.
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CORE := $(VENV)/.core
SITE := $(VENV)/.docs
# What is imported is compiled when it is; all that is installed would take ten seconds more.
INSTALL := install --quiet --no-compile -c constraints.txt
PIP := $(BIN)/python -m pip $(INSTALL) --disable-pip-version-check
VERSIONS := 3.11 3.12 3.13
# One thread a test process: the workers share the cores.
test quick fuzz: export OMP_NUM_THREADS = 1
# Tests start some hundred Pythons: each would compile all that it imports again.
test quick fuzz: export PYTHONDONTWRITEBYTECODE =

# The first Python found of the given versions, those of pyenv among them; else nothing.
find = $(shell for python in $(foreach v,$(1),python$(v)) python3 \
    $(foreach v,$(1),$(HOME)/.pyenv/versions/$(v).*/bin/python); do \
    $$python -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] not in "$(1)".split())' \
    2>/dev/null && echo $$python && break; done)
PYTHON ?= $(call find,$(VERSIONS))

.PHONY: help demo check test quick test-matrix docs pictures fuzz format bench clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(CORE): pyproject.toml constraints.txt
	@test -x $(BIN)/python || test -n "$(PYTHON)" || \
	    { echo "No Python 3.11, 3.12 or 3.13 was found. Name one: make PYTHON=/path/to/python" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	# uv takes a third of pip's time; pip does it where uv cannot be had, or reaches no index.
	$(PIP) uv && $(BIN)/python -m uv pip $(INSTALL) -e . || $(PIP) -e .
	touch $@

$(STAMP): $(CORE)
	$(PIP) "torch==2.13.0"
	$(PIP) -e ".[all,dev]"
	touch $@

$(SITE): $(CORE)
	$(PIP) -e ".[docs]"
	touch $@

demo: $(CORE)  ## Make the environment and score the shipped example, nothing downloaded
	$(BIN)/litepyramid demo

check: $(STAMP)  ## Style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check docs  ## Style, types, the documentation and every test
	$(BIN)/python -m pytest -n 2 --dist loadgroup

quick: $(STAMP)  ## The quick tests: most of them, in a minute
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

test-matrix:  ## Every test under each Python from 3.11 to 3.13 that is found, in environments of their own
	@$(foreach v,$(VERSIONS),found="$(call find,$(v))"; \
	    if test -z "$$found"; then echo "== Python $(v): not found, left out"; else \
	    echo "== Python $(v): $$found"; \
	    $(MAKE) --no-print-directory test PYTHON="$$found" VENV=.venv-$(v) || exit 1; fi;)

docs: $(SITE)  ## Build the documentation in docs/_build; a warning is an error
	rm -rf docs/_build docs/generated
	$(BIN)/python -m sphinx -q -W --keep-going docs docs/_build
	@echo "Open docs/_build/index.html"

pictures: $(STAMP)  ## Draw the pictures of the documentation again (needs the published data)
	$(BIN)/python scripts/docs_pictures.py

fuzz: $(STAMP)  ## FUZZ_CASES=2500 damaged files of each kind, above 100,000 in all, SEED=1; no reader may fail, be slow or large
	FUZZ_CASES=$(or $(FUZZ_CASES),2500) FUZZ_SEED=$(or $(SEED),1) $(BIN)/python -m pytest -n 2 tests/fuzz

format: $(STAMP)  ## Rewrite the code in the house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)  ## Measure speed against the named rivals
	for script in scripts/bench/*.py; do echo "== $$script"; $(BIN)/python $$script; done

clean:  ## Remove the environments, caches and the built site
	rm -rf $(VENV) $(foreach v,$(VERSIONS),.venv-$(v)) .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	    docs/_build docs/generated
