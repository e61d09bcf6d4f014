"""The GitHub adapters on our server; the server under an unmodified public client."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.github.endpoint import GithubEndpoint, token_headers
from whilly.adapters.github.forge import GithubForge
from whilly.adapters.github.tracker import GithubTracker
from whilly.domain.errors import NotAuthorized, RuleViolation
from whilly.domain.forge.issue import Permission
from whilly.domain.forge.place import Place, Provider
from whilly.domain.forge.pull_request import Obstacle
from whilly.domain.secret import Secret
from whilly.testing.contracts import AnswersContract, ForgeContract, PullAnswersContract, TrackerContract
from whilly.testing.contracts.forge import BRANCH, make_draft
from whilly.testing.forges.faults import HTML_502, Fault, Kind
from whilly.testing.forges.github.server import GithubServer
from whilly.testing.forges.rig import HubRig, make_http

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path
    from types import ModuleType

    from whilly.testing.forges.hub import Hub


@pytest.fixture
async def rig(hub: Hub) -> AsyncIterator[HubRig]:
    with GithubServer(hub, page_cap=50) as server:
        place = Place("github", Provider.GITHUB, server.url)
        async with make_http(f"{server.url}/api/v3", token_headers(hub.bot_token), hub.bot_token) as http:
            endpoint = GithubEndpoint(http, place)
            yield HubRig(hub, server, "github", GithubTracker(endpoint), GithubForge(endpoint, Secret(hub.bot_token)))


class TestGithubTracker(TrackerContract):
    pass


class TestGithubAnswers(AnswersContract, PullAnswersContract):
    pass


class TestGithubForge(ForgeContract):
    pass


async def test_a_wrong_token_and_a_weak_one_are_told(rig: HubRig) -> None:
    ref = rig.file("One", "")
    rig.hub.users["whilly-bot"].scopes = {"read:user"}
    with pytest.raises(NotAuthorized, match="lacks public_repo or repo"):
        await rig.tracker.comment(ref, "k", "Hello")
    rig.hub.users["whilly-bot"].token = "another-one-0123456789"  # noqa: S105  (a made-up one)
    with pytest.raises(NotAuthorized, match="refuses the token"):
        await rig.tracker.fetch_issue(ref)


async def test_the_token_of_an_app_knows_what_it_wrote(rig: HubRig) -> None:
    rig.hub.users["whilly-bot"].is_app = True
    ref = rig.file("One", "")
    for text in ("Hello", "Hello again"):
        await rig.tracker.comment(ref, "k", text)
    assert rig.texts(ref) == ["Hello again"]
    account = await rig.tracker.fetch_account()
    assert (account.login, account.is_bot) == ("whilly-bot", True)


async def test_a_state_that_github_has_not_is_refused(rig: HubRig) -> None:
    with pytest.raises(RuleViolation, match="not_planned"):
        await rig.tracker.set_state(rig.file("One", ""), "In Progress")


async def test_whose_rights_are_not_told_has_none(rig: HubRig) -> None:
    ref = rig.file("One", "")
    rig.server.faults.append(Fault(Kind.REPLACED, "GET", "/permission$", times=9, status=403, body="{}"))
    assert (await rig.tracker.fetch_issue(ref)).permission is Permission.UNKNOWN


@pytest.mark.parametrize(
    "fault",
    [
        Fault(Kind.MASKED, "POST", "/pulls$", status=502, body=HTML_502),
        Fault(Kind.CUT, "POST", "/pulls$"),
        Fault(Kind.MASKED, "POST", "/pulls$", status=422, body='{"message": "A pull request already exists for a:b"}'),
        Fault(Kind.REPLACED, "POST", "/pulls$", status=429, headers={"retry-after": "5"}),
        Fault(Kind.REPLACED, "POST", "/pulls$", status=403, body='{"message": "secondary rate limit"}'),
        Fault(Kind.LOST, "POST", "/labels$"),
    ],
)
async def test_whatever_happens_on_the_way_there_is_one_pull_request(rig: HubRig, fault: Fault) -> None:
    rig.push(BRANCH, {"a.txt": "a\n"})
    rig.server.faults.append(Fault(fault.kind, fault.method, fault.path, 1, fault.status, fault.headers, fault.body))
    pull = await rig.forge.open_pull_request(make_draft(rig))
    assert (rig.opened(), pull.labels) == (1, ("bot",))


async def test_missing_approvals_block(rig: HubRig) -> None:
    head = rig.push(BRANCH, {"a.txt": "a\n"})
    pull = await rig.forge.open_pull_request(make_draft(rig))
    rig.hub.repo.approvals = 1
    outcome = await rig.forge.merge(pull.ref, head, "squash")  # type: ignore[arg-type]  # (its text)
    assert getattr(outcome, "obstacle", None) is Obstacle.BLOCKED
    assert "approving review" in getattr(outcome, "detail", "")


async def test_whilly_pushes_with_what_it_is_given(rig: HubRig, tmp_path: Path) -> None:
    access = await rig.forge.fetch_push_access(rig.repository)
    host = access.url.removeprefix("http://")
    url = f"http://{access.username}:{access.password.reveal()}@{host}"
    clone = tmp_path / "clone"

    def git(*args: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=w", "-c", "user.email=w@example.invalid", *args],
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    git("clone", "--quiet", url, str(clone))
    git("-C", str(clone), "commit", "--quiet", "--allow-empty", "-m", "more")
    git("-C", str(clone), "push", "--quiet", "origin", f"HEAD:refs/heads/{BRANCH}")
    assert rig.hub.repo.git.find(BRANCH) == git("-C", str(clone), "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def github() -> ModuleType:
    """PyGithub; imported outside of the test, since its parts leave log handlers."""
    module: ModuleType = pytest.importorskip("github", reason="no PyGithub → python3 dev.py setup --e2e")
    return module


def test_the_server_answers_pygithub(hub: Hub, github: ModuleType) -> None:
    hub.repo.git.push("topic", {"a.txt": "a\n"})
    with GithubServer(hub, page_cap=2) as server:
        client = github.Github(
            base_url=f"{server.url}/api/v3",
            auth=github.Auth.Token(hub.users["dana"].token),
            retry=None,
            seconds_between_requests=0,
            seconds_between_writes=0,
        )
        repo = client.get_repo("ada/engine")
        issue = repo.create_issue("Title", body="Body", labels=["bug"])
        for number in range(5):
            issue.create_comment(f"comment {number}")
        assert [comment.body for comment in issue.get_comments()][-1] == "comment 4"
        issue.add_to_labels("ready")
        issue.remove_from_labels("bug")
        assert [label.name for label in repo.get_issue(issue.number).labels] == ["ready"]
        issue.edit(state="closed", state_reason="not_planned")
        assert repo.get_issue(issue.number).state_reason == "not_planned"
        pull = repo.create_pull(base="main", head="topic", title="Topic", body="What", draft=True)
        pull.mark_ready_for_review()
        pull = repo.get_pull(pull.number)
        pull.create_issue_comment("hello")
        assert (pull.draft, pull.mergeable) == (False, True)
        with pytest.raises(github.GithubException, match="approve your own"):
            pull.create_review(event="APPROVE")
        assert repo.get_collaborator_permission("mallory") == "read"
        assert pull.merge(sha=pull.head.sha, merge_method="squash").merged
        assert repo.get_pull(pull.number).merged
        with pytest.raises(github.UnknownObjectException):
            repo.get_issue(4711)
        client.close()
