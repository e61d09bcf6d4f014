"""The Plane adapter on our server, and what a real one was recorded to say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from whilly.adapters.plane.endpoint import PlaneEndpoint, token_headers
from whilly.adapters.plane.html import from_html, to_html
from whilly.adapters.plane.payloads import read_author, read_comment, read_issue
from whilly.adapters.plane.tracker import PlaneTracker
from whilly.domain.errors import NotAuthorized, RuleViolation
from whilly.domain.forge.issue import IssueState, Permission, Person
from whilly.domain.forge.marker import read_mark, strip_mark
from whilly.domain.forge.place import Place, Provider
from whilly.domain.forge.reference import IssueRef
from whilly.testing.contracts import AnswersContract, TrackerContract
from whilly.testing.forges.faults import Fault, Kind
from whilly.testing.forges.hub import Hub
from whilly.testing.forges.plane.server import PlaneServer
from whilly.testing.forges.rig import PEOPLE, make_http
from whilly.transport.http.fields import Fields

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from types import ModuleType

    from whilly.testing.forges.hub import Ticket

PUBLIC = "https://plane.example.org"


@dataclass(slots=True)
class PlaneRig:
    hub: Hub
    server: PlaneServer
    tracker: PlaneTracker
    scope: str = "ENG"

    def file(self, title: str, body: str, by: str = "writer", labels: Sequence[str] = ()) -> IssueRef:
        ticket = self.hub.add_ticket(self.hub.repo, self.hub.users[PEOPLE[by]], title, to_html(body))
        self.hub.set_labels(self.hub.repo, ticket, list(labels))
        return IssueRef("plane", self.scope, f"ENG-{ticket.number}")

    def say(self, ref: IssueRef, by: str, text: str) -> None:
        note = self.hub.add_note(self._ticket(ref), self.hub.users[PEOPLE[by]], to_html(strip_mark(text)))
        if key := read_mark(text):
            self.server.render.external[note.id] = ("whilly", key)

    def texts(self, ref: IssueRef) -> list[str]:
        return [from_html(note.body) for note in self._ticket(ref).notes]

    def lose_answer(self) -> None:
        self.server.faults.append(Fault(Kind.LOST, "POST", "/comments/$"))

    def double(self) -> None:
        self.server.faults.append(Fault(Kind.DOUBLED, "POST", "/comments/$"))

    def _ticket(self, ref: IssueRef) -> Ticket:
        return self.hub.repo.tickets[int(ref.number.rpartition("-")[2])]


@pytest.fixture
def hub(tmp_path: Path) -> Hub:
    return Hub(tmp_path / "hub", "ENG")


@pytest.fixture
async def rig(hub: Hub) -> AsyncIterator[PlaneRig]:
    with PlaneServer(hub) as server:
        async with make_http(f"{server.url}/api/v1", token_headers(hub.bot_token), hub.bot_token) as http:
            place = Place("plane", Provider.PLANE, PUBLIC)
            yield PlaneRig(hub, server, PlaneTracker(PlaneEndpoint(http, place, server.url, "acme")))


class TestPlaneTracker(TrackerContract):
    pass


class TestPlaneAnswers(AnswersContract):
    pass


async def test_an_item_is_read_by_its_ids_too(rig: PlaneRig) -> None:
    ref = rig.file("One", "")
    ids = [rig.server.render.uuid(each) for each in (rig.hub.repo.id, rig._ticket(ref).id)]
    assert (await rig.tracker.fetch_issue(IssueRef("plane", *ids))).title == "One"
    assert (await rig.tracker.fetch_issue(ref)).url == f"{PUBLIC}/acme/browse/ENG-1/"


async def test_a_state_is_reached_by_its_name_or_its_group(rig: PlaneRig) -> None:
    ref = rig.file("One", "")
    for state, name in [
        ("in progress", "In Progress"),
        ("not_planned", "Cancelled"),
        ("open", "Todo"),
        ("closed", "Done"),
    ]:
        await rig.tracker.set_state(ref, state)
        assert (await rig.tracker.fetch_issue(ref)).status == name
    with pytest.raises(RuleViolation, match="it has: Backlog"):
        await rig.tracker.set_state(ref, "Approved")


async def test_where_roles_are_not_told_rights_are_unknown(rig: PlaneRig) -> None:
    rig.server.has_roles = False
    assert (await rig.tracker.fetch_issue(rig.file("One", ""))).permission is Permission.UNKNOWN


async def test_a_wrong_key_is_told(rig: PlaneRig) -> None:
    ref = rig.file("One", "")
    rig.hub.users["whilly-bot"].token = "another-one-0123456789"  # noqa: S105  (a made-up one)
    with pytest.raises(NotAuthorized, match="not valid"):
        await rig.tracker.fetch_issue(ref)


async def test_no_address_lacks_its_slash(rig: PlaneRig) -> None:
    ref = rig.file("One", "")
    await rig.tracker.comment(ref, "k", "text")
    await rig.tracker.set_labels(ref, ["new"])
    await rig.tracker.set_state(ref, "closed")
    assert [request for request in rig.server.requests if not request.endswith("/")] == []


def test_what_a_real_plane_said_is_understood() -> None:
    path = Path(__file__).parents[2] / "data" / "forges" / "plane-recorded.json"
    recorded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    item = Fields(recorded["item"], "")
    author = read_author(item, "created_by", {})
    issue = read_issue(item, IssueRef("plane", "ET", "ET-1"), "", author)
    assert (issue.title, issue.body, issue.status, issue.state) == (
        "drop test",
        "Новое описание",
        "Todo",
        IssueState.OPEN,
    )
    assert (issue.priority, issue.author.login) == ("low", "slava")
    own = Person("5b98f1b2-1f01-4a01-9b05-7067fad3ccd0", "orchestrator")
    comment = read_comment(Fields(recorded["comment"], ""), {}, own, Permission.UNKNOWN)
    assert (comment.author, comment.key) == (own, "")
    assert comment.updated_at == comment.created_at


RICH = """# Title

Some **bold** words, `a < b` and a [link](https://example.org/a?b=1&c=2).
Second line

- one
- two `x`

1. first
2. second

```
print("*not* <b>markup</b>")
```"""


def test_a_text_comes_back_as_it_was() -> None:
    assert from_html(to_html(RICH)) == RICH
    assert "<b>markup" not in to_html(RICH)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("<p></p><p> </p>", ""),
        ("<p>a</p><p></p><p>b</p>", "a\n\nb"),
        ("<script>alert(1)</script><p>a &amp; b</p>", "a & b"),
        ("<p>a<br>b", "a\nb"),
        ("</ul></p></a><li>x", "- x"),
    ],
)
def test_html_that_people_and_machines_make_is_read(html: str, text: str) -> None:
    assert from_html(html) == text


@pytest.fixture(scope="module")
def plane() -> ModuleType:
    """Plane's own client; imported outside of the test, since its parts leave log handlers."""
    module: ModuleType = pytest.importorskip("plane", reason="no plane-sdk → python3 dev.py setup --e2e")
    return module


def test_the_server_answers_planes_own_client(hub: Hub, plane: ModuleType) -> None:
    with PlaneServer(hub) as server:
        client = plane.PlaneClient(base_url=server.url, api_key=hub.users["dana"].token)
        assert client.users.get_me().display_name == "dana"
        (project,) = client.projects.list("acme").results
        states = {state.name: state.id for state in client.states.list("acme", project.id).results}
        items, models = client.work_items, plane.models.work_items
        made = items.create("acme", project.id, models.CreateWorkItem(name="Title", description_html="<p>Body</p>"))
        items.update("acme", project.id, made.id, models.UpdateWorkItem(state=states["Done"]))
        assert items.retrieve("acme", project.id, made.id).state == states["Done"]
        said = models.CreateWorkItemComment(comment_html="<p>Hello</p>", external_source="x", external_id="1")
        items.comments.create("acme", project.id, made.id, said)
        with pytest.raises(plane.errors.HttpError, match="409"):
            items.comments.create("acme", project.id, made.id, said)
        assert [each.comment_html for each in items.comments.list("acme", project.id, made.id).results] == [
            "<p>Hello</p>"
        ]
