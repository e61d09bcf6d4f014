"""The GitHub tracker on a server that others have written, as far as that one is faithful: issues, comments, labels."""

from __future__ import annotations

import itertools
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from whilly.adapters.github.endpoint import GithubEndpoint, token_headers
from whilly.adapters.github.tracker import GithubTracker
from whilly.domain.forge.marker import strip_mark
from whilly.domain.forge.place import Place, Provider
from whilly.domain.forge.reference import IssueRef
from whilly.testing.contracts import TrackerContract
from whilly.testing.forges.rig import make_http

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

PROGRAM = Path(__file__).parents[3] / ".agents" / "node_modules" / ".bin" / "emulate"
LOGINS = {"owner": "ada", "bot": "whilly-bot", "writer": "dana", "stranger": "mallory"}
SEED = (
    "tokens:\n"
    + "".join(f"  token_of_{login}:\n    login: {login}\n    scopes: [repo, user]\n" for login in LOGINS.values())
    + "github:\n  users:\n"
    + "".join(f"    - login: {login}\n" for login in LOGINS.values())
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server."""
    if not PROGRAM.is_file():
        pytest.skip("no emulate → scripts/install_agents.sh")
    seed = tmp_path_factory.mktemp("emulate") / "seed.yaml"
    seed.write_text(SEED, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [str(PROGRAM), "start", "--service", "github", "--port", port, "--seed", str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=seed.parent) as process:
        assert process.stdout is not None
        # It says where it listens when it does.
        assert any("Tokens" in line for line in process.stdout)
        yield f"http://localhost:{port}"
        process.terminate()


@dataclass(slots=True)
class EmulateRig:
    client: httpx2.Client
    tracker: GithubTracker
    scope: str

    def ask(self, by: str, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401  (JSON)
        headers = {"authorization": f"Bearer token_of_{LOGINS[by]}"}
        answer = self.client.request(method, path, json=body, headers=headers)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def file(self, title: str, body: str, by: str = "writer", labels: Sequence[str] = ()) -> IssueRef:
        for label in labels:
            self.client.post(
                f"/repos/{self.scope}/labels",
                json={"name": label, "color": "ededed"},
                headers={"authorization": f"Bearer token_of_{LOGINS['owner']}"},
            )
        data = {"title": title, "body": body, "labels": list(labels)}
        made = self.ask(by, "POST", f"/repos/{self.scope}/issues", data)
        return IssueRef("github", self.scope, str(made["number"]))

    def say(self, ref: IssueRef, by: str, text: str) -> None:
        self.ask(by, "POST", f"/repos/{self.scope}/issues/{ref.number}/comments", {"body": text})

    def texts(self, ref: IssueRef) -> list[str]:
        said = self.ask("owner", "GET", f"/repos/{self.scope}/issues/{ref.number}/comments?per_page=100")
        return [strip_mark(comment["body"]) for comment in said]

    def lose_answer(self) -> None:
        """It loses nothing."""

    def double(self) -> None:
        """As above."""


NUMBERS = itertools.count(1)


@pytest.fixture
async def rig(server: str) -> AsyncIterator[EmulateRig]:
    name = f"engine-{next(NUMBERS)}"
    token = f"token_of_{LOGINS['bot']}"
    with httpx2.Client(base_url=server, trust_env=False) as client:
        async with make_http(server, token_headers(token), token) as http:
            place = Place("github", Provider.GITHUB, server)
            rig = EmulateRig(client, GithubTracker(GithubEndpoint(http, place)), f"ada/{name}")
            rig.ask("owner", "POST", "/user/repos", {"name": name, "private": False})
            for who, permission in (("bot", "admin"), ("writer", "push")):
                rig.ask("owner", "PUT", f"/repos/{rig.scope}/collaborators/{LOGINS[who]}", {"permission": permission})
            yield rig


class TestGithubTrackerOnEmulate(TrackerContract):
    pass
