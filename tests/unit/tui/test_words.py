from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from whilly.tui.neutral import block, json_text, one_line
from whilly.tui.words import clock_time, dollars, duration, tokens


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "0s"), (59.9, "59s"), (187, "3m 07s"), (7500, "2h 05m"), (273_600, "3d 04h"), (-5, "0s")],
)
def test_durations_take_few_characters(seconds: float, told: str) -> None:
    assert duration(timedelta(seconds=seconds)) == told


@pytest.mark.parametrize(
    ("amount", "told"), [("0", "$0.00"), ("0.0042", "$0.0042"), ("0.01", "$0.01"), ("1.254", "$1.25"), ("12", "$12.00")]
)
def test_small_amounts_of_money_keep_their_digits(amount: str, told: str) -> None:
    assert dollars(Decimal(amount)) == told


@pytest.mark.parametrize(("count", "told"), [(0, "0"), (999, "999"), (12_345, "12.3k"), (4_500_000, "4.5M")])
def test_token_counts_are_rounded(count: int, told: str) -> None:
    assert tokens(count) == told


def test_a_moment_of_another_day_has_its_date() -> None:
    now = datetime(2026, 5, 2, 12, tzinfo=UTC)
    assert clock_time(now - timedelta(days=3), now).startswith("2026-04-29 ")
    assert len(clock_time(now, now)) == len("12:00:00")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\tand  more", "two lines and more"),
        ("\x1b[31mred\x1b[0m", "�[31mred�[0m"),
        ("\x9b31mred", "�31mred"),
        ("a\x00b\x07c", "a�b�c"),
        ("\u202eevil\u2066", "�evil�"),
        ("zero\u200bwidth\u200d", "zerowidth"),
        ("\ud800lone", "�lone"),
        ("[bold]$(id)[/bold]", "[bold]$(id)[/bold]"),
        ("שלום 日本語 é", "שלום 日本語 é"),
    ],
)
def test_foreign_text_cannot_steer_the_terminal(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_long_text_is_cut_at_the_limit() -> None:
    assert one_line("x" * 5000, 10) == "xxxxxxxxx…"
    assert one_line("x" * 10, 10) == "x" * 10
    assert len(one_line(" " * 5000 + "y", 10)) <= 10


def test_a_block_keeps_its_lines_and_nothing_that_steers() -> None:
    assert block("one\r\n\ttwo\x1b[2J\nthree") == "one\n    two�[2J\nthree"


@pytest.mark.parametrize("text", ["plain", "\x9b31m\x7f\u202e", "😀 \U000e0041 \ud800", 'quote " \\ \n\t', "שלום 日本"])
def test_json_means_the_same_and_cannot_steer_the_terminal(text: str) -> None:
    for indent in (None, 2):
        told = json_text({"text": text}, indent=indent)
        assert json.loads(told) == {"text": text}
        assert all(each.isprintable() or each == "\n" for each in told)
    assert "日本" in json_text("日本")
