.PHONY: format check types layers dependencies test
format: ; ruff format . && ruff check --fix .
check: ; ruff format --check . && ruff check .
types: ; mypy
layers: ; lint-imports
dependencies: ; deptry src
test: ; pytest
