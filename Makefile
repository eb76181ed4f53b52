VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test browser check format clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.base ## Install, and explain three answers with the packaged model and facts.
	$(BIN)/arcf explain "Ella sees her own face clearly in a bathroom mirror. What is the light doing?" \
	  --answer "bouncing off the mirror"
	$(BIN)/arcf explain --id science-010
	$(BIN)/arcf explain --id science-030

test: $(VENV)/.dev browser ## Install, and run the tests.
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadgroup

# The page is tested in Debian's Chromium; where it cannot be had, those tests are skipped and say so.
browser: ## Install Chromium for the tests of the page, if it is missing (Debian, as root).
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null \
	    || echo "Chromium could not be installed: the tests of the page will be skipped."; \
	fi

check: $(VENV)/.dev ## Lint, formatting, types, layers, the container's recipe.
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/hadolint Dockerfile

format: $(VENV)/.dev ## Put the code into its format.
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean: ## Remove the environment and all caches.
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/.base: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --editable .
	touch $@

# The pinned torch comes first and alone, so that nothing after it asks for another build.
$(VENV)/.dev: $(VENV)/.base
	$(PIP) install --constraint constraints.txt torch
	$(PIP) install --constraint constraints.txt --editable '.[dev]'
	touch $@
