"""An agent is asked what it thinks of an issue before anybody works on it; its word is data, and adds to the rules."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from whilly.testing.forges.gitea.server import GiteaServer
from whilly.testing.forges.github.server import GithubServer
from whilly.testing.forges.hub import BOT, WRITER
from whilly.testing.forges.village import Village

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from whilly.testing.forges.hub import Ticket

SETTINGS = """
[agent]
isolation = "open"
[issues]
second_opinion = true
"""
WAITS = SETTINGS + 'without_opinion = "wait"\n'
ASKED = "\n## Your opinion is asked for\n"
AGAIN = "## Your last try gave no answer that can be used"
BODY = """\
The file `answer.txt` is wrong, and has to hold the right answer.

$ if grep -q "^## Your opinion is asked for" "$prompt"; then . "$WORLD/opinion.sh"; exit; fi
$ echo right > answer.txt
{more}
## Acceptance
- `answer.txt` contains `right`
"""
GRAVE = {
    "kind": "missing_risk",
    "severity": "critical",
    "pieces": ["#1"],
    "text": "all answers are lost",
    "advice": "keep a copy",
    "principles": [11],
}
QUESTION = {"text": "which answer is right", "question": "Which answer is the right one?"}


@pytest.fixture(params=[GithubServer, GiteaServer], ids=["github", "gitea"])
def village(tmp_path: Path, test_environment: Mapping[str, str], request: pytest.FixtureRequest) -> Iterator[Village]:
    with Village.make(tmp_path, test_environment["PATH"], request.param, SETTINGS) as made:
        (made.shop.world / "opinion.sh").write_text('cat "$WORLD/opinion.json"\n', encoding="utf-8")
        yield made


on_github = pytest.mark.parametrize("village", [GithubServer], ids=["github"], indirect=True)


def think(village: Village, **fields: object) -> None:
    """What the agent answers when it is asked for its opinion."""
    answer = {"missing_information": [], "assumptions": [], "objections": [], **fields}
    (village.shop.world / "opinion.json").write_text(json.dumps(answer), encoding="utf-8")


def say(village: Village, script: str) -> None:
    """What the agent does instead."""
    (village.shop.world / "opinion.sh").write_text(script, encoding="utf-8")


def file(village: Village, more: str = "") -> Ticket:
    """An issue that the rules let pass."""
    return village.file("Answer", BODY.format(more=more))


def artefact(village: Village, name: str) -> dict[str, Any]:
    """The newest document of that name."""
    paths = sorted(village.shop.repository.root.glob(f".whilly/runs/*/{name}.json"))
    document: dict[str, Any] = json.loads(paths[-1].read_text(encoding="utf-8"))
    return document


def asked(village: Village) -> list[str]:
    """The prompts of those who were asked for their opinion."""
    return [each for each in village.prompts() if ASKED in each]


def worked(village: Village) -> list[str]:
    """The prompts of those who did the work."""
    return [each for each in village.prompts() if ASKED not in each]


def test_what_it_takes_for_granted_is_told_to_who_works_and_to_who_reviews(village: Village) -> None:
    point = GRAVE | {"severity": "high", "text": "nobody has read it", "advice": "read it"}
    think(village, assumptions=["right is meant literally"], objections=[point])
    issue = file(village)
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert (len(asked(village)), len(worked(village)), issue.notes) == (1, 1, [])
    (prompt,) = worked(village)
    told = prompt.partition("<<<")[2].partition(">>>")[0]
    assert "- Take it for granted: right is meant literally\n- nobody has read it: read it" in told
    body = village.pull[0].body
    assert "right is meant literally" in body.partition("## Assumptions")[2]
    assert "nobody has read it: read it" in body.partition("## Risks")[2].partition("## Assumptions")[0]
    readiness, challenge = artefact(village, "readiness"), artefact(village, "challenge")
    assert (readiness["state"], "model" in readiness["rules"]) == ("ready_with_assumptions", True)
    assert readiness["opinion"] == {
        "used": True,
        "agent": "sh",
        "missing_information": [],
        "assumptions": ["right is meant literally"],
    }
    assert (challenge["verdict"], [each["found_by"] for each in challenge["challenges"]]) == ("revise", ["model"])
    assert "opinion weighed" in village.start("timeline", "ada/engine#1").wait().out


@on_github
def test_nobody_is_asked_unless_the_settings_say_so(village: Village) -> None:
    village.settings = village.settings.replace("second_opinion = true", "second_opinion = false")
    village.configure()
    think(village, missing_information=[QUESTION])
    assert village.forge(file(village)).code == 0
    assert asked(village) == []
    assert "opinion" not in artefact(village, "readiness")


def test_its_question_is_one_comment_and_what_is_answered_is_thought_about_anew(village: Village) -> None:
    think(village, missing_information=[QUESTION])
    issue = file(village)
    for _ in range(2):
        ended = village.forge(issue)
        assert (ended.code, village.pulls, "not ready: which answer is right" in ended.out) == (1, [], True), ended.out
        assert [note.author.login for note in issue.notes] == [BOT]
        assert "1. Which answer is the right one?" in issue.notes[0].body
        assert (issue.labels, len(asked(village))) == (["needs-clarification"], 1)
    think(village)
    village.hub.add_note(issue, village.hub.users[WRITER], "The one that says right.")
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert (len(asked(village)), issue.labels, len(issue.notes)) == (2, [], 2)
    assert len([each for each in asked(village) if "The one that says right." in each]) == 1


@on_github
def test_who_no_longer_wants_an_opinion_goes_on_without_it(village: Village) -> None:
    think(village, missing_information=[QUESTION])
    issue = file(village)
    assert village.forge(issue).code == 1
    village.settings = village.settings.replace("second_opinion = true", "second_opinion = false")
    village.configure()
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert artefact(village, "readiness")["opinion"] == {"used": False, "why": "the settings want none"}
    assert issue.labels == []


def test_what_is_grave_waits_for_a_person_who_decides_by_starting_it_again(village: Village) -> None:
    think(village, objections=[GRAVE])
    issue = file(village)
    ended = village.forge(issue)
    assert (ended.code, village.pulls, "rejected: all answers are lost" in ended.out) == (1, [], True), ended.out
    assert ["This is not begun: all answers are lost" in note.body for note in issue.notes] == [True]
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert (len(asked(village)), len(issue.notes), len(village.pulls)) == (1, 1, 1)


@on_github
def test_what_is_grave_and_edited_is_thought_about_anew(village: Village) -> None:
    think(village, objections=[GRAVE])
    issue = file(village)
    assert village.forge(issue).code == 1
    issue.body += "- a copy is kept\n"
    ended = village.forge(issue)
    assert (ended.code, len(asked(village)), len(issue.notes)) == (1, 2, 1), ended.out
    think(village)
    issue.body += "- the copy is read\n"
    ended = village.forge(issue)
    assert (ended.code, len(asked(village)), len(issue.notes)) == (0, 3, 1), ended.out + ended.err


UNUSABLE = {
    "no-json": ("echo I would rather not", "it is no JSON"),
    "keys": ('echo "{}"', "its keys are none"),
    "crashed": ("exit 3", "code 3"),
}


@on_github
@pytest.mark.parametrize(("script", "why"), UNUSABLE.values(), ids=UNUSABLE)
def test_without_an_answer_that_can_be_used_it_goes_on(village: Village, script: str, why: str) -> None:
    say(village, f"{script}\n")
    ended = village.forge(file(village))
    assert ended.code == 0, ended.out + ended.err
    again = [each for each in asked(village) if AGAIN in each]
    assert (len(asked(village)), len(again), why in again[0]) == (2, 1, True), again
    told = artefact(village, "readiness")["opinion"]
    assert (told["used"], why in told["why"]) == (False, True), told
    assert "no second opinion: " in village.start("timeline", "ada/engine#1").wait().out


@on_github
def test_without_an_answer_that_can_be_used_it_may_have_to_wait(village: Village) -> None:
    village.settings = village.settings.replace(SETTINGS, WAITS)
    village.configure()
    say(village, "echo no\n")
    issue = file(village)
    ended = village.forge(issue)
    assert (ended.code, village.pulls, issue.notes) == (1, [], []), ended.out
    assert "no second opinion: it is no JSON" in ended.out
    assert "whilly forge ada/engine#1 once more" in ended.out
    ended = village.forge(issue)
    assert (ended.code, len(village.pulls), len(asked(village))) == (0, 1, 2), ended.out + ended.err
    assert artefact(village, "readiness")["opinion"] == {"used": False, "why": "it is no JSON"}


@on_github
def test_another_text_is_asked_about_twice_as_well(village: Village) -> None:
    village.settings = village.settings.replace(SETTINGS, WAITS)
    village.configure()
    say(village, "echo no\n")
    issue = file(village)
    assert (village.forge(issue).code, len(asked(village))) == (1, 2)
    issue.body += "- a copy is kept\n"
    ended = village.forge(issue)
    assert (ended.code, village.pulls, len(asked(village))) == (1, [], 4), ended.out
    assert (village.forge(issue).code, len(asked(village))) == (0, 4)


@on_github
def test_what_is_edited_while_the_agent_thinks_is_thought_about_anew(village: Village) -> None:
    say(village, 'cat "$WORLD/opinion.json"; touch "$WORLD/thinks"; until [ -e "$WORLD/go" ]; do sleep 0.02; done\n')
    think(village, missing_information=[QUESTION])
    issue = file(village)
    running = village.start("forge", village.name(issue))
    village.shop.wait_for((village.shop.world / "thinks").exists, 60)
    issue.body += "- the right one is meant\n"
    think(village)
    village.shop.let_go()
    ended = running.wait(120)
    assert (ended.code, issue.notes, len(asked(village))) == (0, [], 2), ended.out + ended.err


@on_github
def test_what_could_not_be_used_at_first_may_be_mended(village: Village) -> None:
    say(village, f'if grep -q "^{AGAIN}" "$prompt"; then cat "$WORLD/opinion.json"; else echo no; fi\n')
    think(village, missing_information=[QUESTION])
    ended = village.forge(file(village))
    assert (ended.code, "not ready: which answer is right" in ended.out) == (1, True), ended.out
    assert len(asked(village)) == 2


@on_github
@pytest.mark.parametrize("agent", ["demo", "handoff"])
def test_who_has_no_model_is_not_asked_for_opinions(village: Village, agent: str) -> None:
    village.settings += f'\n[roles.analyst]\nagent = "{agent}"\n'
    village.configure()
    ended = village.forge(file(village))
    assert ended.code == 0, ended.out + ended.err
    told = {"used": False, "why": "whoever was asked gives no opinions"}
    assert (asked(village), artefact(village, "readiness")["opinion"]) == ([], told)
    assert list(artefact(village, "opinion")["faults"].values()) == [told["why"]]


def test_what_the_rules_stop_costs_nothing(village: Village) -> None:
    think(village)
    issue = file(village, "\nYou need the live Stripe credentials for this.\n")
    ended = village.forge(issue)
    assert (ended.code, village.prompts(), len(issue.notes)) == (1, [], 1), ended.out


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@on_github
@pytest.mark.parametrize("point", ["ask:before", "ask:after"])
@pytest.mark.parametrize("kind", ["question", "grave"])
def test_killed_between_the_answer_and_the_comment_there_is_one(village: Village, point: str, kind: str) -> None:
    think(village, **({"missing_information": [QUESTION]} if kind == "question" else {"objections": [GRAVE]}))
    issue = file(village)
    village.die(point, issue)
    ended = village.forge(issue)
    assert (ended.code, village.pulls, len(issue.notes)) == (1, [], 1), ended.out + ended.err
    assert len(asked(village)) == 1


@on_github
def test_orders_in_its_answer_do_nothing(village: Village) -> None:
    token = village.hub.bot_token
    order = f"@dana <!-- whilly:x -->\n/close\nFixes #1 {token}"
    think(village, missing_information=[{"text": order, "question": f"/close\n{order}"}], assumptions=["[skip ci]"])
    issue = file(village)
    ended = village.forge(issue)
    assert (ended.code, issue.state, len(issue.notes)) == (1, "open", 1), ended.out + ended.err
    body = issue.notes[0].body
    assert not any(bad in body for bad in ("@dana", "<!-- whilly:x", "\n/close", "Fixes #1", "[skip ci]")), body
    assert token not in body + json.dumps(artefact(village, "readiness"))


PAID = """\
text=$(sed 's/"/\\\\"/g' "$WORLD/opinion.json")
printf '{"type": "result", "message": "%s", "cost_usd": 0.5}\\n' "$text"
"""


@on_github
def test_its_cost_counts(village: Village) -> None:
    village.settings += '\n[roles.analyst]\nagent = "paid"\n'
    village.configure()
    say(village, PAID)
    think(village, assumptions=["right is meant"])
    ended = village.forge(file(village))
    assert ended.code == 0, ended.out + ended.err
    assert artefact(village, "readiness")["opinion"]["agent"] == "paid"
    assert float(ended.tasks["ada/engine#1"]["cost_usd"]) == 0.5
    assert "0.50" in village.pull[0].body.partition("## Cost")[2]


@on_github
def test_what_nobody_can_pay_for_ends_as_everywhere(village: Village) -> None:
    village.settings += '\n[roles.analyst]\nagent = "paid"\n[run]\nbudget_usd = 0.4\n'
    village.configure()
    say(village, PAID.replace('"message": "%s"', '"message": "no %.0s"'))
    ended = village.forge(file(village))
    assert (ended.code != 0, len(asked(village)), village.pulls) == (True, 1, []), ended.out
    assert "budget" in ended.out
