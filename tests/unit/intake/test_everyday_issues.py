"""Issues as people write them end where a reasonable person would put them."""

from __future__ import annotations

import pytest

from whilly.domain.challenge.review import review_spec
from whilly.domain.intake.issue_text import IssueText
from whilly.domain.intake.normalize import normalize_issue
from whilly.domain.intake.readiness import Readiness, judge
from whilly.domain.intake.rules import Scope
from whilly.domain.intake.strategy import choose_strategy

READY, ASSUMING, BLOCKED = Readiness
FORM = """\
### What happened?
Saving the profile without an avatar raises a TypeError in `profile/views.py`.

### Steps to reproduce
1. Log in
2. Press Save

### Expected behavior
The profile is saved.

### Relevant log output
```shell
TypeError: x
```
"""
TEMPLATE = """\
**Describe the bug**
App crashes on startup

**To Reproduce**
Steps to reproduce the behavior:
1. Start the app

**Expected behavior**
No crash

**Screenshots**
n/a
"""
LIMIT = """\
To prevent brute force, limit /login to 5 attempts per minute per IP.

Acceptance criteria:
- 6th attempt within a minute returns 429
- counter resets after a minute
"""
MAIL = """\
При запросе сброса пароля письмо не приходит.

Шаги:
1. Открыть /reset

Ожидаемое поведение: письмо приходит в течение минуты.
"""
DARK = "It should follow the system preference and be switchable in settings. Many users asked for it."
GERMAN = "Auf der Profilseite passiert beim Klick auf den Knopf zum Speichern seit gestern gar nichts mehr."
LINK = "Users should be able to log in with a magic link.\n- [ ] link expires after 15 minutes"


@pytest.mark.parametrize(
    ("title", "body", "state", "strategy"),
    [
        ("TypeError when saving a profile", FORM, READY, "bugfix_repro_first"),
        ("Crash on startup\r\n", TEMPLATE, READY, "bugfix_repro_first"),
        ("Add rate limiting to login endpoint", LIMIT, READY, "feature_plan_first"),
        ("Allow login without password", LINK, READY, "feature_plan_first"),
        ("Не приходит письмо для сброса пароля", MAIL, READY, "bugfix_repro_first"),
        ("Support dark mode", DARK, ASSUMING, "feature_plan_first"),
        ("Speichern geht nicht", GERMAN, ASSUMING, "unknown_safe_mode"),
        (
            "保存ボタンが動かない",
            "プロフィール画面で保存ボタンを押しても何も起こりません。",
            ASSUMING,
            "unknown_safe_mode",
        ),
        ("Docs: installation is outdated", "The README says `pip install foo==1.0`.", ASSUMING, "docs_only"),
        ("Memory leak in worker", "After hours it uses 4 GB.", ASSUMING, "bugfix_repro_first"),
        ("Ошибка 500 при экспорте отчёта в CSV", "Больше 1000 строк", ASSUMING, "bugfix_repro_first"),
        ("Refactor the module of shapes", "`shapes/core.py` is long. Split it.", ASSUMING, "refactor_guarded"),
        ("Bump lodash from 4.17.20 to 4.17.21", "", ASSUMING, "unknown_safe_mode"),
        ("Upgrade to Django 5", "We should upgrade to Django 5.0, 4.1 is EOL.", ASSUMING, "unknown_safe_mode"),
        ("CI is flaky", "Tests fail sometimes.", BLOCKED, "unknown_safe_mode"),
        ("Improve error messages", "Error messages are confusing", BLOCKED, "unknown_safe_mode"),
        ("Deploy v2.1 now", "Use `deploy.sh` with our production AWS credentials", BLOCKED, "unknown_safe_mode"),
        ("Where is the config documented?", "", BLOCKED, "unknown_safe_mode"),
        ("Fix", "see title", BLOCKED, "bugfix_repro_first"),
    ],
)
def test_it_ends_where_it_should(title: str, body: str, state: Readiness, strategy: str) -> None:
    spec = normalize_issue(IssueText("1", title, body))
    assert judge(spec, Scope()).state is state
    assert choose_strategy(spec).approach.strategy == strategy
    assert review_spec(spec).verdict == "approve"
