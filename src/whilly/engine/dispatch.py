"""Durable requests to drive a run: asked for in the ledger's own transaction, carried out at least once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, final

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, EnqueueOptions

from whilly.domain.ids import RunId
from whilly.engine import names

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

POLL_SECONDS = 0.1
"""How often the queue is looked at while a plan is worked on; a run is asked for once, so this is paid once a task."""


@final
class Dispatch:
    """The queue of runs to be driven, in the same database as the ledger."""

    def __init__(self, database: sa.Engine, url: str) -> None:
        # Whilly itself says what has gone wrong, once and in words for people.
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        self._database = database
        self._url = url
        self._client = DBOSClient(system_database_url=url, system_database_engine=database)

    def enqueue(self, connection: sa.Connection, run: RunId, key: str) -> None:
        """Ask for `run` to be driven; takes effect when the caller's transaction commits."""
        options: EnqueueOptions = {
            "workflow_name": names.DRIVE_WORKFLOW,
            "queue_name": names.RUNS_QUEUE,
            "workflow_id": key,
        }
        self._client.enqueue_in_transaction(connection, options, run)

    def launch(self, drive: Callable[[RunId], Awaitable[None]]) -> None:
        """Begin to carry out requests, those that an earlier process left unfinished included.

        Args:
            drive: takes a run as far as it goes now; must be safe to call again for the same run.
        """
        DBOS(config=self._config())

        @DBOS.workflow(name=names.DRIVE_WORKFLOW, max_recovery_attempts=None)
        async def drive_run(run: str) -> None:
            await drive(RunId(run))

        DBOS.launch()

    def prepare(self) -> None:
        """Make the tables and the queue.

        A queue that is there at launch is served at once; one made later only when queues are next looked for.
        """
        is_sqlite = self._database.dialect.name == "sqlite"
        # There all tables are made in one transaction; elsewhere somebody may have been killed between two of them.
        if not is_sqlite or not sa.inspect(self._database).has_table("workflow_status"):
            self._make_tables()
        self._client.register_queue(names.RUNS_QUEUE, polling_interval_sec=POLL_SECONDS)

    def _config(self) -> DBOSConfig:
        return {
            "name": names.APPLICATION,
            "system_database_url": self._url,
            "system_database_engine": self._database,
            "log_level": "CRITICAL",
            "application_version": names.APPLICATION_VERSION,
            "executor_id": names.EXECUTOR,
        }

    def _make_tables(self) -> None:
        """Let DBOS make its tables.

        Its own migration opens the file with Python's SQLite. Where another build of SQLite is in use, that must not
        happen: closing a file in one build drops the locks that the other holds in the same process. Launching uses
        the engine that it is given.
        """
        if self._database.dialect.loaded_dbapi.__name__.startswith("pysqlite3"):
            DBOS(config=self._config())
            DBOS.launch()
            DBOS.destroy(workflow_completion_timeout_sec=0)
        else:
            DBOS.migrate(self._url)

    def close(self) -> None:
        """Stop carrying out requests; what is unfinished is carried out next time."""
        DBOS.destroy(workflow_completion_timeout_sec=0)
        self._client.destroy()
