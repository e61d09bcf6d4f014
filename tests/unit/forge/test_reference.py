from __future__ import annotations

import pytest

from whilly.domain.errors import ConfigError, RuleViolation, WhillyError
from whilly.domain.forge.place import Place, Provider
from whilly.domain.forge.reference import IssueRef, StandardInput, TaskRef, parse_reference

GHE = Place("work", Provider.GITHUB, "https://ghe.example.com")
GITEA = Place("home", Provider.GITEA, "https://git.example.org:3000/code")
GITLAB = Place("lab", Provider.GITLAB, "https://gitlab.example.com")
JIRA = Place("jira", Provider.JIRA, "https://acme.atlassian.net")
PLANE = Place("plane", Provider.PLANE, "https://plane.example.com")
ALL = (GHE, GITEA, GITLAB, JIRA, PLANE)
ITEM = "0c8b5d2e-1111-4222-8333-944455566677"


@pytest.mark.parametrize(
    ("text", "place", "scope", "number"),
    [
        ("https://github.com/ada/engine/issues/12", "github", "ada/engine", "12"),
        ("HTTPS://www.GitHub.com/ada/engine/issues/12#issuecomment-3", "github", "ada/engine", "12"),
        ("https://ghe.example.com/ada/engine/issues/12?x=1", "work", "ada/engine", "12"),
        ("https://git.example.org:3000/code/ada/engine/issues/12/", "home", "ada/engine", "12"),
        ("https://gitlab.example.com/group/sub/engine/-/issues/12", "lab", "group/sub/engine", "12"),
        ("https://gitlab.example.com/group/engine/-/work_items/12", "lab", "group/engine", "12"),
        ("https://gitlab.example.com/group/engine/issues/12", "lab", "group/engine", "12"),
        ("https://acme.atlassian.net/browse/ENG-12", "jira", "ENG", "ENG-12"),
        (
            "https://acme.atlassian.net/jira/software/projects/ENG/boards/1?selectedIssue=ENG-12",
            "jira",
            "ENG",
            "ENG-12",
        ),
        ("https://plane.example.com/acme/browse/ENG-12/", "plane", "ENG", "ENG-12"),
        (f"https://plane.example.com/acme/projects/{ITEM}/issues/{ITEM}", "plane", ITEM, ITEM),
        ("jira:ENG-12", "jira", "ENG", "ENG-12"),
        ("home:ada/engine#12", "home", "ada/engine", "12"),
        ("lab:group/sub/engine/12", "lab", "group/sub/engine", "12"),
    ],
)
def test_every_form_is_read(text: str, place: str, scope: str, number: str) -> None:
    assert parse_reference(text, ALL) == IssueRef(place, scope, number)


def test_without_a_place_it_is_the_default_the_only_one_or_github() -> None:
    assert parse_reference("ada/engine#12", ()) == IssueRef("github", "ada/engine", "12")
    assert parse_reference("ada/engine/12", (GITEA,)).key == "home:ada/engine#12"  # type: ignore[union-attr]  # (an issue)
    assert parse_reference("ada/engine#12", ALL, "lab") == IssueRef("lab", "ada/engine", "12")
    assert parse_reference("ENG-12", (GITEA, PLANE)) == IssueRef("plane", "ENG", "ENG-12")


def test_tasks_and_standard_input() -> None:
    assert parse_reference("plans/tasks.json#TASK-1", ()) == TaskRef("plans/tasks.json", "TASK-1")  # type: ignore[arg-type]  # (an id)
    assert parse_reference(" - ", ()) == StandardInput()


def test_a_place_with_two_addresses_is_one_place() -> None:
    inner = Place("jira", Provider.JIRA, "http://jira.internal:8080")
    assert parse_reference("ENG-12", (JIRA, inner)) == IssueRef("jira", "ENG", "ENG-12")


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("", RuleViolation, "owner/repo#12"),
        ("engine#12", RuleViolation, "owner/repo#12"),
        ("ada/engine#0", RuleViolation, "owner/repo#12"),
        ("ada/engine#12", RuleViolation, "work:ada/engine#12 or home:ada/engine#12"),
        ("ENG-12", RuleViolation, "jira:ENG-12 or plane:ENG-12"),
        ("nowhere:ada/engine#12", ConfigError, "configured are: work, home, lab, github"),
        (
            "https://codeberg.org/ada/engine/issues/1",
            ConfigError,
            '[forges.NAME] kind = "forgejo", url = "https://codeberg.org"',
        ),
        ("https://x.atlassian.net/browse/A-1", ConfigError, '[trackers.NAME] kind = "jira"'),
        ("https://ada:secret@example.net/a/b/issues/1", ConfigError, "https://example.net"),
        ("https://ghe.example.com.evil.net/ada/engine/issues/12", ConfigError, "evil.net"),
        ("https://git.example.org:3000/codex/ada/engine/issues/12", ConfigError, "git.example.org:3000"),
        ("https://github.com/ada/engine/pull/12", RuleViolation, "pull request"),
        ("https://github.com/ada/engine", RuleViolation, "copy its address"),
    ],
)
def test_what_names_nothing_says_what_to_do(text: str, kind: type[WhillyError], words: str) -> None:
    with pytest.raises(kind) as caught:
        parse_reference(text, ALL)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_key_without_a_tracker_says_both_ways_out() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_reference("TASK-1", ())
    assert "[trackers.NAME]" in str(caught.value)
    assert "tasks.json#TASK-1" in str(caught.value)
