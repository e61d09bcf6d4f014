from __future__ import annotations

import shlex

import pytest

from whilly.cli.commands import COMMANDS
from whilly.cli.translate import Refused, Translated, translate

NAMES = {*COMMANDS, "run", "reset", "doctor", "config", "init"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("plan.json", "run plan.json"),
        ("plan.json --headless", "run plan.json --headless"),
        ("--headless plan.json", "run --headless plan.json"),
        ("plans/one two.json", "run plans/one two.json"),
        ("./tasks --resume", "run ./tasks --resume"),
        ("a.json b.json --timeout 60 --agent demo", "run a.json b.json --timeout 60 --agent demo"),
        ("a.json --agent claude_handoff", "run a.json --agent handoff"),
        ("--agent=claude_handoff a.json", "run --agent=handoff a.json"),
        ("--timeout=60 a.json", "run --timeout=60 a.json"),
        ("--all", "run --all"),
        ("--all --headless", "run --all --headless"),
        ("--resume", "run --resume"),
        ("--reset plan.json", "reset --yes plan.json"),
        ("--reset a.json b.json", "reset --yes a.json b.json"),
        ("--doctor", "doctor"),
        ("--handoff-list", "handoff list"),
        ("--handoff-show T-1", "handoff show T-1"),
        ("--handoff-complete T-1 --status failed", "handoff complete T-1 --status failed"),
        ("--triz plan.json", "plan triz plan.json"),
        ("plan.json --triz", "plan triz plan.json"),
        ("--headless --triz plan.json", "plan triz plan.json"),
        ("--from-issue o/r#1", "import github o/r#1 --plan tasks-issue-o-r-1.json"),
        ("--from-issue=o/r/1", "import github o/r/1 --plan tasks-issue-o-r-1.json"),
        (
            "--from-issue https://github.com/o/r/issues/1",
            "import github https://github.com/o/r/issues/1 --plan tasks-issue-o-r-1.json",
        ),
        ("--from-jira ab-1", "import jira ab-1 --plan tasks-jira-AB-1.json"),
        ("--from-jira https://x.net/browse/AB-1", "import jira https://x.net/browse/AB-1 --plan tasks-jira-AB-1.json"),
        (
            "--from-github",
            "import github --label workshop --label whilly:ready --plan tasks-from-github.json",
        ),
        ("--from-github a,b", "import github --label a --label b --plan tasks-from-github.json"),
        ("--from-github all --headless", "import github --plan tasks-from-github.json"),
        ("--from-github -", "import github --plan tasks-from-github.json"),
        ("--config", "config show"),
        ("--config show", "config show"),
        ("--config path", "config path"),
        ("--config edit", "config edit"),
        ("--config migrate --force", "config migrate --force"),
        ("--init 'a shop; $(id)' --plan --go", "prd 'a shop; $(id)' --plan --run"),
        ("--init 'a shop'", "prd 'a shop'"),
        ("--headless --init 'a shop' --plan", "prd --headless 'a shop' --plan"),
        ("--plan docs/PRD-a.md docs/PRD-b.md", "prd --from docs/PRD-a.md --from docs/PRD-b.md"),
        ("--plan --headless docs/PRD-a.md", "prd --from docs/PRD-a.md --headless"),
        ("--prd-wizard", "prd --wizard"),
        ("--prd-wizard shop", "prd --wizard shop"),
        ("--workspace plan.json", "run plan.json"),
        ("--worktree plan.json", "run plan.json"),
        ("-C there plan.json", "-C there run plan.json"),
        ("--debug --doctor", "--debug doctor"),
    ],
)
def test_a_command_line_of_the_predecessor_means_the_same(old: str, new: str) -> None:
    assert translate(shlex.split(old), NAMES) == Translated(tuple(shlex.split(new)))


@pytest.mark.parametrize(
    "today",
    [
        "",
        "--help",
        "-h",
        "--version",
        "run plan.json --headless",
        "run --no-workspace",
        "-C dir run --init",
        "config --doctor",
        "-C",
        "unknown",
        "unknown --from-issue",
        "--unknown",
        "-- plan.json",
    ],
)
def test_todays_command_lines_and_unknown_ones_come_back_as_they_were(today: str) -> None:
    assert translate(shlex.split(today), NAMES) == Translated(tuple(shlex.split(today)))


@pytest.mark.parametrize(
    ("old", "new", "noted"),
    [
        ("plan.json --no-workspace", "run plan.json", "your checkout is never touched"),
        ("--no-worktree plan.json", "run plan.json", "every task has a workspace of its own"),
        ("--doctor --no-gh", "doctor", "does not ask GitHub"),
    ],
)
def test_a_flag_without_a_meaning_is_dropped_with_a_note(old: str, new: str, noted: str) -> None:
    translated = translate(shlex.split(old), NAMES)
    assert isinstance(translated, Translated)
    assert translated.argv == tuple(shlex.split(new))
    assert [noted in note for note in translated.notes] == [True]


@pytest.mark.parametrize(
    "old",
    [
        "--from-issue o/r#1 --go",
        "--from-jira AB-1 --yes",
        "--from-issues-project URL --repo o/r",
        "--from-project URL",
        "--post-merge plan.json",
        "--ensure-board-statuses",
        "--workflow-analyze URL",
        "--classify T --project U --repo o/r",
        "--rebuild-hierarchy --project U",
        "--project-sync-status",
        "--sync-status 1 Done",
        "--sync-todo URL",
        "--watch-project URL",
        "--source gh:o/r",
        "--source=gh:o/r",
        "--pr-on-done",
        "plan.json --decision-gate",
        "--headless --draft plan.json",
        "--check",
    ],
)
def test_what_is_gone_is_refused_with_what_replaces_it(old: str) -> None:
    refused = translate(shlex.split(old), NAMES)
    assert isinstance(refused, Refused)
    assert refused.message.split()[0] in old.replace("=", " ").split()
    assert refused.remedy
