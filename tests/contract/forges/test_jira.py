"""The Jira adapter on our server, as both kinds of Jira; the server under an unmodified public client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.jira.adf import from_adf, to_adf
from whilly.adapters.jira.endpoint import JiraEndpoint, token_headers
from whilly.adapters.jira.tracker import JiraTracker
from whilly.adapters.jira.wiki import strip_wiki_mark, to_wiki
from whilly.domain.errors import NotAuthorized, RuleViolation
from whilly.domain.forge.issue import IssueQuery, IssueState, Permission
from whilly.domain.forge.marker import read_mark, strip_mark
from whilly.domain.forge.place import Place, Provider
from whilly.domain.forge.reference import IssueRef
from whilly.testing.contracts import AnswersContract, TrackerContract
from whilly.testing.forges.faults import Fault, Kind
from whilly.testing.forges.hub import Hub
from whilly.testing.forges.jira.server import JiraServer
from whilly.testing.forges.rig import PEOPLE, make_http

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path
    from types import ModuleType

    from whilly.testing.forges.hub import Ticket

PUBLIC = "https://acme.example.org"


@dataclass(slots=True)
class JiraRig:
    hub: Hub
    server: JiraServer
    tracker: JiraTracker
    scope: str = "ENG"

    def file(self, title: str, body: str, by: str = "writer", labels: Sequence[str] = ()) -> IssueRef:
        ticket = self.hub.add_ticket(self.hub.repo, self.hub.users[PEOPLE[by]], title, body)
        self.hub.set_labels(self.hub.repo, ticket, list(labels))
        return IssueRef("jira", self.scope, f"ENG-{ticket.number}")

    def say(self, ref: IssueRef, by: str, text: str) -> None:
        author, key, plain = self.hub.users[PEOPLE[by]], read_mark(text), strip_mark(text)
        note = self.hub.add_note(self._ticket(ref), author, plain if self.server.is_cloud else to_wiki(plain, key))
        self.server.render.properties[note.id] = [{"key": "whilly", "value": {"key": key}}] if key else []

    def texts(self, ref: IssueRef) -> list[str]:
        bodies = [self.server.render.text(note.body) for note in self._ticket(ref).notes]
        return [strip_wiki_mark(from_adf(body)) for body in bodies]

    def lose_answer(self) -> None:
        self.server.faults.append(Fault(Kind.LOST, "POST", "/comment$"))

    def double(self) -> None:
        self.server.faults.append(Fault(Kind.DOUBLED, "POST", "/comment$"))

    def _ticket(self, ref: IssueRef) -> Ticket:
        return self.hub.repo.tickets[int(ref.number.rpartition("-")[2])]


@pytest.fixture
def hub(tmp_path: Path) -> Hub:
    return Hub(tmp_path / "hub", "ENG")


@pytest.fixture(params=["cloud", "data center"])
async def rig(hub: Hub, request: pytest.FixtureRequest) -> AsyncIterator[JiraRig]:
    is_cloud = request.param == "cloud"
    with JiraServer(hub, is_cloud=is_cloud) as server:
        headers = token_headers(hub.bot_token, "bot@example.org" if is_cloud else "")
        async with make_http(server.url, headers, hub.bot_token) as http:
            endpoint = JiraEndpoint(http, Place("jira", Provider.JIRA, PUBLIC), server.url)
            yield JiraRig(hub, server, JiraTracker(endpoint))


class TestJiraTracker(TrackerContract):
    pass


class TestJiraAnswers(AnswersContract):
    pass


async def test_links_for_people_have_the_public_address(rig: JiraRig) -> None:
    issue = await rig.tracker.fetch_issue(rig.file("One", ""))
    assert (issue.url, issue.status, issue.priority) == (f"{PUBLIC}/browse/ENG-1", "To Do", "Medium")


async def test_a_state_is_reached_by_its_name_and_needs_its_resolution(rig: JiraRig) -> None:
    ref = rig.file("One", "")
    for state, name in [("in progress", "In Progress"), ("closed", "Done"), ("Done", "Done"), ("open", "To Do")]:
        await rig.tracker.set_state(ref, state)
        assert (await rig.tracker.fetch_issue(ref)).status == name
    with pytest.raises(RuleViolation, match="In Progress, Done"):
        await rig.tracker.set_state(ref, "Approved")


async def test_a_native_query_is_passed_on(rig: JiraRig) -> None:
    ref = rig.file("One", "", labels=["bug"])
    rig.file("Two", "")
    found = await rig.tracker.find_issues(IssueQuery("", native='project = "ENG" AND labels = "bug"'))
    assert [issue.ref for issue in found.items] == [ref]
    assert found.items[0].state is IssueState.OPEN


async def test_rights_that_only_administrators_are_told_are_unknown(rig: JiraRig) -> None:
    rig.hub.repo.members["whilly-bot"] = "write"
    assert (await rig.tracker.fetch_issue(rig.file("One", ""))).permission is Permission.UNKNOWN


async def test_a_wrong_token_is_told(rig: JiraRig) -> None:
    ref = rig.file("One", "")
    rig.hub.users["whilly-bot"].token = "another-one-0123456789"  # noqa: S105  (a made-up one)
    with pytest.raises(NotAuthorized, match="refuses the token"):
        await rig.tracker.fetch_issue(ref)


async def test_labels_with_spaces_are_refused_before_anything_is_sent(rig: JiraRig) -> None:
    ref = rig.file("One", "")
    with pytest.raises(RuleViolation, match="no labels with spaces: 'a b'"):
        await rig.tracker.set_labels(ref, ["fine", "a b"])
    assert (await rig.tracker.fetch_issue(ref)).labels == ()


RICH = """# Title

Some **bold** words, `code` and a [link](https://example.org/a).
Second line

- one
- two `x`

1. first
2. second

```python
print("*not* [markup]")
```"""


def test_a_document_comes_back_as_it_was() -> None:
    assert from_adf(to_adf(RICH)) == RICH


def test_wiki_markup_shows_what_the_text_says() -> None:
    assert to_wiki("# T\n\n**b** `{c}` [l](https://e.org) a_b [x]\n\n- i\n\n```sh\nls *\n```", "k-1") == (
        "h1. T\n\n*b* {{\\{c\\}}} [l|https://e.org] a\\_b \\[x\\]\n\n* i\n\n"
        "{code:sh}\nls *\n{code}\n\n{anchor:whilly:k%2D1}"
    )


@pytest.mark.parametrize("document", [None, 3, [], {}, {"type": "doc"}, {"type": "doc", "content": [{"type": "x"}, 3]}])
def test_what_is_no_document_is_an_empty_text(document: object) -> None:
    assert from_adf(document) == ""


def test_a_document_that_is_nested_without_end_is_cut() -> None:
    node: dict[str, object] = {"type": "paragraph", "content": [{"type": "text", "text": "deep"}]}
    for _ in range(500):
        node = {"type": "blockquote", "content": [node]}
    assert "deep" not in from_adf({"type": "doc", "content": [node]})


@pytest.fixture(scope="module")
def jira() -> ModuleType:
    """The client of pycontribs; imported outside of the test, since its parts leave log handlers."""
    module: ModuleType = pytest.importorskip("jira", reason="no jira → python3 dev.py setup --e2e")
    return module


@pytest.mark.parametrize("is_cloud", [True, False])
def test_the_server_answers_a_public_client(hub: Hub, jira: ModuleType, *, is_cloud: bool) -> None:
    author = hub.users["dana"]
    for number in range(61):
        hub.set_labels(hub.repo, hub.add_ticket(hub.repo, author, f"Issue {number}", "Body"), ["many"])
    with JiraServer(hub, is_cloud=is_cloud) as server:
        login = {"basic_auth": ("dana@example.org", author.token)} if is_cloud else {"token_auth": author.token}
        client = jira.JIRA(server.url, get_server_info=True, max_retries=0, **login)
        assert len(client.search_issues('project = "ENG" AND labels = "many"', maxResults=False)) == 61
        issue = client.issue("ENG-1")
        assert (issue.fields.summary, issue.fields.status.name) == ("Issue 0", "To Do")
        if not is_cloud:
            client.add_comment(issue, "Hello")
            assert [comment.body for comment in client.comments("ENG-1")] == ["Hello"]
        moves = {move["to"]["name"]: move["id"] for move in client.transitions(issue)}
        client.transition_issue(issue, moves["Done"], fields={"resolution": {"name": "Done"}})
        assert client.issue("ENG-1").fields.status.name == "Done"
        with pytest.raises(jira.JIRAError, match="does not exist"):
            client.issue("ENG-4711")
        client.close()
