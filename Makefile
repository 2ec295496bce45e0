# make demo   fit the CO2 record in JAX and in PyTorch with one set of rules
# make demo DEMO=river   fit a NumPy simulation without rules in both
# make demo DEMO=calibration   a spline through standards, and its error, in NumPy
# make demo DEMO=epidemic   fit a differential equation, solved by SciPy, in both
# make demo DEMO=conductivity   an inverse problem through SciPy's sparse solver, in NumPy
# make demo DEMO=weighting   a filter designed by its gradient through sosfilt, in JAX
# make demo DEMO=registration   two images, laid on each other, in PyTorch
# make demo DEMO=spectrum   Voigt profiles of the sodium lines of a flame, in NumPy
# make test   the everyday tests, documentation examples included: every mechanism is met
#             (four minutes on two idle cores)
# make test-full  those and what repeats them for other values
# make test-nightly  what is too heavy for both
# make test-slice SLICE=2/6  one part of what make test leaves out
# make repeats  which everyday tests are dear and repeat others: tests/repeats.txt
# make versions  a smoke with the lowest and the newest versions of what we rest on
# make coverage  the full tests, and what they did not run
# make lint   style, types and the direction of imports
# make docs   the documentation, into docs/_build/html
# make pictures   the pictures of the examples, into docs/pictures
# make notebooks  the outputs of the notebooks, into docs/notebooks
# make coverage-page   docs/reference/coverage.md
# make release-check  what must hold before a release: archives, metadata, each extra
#
# Each makes .venv first if needed, from the first Python below that can.

SHELL := /bin/bash
PYTHONS := python3.11 python3.12 python3.13 python3
PYTHON ?= $(shell for p in $(PYTHONS); do \
	$$p -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$p && break; done)

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
HANDLER := adapters/rules_jax/_host/native/handler.c
WORKERS ?= 2
SLICE ?= 0/6
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist=loadfile
NOTES := build/repeats
DEMO ?= co2
EXAMPLES := $(patsubst examples/%/__main__.py,%,$(wildcard examples/*/__main__.py))

# Two test processes on two cores: more threads inside each only get in each other's way.
export OMP_NUM_THREADS ?= 1
# What Python and pytest compiled is used again, by the next run and by the processes
# that tests start.
export PYTHONDONTWRITEBYTECODE :=
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test test-full test-nightly test-slice repeats versions coverage lint docs pictures notebooks \
	coverage-page release-check clean
.DEFAULT_GOAL := test

demo: $(STAMP)
	$(BIN)/python -m examples.$(DEMO)

test: $(STAMP)
	$(PYTEST) $(ARGS)

test-full: $(STAMP)
	$(PYTEST) -m "not nightly" $(ARGS)

test-nightly: $(STAMP)
	$(PYTEST) -m nightly $(ARGS)

repeats: $(STAMP)
	mkdir -p $(NOTES) && rm -f $(NOTES)/*
	COVERAGE_FILE=$(CURDIR)/$(NOTES)/part $(BIN)/coverage run --rcfile=tests/repeats.ini \
		-m pytest -n $(WORKERS) --dist=loadfile --note-lines $(NOTES) $(ARGS)
	COVERAGE_FILE=$(CURDIR)/$(NOTES)/lines $(BIN)/coverage combine -q \
		--rcfile=tests/repeats.ini $(NOTES)/part.*
	$(BIN)/python -m tests.repeats $(NOTES)

test-slice: $(STAMP)
	$(PYTEST) -m "full or nightly" --slice $(SLICE) $(ARGS)

versions:
	.ci/versions

coverage: $(STAMP)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n $(WORKERS) --dist=loadfile -m "not nightly" $(ARGS)
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=.:engine:adapters $(BIN)/lint-imports

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

pictures: $(STAMP)
	$(BIN)/python docs/pictures/one_rule.py
	for example in $(EXAMPLES); do \
		$(BIN)/python -m examples.$$example --output docs/pictures || exit 1; done

notebooks: $(STAMP)
	$(BIN)/python docs/notebooks/run.py

coverage-page: $(STAMP)
	$(BIN)/python docs/coverage_page.py > docs/reference/coverage.md.new
	mv docs/reference/coverage.md.new docs/reference/coverage.md

release-check: $(STAMP)
	$(BIN)/python -m pip install -q --group release
	$(BIN)/python .ci/release_check.py $(ARGS)

# The stamp is written last, so that an interrupted installation starts again.
$(STAMP): pyproject.toml constraints.txt hatch_build.py hatch_readme.py $(HANDLER)
	@test -n "$(PYTHON)" || { echo "needs Python 3.11 or later with venv"; exit 1; }
	@echo "Installing into $(VENV), a minute or two"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt pip hatchling
	$(BIN)/python -m pip install -q -c constraints.txt --no-build-isolation \
		--group dev -e '.[all]'
	touch $@

clean:
	rm -rf $(VENV) build dist docs/_build .mypy_cache .ruff_cache .pytest_cache
