from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

import pytest

from whilly.config.layers import Loaded, Sources, combine
from whilly.config.problems import InvalidConfiguration

if TYPE_CHECKING:
    from pathlib import Path


class Load(Protocol):
    def __call__(self, **sources: object) -> Loaded: ...


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads from texts: user, toml, dotenv; and from mappings: environment, flags."""

    def load(**sources: object) -> Loaded:
        for name, file in (("user", "config.toml"), ("toml", "whilly.toml"), ("dotenv", ".env")):
            text = sources.get(name)
            if isinstance(text, str):
                (tmp_path / file).write_text(text, encoding="utf-8")
            elif isinstance(text, bytes):
                (tmp_path / file).write_bytes(text)
        environment = sources.get("environment", {})
        flags = sources.get("flags", {})
        assert isinstance(environment, dict)
        assert isinstance(flags, dict)
        return combine(Sources(tmp_path, tmp_path / "config.toml", environment, flags))

    return load


def problems(load: Load, **sources: object) -> list[str]:
    with pytest.raises(InvalidConfiguration) as caught:
        load(**sources)
    return [str(problem) for problem in caught.value.problems]


LAYERS: tuple[tuple[str, object, str], ...] = (
    ("user", "[run]\nparallel = 11\n", "config.toml:2"),
    ("toml", "\n[run]\nparallel = 12\n", "whilly.toml:3"),
    ("dotenv", "# comment\n\nWHILLY_MAX_PARALLEL=13\n", ".env:3"),
    ("environment", {"WHILLY_MAX_PARALLEL": "14"}, "WHILLY_MAX_PARALLEL"),
    ("flags", {"run.parallel": 15}, "--parallel"),
)


@pytest.mark.parametrize("count", range(len(LAYERS) + 1))
def test_the_last_layer_that_sets_a_key_wins_and_is_its_origin(load: Load, count: int) -> None:
    loaded = load(**{name: value for name, value, _ in LAYERS[:count]})
    assert loaded.settings.run.parallel == (10 + count if count else 3)
    assert loaded.origin("run.parallel").place.endswith(LAYERS[count - 1][2] if count else "")


def test_layers_are_merged_key_by_key_also_inside_tables_of_the_users_own_names(load: Load) -> None:
    loaded = load(
        user='[agents.mine]\nargv = ["a"]\n[jira.status_mapping]\ndone = "Done"\n',
        toml='[agents.mine]\nextra_args = ["-v"]\n[jira.status_mapping]\nfailed = "Failed"\n',
    )
    assert (loaded.settings.agents["mine"].argv, loaded.settings.agents["mine"].extra_args) == (("a",), ("-v",))
    assert loaded.settings.jira.status_mapping == {"done": "Done", "failed": "Failed"}


def test_all_problems_of_all_sources_are_reported_at_once_with_place_and_remedy(load: Load) -> None:
    found = problems(
        load,
        user="[run]\nparalel = 1\n",
        toml='[run]\nparallel = "3"\n\n[github]\ntoken = "ghp_verysecret"\n',
        dotenv="WHILLY_BUDGT_USD=1\n",
        environment={"WHILLY_TIMEOUT": "soon"},
        flags={"run.max_attempts": 0},
    )
    assert len(found) == 6
    assert found[0].endswith("config.toml:2: there is no setting run.paralel → did you mean run.parallel?")
    assert found[1] == ".env:1: WHILLY_BUDGT_USD is no setting → did you mean WHILLY_BUDGET_USD?"
    assert found[2] == 'whilly.toml:2: run.parallel: expected a whole number from 1 to 1000, got "3"'
    assert found[3].startswith("whilly.toml:5: github.token: must be a reference, not the secret itself")
    assert found[4] == 'WHILLY_TIMEOUT: run.timeout_s: expected a number, 0 or more, got "soon"'
    assert found[5].startswith("--max-attempts: run.max_attempts: expected a whole number from 1")
    assert "verysecret" not in "".join(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[run\n", "whilly.toml:1: is not valid TOML"),
        ("a = 1\nb = \n", "whilly.toml:2: is not valid TOML"),
        ("run = 3\n", "whilly.toml:1: run: expected a table, got int"),
        ("nonsense = 3\n", "whilly.toml:1: there is no setting nonsense → see `whilly config show`"),
        ("max_parallel = 2\n[run]\nparallel = 3\n", "whilly.toml:3: run.parallel is set twice"),
        ("[run]\ntimeout_s = inf\n", "whilly.toml:2: run.timeout_s: expected a number"),
        ("[run]\ntimeout_s = 2020-01-01\n", "whilly.toml:2: run.timeout_s: expected a number, 0 or more, not a date"),
        ("[run]\nheadless = 1\n", "whilly.toml:2: run.headless: expected true or false, got 1"),
        ("[agents.mine]\nsafe = true\n", "whilly.toml:2: agents.mine.argv is missing"),
        (
            '[profile]\nallowed_paths = [\n "ok",\n "../x"]\n',
            "whilly.toml:2: profile.allowed_paths: [1] must be a path",
        ),
        ('[repository]\ntarget = "a b"\n', "whilly.toml:2: repository.target: is not a name that git accepts"),
        (b"\xff\xfe", "whilly.toml: is not UTF-8 text (byte 0) → save it as UTF-8"),
        ("a = '\0'\n", "whilly.toml:1: is not valid TOML"),
    ],
)
def test_each_fault_of_a_file_names_its_line_and_what_was_expected(
    load: Load, text: str | bytes, expected: str
) -> None:
    (only,) = problems(load, toml=text)
    assert only.startswith(expected)


def test_a_directory_in_place_of_a_file_is_a_problem_not_a_crash(load: Load, tmp_path: Path) -> None:
    (tmp_path / "whilly.toml").mkdir()
    assert problems(load) == ["whilly.toml: cannot be read: Is a directory"]


def test_a_file_with_byte_order_mark_and_windows_line_ends_is_read(load: Load) -> None:
    loaded = load(toml=b"\xef\xbb\xbf[run]\r\nparallel = 7\r\n")
    assert (loaded.settings.run.parallel, loaded.origin("run.parallel").place) == (7, "whilly.toml:2")


def test_the_predecessors_spellings_are_accepted_in_any_case_and_as_text(load: Load) -> None:
    loaded = load(toml='Max_Parallel = "5"\nBUDGET_USD = 2.5\nagent_backend = "demo"\nheadless = "off"\n')
    run = loaded.settings.run
    assert (run.parallel, run.budget_usd, run.headless, loaded.settings.agent.name) == (
        5,
        Decimal("2.5"),
        False,
        "demo",
    )


@pytest.mark.parametrize(
    "sources",
    [
        {"toml": 'AGENT_BACKEND = "claude_handoff"\n'},
        {"dotenv": "WHILLY_AGENT_BACKEND=claude_handoff\n"},
        {"environment": {"WHILLY_AGENT_BACKEND": "claude_handoff"}},
    ],
    ids=lambda sources: next(iter(sources)),
)
def test_the_predecessors_agent_for_people_is_the_one_of_today(load: Load, sources: dict[str, object]) -> None:
    assert load(**sources).settings.agent.name == "handoff"


def test_the_predecessors_opencode_is_the_one_of_today(load: Load) -> None:
    loaded = load(environment={"WHILLY_OPENCODE_BIN": "/opt/opencode", "WHILLY_OPENCODE_SAFE": "1"})
    agent = loaded.settings.agents["opencode"]
    assert (agent.program, agent.safe, loaded.warnings) == ("/opt/opencode", True, ())


def test_the_predecessors_dead_settings_are_named_as_having_no_effect(load: Load) -> None:
    loaded = load(
        toml="VOICE = true\nAGENT = 'x'\n", environment={"WHILLY_USE_TMUX": "1", "WHILLY_ORCHESTRATOR": "llm"}
    )
    assert [str(warning).split(" has no effect")[0] for warning in loaded.warnings] == [
        "whilly.toml:1: VOICE",
        "whilly.toml:2: AGENT",
        "WHILLY_ORCHESTRATOR: WHILLY_ORCHESTRATOR",
        "WHILLY_USE_TMUX: WHILLY_USE_TMUX",
    ]


def test_variables_take_every_type(load: Load) -> None:
    loaded = load(
        environment={
            "WHILLY_RUN__HEADLESS": "yes",
            "WHILLY_AGENT__ENV_PASS": "A, B*",
            "WHILLY_PROFILE__SETUP": "make a, b",
            "WHILLY_PROFILE__VERIFY": '["pytest", {"run": "x", "accept": [0, 5]}]',
            "WHILLY_AGENTS__MINE__ARGV": '["a, b"]',
            "WHILLY_JIRA__STATUS_MAPPING__DONE": "Fertig",
            "WHILLY_CLAUDE_SAFE": "1",
            "CLAUDE_BIN": "/opt/claude",
            "WHILLY_TEST_ANYTHING": "1",
            "WHILLY_ATTEMPT_ID": "r/1",
            "UNRELATED": "1",
        }
    ).settings
    assert loaded.run.headless
    assert loaded.agent.env_pass == ("A", "B*")
    assert [command.run for command in loaded.profile.setup] == ["make a, b"]
    assert [command.accept for command in loaded.profile.commands("verify")] == [(0,), (0, 5)]
    assert loaded.agents["mine"].argv == ("a, b",)
    assert loaded.jira.status_mapping == {"done": "Fertig"}
    assert (loaded.agents["claude"].safe, loaded.agents["claude"].program) == (True, "/opt/claude")


def test_an_empty_variable_is_an_empty_text_or_false_and_otherwise_not_set(load: Load) -> None:
    loaded = load(
        toml='[agent]\nmodel = "m"\n[github]\nauto_close = true\n[run]\nparallel = 2\n',
        environment={"WHILLY_MODEL": "", "WHILLY_GITHUB_AUTO_CLOSE": "", "WHILLY_MAX_PARALLEL": ""},
    ).settings
    assert (loaded.agent.model, loaded.github.auto_close, loaded.run.parallel) == ("", False, 2)


def test_a_settings_own_variable_wins_over_the_predecessors_name(load: Load) -> None:
    loaded = load(environment={"WHILLY_RUN__PARALLEL": "8", "WHILLY_MAX_PARALLEL": "9"})
    assert loaded.settings.run.parallel == 8


def test_a_broken_json_array_in_a_variable_is_a_problem(load: Load) -> None:
    assert problems(load, environment={"WHILLY_PROFILE__VERIFY": "[oops"}) == [
        "WHILLY_PROFILE__VERIFY: profile.verify: expected a list of commands as a JSON array"
    ]


def test_a_variable_that_names_a_table_or_nothing_is_a_problem(load: Load) -> None:
    assert problems(load, environment={"WHILLY_RUN": "1", "WHILLY_RUN__PARALEL": "1"}) == [
        "WHILLY_RUN: WHILLY_RUN is no setting → see `whilly config show` for all settings",
        "WHILLY_RUN__PARALEL: WHILLY_RUN__PARALEL is no setting → did you mean WHILLY_RUN__PARALLEL?",
    ]


def test_a_secret_in_a_variable_becomes_a_reference_to_it(load: Load) -> None:
    loaded = load(environment={"WHILLY_GH_TOKEN": "ghp_x"}, dotenv="WHILLY_JIRA__TOKEN=keyring:whilly/jira\n")
    assert (loaded.settings.github.token, loaded.settings.jira.token) == ("env:WHILLY_GH_TOKEN", "keyring:whilly/jira")
    assert "ghp_x" not in repr(loaded.settings)


def test_dotenv_is_deprecated_once_and_only_where_it_holds_settings(load: Load) -> None:
    assert [warning.place for warning in load(dotenv="OTHER=1\nexport PORT='8'\n").warnings] == []
    assert [warning.message for warning in load(dotenv="WHILLY_MODEL=a\nexport WHILLY_TIMEOUT='8'\n").warnings] == [
        "settings in `.env` are deprecated"
    ]
    assert load(environment={"WHILLY_SUPPRESS_DOTENV_WARNING": "1"}).warnings == ()


def test_dotenv_lies_beneath_the_environment_and_expands_nothing(load: Load) -> None:
    loaded = load(dotenv="A=${HOME}\nB=file\n", environment={"B": "process", "HOME": "/h"})
    assert (loaded.environment["A"], loaded.environment["B"]) == ("${HOME}", "process")


def test_a_broken_line_of_dotenv_matters_only_when_it_is_ours(load: Load) -> None:
    assert load(dotenv="what is this\n").warnings == ()
    assert problems(load, dotenv="\nWHILLY_MODEL oops\n") == [".env:2: cannot be read → write NAME=value"]


def test_a_flag_that_was_not_given_sets_nothing(load: Load) -> None:
    assert load(flags={"run.budget_usd": None}).origins == {}
