from __future__ import annotations

import pytest

from whilly.application.detect_profile import Profile, Root, detect_profile


def detect(*names: str, **texts: str) -> Profile:
    """Of a root with these names; a keyword gives the content of a file, `__` standing for the dot in its name."""
    named = {name.replace("__", "."): text for name, text in texts.items()}
    return detect_profile(Root(frozenset({*names, *named}), named))


def runs(profile: Profile, kind: str) -> list[str]:
    return [command.run for command in getattr(profile, kind)]


def test_an_unknown_repository_has_an_empty_profile() -> None:
    assert detect("README.md", "src") == Profile("")


@pytest.mark.parametrize(
    ("names", "pyproject", "setup", "prefix"),
    [
        (("uv.lock",), "", "uv sync --locked", "uv run "),
        ((), "[tool.uv]\n", "uv sync", "uv run "),
        (("poetry.lock",), "", "poetry install", "poetry run "),
        ((), "[tool.poetry]\n", "poetry install", "poetry run "),
        (("pdm.lock",), "", "pdm sync -d", "pdm run "),
    ],
)
def test_a_python_project_is_set_up_by_its_own_tool(
    names: tuple[str, ...], pyproject: str, setup: str, prefix: str
) -> None:
    profile = detect(*names, "conftest.py", pyproject__toml=pyproject)
    assert (profile.name, runs(profile, "setup")) == ("python", [setup])
    assert runs(profile, "verify") == [f"{prefix}python -m pytest -q"]
    assert runs(profile, "repair_verify") == [f"{prefix}python -m pytest -q -x"]


def test_pip_installs_requirements_the_project_its_extras_and_groups() -> None:
    profile = detect(
        requirements__txt="a\n",
        pyproject__toml='[project]\noptional-dependencies = {dev = ["pytest"]}\n[dependency-groups]\ntest = []\n',
    )
    assert runs(profile, "setup") == [
        "python3 -m venv .venv",
        ".venv/bin/python -m pip install --quiet --upgrade pip",
        ".venv/bin/python -m pip install --quiet -r requirements.txt -e '.[dev]' --group test",
    ]


def test_pytest_is_installed_where_tests_need_it_and_nothing_names_it() -> None:
    assert runs(detect("setup.py", "conftest.py"), "setup")[-1].endswith("-e . pytest")


def test_no_tests_yet_is_no_failure_with_pytest() -> None:
    assert [command.accept for command in detect("conftest.py", "setup.py").verify] == [(0, 5)]


def test_python_without_pytest_falls_back_to_unittest_and_then_to_compiling() -> None:
    assert runs(detect("setup.py", "tests"), "verify") == [".venv/bin/python -m unittest discover"]
    assert "compileall" in runs(detect("setup.py"), "verify")[0]


def test_linters_are_suggested_not_switched_on() -> None:
    profile = detect("uv.lock", "mypy.ini", pyproject__toml="[tool.ruff]\n[tool.pytest.ini_options]\n")
    assert profile.suggestions == ("uv run ruff check .", "uv run mypy .")
    assert runs(profile, "verify") == ["uv run python -m pytest -q"]


@pytest.mark.parametrize(
    ("names", "package", "setup", "test"),
    [
        (("package-lock.json",), "{}", "npm ci", "npm run test"),
        (("pnpm-lock.yaml",), "{}", "pnpm install --frozen-lockfile", "pnpm run test"),
        (("yarn.lock",), "{}", "yarn install --frozen-lockfile", "yarn run test"),
        (("yarn.lock", ".yarnrc.yml"), "{}", "yarn install --immutable", "yarn run test"),
        (("yarn.lock",), '{"packageManager": "yarn@4.1.0"}', "yarn install --immutable", "yarn run test"),
        (("bun.lockb",), "{}", "bun install --frozen-lockfile", "bun run test"),
        ((), '{"packageManager": "pnpm@9"}', "pnpm install", "pnpm run test"),
        ((), "{}", "npm install", "npm run test"),
    ],
)
def test_node_is_set_up_by_what_its_lock_file_belongs_to(
    names: tuple[str, ...], package: str, setup: str, test: str
) -> None:
    text = package[:-1] + (", " if package != "{}" else "") + '"scripts": {"test": "vitest", "lint": "x"}}'
    profile = detect(*names, package__json=text)
    assert (runs(profile, "setup"), runs(profile, "verify")) == ([setup], [test])
    assert profile.suggestions == (test.replace("test", "lint"),)


@pytest.mark.parametrize(
    ("scripts", "verify"),
    [
        ('{"test": "echo \\"Error: no test specified\\" && exit 1", "build": "tsc"}', ["npm run build"]),
        ('{"test": 3}', []),
        ("[]", []),
    ],
)
def test_a_node_script_that_is_no_test_is_not_taken_for_one(scripts: str, verify: list[str]) -> None:
    assert runs(detect(package__json=f'{{"scripts": {scripts}}}'), "verify") == verify


def test_go_and_rust_have_their_usual_commands() -> None:
    assert runs(detect("go.mod"), "verify") == ["go build ./...", "go test ./..."]
    assert runs(detect("Cargo.toml", "Cargo.lock"), "verify") == ["cargo test --locked"]
    assert runs(detect("Cargo.toml"), "setup") == ["cargo fetch"]


def test_several_languages_give_one_profile_with_the_commands_of_all() -> None:
    profile = detect("go.mod", package__json='{"scripts": {"test": "x"}}')
    assert profile.name == "node+go"
    assert runs(profile, "verify") == ["npm run test", "go build ./...", "go test ./..."]


def test_make_targets_count_when_nothing_else_checks_and_are_suggested_otherwise() -> None:
    makefile = ".PHONY: test\nVAR := x\nsetup:\n\ttouch a\ntest: setup\n\ttrue\nlint:\n\ttrue\n"
    alone = detect(Makefile=makefile)
    assert (alone.name, runs(alone, "setup"), runs(alone, "verify")) == ("make", ["make setup"], ["make test"])
    assert runs(alone, "repair_verify") == ["make lint"]
    beside = detect("go.mod", Makefile=makefile)
    assert (beside.name, beside.suggestions) == ("go", ("make test",))


def test_broken_files_are_noted_and_do_not_stop_the_detection() -> None:
    profile = detect("go.mod", pyproject__toml="[", package__json="{")
    assert [note.split(" ")[0] for note in profile.notes] == ["pyproject.toml", "package.json"]
    assert "go test ./..." in runs(profile, "verify")


def test_a_makefile_without_checks_says_so() -> None:
    assert "none of the targets" in detect(Makefile="all:\n\ttrue\n").notes[0]
