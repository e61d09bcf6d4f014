"""Tests of what a user may not do, also where root runs them."""

from __future__ import annotations

import os
import sys

IS_ROOT = sys.platform != "win32" and os.geteuid() == 0
PLAIN: tuple[str, ...] = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if IS_ROOT else ()
"""What to put before a command, so that the modes of files count for it."""
EVERYBODY_ELSE = 65534
"""A user who owns nothing here."""
