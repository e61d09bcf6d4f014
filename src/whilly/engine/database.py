"""The database: SQLite inside `.whilly/` by default, Postgres by URL."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from whilly.domain.errors import ConfigError, Unavailable
from whilly.engine.fault import explain_fault, name_place
from whilly.engine.sqlite.binding import sqlite_module
from whilly.engine.tables import metadata

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA_LOCK = 0x5748494C4C59
"""Name of the lock that a PostgreSQL server gives to who changes the schema."""

REVISION = "0002"
"""The schema that this code reads and writes; the newest file in `migrations/versions`."""


def open_database(url: str) -> sa.Engine:
    """An engine for `url`, with SQLite set up for several processes (WAL, immediate transactions, long waits).

    Raises:
        ConfigError: the URL or its driver is unusable.
    """
    try:
        parsed = sa.make_url(url)
        if parsed.get_backend_name() != "sqlite":
            engine = sa.create_engine(parsed.set(drivername="postgresql+psycopg"), pool_pre_ping=True, pool_size=10)
            name_place(engine)
            return engine
        engine = sa.create_engine(parsed, module=sqlite_module())
    except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError, ImportError) as error:
        message = f"storage.database_url cannot be used: {error}"
        raise ConfigError(message, remedy="use sqlite:///PATH or postgresql://USER@HOST/DATABASE") from error
    sa.event.listen(engine, "connect", _set_up_sqlite)
    name_place(engine)
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401  (either SQLite binding's connection)
    connection.isolation_level = "IMMEDIATE"
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


@contextmanager
def snapshot(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A connection whose reads all see the same moment, whatever others commit meanwhile."""
    with engine.connect() as tx:
        if engine.dialect.name == "sqlite":
            tx.exec_driver_sql("BEGIN")
            yield tx
        else:
            yield tx.execution_options(isolation_level="REPEATABLE READ")


@contextmanager
def _changing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction in which the schema is changed, by nobody else at the same time: all of it or nothing."""
    with engine.begin() as tx:
        # Python's binding of SQLite begins a transaction for changes of rows, not of tables.
        alone = "BEGIN IMMEDIATE" if engine.dialect.name == "sqlite" else f"SELECT pg_advisory_xact_lock({SCHEMA_LOCK})"
        tx.exec_driver_sql(alone)
        yield tx


def is_current(engine: sa.Engine) -> bool:
    """Whether the ledger's schema is the one that this code uses."""
    try:
        with engine.connect() as tx:
            return bool(tx.scalar(sa.text("SELECT version_num FROM alembic_version")) == REVISION)
    except sa.exc.DatabaseError:
        return False


def _is_made_afresh(engine: sa.Engine) -> bool:
    """Make a new ledger as the last migration leaves it; a test holds the two equal."""
    try:
        with _changing(engine) as tx:
            if sa.inspect(tx).has_table("plans"):
                return False
            metadata.create_all(tx)
            tx.execute(sa.text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
            tx.execute(sa.text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": REVISION})
    except sa.exc.DBAPIError as error:
        message = f"the ledger cannot be opened: {error.orig}"
        remedy = "check the disk, the permissions and storage.database_url"
        raise explain_fault(error) or Unavailable(message, remedy=remedy) from error
    return True


def migrate(engine: sa.Engine) -> None:
    """Bring the ledger's schema up to date; quick when it is.

    Raises:
        Unavailable: the database cannot be reached or written.
        ConfigError: it was written by a newer Whilly.
    """
    if not is_current(engine) and not _is_made_afresh(engine):
        upgrade(engine)


def upgrade(engine: sa.Engine) -> None:
    """Run the migrations that a ledger has not seen yet.

    Raises:
        Unavailable: the database cannot be reached or written.
        ConfigError: it was written by a newer Whilly.
    """
    # Imported here: it costs half a second, and a schema is brought up to date once.
    from alembic import command  # noqa: PLC0415  (as above)
    from alembic.config import Config  # noqa: PLC0415  (as above)
    from alembic.util.exc import CommandError  # noqa: PLC0415  (as above)

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    try:
        with _changing(engine) as tx:
            config.attributes["connection"] = tx
            command.upgrade(config, "head")
    except CommandError as error:
        message = f"the ledger was written by another version of Whilly: {error}"
        raise ConfigError(message, remedy="upgrade Whilly, or move the ledger away") from error
    except sa.exc.DBAPIError as error:
        message = f"the ledger cannot be opened: {error.orig}"
        remedy = "check the disk, the permissions and storage.database_url"
        raise explain_fault(error) or Unavailable(message, remedy=remedy) from error


__all__ = ["is_current", "metadata", "migrate", "open_database", "snapshot"]
