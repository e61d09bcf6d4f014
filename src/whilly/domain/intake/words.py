"""Words by which parts of an issue are known, in English and Russian and a few more; data.

Titles are compared casefolded, without signs around them. A stem ends with `*`, words that anything may
follow end with `…`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class Part(StrEnum):
    """What a heading or a named line introduces."""

    FILES = "files"
    DEPENDS = "depends"
    ACCEPTANCE = "acceptance"
    TEST = "test"
    STRATEGY = "strategy"
    REPRODUCE = "reproduce"
    EXPECTED = "expected"
    ACTUAL = "actual"
    OUT_OF_SCOPE = "out_of_scope"


_PARTS: Final = {
    Part.FILES: "files|file|key files|affected files|файл*|затрагиваем* файл*|dateien|fichiers|archivos",
    Part.DEPENDS: (
        "depends|depends on|dependencies|dependency|blocked by|зависит|зависит от|зависимост*|блокируется"
        "|hängt ab von|dépend de|depende de"
    ),
    Part.ACCEPTANCE: (
        "acceptance…|definition of done|done when|success criteria|критери*|критери* приемки"
        "|критери* готовности|условия приемки|готово, когда|готово когда|что считается готовым|akzeptanzkriterien"
        "|critères d'acceptation|criterios de aceptación"
    ),
    Part.TEST: (
        "test|tests|testing|test steps|test plan|test commands|how to test|how to verify|verification|тест*|проверк*"
        "|как проверить|как тестировать|шаги проверки|prüfung|vérification|pruebas"
    ),
    Part.STRATEGY: "strategy|стратегия|strategie|stratégie|estrategia",
    Part.REPRODUCE: (
        "steps|steps to reproduce|to reproduce|reproduction*|how to reproduce|repro|repro steps|reproducible example"
        "|minimal example|шаги|шаги воспроизведения|шаги для воспроизведения|как воспроизвести|воспроизведение"
        "|schritte zur reproduktion|étapes pour reproduire|pasos para reproducir"
    ),
    Part.EXPECTED: (
        "expected|expected behavio*|expected result*|what did you expect*|what i expected*|ожидаем*|ожидаем* поведение"
        "|ожидаем* результат|как должно быть|erwartetes verhalten|comportement attendu|comportamiento esperado"
    ),
    Part.ACTUAL: (
        "actual|actual behavio*|actual result*|current behavio*|what happened*|what happens*|фактическ*"
        "|фактическ* поведение|фактическ* результат|текущее поведение|что происходит|как сейчас"
        "|tatsächliches verhalten|comportement actuel|comportamiento actual"
    ),
    Part.OUT_OF_SCOPE: (
        "out of scope|non-goals|non goals|not in scope|вне рамок|не входит…|не цели|вне объема|не делаем"
    ),
}
MAX_TITLE: Final = 120

_ASIDE = re.compile(r"\s*\([^)]*\)[\s:]*$")
_EDGES = re.compile(r"^[\W\d_]+|[\W_]+$")


def _compile(words: str) -> re.Pattern[str]:
    return re.compile(
        "|".join(re.escape(word).replace(r"\*", r"\w*").replace("…", r"\b.*") for word in words.split("|"))
    )


_PATTERNS: Final = {part: _compile(words) for part, words in _PARTS.items()}
_NOTHING = re.compile(r"(?:none|no|nothing|n/?a|нет|ничего|не зависит|-|–|—|_no response_)\.?", re.IGNORECASE)


def find_part(title: str) -> Part | None:
    """What a heading or the name of a line introduces; None when it is none of the known words."""
    plain = _EDGES.sub("", _ASIDE.sub("", title[:MAX_TITLE].casefold().replace("ё", "е")))
    return next((part for part, pattern in _PATTERNS.items() if pattern.fullmatch(plain)), None)


def says_nothing(text: str) -> bool:
    """Whether a field was filled in only to say that there is nothing."""
    return not text.strip() or _NOTHING.fullmatch(text.strip()) is not None
