"""A hosted repository in memory, as a folder, and over HTTP; and what goes wrong on the way there."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.git.command import Git
from whilly.adapters.git.remote import GitRemote
from whilly.adapters.memory.history import MemoryHistory
from whilly.adapters.memory.remote import MemoryRemote
from whilly.domain.errors import BadResponse, NotAuthorized, NotFound, PortError, Unavailable
from whilly.domain.ids import CommitId
from whilly.domain.secret import Secret
from whilly.testing.contracts.delivery.remote import BRANCH, RemoteContract, RemoteRig
from whilly.testing.forges.faults import Fault, Kind
from whilly.testing.forges.github.server import GithubServer
from whilly.testing.forges.hub import Hub
from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from collections.abc import Iterator


def basic(token: str) -> Secret:
    return Secret(f"Basic {base64.b64encode(f'x-access-token:{token}'.encode()).decode()}")


class MemoryRig:
    def __init__(self) -> None:
        self.history = MemoryHistory()
        self.first = self.history.make_commit({"README": "hello\n"})
        self.remote = MemoryRemote(self.history)
        self.remote.heads["main"] = self.first

    def commit(self, text: str) -> CommitId:
        return self.history.make_commit({"file": text}, (self.first,))

    def host(self, text: str, branch: str) -> CommitId:
        self.remote.heads[branch] = self.commit(text)
        return self.remote.heads[branch]

    def protect(self, branch: str) -> None:
        self.remote.protected.add(branch)

    def has(self, commit: CommitId) -> bool:
        return commit in self.history.commits

    def user_refs(self) -> frozenset[str]:
        return frozenset(f"{ref} {at}" for ref, at in self.history.refs.items() if not ref.startswith("refs/whilly/"))


class GitRig:
    """A user's repository, and a bare one; `url` is how the user gets there."""

    def __init__(self, folder: Path, hub: Hub, url: str = "", header: Secret | None = None) -> None:
        self.user = ScratchRepository.make(folder)
        self.hosted = hub.repo.git.path
        self.user.git("fetch", "--quiet", str(self.hosted), "main")
        self.user.git("reset", "--hard", "--quiet", "FETCH_HEAD")
        self.remote = GitRemote(Git(env=self.user.env), self.user.root, url or str(self.hosted), header)

    def commit(self, text: str) -> CommitId:
        return CommitId(self.user.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", text))

    def host(self, text: str, branch: str) -> CommitId:
        words = ("-c", "user.name=Bo", "-c", "user.email=bo@example.org")
        made = self.user.git(*words, "commit-tree", "main^{tree}", "-p", "main", "-m", text, cwd=self.hosted)
        self.user.git("update-ref", f"refs/heads/{branch}", made, cwd=self.hosted)
        return CommitId(made)

    def protect(self, branch: str) -> None:
        hook = self.hosted / "hooks" / "update"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f'#!/bin/sh\n[ "$1" != "refs/heads/{branch}" ] || {{ echo "protected branch"; exit 1; }}\n')
        hook.chmod(0o755)

    def has(self, commit: CommitId) -> bool:
        return self.user.git("rev-parse", "--quiet", "--verify", f"{commit}^{{commit}}") == commit

    def user_refs(self) -> frozenset[str]:
        return frozenset(self.user.git("for-each-ref", "refs/heads", "refs/tags", "refs/remotes").splitlines())


class TestMemory(RemoteContract):
    @pytest.fixture
    def rig(self) -> RemoteRig:
        return MemoryRig()


@pytest.fixture
def hub(tmp_path: Path) -> Hub:
    return Hub(tmp_path / "hub")


class TestFolder(RemoteContract):
    @pytest.fixture
    def rig(self, tmp_path: Path, hub: Hub) -> RemoteRig:
        return GitRig(tmp_path, hub)


@pytest.fixture
def server(hub: Hub) -> Iterator[GithubServer]:
    with GithubServer(hub) as server:
        yield server


@pytest.fixture
def over_http(tmp_path: Path, hub: Hub, server: GithubServer) -> GitRig:
    return GitRig(tmp_path, hub, f"{server.url}/ada/engine.git", basic(hub.bot_token))


class TestHttp(RemoteContract):
    @pytest.fixture
    def rig(self, over_http: GitRig) -> RemoteRig:
        return over_http


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, NotAuthorized), (403, NotAuthorized), (404, NotFound), (500, Unavailable), (502, Unavailable)],
)
async def test_what_a_host_answers_is_told_apart(
    over_http: GitRig, server: GithubServer, hub: Hub, status: int, error: type[PortError]
) -> None:
    remote, commit = over_http.remote, over_http.commit("ours")
    server.faults = [Fault(Kind.REPLACED, method, status=status, times=9) for method in ("GET", "POST")]
    for asked in (remote.find_head("main"), remote.fetch("main"), remote.push(BRANCH, commit, None)):
        with pytest.raises(error) as raised:
            await asked
        assert hub.bot_token not in str(raised.value)
        assert basic(hub.bot_token).reveal() not in str(raised.value)
        assert raised.value.remedy


async def test_a_wrong_token_is_told(tmp_path: Path, hub: Hub, server: GithubServer) -> None:
    rig = GitRig(tmp_path, hub, f"{server.url}/ada/engine.git", basic("another"))
    with pytest.raises(NotAuthorized, match="token"):
        await rig.remote.find_head("main")


async def test_the_token_goes_to_its_own_host_only(over_http: GitRig, hub: Hub, server: GithubServer) -> None:
    with GithubServer(hub) as other:
        over_http.user.git("config", f"url.{other.url}/.insteadOf", f"{server.url}/")
        with pytest.raises(NotAuthorized):
            await over_http.remote.find_head("main")
        assert other.requests


async def test_an_answer_that_is_lost_is_no_second_push(over_http: GitRig, server: GithubServer) -> None:
    commit = over_http.commit("ours")
    server.faults = [Fault(Kind.LOST, "POST", "git-receive-pack")]
    with pytest.raises(Unavailable):
        await over_http.remote.push(BRANCH, commit, None)
    assert await over_http.remote.push(BRANCH, commit, None)
    assert await over_http.remote.find_head(BRANCH) == commit


async def test_a_host_that_is_gone_is_unavailable(tmp_path: Path, hub: Hub) -> None:
    with GithubServer(hub) as server:
        url = f"{server.url}/ada/engine.git"
    rig = GitRig(tmp_path, hub, url)
    with pytest.raises(Unavailable, match="look at the network"):
        await rig.remote.fetch("main")


async def test_an_address_starts_no_program(tmp_path: Path, hub: Hub) -> None:
    rig = GitRig(tmp_path, hub, f"ext::touch {tmp_path / 'started'}")
    with pytest.raises(BadResponse):
        await rig.remote.find_head("main")
    assert not (tmp_path / "started").exists()


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="only Linux shows the words of processes here")
async def test_the_token_is_in_no_process_s_words(
    over_http: GitRig, hub: Hub, server: GithubServer, tmp_path: Path
) -> None:
    spy = tmp_path / "git"
    spy.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >> "$0.words"\nexec git "$@"\n', encoding="utf-8")
    spy.chmod(0o755)
    git, header = Git(env={**over_http.user.env, "PATH": os.defpath}, program=str(spy)), basic(hub.bot_token)
    remote = GitRemote(git, over_http.user.root, f"{server.url}/ada/engine.git", header)
    assert await remote.push(BRANCH, over_http.commit("ours"), None)
    words = (tmp_path / "git.words").read_text(encoding="utf-8")
    assert "push" in words
    assert hub.bot_token not in words
    assert header.reveal().removeprefix("Basic ") not in words
