"""Amounts and moments in few characters."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime, timedelta

_THOUSAND = 1000


def duration(value: timedelta) -> str:
    """`7s`, `3m 07s`, `2h 05m`, `3d 04h`."""
    seconds = max(0, int(value.total_seconds()))
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}d {hours:02}h"
    if hours:
        return f"{hours}h {minutes:02}m"
    return f"{minutes}m {seconds:02}s" if minutes else f"{seconds}s"


def dollars(value: Decimal) -> str:
    """`$0.00`, `$1.25`, `$0.0042`: two digits, more only where two would say nothing."""
    return f"${value:.4f}" if 0 < value < Decimal("0.01") else f"${value:.2f}"


def tokens(value: int) -> str:
    """`950`, `12.3k`, `4.5M`."""
    if value < _THOUSAND:
        return str(value)
    if value < _THOUSAND**2:
        return f"{value / _THOUSAND:.1f}k"
    return f"{value / _THOUSAND**2:.1f}M"


def clock_time(value: datetime, now: datetime) -> str:
    """The local time of a moment; with its date when that is not today's."""
    local, today = value.astimezone(), now.astimezone()
    return local.strftime("%H:%M:%S" if local.date() == today.date() else "%Y-%m-%d %H:%M")
