"""`whilly import` from trackers that speak their wire format, into plan files that people work on as well."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from whilly.adapters.plane.html import to_html
from whilly.testing.forges.faults import Fault, Kind
from whilly.testing.forges.gitea.server import GiteaServer
from whilly.testing.forges.github.server import GithubServer
from whilly.testing.forges.gitlab.server import GitlabServer
from whilly.testing.forges.hub import STRANGER, WRITER, Hub, Pull
from whilly.testing.forges.jira.server import JiraServer
from whilly.testing.forges.plane.server import PlaneServer
from whilly.testing.forges.wire import WireServer
from whilly.testing.workshop import Ended, Workshop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from whilly.testing.forges.hub import Ticket

BODY = """\
The file `answer.txt` is wrong.

**Files:** answer.txt
{more}

## Acceptance
- `answer.txt` contains `right`

## Test
- `grep -q right answer.txt`
"""
SERVERS: dict[str, Callable[[Hub], WireServer]] = {
    "github": GithubServer,
    "gitea": GiteaServer,
    "gitlab": GitlabServer,
    "jira": lambda hub: JiraServer(hub, is_cloud=False),
    "plane": PlaneServer,
}
IDS = {"github": "GH-{}", "gitea": "GT-{}", "gitlab": "GL-{}", "jira": "ENG-{}", "plane": "ENG-{}"}


@dataclass
class Office:
    """A tracker with issues, and a clone in which the installed `whilly` imports them."""

    kind: str
    shop: Workshop
    hub: Hub
    server: WireServer

    @property
    def scope(self) -> str:
        return self.hub.repo.name

    def id(self, ticket: Ticket) -> str:
        return IDS[self.kind].format(ticket.number)

    def file(self, title: str, more: str = "", by: str = WRITER, labels: tuple[str, ...] = ()) -> Ticket:
        body = BODY.format(more=more)
        text = to_html(body) if self.kind == "plane" else body
        ticket = self.hub.add_ticket(self.hub.repo, self.hub.users[by], title, text)
        self.hub.set_labels(self.hub.repo, ticket, list(labels))
        return ticket

    def run(self, *words: str, token: str | None = None) -> Ended:
        return self.shop.run(*words, LOCAL_TOKEN=self.hub.bot_token if token is None else token)

    def import_(self, *words: str) -> Mapping[str, Any]:
        ended = self.run("import", "local", *(words or (self.scope,)), "--json")
        assert ended.code == 0, ended.out + ended.err
        told: dict[str, Any] = json.loads(ended.out)
        return told

    @property
    def path(self) -> Path:
        return self.shop.repository.root / "tasks.json"

    @property
    def tasks(self) -> dict[str, dict[str, Any]]:
        return {task["id"]: task for task in json.loads(self.path.read_text(encoding="utf-8"))["tasks"]}

    def edit(self, task: str, **fields: object) -> None:
        plan = json.loads(self.path.read_text(encoding="utf-8"))
        next(each for each in plan["tasks"] if each["id"] == task).update(fields)
        self.path.write_text(json.dumps(plan), encoding="utf-8")


def open_office(kind: str, folder: Path, path: str) -> Iterator[Office]:
    table = "trackers" if kind in {"jira", "plane"} else "forges"
    hub = Hub(folder / "hub", "ENG" if table == "trackers" else "ada/engine")
    shop = Workshop.make(folder, path)
    with SERVERS[kind](hub) as server:
        workspace = 'workspace = "acme"\n' if kind == "plane" else ""
        shop.settings(f'[{table}.local]\nkind = "{kind}"\nurl = "{server.url}"\n{workspace}token = "env:LOCAL_TOKEN"\n')
        yield Office(kind, shop, hub, server)
    shop.close()


@pytest.fixture(params=list(SERVERS))
def office(tmp_path: Path, test_environment: Mapping[str, str], request: pytest.FixtureRequest) -> Iterator[Office]:
    yield from open_office(request.param, tmp_path, test_environment["PATH"])


@pytest.fixture
def gitea(tmp_path: Path, test_environment: Mapping[str, str]) -> Iterator[Office]:
    yield from open_office("gitea", tmp_path, test_environment["PATH"])


@pytest.fixture
def jira(tmp_path: Path, test_environment: Mapping[str, str]) -> Iterator[Office]:
    yield from open_office("jira", tmp_path, test_environment["PATH"])


def test_issues_become_a_plan_and_the_plan_follows_them(office: Office) -> None:
    first = office.file("The answer is wrong")
    name = f"{office.scope}-1" if office.kind in {"jira", "plane"} else "#1"
    second = office.file("The question is wrong", f"**Depends:** {name}")
    stranger = office.file("Nobody knows me", by=STRANGER)
    ids = [office.id(each) for each in (first, second, stranger)]
    told = office.import_()
    assert (sorted(each["id"] for each in told["added"]), told["is_written"]) == (sorted(ids), True)
    tasks = office.tasks
    assert tasks[ids[0]]["description"].startswith("The answer is wrong\n\nThe file `answer.txt` is wrong.")
    assert (tasks[ids[0]]["status"], tasks[ids[0]]["key_files"]) == ("pending", ["answer.txt"])
    assert tasks[ids[0]]["acceptance_criteria"] == ["`answer.txt` contains `right`"]
    assert tasks[ids[0]]["test_steps"] == ["grep -q right answer.txt"]
    assert tasks[ids[0]]["prd_requirement"].startswith(office.server.url)
    assert tasks[ids[1]]["dependencies"] == [ids[0]]
    assert ("isolation" in tasks[ids[0]], tasks[ids[2]]["isolation"]) == (False, "contained")

    before = office.path.read_bytes()
    again = office.import_()
    assert (again["is_written"], sorted(again["unchanged"]), office.path.read_bytes()) == (False, sorted(ids), before)

    office.edit(ids[0], status="done", mine={"x": 1})
    first.title, second.state = "The answer is still wrong", "closed"
    told = office.import_()
    assert told["changed"] == [{"id": ids[0], "fields": ["description"]}]
    assert [each["id"] for each in told["skipped"]] == [ids[1]]
    assert f"{office.id(second) if name != '#1' else 'ada/engine#2'} is closed" in told["skipped"][0]["reason"]
    tasks = office.tasks
    assert (tasks[ids[0]]["status"], tasks[ids[0]]["mine"]) == ("done", {"x": 1})
    assert tasks[ids[0]]["description"].startswith("The answer is still wrong")
    assert tasks[ids[1]]["status"] == "skipped"
    assert office.run("run", "--dry-run").code == 0


def test_only_what_was_asked_for_comes(office: Office) -> None:
    ready = office.file("The answer is wrong", labels=("ready",))
    office.file("Another matter", labels=("later",))
    told = office.import_(office.scope, "--label", "ready")
    assert [each["id"] for each in told["added"]] == [office.id(ready)]
    assert office.import_("--project", office.scope, "--label", "ready", "--query", "ANSWER")["added"] == []
    assert len(office.import_(office.scope, "--query", "another")["added"]) == 1


def test_a_dry_run_writes_nothing(gitea: Office) -> None:
    gitea.file("The answer is wrong")
    ended = gitea.run("import", "gitea", gitea.scope, "--dry-run")
    assert ended.out.splitlines() == ["tasks.json: 1 added (dry run)", "  + GT-1: The answer is wrong"]
    assert not gitea.path.exists()


def test_what_happens_is_told_a_line_each(jira: Office) -> None:
    first, second = jira.file("The answer is wrong"), jira.file("The question is wrong")
    assert jira.run("import", "jira", "eng").code == 0
    first.title, second.state = "The answer is still wrong", "closed"
    over = jira.file("Another matter")
    over.state = "closed"
    ended = jira.run("import", "jira", "ENG", "eng-3")
    lines = ["tasks.json: 1 changed, 1 skipped", "  ~ ENG-1: description", "  - ENG-2: ENG-2 is closed (Done)"]
    assert ended.out.splitlines() == [*lines, "  note: ENG-3 is closed (Done) and not imported"]


def test_tasks_by_hand_keep_every_byte(gitea: Office) -> None:
    own = '{"id":"TASK-1" ,  "description":"by hand", "n": 1.10}'
    gitea.path.write_text('{"project": "p",\n  "tasks": [\n    ' + own + "\n  ]\n}\n", encoding="utf-8")
    gitea.file("The answer is wrong", "**Depends:** TASK-1, #77")
    told = gitea.import_()
    assert told["notes"] == ["GT-1 does not wait for #77: that is no task of the plan"]
    assert own in gitea.path.read_text(encoding="utf-8")
    assert gitea.tasks["GT-1"]["dependencies"] == ["TASK-1"]


def test_a_list_that_is_cut_short_skips_nothing(gitea: Office) -> None:
    first = gitea.file("The answer is wrong")
    gitea.import_()
    first.state = "closed"
    for number in range(3):
        gitea.file(f"Another matter {number}")
    told = gitea.import_(gitea.scope, "--limit", "2")
    assert (told["is_complete"], told["skipped"], len(told["added"])) == (False, [], 2)
    assert gitea.tasks["GT-1"]["status"] == "pending"


def test_pull_requests_are_no_issues(gitea: Office) -> None:
    gitea.hub.add_ticket(gitea.hub.repo, gitea.hub.users[WRITER], "A change", "", Pull("topic", "main"))
    ended = gitea.run("import", "gitea", gitea.scope)
    assert (ended.code, ended.out) == (0, "tasks.json: no issue fits; nothing was written\n")
    assert not gitea.path.exists()


def test_a_single_issue_and_the_repository_that_the_clone_came_from(gitea: Office) -> None:
    first, second = gitea.file("The answer is wrong"), gitea.file("The question is wrong")
    assert [each["id"] for each in gitea.import_("ada/engine#2")["added"]] == [gitea.id(second)]
    gitea.shop.repository.git("remote", "add", "origin", f"{gitea.server.url}/ada/engine.git")
    ended = gitea.run("import", "gitea", "--json")
    assert [each["id"] for each in json.loads(ended.out)["added"]] == [gitea.id(first)]


def test_what_would_be_no_plan_is_not_written(gitea: Office) -> None:
    gitea.file("The answer is wrong", "**Depends:** #2")
    gitea.file("The question is wrong", "**Depends:** #1")
    ended = gitea.run("import", "local", gitea.scope)
    assert (ended.code, gitea.path.exists()) == (4, False)
    assert "a cycle of dependencies: GT-" in ended.err
    assert "with these issues tasks.json would be no valid plan; nothing was written" in ended.err


def test_the_ledger_has_the_last_word(gitea: Office) -> None:
    ticket = gitea.file("The answer is wrong", "\n$ echo right > answer.txt\n")
    gitea.import_()
    assert gitea.run("run", "--headless").code == 0
    ticket.state = "closed"
    # The file says that it is pending, and that is not so any more.
    assert (gitea.import_()["skipped"], gitea.tasks["GT-1"]["status"]) == ([], "pending")
    assert gitea.run("reset", "--yes").code == 0
    assert [each["id"] for each in gitea.import_()["skipped"]] == ["GT-1"]
    assert json.loads(gitea.run("export", "--json").out)["statuses"] == {"GT-1": "skipped"}
    assert gitea.tasks["GT-1"]["status"] == "skipped"


def test_jql_says_which_issues_are_meant(jira: Office) -> None:
    jira.file("The answer is wrong", labels=("ready",))
    over = jira.file("The question is wrong", labels=("ready",))
    jira.file("Another matter")
    over.state = "closed"
    told = jira.import_("--jql", 'project = "ENG" AND labels = "ready"')
    assert [each["id"] for each in told["added"]] == ["ENG-1"]
    assert len(told["notes"]) == 1
    assert told["notes"][0].startswith("ENG-2 is closed")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("import nowhere a/b", "there is no forge or tracker 'nowhere'"),
        ("import plane ENG", "no plane is configured"),
        ("import local", "it is not said which repository of local is meant"),
        ("import local ada", "'ada' is no repository of local, and no issue"),
        ("import local ada/engine --jql x", "--jql is the language of Jira"),
        ("import local https://elsewhere.example/a/b", "is not on local"),
        ("import local ada/missing", "404"),
        ("import local ada/engine#99", "404"),
        ("import local ada/engine --plan no/such/tasks.json", "there is no folder"),
        ("import local ada/engine --plan broken.json", "is broken; nothing was imported"),
        ("import local ada/engine --plan .", "cannot be read"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(gitea: Office, words: str, said: str) -> None:
    (gitea.shop.repository.root / "broken.json").write_text('{"tasks": [{"id": 1}]}', encoding="utf-8")
    ended = gitea.run(*words.split())
    assert (ended.code, "Traceback" in ended.err) == (4, False), ended.err
    assert said in ended.err


def test_without_a_token_nothing_is_asked(gitea: Office) -> None:
    ended = gitea.run("import", "local", gitea.scope, token="")
    assert (ended.code, "Traceback" in ended.err) == (4, False)
    assert "there is no token for local: env:LOCAL_TOKEN holds nothing" in ended.err


def test_a_query_that_jira_does_not_know_is_told_in_its_words(jira: Office) -> None:
    ended = jira.run("import", "local", "--jql", "nonsense")
    assert ended.code == 4
    assert "The value does not exist for the field 'project'." in ended.err


def test_an_issue_that_says_nothing_is_left_out_and_the_others_are_imported(office: Office) -> None:
    first, empty = (
        office.file("Right the answer"),
        office.hub.add_ticket(office.hub.repo, office.hub.users[WRITER], "", ""),
    )
    ended = office.run("import", "local", office.scope, "--json")
    told = json.loads(ended.out)
    assert (ended.code, [each["id"] for each in told["added"]]) == (1, [office.id(first)]), ended.err
    ((left),) = told["left_out"]
    assert left["issue"].endswith(str(empty.number))
    assert "neither a title nor a text" in left["reason"]
    ended = office.run("import", "local", office.scope)
    assert (ended.code, "was left out" in ended.out) == (1, True), ended.out


def test_whoever_waits_for_a_limit_is_told(gitea: Office) -> None:
    gitea.file("Right the answer")
    gitea.server.faults.append(Fault(Kind.REPLACED, "GET", "/issues", status=429, headers={"retry-after": "6"}))
    ended = gitea.run("import", "local", gitea.scope, "--json")
    (line,) = ended.err.splitlines()
    assert (ended.code, len(json.loads(ended.out)["added"])) == (0, 1)
    assert re.search(r"local \(http://.*\) limits how often it may be asked; waiting until \d\d:\d\d:\d\d$", line)
