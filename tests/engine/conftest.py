"""An engine on a real database, with the rest of the world in memory."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa
from dbos import DBOS

from whilly.domain.flow.plan_run import Limits
from whilly.engine.database import migrate, open_database
from whilly.engine.dispatch import Dispatch
from whilly.testing.office import PATIENCE, Office
from whilly.testing.scratch import ScratchRepository
from whilly.testing.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# PostgreSQL


@pytest.fixture(scope="session")
def postgres(test_environment: Mapping[str, str]) -> Iterator[str]:
    """A server's address: that of `WHILLY_TEST_POSTGRES`, else a throw-away one."""
    given = test_environment.get("WHILLY_TEST_POSTGRES")
    if given:
        yield given
        return
    found = shutil.which("initdb")
    newest = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    programs = Path(found).resolve().parent if found else (newest[-1].parent if newest else None)
    if programs is None:
        pytest.skip("no PostgreSQL: neither WHILLY_TEST_POSTGRES nor initdb → install postgresql")
    with _cluster(programs) as url:
        yield url


@contextmanager
def _cluster(programs: Path) -> Iterator[str]:
    """A server of our own; it refuses to run as root, so then it runs as somebody else."""
    folder = Path(tempfile.mkdtemp(prefix="whilly-pg-"))
    user = ("postgres" if _is_user("postgres") else "nobody") if os.geteuid() == 0 else None
    folder.chmod(0o755)
    if user:
        shutil.chown(folder, user)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = str(folder / "data")
    told = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c max_connections=200"

    def call(program: str, *words: str) -> None:
        command = [str(programs / program), "-D", data, *words]
        # Not a pipe: the server would hold it open for its whole life.
        with (folder.parent / f"{folder.name}.log").open("ab") as log:
            subprocess.run(command, check=True, cwd="/", user=user, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    try:
        call("initdb", "-U", "whilly", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        call("pg_ctl", "-w", "-o", told, "-l", str(folder / "server.log"), "start")
        yield f"postgresql+psycopg://whilly@127.0.0.1:{port}/postgres"
        call("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        (folder.parent / f"{folder.name}.log").unlink(missing_ok=True)


def _is_user(name: str) -> bool:
    import pwd  # noqa: PLC0415  (not on Windows)

    return any(each.pw_name == name for each in pwd.getpwall())


@contextmanager
def _admin(server: str) -> Iterator[sa.Connection]:
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        yield connection


@pytest.fixture(scope="session")
def empty_ledgers(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Makes a ledger that nobody has written to; by copying, which is quicker than making the tables each time."""
    made: dict[str, str] = {}
    numbers = iter(range(10**6))

    def make(kind: str) -> str:
        if kind not in made:
            made[kind] = _make_template(kind, tmp_path_factory, request)
        number = next(numbers)
        if kind == "sqlite":
            path = tmp_path_factory.mktemp("ledger") / "whilly.db"
            shutil.copy(made[kind], path)
            return f"sqlite:///{path}"
        server = request.getfixturevalue("postgres")
        name = f"whilly_{os.getpid()}_{number}"
        with _admin(server) as admin:
            admin.execute(sa.text(f"CREATE DATABASE {name} TEMPLATE {made[kind]}"))
        return str(sa.make_url(server).set(database=name).render_as_string(hide_password=False))

    return make


def _make_template(kind: str, folders: pytest.TempPathFactory, request: pytest.FixtureRequest) -> str:
    if kind == "sqlite":
        name = str(folders.mktemp("template") / "whilly.db")
        url = f"sqlite:///{name}"
    else:
        server = request.getfixturevalue("postgres")
        name = f"template_{os.getpid()}"
        with _admin(server) as admin:
            admin.execute(sa.text(f"CREATE DATABASE {name}"))
        url = sa.make_url(server).set(database=name).render_as_string(hide_password=False)
    database = open_database(url)
    migrate(database)
    dispatch = Dispatch(database, url)
    dispatch.prepare()
    dispatch.close()
    with database.connect() as connection:
        if kind == "sqlite":
            connection.execute(sa.text("PRAGMA wal_checkpoint(TRUNCATE)"))
    database.dispose()
    return name


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, empty_ledgers: Callable[[str], str]) -> str:
    """An empty ledger, on both databases one after the other."""
    if request.param == "postgres":
        # Before the template: its skip is this test's.
        request.getfixturevalue("postgres")
    return empty_ledgers(request.param)


@pytest.fixture
def repository(tmp_path: Path) -> ScratchRepository:
    return ScratchRepository.make(tmp_path)


@pytest.fixture
def world(database_url: str) -> World:
    return World(database_url)


@pytest.fixture
def open_office(world: World) -> Iterator[Callable[..., Office]]:
    """Opens one office after the other; the one before is closed as a process that ends in order."""
    before = set(threading.enumerate())
    opened: list[Office] = []

    def open_one(limits: Limits | None = None) -> Office:
        for office in opened:
            office.close()
        opened[:] = [Office(world, limits or Limits(parallel=2))]
        return opened[0]

    yield open_one
    for office in opened:
        office.close()
    DBOS.destroy(destroy_registry=True)
    for handler in list(logging.getLogger("dbos").handlers):
        logging.getLogger("dbos").removeHandler(handler)
    deadline = time.monotonic() + PATIENCE
    while left := [each for each in threading.enumerate() if each not in before and not each.daemon]:
        assert time.monotonic() < deadline, f"left behind: threads {left}"
        time.sleep(0.01)


@pytest.fixture
def office(open_office: Callable[..., Office]) -> Office:
    return open_office()
