"""The Gitea adapters on our server, and what a real one was recorded to say; the server under a public client."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from whilly.adapters.gitea.endpoint import GiteaEndpoint, token_headers
from whilly.adapters.gitea.forge import GiteaForge
from whilly.adapters.gitea.payloads import read_check, read_pull, read_review
from whilly.adapters.gitea.tracker import GiteaTracker
from whilly.domain.errors import NotAuthorized
from whilly.domain.forge.issue import Permission, Person
from whilly.domain.forge.place import Place, Provider
from whilly.domain.forge.pull_request import CheckState, Merged, MergeMethod, NotMerged, Obstacle, Opinion, PullState
from whilly.domain.secret import Secret
from whilly.testing.contracts import AnswersContract, ForgeContract, PullAnswersContract, TrackerContract
from whilly.testing.contracts.forge import BRANCH, make_draft
from whilly.testing.forges.faults import HTML_502, Fault, Kind
from whilly.testing.forges.gitea.render import Render
from whilly.testing.forges.gitea.server import GiteaServer
from whilly.testing.forges.hub import Pull
from whilly.testing.forges.rig import HubRig, make_http
from whilly.transport.http.fields import Fields

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import ModuleType

    from whilly.testing.forges.hub import Hub

PUBLIC = "https://code.example.org"


@dataclass(slots=True)
class GiteaRig(HubRig):
    gitea: GiteaServer | None = None

    @property
    def desk(self) -> GiteaServer:
        assert self.gitea is not None
        return self.gitea


@pytest.fixture
async def rig(hub: Hub) -> AsyncIterator[GiteaRig]:
    with GiteaServer(hub) as server:
        place = Place("home", Provider.GITEA, PUBLIC)
        async with make_http(f"{server.url}/api/v1", token_headers(hub.bot_token), hub.bot_token) as http:
            endpoint = GiteaEndpoint(http, place, server.url)
            tracker, forge = GiteaTracker(endpoint), GiteaForge(endpoint, Secret(hub.bot_token))
            yield GiteaRig(hub, server, "home", tracker, forge, gitea=server)


class TestGiteaTracker(TrackerContract):
    pass


class TestGiteaAnswers(AnswersContract, PullAnswersContract):
    pass


class TestGiteaForge(ForgeContract):
    pass


async def test_links_for_people_have_the_public_address(rig: GiteaRig) -> None:
    ref = rig.file("One", "")
    rig.push(BRANCH, {"a.txt": "a\n"})
    assert (await rig.tracker.fetch_issue(ref)).url == f"{PUBLIC}/ada/engine/issues/1"
    pull = await rig.forge.open_pull_request(make_draft(rig))
    assert pull.url == f"{PUBLIC}/ada/engine/pulls/2"
    assert (await rig.forge.fetch_push_access(rig.repository)).url == f"{rig.server.url}/ada/engine.git"


async def test_a_merge_is_asked_for_again_while_gitea_finds_out(rig: GiteaRig) -> None:
    head = rig.push(BRANCH, {"a.txt": "a\n"})
    pull = await rig.forge.open_pull_request(make_draft(rig))
    rig.desk.desk.checking = 3
    assert isinstance(await rig.forge.merge(pull.ref, head, MergeMethod.SQUASH), Merged)
    assert rig.server.count("POST", ".*/merge") == 4


async def test_finding_out_ends_some_time(rig: GiteaRig) -> None:
    head = rig.push(BRANCH, {"a.txt": "a\n"})
    pull = await rig.forge.open_pull_request(make_draft(rig))
    rig.desk.desk.checking = 10**6
    outcome = await rig.forge.merge(pull.ref, head, MergeMethod.SQUASH)
    assert isinstance(outcome, NotMerged)
    assert outcome.obstacle is Obstacle.UNDECIDED


async def test_a_version_without_actions_gives_what_the_check_says(rig: GiteaRig) -> None:
    head = rig.push(BRANCH, {"a.txt": "a\n"})
    pull = await rig.forge.open_pull_request(make_draft(rig))
    rig.hub.add_check(rig.hub.repo, head, "test", "failed", "1 failed")
    rig.desk.desk.has_actions = False
    (check,) = (await rig.forge.fetch_pull_request(pull.ref)).checks
    assert await rig.forge.fetch_log(pull.ref, check) == "test failed"
    assert check.url.startswith(f"{PUBLIC}/ada/engine/actions/runs/")


async def test_more_checks_than_a_page_has(rig: GiteaRig) -> None:
    head = rig.push(BRANCH, {"a.txt": "a\n"})
    pull = await rig.forge.open_pull_request(make_draft(rig))
    for number in range(61):
        rig.hub.add_check(rig.hub.repo, head, f"test {number}", "passed")
    assert len((await rig.forge.fetch_pull_request(pull.ref)).checks) == 61


async def test_a_missing_scope_is_named(rig: GiteaRig) -> None:
    rig.hub.users["whilly-bot"].scopes = {"read:user", "read:issue"}
    with pytest.raises(NotAuthorized, match="lacks write:issue"):
        await rig.tracker.set_state(rig.file("One", ""), "closed")


async def test_rights_that_only_administrators_are_told_are_unknown(rig: GiteaRig) -> None:
    rig.hub.repo.members["whilly-bot"] = "write"
    ref = rig.file("One", "", by="writer")
    assert (await rig.tracker.fetch_issue(ref)).permission is Permission.UNKNOWN


@pytest.mark.parametrize(
    ("kind", "status", "body"), [(Kind.MASKED, 502, HTML_502), (Kind.CUT, 200, ""), (Kind.LOST, 200, "")]
)
async def test_whatever_happens_on_the_way_there_is_one_pull_request(
    rig: GiteaRig, kind: Kind, status: int, body: str
) -> None:
    rig.push(BRANCH, {"a.txt": "a\n"})
    rig.server.faults.append(Fault(kind, "POST", "/pulls$", status=status, body=body))
    pull = await rig.forge.open_pull_request(make_draft(rig))
    assert (rig.opened(), pull.labels) == (1, ("bot",))


@pytest.fixture(scope="module")
def pyforgejo() -> ModuleType:
    """A public client; imported outside of the test, since its parts leave log handlers."""
    module: ModuleType = pytest.importorskip("pyforgejo", reason="no pyforgejo → python3 dev.py setup --e2e")
    return module


def test_the_server_answers_pyforgejo(hub: Hub, pyforgejo: ModuleType) -> None:
    hub.repo.git.push("topic", {"a.txt": "a\n"})
    with GiteaServer(hub) as server:
        client = pyforgejo.PyforgejoApi(base_url=f"{server.url}/api/v1", api_key=f"token {hub.users['dana'].token}")
        for number in range(61):
            client.issue.create_issue("ada", "engine", title=f"Issue {number}", body="Body")
        listed = client.issue.list_issues("ada", "engine", limit=100)
        assert len(listed) == 50
        client.issue.create_comment("ada", "engine", 1, body="Hello")
        assert [comment.body for comment in client.issue.get_comments("ada", "engine", 1)] == ["Hello"]
        pull = client.repository.repo_create_pull_request("ada", "engine", title="WIP: T", head="topic", base="main")
        assert (pull.number, pull.merged) == (62, False)
        with pytest.raises(pyforgejo.MethodNotAllowedError):
            client.repository.repo_merge_pull_request("ada", "engine", 62, do="squash")
    # What the client gives its logger stays there.
    logging.getLogger("fern").handlers.clear()


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    path = Path(__file__).parents[2] / "data" / "forges" / "gitea-recorded.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_what_a_real_gitea_said_is_understood(recorded: dict[str, Any]) -> None:
    place = Place("home", Provider.GITEA, PUBLIC)
    bot = Person(str(recorded["pull"]["user"]["id"]), "bot")
    pull = read_pull(Fields(recorded["merged"], ""), place, "dana/engine", bot)
    assert (pull.state, pull.head_branch, pull.is_draft) == (PullState.MERGED, "feat", False)
    assert pull.merge_commit == recorded["merged"]["merge_commit_sha"]
    review = read_review(Fields(recorded["review"], ""), Permission.WRITE, "another")
    assert review is not None
    assert (review.opinion, review.text, review.is_stale) == (Opinion.CHANGES_REQUESTED, "fix", True)
    checks = [read_check(each, place) for each in Fields(recorded["status"], "").children("statuses")]
    assert {check.name: check.state for check in checks} == {"ci/test": CheckState.PENDING, "lint": CheckState.FAILED}


def test_our_server_says_it_in_the_same_shape(hub: Hub, recorded: dict[str, Any]) -> None:
    render, repo = Render(hub), hub.repo
    author = hub.users["dana"]
    ticket = hub.add_ticket(repo, author, "T", "B")
    hub.set_labels(repo, ticket, ["ready"])
    pull = Pull("main", "main")
    change = hub.add_ticket(repo, author, "T", "B", pull)
    head = repo.git.find("main")
    ours = {
        "issue": render.issue(repo, ticket),
        "label": render.label(repo, "ready"),
        "comment": render.note(repo, ticket, hub.add_note(ticket, author, "hello")),
        "pull": render.pull(repo, change, pull),
        "review": render.review(repo, change, pull, hub.add_review(pull, author, "approved", "", head)),
    }
    differences = {name: set(recorded[name]) ^ set(shown) for name, shown in ours.items()}
    assert {name: keys for name, keys in differences.items() if keys} == {}
    status = render.status(repo, hub.add_check(repo, head, "ci", "passed"))
    assert set(recorded["status"]["statuses"][0]) == set(status)
