# Two commands from a clean clone: `make demo` and `make test`. Everything lives in .venv.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
UV_VERSION := 0.13.9
BIN := .venv/bin
UV := VIRTUAL_ENV=$(CURDIR)/.venv UV_LINK_MODE=copy $(BIN)/uv
PIP_SYNC := pip install --quiet --compile-bytecode --require-hashes

# The pure parts, under ten seconds, and every other folder of tests by what it needs.
UNIT := tests/unit
REST := $(shell find tests -name 'test_*.py' -not -path 'tests/unit/*' 2>/dev/null | cut -d/ -f1-2 | sort -u)
PYTEST_ARGS ?= -q -n 2
# A file stays on one worker, so that what its fixtures start is started once.
PYTEST_REST_ARGS ?= -q -n 2 --dist loadfile

.PHONY: help demo test unit rest lint lock bench clean

help:
	@echo "make demo [SERVE=0]     run the licence audit, kill it, resume it, look at it"
	@echo "make test               lint, types, and every test"
	@echo "make unit | lint        the fast parts of it"
	@echo "make bench [NAME=...]   benchmarks (python -m benchmarks)"
	@echo "make lock               resolve pyproject.toml into the two lock files"

# SERVE=0 answers the approval itself and prints one JSON line last.
demo: .venv/run.stamp
	@$(BIN)/waypost demo $(if $(filter 0,$(SERVE)),--no-serve --approve)

test: .venv/test.stamp
	@bash scripts/chromium.sh
	@$(MAKE) lint
	@$(MAKE) unit
	@$(MAKE) rest

unit: .venv/test.stamp
	@$(BIN)/python -m pytest $(UNIT) $(PYTEST_ARGS)

# Playwright keeps an event loop in its process, in which no other test could start one: the browser goes apart.
# Exit code 5 says that nothing was selected, which one of the two may.
rest: .venv/test.stamp
	@if [ -n "$(REST)" ]; then \
	  $(BIN)/python -m pytest $(REST) -m 'not browser' $(PYTEST_REST_ARGS) || [ $$? = 5 ]; \
	  $(BIN)/python -m pytest $(REST) -m browser $(PYTEST_REST_ARGS) || [ $$? = 5 ]; \
	fi

lint: .venv/test.stamp
	@$(BIN)/ruff check --quiet
	@$(BIN)/mypy --no-error-summary

bench: .venv/test.stamp
	@$(BIN)/python -m benchmarks $(NAME)

lock: .venv/uv.stamp
	@UV=$(BIN)/uv bash scripts/lock.sh

clean:
	@rm -rf .venv dist .mypy_cache .ruff_cache .pytest_cache .hypothesis test-results

.venv/uv.stamp:
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) is not on the PATH; install Python 3.11 or newer, or say make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is older than Python 3.11; say make PYTHON=/path/to/a/newer/python3" >&2; exit 1; }
	@echo "setting up .venv (once, about 20 s)" >&2
	@$(PYTHON) -m venv .venv || { echo "make: could not make .venv with $(PYTHON); on Debian: apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/pip install -qq --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

# Needs only what a user needs; the test set comes on top of it.
.venv/run.stamp: .venv/uv.stamp requirements.lock pyproject.toml
	@$(UV) $(PIP_SYNC) -r requirements.lock
	@$(UV) pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

.venv/test.stamp: .venv/run.stamp requirements-test.lock
	@$(UV) $(PIP_SYNC) -r requirements.lock -r requirements-test.lock
	@touch $@
