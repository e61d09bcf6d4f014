"""The GitLab adapters on our server; the server under an unmodified public client."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from whilly.adapters.gitlab.endpoint import GitlabEndpoint, token_headers
from whilly.adapters.gitlab.forge import GitlabForge
from whilly.adapters.gitlab.tracker import GitlabTracker
from whilly.domain.errors import NotAuthorized
from whilly.domain.forge.place import Place, Provider
from whilly.domain.forge.pull_request import Opinion
from whilly.domain.secret import Secret
from whilly.testing.contracts import AnswersContract, ForgeContract, PullAnswersContract, TrackerContract
from whilly.testing.contracts.forge import BRANCH, make_draft
from whilly.testing.forges.faults import HTML_502, Fault, Kind
from whilly.testing.forges.gitlab.server import GitlabServer
from whilly.testing.forges.rig import HubRig, make_http

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import ModuleType

    from whilly.testing.contracts.forge import ForgeRig
    from whilly.testing.forges.hub import Hub

PUBLIC = "https://code.example.org"
MAKING = (("POST", r"/(?:notes|merge_requests)$"), ("PUT", "/merge$"))


@pytest.fixture
async def rig(hub: Hub) -> AsyncIterator[HubRig]:
    with GitlabServer(hub, page_cap=50) as server:
        place = Place("lab", Provider.GITLAB, PUBLIC)
        async with make_http(f"{server.url}/api/v4", token_headers(hub.bot_token), hub.bot_token) as http:
            endpoint = GitlabEndpoint(http, place, server.url)
            tracker, forge = GitlabTracker(endpoint), GitlabForge(endpoint, Secret(hub.bot_token))
            yield HubRig(hub, server, "lab", tracker, forge, making=MAKING)


class TestGitlabTracker(TrackerContract):
    pass


class TestGitlabAnswers(AnswersContract, PullAnswersContract):
    pass


class TestGitlabForge(ForgeContract):
    @override
    @pytest.mark.xfail(reason="GitLab keeps decisions without texts, and only the last one of each reviewer")
    async def test_reviews_say_who_gave_them_for_which_commit(self, rig: ForgeRig) -> None:
        await super().test_reviews_say_who_gave_them_for_which_commit(rig)


async def test_approvals_and_requested_changes_are_reviews(rig: HubRig) -> None:
    rig.push(BRANCH, {"a.txt": "a\n"})
    pull = await rig.forge.open_pull_request(make_draft(rig))
    rig.review(pull.ref, "writer", Opinion.APPROVED, "")
    rig.review(pull.ref, "stranger", Opinion.CHANGES_REQUESTED, "")
    reviews = (await rig.forge.fetch_pull_request(pull.ref)).reviews
    assert [(each.opinion, each.permission.can_write) for each in reviews] == [
        (Opinion.APPROVED, True),
        (Opinion.CHANGES_REQUESTED, False),
    ]


async def test_a_missing_scope_is_named(rig: HubRig) -> None:
    rig.hub.users["whilly-bot"].scopes = {"read_api"}
    with pytest.raises(NotAuthorized, match="lacks api"):
        await rig.tracker.set_state(rig.file("One", ""), "closed")


@pytest.mark.parametrize(
    ("kind", "status", "body"), [(Kind.MASKED, 502, HTML_502), (Kind.CUT, 201, ""), (Kind.LOST, 201, "")]
)
async def test_whatever_happens_on_the_way_there_is_one_merge_request(
    rig: HubRig, kind: Kind, status: int, body: str
) -> None:
    rig.push(BRANCH, {"a.txt": "a\n"})
    rig.server.faults.append(Fault(kind, "POST", "/merge_requests$", status=status, body=body))
    pull = await rig.forge.open_pull_request(make_draft(rig))
    assert (rig.opened(), pull.labels, pull.url) == (1, ("bot",), f"{PUBLIC}/ada/engine/-/merge_requests/1")


@pytest.fixture(scope="module")
def gitlab() -> ModuleType:
    """python-gitlab; imported outside of the test, since its parts leave log handlers."""
    module: ModuleType = pytest.importorskip("gitlab", reason="no python-gitlab → python3 dev.py setup --e2e")
    return module


def test_the_server_answers_python_gitlab(hub: Hub, gitlab: ModuleType) -> None:
    hub.repo.git.push("topic", {"a.txt": "a\n"})
    with GitlabServer(hub, page_cap=2) as server:
        client = gitlab.Gitlab(server.url, private_token=hub.users["dana"].token)
        client.auth()
        assert client.user.username == "dana"
        project = client.projects.get("ada/engine")
        issue = project.issues.create({"title": "Title", "description": "Body", "labels": "bug"})
        for number in range(5):
            issue.notes.create({"body": f"comment {number}"})
        notes = [note.body for note in issue.notes.list(get_all=True) if not note.system]
        assert notes == [f"comment {number}" for number in range(5)]
        issue.state_event = "close"
        issue.save()
        assert project.issues.get(issue.iid).state == "closed"
        change = project.mergerequests.create({"source_branch": "topic", "target_branch": "main", "title": "Draft: T"})
        with pytest.raises(gitlab.exceptions.GitlabMRClosedError):
            change.merge()
        change.title = "T"
        change.save()
        assert change.merge()["state"] == "merged"
        assert [each.attributes["individual_note"] for each in change.discussions.list(get_all=True)] == [True]
        with pytest.raises(gitlab.exceptions.GitlabGetError):
            project.issues.get(4711)
        client.session.close()
