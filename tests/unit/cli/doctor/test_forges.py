from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.testing.forges.faults import HTML_502, Fault, Kind
from whilly.testing.forges.gitea.server import GiteaServer
from whilly.testing.forges.github.server import GithubServer
from whilly.testing.forges.gitlab.server import GitlabServer
from whilly.testing.forges.hub import Hub
from whilly.testing.forges.jira.server import JiraServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.cli.doctor.conftest import Clinic


@pytest.fixture
def hub(tmp_path: Path) -> Hub:
    return Hub(tmp_path / "hub")


@pytest.fixture
def github(hub: Hub) -> Iterator[GithubServer]:
    with GithubServer(hub) as server:
        yield server


def configure(
    clinic: Clinic, server: GithubServer | GiteaServer | GitlabServer, kind: str = "github", token: str = ""
) -> None:
    table = f'[forges.work]\nkind = "{kind}"\nurl = "{server.url}"\ntoken = "env:WORK"\n'
    clinic.write({"whilly.toml": table})
    clinic.monkeypatch.setenv("WORK", token or server.hub.bot_token)


def test_a_forge_that_is_well_is_a_fact(clinic: Clinic, github: GithubServer, hub: Hub) -> None:
    configure(clinic, github)
    said = clinic.look()
    assert (said.code, said.codes) == (0, [])
    assert f"github at {github.url}, as whilly-bot" in str(said.report)
    hub.users["whilly-bot"].is_app = True
    assert clinic.look().codes == []
    with GiteaServer(hub) as gitea:
        configure(clinic, gitea, "gitea")
        assert f"gitea 1.22.0 at {gitea.url}, as whilly-bot" in str(clinic.look().report)
    with GitlabServer(hub) as gitlab:
        configure(clinic, gitlab, "gitlab")
        assert f"gitlab 18.5.0 at {gitlab.url}, as whilly-bot" in str(clinic.look().report)


def test_a_tracker_that_is_well_is_a_fact(clinic: Clinic, hub: Hub) -> None:
    with JiraServer(hub, is_cloud=False) as jira:
        clinic.write({"whilly.toml": f'[trackers.jira]\nurl = "{jira.url}"\ntoken = "env:WORK"\n'})
        clinic.monkeypatch.setenv("WORK", hub.bot_token)
        said = clinic.look()
    assert (said.code, said.codes) == (0, [])
    assert f"jira 9.12.0 at {jira.url}, as whilly-bot" in str(said.report)


def test_a_refused_token_is_a_problem_and_does_not_show(clinic: Clinic, github: GithubServer) -> None:
    configure(clinic, github, token="tok-wrong-0123456789")  # noqa: S106  (made up)
    found = clinic.look().find("forge_refuses")
    assert (found["severity"], found["subject"]) == ("problem", "work")
    assert "forges.work.token" in found["remedy"]
    assert "tok-wrong" not in str(found)


def test_a_weak_token_names_what_it_lacks(clinic: Clinic, github: GithubServer) -> None:
    configure(clinic, github)
    github.hub.users["whilly-bot"].scopes = {"read:user"}
    assert "lacks repo" in clinic.look().find("forge_token_weak")["what"]


def test_a_missing_token_says_how_to_set_one(clinic: Clinic, github: GithubServer) -> None:
    clinic.write({"whilly.toml": f'[forges.work]\nurl = "{github.url}"\n'})
    assert "forges.work.token" in clinic.look().find("forge_unusable")["remedy"]


def test_what_does_not_answer_is_told_in_time(clinic: Clinic, github: GithubServer) -> None:
    configure(clinic, github)
    github.faults.append(Fault(Kind.REPLACED, "GET", "/user$", status=502, body=HTML_502))
    assert "an HTML page (502 Bad Gateway)" in clinic.look().find("forge_unreachable")["what"]
    clinic.write({"whilly.toml": '[forges.work]\nurl = "http://127.0.0.1:9"\ntoken = "env:WORK"\n'})
    assert "cannot be reached" in clinic.look().find("forge_unreachable")["what"]


def test_a_token_that_does_not_count_is_a_note(clinic: Clinic, github: GithubServer) -> None:
    configure(clinic, github)
    clinic.monkeypatch.setenv("GH_HOST", github.url.removeprefix("http://"))
    clinic.monkeypatch.setenv("GH_ENTERPRISE_TOKEN", "another")
    found = clinic.look().find("token_shadowed")
    assert (found["severity"], "GH_ENTERPRISE_TOKEN" in found["what"]) == ("note", True)
