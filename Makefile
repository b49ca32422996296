# Everything a newcomer needs: `make demo` and `make test`, from nothing but Python 3.11 or later and make.
#
# 1. Each target prepares what it needs and repeats nothing: a stamp in the environment is as new as what it was made from.
# 2. The versions are those of constraints.txt; `make constraints` writes it anew from the environment.
# 3. Work that people and CI share stands in scripts/, not here.

PYTHON ?= python3
VENV ?= .venv

bin := $(VENV)/bin
export VENV

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check format docs site coverage bench kernels wheel constraints install clean

help:
	@echo "make demo         de-duplicate the bundled sample corpus"
	@echo "make test         run the whole suite but its slow part (ARGS='-m slow' for that one)"
	@echo "make check        lint, format, types and the import contract"
	@echo "make format       lay the code out and mend what the linter can mend"
	@echo "make docs         write the generated reference pages anew"
	@echo "make site         the documentation as a site, in site/"
	@echo "make coverage     run the suite and list the lines it never reaches"
	@echo "make bench        list the benchmarks, or run one: make bench ARGS=limit"
	@echo "make kernels      compile the kernels ahead: later runs start without the compiler"
	@echo "make wheel        a wheel in dist/, with kernels compiled ahead"
	@echo "make constraints  pin what the environment has now"
	@echo "make clean        remove the environment and the caches"
	@echo "PYTHON=python3.13 chooses the interpreter, VENV=dir the place of the environment."

demo: $(VENV)/.installed
	$(bin)/nearsame demo $(ARGS)
	@$(bin)/python -m nearsame.kernels.building --background

test: $(VENV)/.installed-dev kernels
	scripts/test $(ARGS)

check: $(VENV)/.installed-dev
	scripts/check

format: $(VENV)/.installed-dev
	$(bin)/ruff check --fix-only --quiet
	$(bin)/ruff format

docs: $(VENV)/.installed-dev
	$(bin)/python scripts/make-docs
	$(bin)/python scripts/make-pictures

site: $(VENV)/.installed-dev
	$(bin)/python scripts/make-site

coverage: $(VENV)/.installed-dev
	$(bin)/coverage run -m pytest $(ARGS)
	$(bin)/coverage report

bench: $(VENV)/.installed-dev
	scripts/bench $(ARGS)

kernels: $(VENV)/.installed
	@$(bin)/python -m nearsame.kernels.building --missing

wheel: $(VENV)/.installed-dev
	$(bin)/pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w dist .

constraints: $(VENV)/.installed-dev
	$(bin)/python scripts/make-constraints

install: $(VENV)/.installed-dev kernels

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage

# An environment without pip is one that a missing ensurepip left behind half made: it is made again.
$(bin)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "nearsame needs Python 3.11 or later, and PYTHON=$(PYTHON) is $$($(PYTHON) -V 2>&1)." >&2; \
	  echo "Name a newer one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) -m venv failed. On Debian and Ubuntu install it first: apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.installed: pyproject.toml constraints.txt | $(bin)/pip
	$(bin)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

# `pip install --group` came with pip 25.1, later than the pip of many a Python 3.11: the group is read out here.
$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(bin)/pip
	@$(bin)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['dev'], sep='\n')" \
	  > $(VENV)/dev-requirements.txt
	$(bin)/pip install --quiet --disable-pip-version-check -c constraints.txt -r $(VENV)/dev-requirements.txt -e '.[postgres,remote,report,scrapy,serve,spark,trafilatura,web]'
	@touch $@ $(VENV)/.installed
