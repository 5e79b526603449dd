# One door to everything. `make help` lists what is behind it.
PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CORE := $(VENV)/.core

.PHONY: help demo test lint fuzz format bench clean

help:  ## List the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

$(CORE): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(STAMP): $(CORE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "torch==2.13.0"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[all,dev]"
	touch $@

demo: $(CORE)  ## Make the environment and score the shipped example, nothing downloaded
	$(BIN)/litepyramid demo

lint: $(STAMP)  ## Style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint  ## Style, types and every test
	$(BIN)/python -m pytest -n 2 --dist loadgroup

fuzz: $(STAMP)  ## 20,000 damaged files of every kind, SEED=1; no reader may fail, be slow or large
	FUZZ_CASES=20000 FUZZ_SEED=$(or $(SEED),1) $(BIN)/python -m pytest -n 2 tests/fuzz

format: $(STAMP)  ## Rewrite the code in the house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)  ## Measure speed against the named rivals
	for script in scripts/bench_*.py; do echo "== $$script"; $(BIN)/python $$script; done

clean:  ## Remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
