"""The command as a whole: what it prints, its exit codes, and that nothing stops it."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.cli.doctor.catalogue import CATALOGUE
from whilly.cli.doctor.checks.table import CHECKS, Check
from whilly.cli.doctor.examine import examine
from whilly.cli.doctor.finding import Fact
from whilly.cli.doctor.mend import MENDS
from whilly.cli.doctor.site import Site, open_site
from whilly.cli.main import main
from whilly.domain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.unit.cli.doctor.conftest import Clinic

    from whilly.cli.doctor.finding import Said


def test_nothing_is_found_in_a_clean_repository(clinic: Clinic) -> None:
    code, out = clinic.read()
    assert (code, out.splitlines()[-1]) == (0, "nothing found")
    assert "isolation: open" in out
    assert f"repository: {clinic.root}" in out
    assert "agent claude: 2.1.332, logged in, the default" in out


def test_looking_makes_nothing_and_changes_nothing(clinic: Clinic) -> None:
    before = sorted(path for path in clinic.root.rglob("*"))
    clinic.look()
    clinic.look("--fix")
    assert sorted(path for path in clinic.root.rglob("*")) == before


def test_nothing_is_found_where_whilly_has_worked(clinic: Clinic) -> None:
    clinic.plan()
    said = clinic.look()
    assert (said.code, said.codes) == (0, [])
    assert said.report["facts"]["ledger"] == "plans: 1, runs: 0"


def test_outside_of_a_repository_the_machine_alone_is_looked_at(clinic: Clinic, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    clinic.monkeypatch.chdir(tmp_path / "elsewhere")
    said = clinic.look("--fix")
    assert (said.code, said.codes) == (0, [])
    assert said.report["facts"]["repository"] == "none here; only the machine was looked at"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_predecessors_flag_means_the_command(clinic: Clinic) -> None:
    clinic.capsys.readouterr()
    assert main(["--doctor", "--no-gh"]) == 0
    assert "nothing found" in clinic.capsys.readouterr().out


def test_a_problem_is_said_with_its_reason_and_its_remedy_and_by_the_exit_code(clinic: Clinic) -> None:
    clinic.program("claude", "#!/bin/sh\nexit 3\n")
    clinic.write({"whilly_logs/a.log": ""})
    code, out = clinic.read()
    assert code == 1
    assert re.search(r"^problem: .* \[agent_broken\]\n  why: .+\n  → .+$", out, re.MULTILINE)
    assert re.search(r"^note: whilly_logs .* \[predecessor_left\]$", out, re.MULTILINE)
    assert out.splitlines()[-1] == "1 problem, 1 note"


def test_notes_alone_are_no_failure(clinic: Clinic) -> None:
    clinic.write({"whilly_logs/a.log": ""})
    said = clinic.look()
    assert (said.code, said.report["problems"], said.report["notes"]) == (0, 0, 1)


def test_the_object_has_the_keys_that_programs_rely_on(clinic: Clinic) -> None:
    clinic.write({".whilly/run.json": "{}"})
    report = clinic.look().report
    assert list(report) == [
        "schema",
        "directory",
        "problems",
        "notes",
        "facts",
        "findings",
        "mended",
        "not_mended",
    ]
    assert report["schema"] == 1
    keys = {"code", "severity", "subject", "what", "why", "remedy", "fixable"}
    assert all(set(finding) == keys for finding in report["findings"])
    assert report["findings"]


def test_durable_execution_is_never_imported(clinic: Clinic) -> None:
    clinic.plan()
    program = "import sys; from whilly.cli.main import main; main(['doctor', '--fix']); print('dbos' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def hang(_site: Site) -> Iterator[Said]:
    time.sleep(2)
    yield Fact("too", "late")


async def wait(_site: Site) -> Iterable[Said]:
    await asyncio.Event().wait()
    return []


def break_down(_site: Site) -> Iterator[Said]:
    yield Fact("one", "1")
    name = "two"
    raise KeyError(name)


def refuse(_site: Site) -> Iterator[Said]:
    yield Fact("one", "1")
    message = "no"
    raise Unavailable(message, remedy="ask again")


def speak(_site: Site) -> Iterator[Said]:
    yield Fact("three", "3")


def test_a_check_that_hangs_or_fails_hides_nothing_of_the_others(clinic: Clinic) -> None:
    looks = (hang, wait, break_down, refuse, speak)
    checks = [Check(look.__name__, look, limit=0.1) for look in looks]
    report = examine(open_site(clinic.root), checks)
    assert report.facts == (Fact("three", "3"),)
    said = [(finding.code, finding.subject, finding.is_problem) for finding in report.findings]
    assert said == [
        ("check_unfinished", "hang", True),
        ("check_unfinished", "wait", True),
        ("check_failed", "break_down", True),
        ("check_failed", "refuse", True),
    ]
    assert [finding.remedy for finding in report.findings][-1] == "ask again"
    assert "KeyError: 'two'" in report.findings[2].what


HANGS = """
import time
from whilly.cli.doctor.isolate import Asked

async def hang():
    time.sleep(600)

print(Asked(hang, 0.1).answer())
"""


def test_what_hangs_does_not_keep_the_process_alive() -> None:
    done = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "Silence(seconds=0.1)\n"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_no_check_stumbles_where_nothing_is_as_it_should_be(clinic: Clinic, check: Check) -> None:
    (clinic.root / ".git" / "HEAD").write_bytes(b"\xff\0")
    clinic.write({"whilly.toml": "[", ".env": "WHILLY_", "tasks.json": "\0", ".whilly": ""})
    report = examine(open_site(clinic.root), [check])
    assert [finding for finding in report.findings if finding.code in {"check_failed", "check_unfinished"}] == []


def test_every_kind_of_finding_is_provoked_by_a_test() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert [code for code in CATALOGUE if f'"{code}"' not in texts] == []


def test_what_is_said_to_be_mended_is(clinic: Clinic) -> None:
    assert clinic.root.is_dir()
    assert [code for code, kind in CATALOGUE.items() if kind.mends] == [code for code in CATALOGUE if code in MENDS]
    assert set(MENDS) <= set(CATALOGUE)
