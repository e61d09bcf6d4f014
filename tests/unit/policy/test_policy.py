from __future__ import annotations

import pytest

from whilly.domain.trust.leak import PATTERNS, find_leaks
from whilly.domain.trust.policy import MAX_BYTES, MAX_FILES, Alteration, Consequence, judge_change, render_objections


def judge(path: str, content: bytes = b"text\n", mode: str = "100644", **more: object) -> list[tuple[str, str]]:
    fields = {"old_mode": "100644", "size": len(content), **more}
    found = judge_change([Alteration(path, mode=mode, content=content, **fields)])  # type: ignore[arg-type]  # as given
    return [(objection.rule, objection.consequence) for objection in found]


@pytest.mark.parametrize("path", ["src/app.py", "README.md", "a b/ü.txt", "Ёлка.md", "docs/gitignore", ".gitignore"])
def test_ordinary_work_is_taken_over(path: str) -> None:
    assert judge(path) == []


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("a\nb", "odd_path"),
        ("a\u202eb", "odd_path"),
        ("a\u200bb", "odd_path"),
        ("a\x1b[31m", "odd_path"),
        ("a\udcff", "odd_path"),
        (".git/config", "git_directory"),
        ("x/.GIT/hooks/pre-commit", "git_directory"),
        ("x/.git ./config", "git_directory"),
        ("GIT~1/config", "git_directory"),
        (".git::$INDEX_ALLOCATION/config", "git_directory"),
    ],
)
def test_names_that_are_refused(path: str, rule: str) -> None:
    assert (rule, Consequence.REFUSED) in judge(path)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("link", b"/etc/passwd"),
        ("link", b"../x"),
        ("a/b/link", b"../../../x"),
        ("a/link", b"b/../../../x"),
        ("link", b".."),
        ("link", b".git/config"),
        ("link", b"..\\..\\x"),
    ],
)
def test_links_that_lead_out_are_refused(path: str, target: bytes) -> None:
    assert judge(path, target, "120000") == [("link_outside", Consequence.REFUSED)]


@pytest.mark.parametrize(("path", "target"), [("link", b"a"), ("a/b/link", b"../../x"), ("a/link", b"./b/../c")])
def test_links_that_stay_inside_are_taken_over(path: str, target: bytes) -> None:
    assert judge(path, target, "120000") == []


def test_submodules_and_large_and_many_files_are_refused() -> None:
    assert judge("lib", b"", "160000") == [("submodule", Consequence.REFUSED)]
    assert judge("big", size=MAX_BYTES + 1) == [("too_large", Consequence.REFUSED)]
    assert judge("big", size=MAX_BYTES) == []
    many = [Alteration(f"f{number}", "000000", "100644") for number in range(MAX_FILES + 1)]
    assert [each.rule for each in judge_change(many)] == ["too_many_files"]
    assert judge_change(many[1:]) == ()


SECRETS = {
    "a private key": "-----BEGIN OPENSSH PRIVATE " + "KEY-----",
    "a GitHub token": "ghp_" + "a" * 36,
    "a GitLab token": "glpat-" + "a" * 20,
    "an Anthropic key": "sk-ant-" + "a" * 30,
    "an OpenAI key": "sk-proj-" + "a" * 48,
    "a Google key": "AIza" + "a" * 35,
    "an AWS key": "AKIA" + "A" * 16,
    "a Slack token": "xoxb-" + "1" * 12,
    "an npm token": "npm_" + "a" * 36,
    "a password in an address": "https://user:" + "hunter22@example.org/x",
}


@pytest.mark.parametrize("kind", PATTERNS)
def test_each_kind_of_secret_is_found(kind: str) -> None:
    assert kind in find_leaks(f"x = '{SECRETS[kind]}'\n".encode())
    assert ("secret", Consequence.REFUSED) in judge("notes.txt", SECRETS[kind].encode())


@pytest.mark.parametrize(
    "text",
    [
        "task-ant-farm",
        "https://example.org:8080/a@b",
        "sk-learn",
        "postgresql+psycopg://whilly@127.0.0.1:54399/x",
        "https://{user}:{password}@host",
    ],
)
def test_ordinary_text_is_no_secret(text: str) -> None:
    assert find_leaks(text.encode()) == []


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        (".gitea/workflows/ci.yml", "ci"),
        (".github/workflows/x.yml", "ci"),
        (".gitlab-ci.yml", "ci"),
        ("Jenkinsfile", "ci"),
        (".claude/settings.json", "agent_configuration"),
        ("opencode.json", "agent_configuration"),
        ("AGENTS.md", "agent_configuration"),
        ("sub/CLAUDE.md", "agent_configuration"),
        (".mcp.json", "agent_configuration"),
        (".gitattributes", "repository_configuration"),
        (".gitmodules", "repository_configuration"),
        (".npmrc", "repository_configuration"),
        ("docs/CODEOWNERS", "repository_configuration"),
        ("package-lock.json", "dependencies"),
        ("sub/pyproject.toml", "dependencies"),
        ("Dockerfile", "deployment"),
    ],
)
def test_paths_that_a_person_has_to_look_at(path: str, rule: str) -> None:
    assert judge(path) == [(rule, Consequence.REVIEW)]


def test_deleted_tests_and_new_programs_are_looked_at() -> None:
    assert judge("tests/test_a.py", mode="000000") == [("test_deleted", Consequence.REVIEW)]
    assert judge("src/app_test.go", mode="000000") == [("test_deleted", Consequence.REVIEW)]
    assert judge("src/app.py", mode="000000") == []
    assert judge("run.sh", mode="100755") == [("executable", Consequence.REVIEW)]
    assert judge("run.sh", mode="100755", old_mode="100755") == []


@pytest.mark.parametrize(
    ("path", "before", "after", "rule"),
    [
        (
            "tests/test_a.py",
            "def test_a():\n    assert f()\n",
            "@pytest.mark.skip\ndef test_a(): assert f()\n",
            "skipped",
        ),
        ("tests/test_a.py", "def test_a():\n    assert f()\n", "def test_a():\n    f()\n", "fewer_assertions"),
        ("tests/test_a.py", "def test_a(): pass\ndef test_b(): pass\n", "def test_a(): pass\n", "fewer_tests"),
        ("conftest.py", "", "def pytest_sessionfinish(session): session.exitstatus = 0\n", "forced_result"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest || true\n", "silenced"),
    ],
)
def test_tests_that_are_made_weaker_are_looked_at(path: str, before: str, after: str, rule: str) -> None:
    made = Alteration(path, "100644", "100644", len(after), after.encode(), before.encode())
    assert [(each.rule, each.consequence) for each in judge_change([made])] == [(f"tests_{rule}", Consequence.REVIEW)]
    as_it_was = Alteration(path, "100644", "100644", len(before), before.encode(), before.encode())
    assert judge_change([as_it_was]) == ()


def test_what_was_agreed_to_needs_no_second_look_and_nothing_makes_a_refusal_good() -> None:
    made = [Alteration(path, "100644", "100644") for path in ("AGENTS.md", ".github/x.yml", ".git/x")]
    rules = [each.rule for each in judge_change(made, ("AGENTS.md", ".git/"))]
    assert rules == ["git_directory", "ci"]


@pytest.mark.parametrize("path", ["12-review.md", "docs/T-1/13-Test-Report.md", "14-deploy-log.md", "a/verdict.json"])
@pytest.mark.parametrize("mode", ["100644", "000000"])
def test_nobody_writes_or_removes_the_word_of_a_reviewer(path: str, mode: str) -> None:
    (found,) = judge_change([Alteration(path, "100644", mode)], accepted=["**", path])
    assert (found.rule, found.consequence) == ("verdict", Consequence.REFUSED)
    assert judge_change([Alteration(path, "100644", "100644")], verdicts=["other.md"]) == ()


def test_objections_are_rendered_in_one_line_of_harmless_characters() -> None:
    text = render_objections(judge_change([Alteration("a\n\u202e\x1b[31m", "100644", "100644")] * 30))
    assert text.isprintable()
    assert text.endswith("and 10 more")
