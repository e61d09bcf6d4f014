"""Who commits, and when, as git's environment variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.adapters.git.command import Git
    from whilly.adapters.git.layout import Layout
    from whilly.ports.clock import Clock

FALLBACK_NAME = "Whilly"
FALLBACK_EMAIL = "whilly@localhost"
_PATTERN = r"^(user|author|committer)\.(name|email)$"


@final
class Identity:
    """The user whom the repository's configuration names, or Whilly; read once."""

    def __init__(self, git: Git, layout: Layout, clock: Clock) -> None:
        self._git = git
        self._layout = layout
        self._clock = clock
        self._names: dict[str, str] | None = None

    async def environment(self) -> Mapping[str, str]:
        """`GIT_AUTHOR_*` and `GIT_COMMITTER_*` for a commit made now."""
        if self._names is None:
            self._names = await self._read()
        date = f"@{int(self._clock.now().timestamp())} +0000"
        return {**self._names, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}

    async def _read(self) -> dict[str, str]:
        answer = await self._git.run(self._layout.root, "config", "-z", "--get-regexp", _PATTERN, accept=(0, 1))
        found = {key: value.strip() for key, _, value in (field.partition("\n") for field in answer.fields)}
        names = {}
        for role in ("author", "committer"):
            name = found.get(f"{role}.name") or found.get("user.name") or ""
            email = found.get(f"{role}.email") or found.get("user.email") or ""
            # Git refuses a name of nothing but these.
            is_usable = bool(name.strip(" .,:;<>\"\\'\t\r\n")) and bool(email)
            names[f"GIT_{role.upper()}_NAME"] = name if is_usable else FALLBACK_NAME
            names[f"GIT_{role.upper()}_EMAIL"] = email if is_usable else FALLBACK_EMAIL
        return names
