"""GitRemote: a hosted repository, through `git fetch` and `git push` from the user's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.errors import BadResponse, NotAuthorized, NotFound, RuleViolation, Unavailable
from whilly.domain.ids import CommitId
from whilly.ports.delivery.remote import Remote

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from whilly.adapters.git.command import Answer, Git
    from whilly.domain.secret import Secret

TRANSPORTS = "https:http:ssh:git:file"
"""What git may speak; a helper program that an address names is never started."""

_KEPT = "refs/whilly/remote/"
_SIGNS: tuple[tuple[type[BadResponse | NotAuthorized | NotFound | Unavailable], re.Pattern[str]], ...] = (
    (
        NotAuthorized,
        re.compile(r"Authentication failed|could not read (Username|Password)|Permission denied \(|error: 40[13]"),
    ),
    (
        NotFound,
        re.compile(
            r"[Rr]epository .*not found|error: 404|does not appear to be a git repository|couldn't find remote ref"
        ),
    ),
    (
        Unavailable,
        re.compile(
            r"Could not resolve host|Connection (refused|reset|timed out)|Failed to connect|unable to access"
            r"|early EOF|hung up unexpectedly|Could not read from remote|RPC failed|error: 5\d\d|unable to connect"
        ),
    ),
)
_REMEDIES: Mapping[type[Exception], str] = {
    NotAuthorized: "give Whilly a token that may read and push to the repository",
    NotFound: "look at the address and the branch's name; without rights, a forge says the same",
    Unavailable: "look at the network and the forge, then run again",
}
_STALE = ("(stale info)", "(fetch first)", "(non-fast-forward)", "(already exists)", "failed to update ref")


@final
class GitRemote(Remote):
    """A hosted repository.

    Args:
        git: runs git.
        root: the user's work tree.
        url: where the repository is hosted.
        header: value of the HTTP header `Authorization`; None leaves that to the user's own git settings.
    """

    def __init__(self, git: Git, root: Path, url: str, header: Secret | None = None) -> None:
        self._git = git
        self._root = root
        self._url = url
        self._env = {"GIT_ALLOW_PROTOCOL": TRANSPORTS, **(_send(url, header) if header else {})}

    @override
    async def find_head(self, branch: str) -> CommitId | None:
        ref = f"refs/heads/{branch}"
        answer = await self._ask("ls-remote", "--refs", "--end-of-options", self._url, ref)
        lines = (line.split("\t") for line in answer.text.splitlines())
        return next((CommitId(line[0]) for line in lines if line[1:] == [ref]), None)

    @override
    async def fetch(self, branch: str) -> CommitId:
        words = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
        await self._ask("fetch", *words, "--", self._url, f"+refs/heads/{branch}:{_KEPT}{branch}")
        found = await self._git.run(self._root, "rev-parse", "--verify", f"{_KEPT}{branch}^{{commit}}")
        return CommitId(found.text)

    @override
    async def push(self, branch: str, commit: CommitId, expected: CommitId | None) -> bool:
        ref = f"refs/heads/{branch}"
        lease = f"--force-with-lease={ref}:{expected or ''}"
        words = ("push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", lease)
        answer = await self._git.run(
            self._root, *words, "--", self._url, f"{commit}:{ref}", env=self._env, accept=(0, 1, 128)
        )
        if answer.code == 0:
            return True
        refused = next((line for line in answer.text.splitlines() if line.startswith("!\t")), "")
        if not refused:
            raise _explain(self._url, answer)
        # A lease that failed may be our own push, whose answer was lost.
        if await self.find_head(branch) == commit:
            return True
        if any(sign in refused for sign in _STALE):
            return False
        said = _said(answer)
        message = f"{self._url} does not let {branch} be pushed: {refused.split(chr(9))[-1]}; {said}"
        raise RuleViolation(message, remedy="let the account of Whilly's token push branches of that name")

    async def _ask(self, *words: str) -> Answer:
        answer = await self._git.run(self._root, *words, env=self._env, accept=range(256))
        if answer.code:
            raise _explain(self._url, answer)
        return answer


def _explain(url: str, answer: Answer) -> BadResponse | NotAuthorized | NotFound | Unavailable:
    said = _said(answer)
    kind = next((kind for kind, signs in _SIGNS if signs.search(said)), BadResponse)
    return kind(f"git did not get what it needs of {url}: {said}", remedy=_REMEDIES.get(kind, ""))


def _said(answer: Answer) -> str:
    """The lines that mean something, as one."""
    lines = (line.removeprefix("remote: ").strip() for line in answer.err.decode("utf-8", "replace").splitlines())
    said = (line for line in lines if line and not line.startswith(("To ", "hint:", "error: failed to push")))
    return "; ".join(said)[:2000]


def _send(url: str, header: Secret) -> Mapping[str, str]:
    """Settings in the environment: arguments are seen by everybody on the machine."""
    origin = re.match(r"https?://[^/]+/", url)
    if origin is None:
        return {}
    return {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": f"http.{origin[0]}.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: {header.reveal()}",
        "GIT_CONFIG_KEY_1": "credential.helper",
        "GIT_CONFIG_VALUE_1": "",
    }
