from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from whilly.config.migrate import plan_migration
from whilly.config.sources import parse_dotenv

NAMES = st.sampled_from(["PORT", "WHILLY_TIMEOUT", "WHILLY_MODEL", "WHILLY_GH_TOKEN", "WHILLY_VOICE", "GITHUB_TOKEN"])
VALUES = st.text(alphabet="ab1 #'\"\\$={}ü\t", max_size=8)
LINES = st.one_of(st.builds("{}={}".format, NAMES, VALUES), st.text(alphabet="# a=\r\x0b'\"", max_size=6))


@given(st.lists(LINES).map("\n".join))
def test_the_statements_of_a_dotenv_file_are_the_file(text: str) -> None:
    assert "".join(binding.text for binding in parse_dotenv(text)) == text


@given(st.lists(LINES).map("\n".join))
def test_a_migration_only_takes_whole_statements_out_and_a_second_one_takes_no_more(text: str) -> None:
    plan = plan_migration(text, None, {})
    kept = [binding.text for binding in parse_dotenv(plan.dotenv_after)]
    before = iter(binding.text for binding in parse_dotenv(text))
    assert all(any(each == found for found in before) for each in kept)
    assert plan_migration(plan.dotenv_after, plan.toml_after, {}).dotenv_after == plan.dotenv_after
