"""Forges in the settings: which places they make, which token counts, and how the line to them is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.adapters.system.clock import SystemClock
from whilly.bootstrap import open_project
from whilly.bootstrap.places import Places
from whilly.config.layers import Sources, combine
from whilly.config.problems import InvalidConfiguration
from whilly.domain.errors import ConfigError
from whilly.domain.forge.place import Provider
from whilly.domain.forge.reference import IssueRef, parse_reference
from whilly.domain.forge.remote import Home, find_home
from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Load = Callable[..., Places]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def make(text: str = "", **environment: str) -> Places:
        (tmp_path / "whilly.toml").write_text(text, encoding="utf-8")
        environment.setdefault("PATH", str(tmp_path / "bin"))
        return Places(combine(Sources(tmp_path, tmp_path / "none.toml", environment)), SystemClock())

    return make


def put_gh(folder: Path, text: str) -> None:
    program = folder / "bin" / "gh"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("line", "plain", "changed"),
    [
        ('kind = "forgejo"', "/api/v3", "/api/v1"),
        ('kind = "gitlab"', "/api/v3", "/api/v4"),
        ('url = "https://other.example.org/"', "https://git.example.org", "https://other.example.org"),
        ('public_url = "https://seen.example.org"', "('https://git.example.org',", "('https://seen.example.org',"),
        ('token = "env:OTHER"', "aaaaaaaaaa", "bbbbbbbbbb"),
        ("reserve_percent = 50", "0.1", "0.5"),
    ],
)
def test_each_key_of_a_forges_table_changes_the_line_to_it(load: Load, line: str, plain: str, changed: str) -> None:
    keys = {"url": 'url = "https://git.example.org"', "token": 'token = "env:ONE"'}

    def describe(keys: dict[str, str]) -> str:
        lines = "\n".join(keys.values())
        found = load(f"[forges.work]\n{lines}\n", ONE="a" * 10, OTHER="b" * 10).connect("work")
        sent = found.http._wire._headers
        headers = sent.get("authorization") or sent.get("private-token")
        return f"{(found.place.url,)} {found.http.url} {headers} {found.http._allowance._reserve}"

    assert plain in describe(keys)
    assert changed in describe({**keys, line.partition(" ")[0]: line})


@pytest.mark.parametrize(
    ("line", "plain", "changed"),
    [
        ('kind = "plane"\nworkspace = "acme"', "JiraTracker", "PlaneTracker"),
        ('workspace = "acme"\nkind = "plane"', "JiraTracker", "/workspaces/acme"),
        ('url = "https://other.example.org/"', "https://jira.example.org", "https://other.example.org"),
        ('public_url = "https://seen.example.org"', "('https://jira.example.org',", "('https://seen.example.org',"),
        ('username = "ada@example.org"', "Bearer aaaaaaaaaa", "Basic "),
        ('token = "env:OTHER"', "aaaaaaaaaa", "bbbbbbbbbb"),
    ],
)
def test_each_key_of_a_trackers_table_changes_the_line_to_it(load: Load, line: str, plain: str, changed: str) -> None:
    keys = {"url": 'url = "https://jira.example.org"', "token": 'token = "env:ONE"'}

    def describe(keys: dict[str, str]) -> str:
        lines = "\n".join(keys.values())
        found = load(f"[trackers.desk]\n{lines}\n", ONE="a" * 10, OTHER="b" * 10).connect("desk")
        with pytest.raises(ConfigError) as caught:
            _ = found.forge
        sent = found.http._wire._headers
        token = sent.get("authorization") or sent.get("x-api-key")
        where = getattr(found.endpoint, "path", "")
        return f"{(found.place.url,)} {found.http.url} {token} {caught.value} {type(found.tracker).__name__} {where}"

    assert plain in describe(keys)
    assert changed in describe({**keys, line.partition(" ")[0]: line})


def test_a_tracker_of_another_kind_is_refused(load: Load) -> None:
    with pytest.raises(InvalidConfiguration, match="kind"):
        load('[trackers.desk]\nkind = "linear"\nurl = "https://x.example.org"\n')
    with pytest.raises(ConfigError, match=r"trackers.plane has no workspace"):
        _ = load('[trackers.plane]\nurl = "https://x.example.org"\n').by_name
    with pytest.raises(ConfigError, match="a tracker and of a forge"):
        _ = load('[trackers.a]\nurl = "https://x.example.org"\n[forges.a]\nurl = "https://x.example.org"\n').by_name


def test_places_are_known_by_both_their_addresses(load: Load) -> None:
    places = load('[forges.gitea]\nurl = "http://gitea:3000"\npublic_url = "https://git.example.org"\n')
    assert places.by_name["gitea"].provider is Provider.GITEA
    for url in ("http://gitea:3000/ada/engine/issues/1", "https://git.example.org/ada/engine/issues/1"):
        assert parse_reference(url, places.known()) == IssueRef("gitea", "ada/engine", "1")
    assert parse_reference("https://github.com/ada/engine/issues/1", places.known()).place == "github"  # type: ignore[union-attr]  # (an issue)


@pytest.mark.parametrize(
    ("remote", "home"),
    [
        ("https://github.com/ada/engine.git", Home("github", "ada/engine")),
        ("https://x-access-token:secret@github.com/ada/engine", Home("github", "ada/engine")),
        ("git@github.com:ada/engine.git", Home("github", "ada/engine")),
        ("ssh://git@ssh.github.com:443/ada/engine.git", Home("github", "ada/engine")),
        ("git@git.example.org:ada/engine.git", Home("work", "ada/engine")),
        ("ssh://git@git.example.org:2222/ada/engine.git", Home("work", "ada/engine")),
        ("https://git.example.org/ada/engine/", Home("work", "ada/engine")),
        ("https://elsewhere.example.org/ada/engine.git", None),
        ("/srv/git/engine.git", None),
        ("../engine", None),
        ("", None),
    ],
)
def test_a_remote_says_which_forge_a_clone_came_from(load: Load, remote: str, home: Home | None) -> None:
    places = load('[forges.work]\nkind = "gitea"\nurl = "https://git.example.org"\n')
    assert find_home(remote, places.known()) == home


async def test_a_project_knows_where_it_was_cloned_from(tmp_path: Path) -> None:
    scratch = ScratchRepository.make(tmp_path)
    assert await open_project(scratch.root).find_home() is None
    scratch.git("remote", "add", "origin", "git@github.com:ada/engine.git")
    assert await open_project(scratch.root).find_home() == Home("github", "ada/engine")


def test_the_token_of_github_in_its_order(load: Load, tmp_path: Path) -> None:
    put_gh(tmp_path, 'test "$1 $2 $3 $4" = "auth token --hostname github.com" && echo "stored:$GH_TOKEN$GITHUB_TOKEN"')
    both = '[github]\ntoken = "env:FLAT"\n[forges.github]\ntoken = "env:OWN"\n'
    tokens = {"OWN": "own", "FLAT": "flat", "GH_TOKEN": "gh", "GITHUB_TOKEN": "github"}

    def choose(text: str, *names: str, **more: str) -> tuple[str, str]:
        choice = load(text, **{name: tokens[name] for name in names}, **more).choose_token("github")
        return (choice.token.reveal() if choice.token else "", " · ".join(choice.warnings))

    assert choose("") == ("stored:", "")
    assert choose("", "GITHUB_TOKEN") == ("github", "")
    assert choose("", "GITHUB_TOKEN", "GH_TOKEN") == (
        "gh",
        "GITHUB_TOKEN is set, too, and does not count: GH_TOKEN does",
    )
    assert choose('[github]\ntoken = "env:FLAT"\n', "FLAT") == ("flat", "")
    assert choose(both, "OWN", "FLAT")[0] == "own"
    token, warning = choose(both, "OWN", "FLAT", WHILLY_GH_TOKEN=tokens["GH_TOKEN"] * 2)
    assert token == "ghgh"  # noqa: S105  (not a secret)
    assert "forges.github.token is set, too, and does not count" in warning
    token, warning = choose(both, "GITHUB_TOKEN")
    assert token == "github"  # noqa: S105  (not a secret)
    assert "forges.github.token refers to a token that is not set" in warning
    assert "GITHUB_TOKEN is used in its place" in warning


def test_a_token_goes_to_no_other_host(load: Load) -> None:
    text = '[github]\ntoken = "env:FLAT"\n[forges.work]\nurl = "https://ghe.example.org"\n[forges.gitea]\nurl = "https://g.example.org"\n'
    ambient = {"FLAT": "flat", "GH_TOKEN": "gh", "GITHUB_TOKEN": "github", "GH_ENTERPRISE_TOKEN": "enterprise"}
    for name in ("work", "gitea"):
        with pytest.raises(ConfigError, match="there is no token for") as caught:
            load(text, **ambient).connect(name)
        assert f"forges.{name}.token" in caught.value.remedy
    chosen = load(text, **ambient, GH_HOST="ghe.example.org").choose_token("work").token
    assert chosen is not None
    assert chosen.reveal() == "enterprise"


def test_without_gh_there_is_no_token_and_a_broken_one_is_none(load: Load, tmp_path: Path) -> None:
    assert load().choose_token("github").token is None
    put_gh(tmp_path, "echo not logged in; exit 1")
    assert load().choose_token("github").token is None


@pytest.mark.parametrize(
    "url", ["git.example.org", "ssh://git.example.org", "https://ada:secret@git.example.org", "https://"]
)
def test_an_address_that_is_none_is_refused_without_its_password(load: Load, url: str) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        load(f'[forges.work]\nurl = "{url}"\n')
    assert "must be an address" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_forge_without_an_address_is_the_public_service_or_says_so(load: Load) -> None:
    assert load('[forges.gitlab]\nkind = "gitlab"\n').by_name["gitlab"].url == "https://gitlab.com"
    with pytest.raises(ConfigError, match=r"forges.gitea has no address"):
        _ = load('[forges.gitea]\nkind = "gitea"\n').by_name
    with pytest.raises(ConfigError, match="configured are: github"):
        load().connect("nowhere")
