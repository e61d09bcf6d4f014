# What people and CI call. `python3 dev.py setup` first: it fills .venv from the lock files.
PATH := $(CURDIR)/.venv/bin:$(PATH)
.PHONY: format check types layers dependencies test lock lock-check docs bench crash-matrix agents
format: ; ruff format . && ruff check --fix .
check: ; ruff format --check . && ruff check .
types: ; mypy
layers: ; lint-imports
dependencies: ; deptry src
test: ; pytest -n auto
lock: ; python scripts/lock.py
lock-check: ; python scripts/lock.py --check
docs: ; python scripts/generate_docs.py
bench: ; python benchmarks/overhead.py && python benchmarks/memory.py
crash-matrix: ; python scripts/crash_matrix.py --kills $(or $(N),200)
agents: ; scripts/install_agents.sh
