# `make` lists the commands. The two that matter: `make demo` and `make test`.

SHELL := /bin/bash
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
export PATH := $(BIN):$(PATH)
# A virtual environment of the caller's would win over ours inside child processes.
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME
# Stages are processes of their own: each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE
TORCH ?= torch==2.13.0
PYTHON ?= $(shell for p in python3 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 13))' 2>/dev/null && echo $$p && break; done)

SITE := NO_MKDOCS_2_WARNING=1 python -m mkdocs build --strict

.DEFAULT_GOAL := help
.PHONY: help demo test slow check bench docs reproduce ui

help:  ## list the commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | awk -F'\t' '{printf "make %-9s %s\n", $$1, $$2}'

demo: $(VENV)/installed  ## run the pipeline on the default data and print the comparison
	@python pipelines/side_by_side.py && elman table --hints

test: $(VENV)/installed  ## run all tests but the slow ones
	@pytest -n 2 --dist loadfile --no-loadscope-reorder

slow: $(VENV)/installed  ## run the slow tests: whole pipelines again and again, a real cron
	@pytest -n 2 --dist loadfile --no-loadscope-reorder -m slow

check: $(VENV)/installed  ## lint, formatting, types, import contracts, links of the docs, known vulnerabilities
	ruff check .
	ruff format --check .
	mypy
	lint-imports
	@$(SITE)
	@python -m tests.helpers.audit

docs: $(VENV)/installed  ## build the documentation's site into site/, every link and anchor checked
	@$(SITE) && echo "site/index.html; with search: python -m http.server --bind 127.0.0.1 --directory site"

reproduce: $(VENV)/installed  ## train a preset beside its published figure: PRESET=name DATA=/path/to/its/data
	@python benchmarks/reproduce.py "$(PRESET)" $(if $(DATA),--data "$(DATA)")

ui: $(VENV)/installed  ## open the tracked runs in MLflow on http://127.0.0.1:5000 (PORT=... for another)
	@mlflow ui --host 127.0.0.1 --port $(or $(PORT),5000) --backend-store-uri "$$(elman store)"

bench: $(VENV)/installed  ## time elman against PyTorch and stock Keras, about 40 minutes; writes benchmarks/results.json
	@python -c 'import torch' 2>/dev/null || python -m pip install -q --disable-pip-version-check "$(TORCH)"
	@dvc repro -q encode
	@python -m benchmarks.speed && python -m benchmarks.speed.growth

# uv unpacks two hundred packages several times faster than pip; where it cannot reach an index, pip's own settings may.
$(VENV)/installed: installer.lock requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "elman needs Python 3.11 or 3.12; name one with PYTHON=/path/to/python" >&2; exit 1; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version), one or two minutes the first time"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(VENV)/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r installer.lock
	@$(VENV)/bin/uv pip install -q --python $(VENV)/bin/python --compile-bytecode --require-hashes -r requirements.lock \
		|| $(VENV)/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(VENV)/bin/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
