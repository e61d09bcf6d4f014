from __future__ import annotations

import subprocess
import sys

PROBE = """
import sqlalchemy as sa
from whilly.engine.database import open_database

ours = open_database("sqlite://").dialect.dbapi.sqlite_version
print(ours == sa.create_engine("sqlite://").dialect.dbapi.sqlite_version)
"""


def test_a_process_has_one_sqlite_library_whoever_opens_the_database() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], check=True, capture_output=True, text=True, encoding="utf-8")
    assert done.stdout == "True\n"
