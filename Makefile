# `make demo` and `make test` need no other set-up and write to .venv only; `make docs` writes to site/.
VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/bin
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/pycache
# Written there and nowhere else; without it every process of the tests would compile all it imports anew.
export PYTHONDONTWRITEBYTECODE :=
# What the tests can use beyond the core; tests of an extra that is not there skip and say so.
EXTRAS ?= dev
comma := ,
TESTED := $(VENV)/installed-$(subst $(comma),-,$(EXTRAS))
export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/$(VENV)/hypothesis

.PHONY: demo test lint golden size bench docs clean

demo: $(VENV)/installed
	$(BIN)/gendermark demo -o $(VENV)/demo

# One more than two cores: many tests wait for programs, servers and browsers.
test: lint
	$(BIN)/python -m pytest -n 3 --dist worksteal -o cache_dir=$(VENV)/pytest

lint: $(TESTED)
	$(BIN)/ruff check --cache-dir $(VENV)/ruff .
	$(BIN)/ruff format --check --cache-dir $(VENV)/ruff .
	$(BIN)/mypy --cache-dir $(VENV)/mypy

# Writes tests/golden/expected anew. Commit what changed on its own, with the reason.
golden: $(TESTED)
	GENDERMARK_WRITE_GOLDEN=1 $(BIN)/python -m pytest -n 2 -o cache_dir=$(VENV)/pytest tests/golden

size:
	@$(PYTHON) bench/size.py

bench: $(TESTED)
	for script in bench/*.py; do $(BIN)/python $$script || exit 1; done

# Strict: a link to a page or a heading that is not there is an error. (With --quiet it would not be.)
docs: $(VENV)/documented
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "open site/index.html"

clean:
	rm -rf $(VENV) site

$(VENV)/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(TESTED): $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]'
	touch $@

$(VENV)/documented: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@
