"""A forge and a clone of its repository, in which the installed `whilly` works on issues."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from whilly.testing.forges.hub import WRITER, Hub
from whilly.testing.forges.wire import WireServer
from whilly.testing.workshop import Ended, Running, Workshop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from whilly.testing.forges.hub import Pull, Ticket

_FORGE = """
[forges.local]
kind = "{kind}"
url = "{url}"
token = "env:LOCAL_TOKEN"
"""


@dataclass
class Village:
    """A repository on a forge, and a clone of it.

    Attributes:
        settings: what `whilly.toml` has beside the agents of the workshop.
        environ: what every command gets to see beside the token.
    """

    shop: Workshop
    hub: Hub
    server: WireServer
    settings: str
    environ: Mapping[str, str]

    @classmethod
    @contextmanager
    def make(cls, folder: Path, path: str, serve: Callable[[Hub], WireServer], settings: str) -> Iterator[Village]:
        """A village below `folder`, for the time of a `with` block.

        Args:
            folder: an empty one.
            path: where programs are looked for.
            serve: the forge's server; its name begins with the kind.
            settings: more of them.
        """
        hub, shop = Hub(folder / "hub"), Workshop.make(folder, path)
        with serve(hub) as server:
            kind = type(server).__name__.removesuffix("Server").lower()
            made = cls(shop, hub, server, _FORGE.format(kind=kind, url=server.url) + settings, {})
            made.configure()
            made.pull_base()
            yield made
        shop.close()

    def configure(self, lines: str = "") -> None:
        """Write the settings, with these about pull requests."""
        self.shop.settings(f"{self.settings}\n[pull_request]\n{lines}\n")

    def pull_base(self) -> None:
        """The clone's `main` is the forge's."""
        self.shop.repository.git("fetch", "--quiet", str(self.hub.repo.git.path), "main")
        self.shop.repository.git("reset", "--hard", "--quiet", "FETCH_HEAD")

    def file(self, title: str, body: str, by: str = WRITER) -> Ticket:
        """Have somebody file an issue."""
        return self.hub.add_ticket(self.hub.repo, self.hub.users[by], title, body)

    def name(self, ticket: Ticket | str) -> str:
        """How people refer to an issue; a text is what they write."""
        return ticket if isinstance(ticket, str) else f"local:{self.hub.repo.name}#{ticket.number}"

    def start(self, *words: str) -> Running:
        """Start the installed `whilly`, with the token of its account."""
        environ = {**self.shop.environ, **self.environ, "LOCAL_TOKEN": self.hub.bot_token}
        return replace(self.shop, environ=environ).start(*words)

    def forge(self, ticket: Ticket | str, *words: str) -> Ended:
        """Have an issue worked on."""
        return self.start("forge", self.name(ticket), *words).wait(180)

    def die(self, point: str, ticket: Ticket | str, *words: str) -> None:
        """The same, ended as by `kill -9` in the moment that it passes the point.

        Raises:
            AssertionError: it never does.
        """
        log = str(self.shop.world / "passings")
        fuse = (sys.executable, "-m", "whilly.testing.crash.fuse", log, f"{point}:1", "--")
        environ = {**self.shop.environ, **self.environ, "LOCAL_TOKEN": self.hub.bot_token}
        argv = [*fuse, "forge", self.name(ticket), *words]
        running = Running(argv, self.shop.repository.root, environ, self.shop.world)
        self.shop.started.append(running)
        ended = running.wait(180)
        if ended.code != -signal.SIGKILL:
            raise AssertionError(ended.out + ended.err)

    @property
    def pulls(self) -> list[Ticket]:
        """All pull requests that there are."""
        return [ticket for ticket in self.hub.repo.tickets.values() if ticket.pull is not None]

    @property
    def pull(self) -> tuple[Ticket, Pull]:
        """The only one."""
        ((ticket, pull),) = [(ticket, ticket.pull) for ticket in self.pulls if ticket.pull is not None]
        return ticket, pull

    def head(self) -> str:
        """The commit of its branch."""
        return self.hub.repo.git.find(self.pull[1].head)

    def files(self) -> Mapping[str, str]:
        """What that commit holds."""
        git, where, head = self.shop.repository, self.hub.repo.git.path, self.head()
        names = git.git("ls-tree", "-r", "--name-only", head, cwd=where).splitlines()
        return {name: git.git("show", f"{head}:{name}", cwd=where) for name in names}

    def prompts(self) -> list[str]:
        """What agents were told, in no order."""
        homes = self.shop.repository.root / ".whilly" / "attempts"
        return [path.read_text(encoding="utf-8") for path in homes.glob("*/*/stdin")]
