# Everything a newcomer needs: `make demo`, then `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := core stores tui themes sample_dbs
# Two workers, each with whole files: what a file's tests share is made once. WORKERS=0: no workers.
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

.DELETE_ON_ERROR:
.PHONY: install demo test unit bytecode lint pictures readme-pictures bench clean

install: $(VENV)/.installed ## .venv with the merito command in it

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Merito needs Python 3.11 or newer; say PYTHON=python3.12 make ...")'
	$(PYTHON) -m venv $(VENV)
	@echo "Installing; torch and the encoder are the large ones, allow a few minutes."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar on -c constraints.txt -e '.[dev]'
	@touch $@

demo: install ## fetch the model and watch it fail, be repaired, and learn
	@$(BIN)/merito models pull 1.5b
	@$(BIN)/merito demo --plain

test: install lint bytecode ## everything; the real model's tier runs where its weights are
	$(BIN)/merito models pull 0.5b
	$(PYTEST) tests -m "not bench and not pictures"

unit: install bytecode ## the tests that a newcomer reads as the specification, in under a minute
	$(PYTEST) tests -m "not slow and not model and not bench and not pictures"

bytecode: install ## each of the tests' many processes starts in two thirds of the time
	@$(BIN)/python -m compileall -q $(SOURCES)

lint: install ## style, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

pictures: install ## every screen against its stored picture; after a look: make pictures UPDATE=--snapshot-update
	$(BIN)/python -m pytest tests -m pictures $(UPDATE)

readme-pictures: install ## the pictures in docs/pictures, from the recorded sample run
	$(BIN)/python docs/pictures/make.py

bench: install bytecode ## the bars of speed and size
	$(BIN)/python -m pytest tests/bench -m bench -s

clean: ## remove the environment and every cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
