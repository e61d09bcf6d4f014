"""CommandAgent: drives any agent CLI that a descriptor describes."""

from __future__ import annotations

import json
import os
import shutil
import sys
from datetime import timedelta
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import TYPE_CHECKING, cast, final

from typing_extensions import override

from whilly.adapters.command.environment import PASSED, pick_environment
from whilly.adapters.command.pricing import PricedSessionReader
from whilly.adapters.command.probe import ask_version
from whilly.adapters.command.template import find_placeholders, render_argv
from whilly.domain.errors import ConfigError, Unavailable
from whilly.domain.session import AgentFacts, AgentHealth, Launch
from whilly.ports.agent import NOTHING_KNOWN, Agent
from whilly.transport.process.records import STDIN_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from whilly.adapters.command.descriptor import AgentDescriptor
    from whilly.domain.price import Price
    from whilly.domain.session import Prior, SessionRequest
    from whilly.ports.agent import SessionReader

DIALECTS = {
    "text": "whilly.adapters.command.text:TextSessionReader",
    "jsonl": "whilly.adapters.command.jsonl:JsonlSessionReader",
    "claude": "whilly.adapters.claude.reader:ClaudeSessionReader",
    "gemini": "whilly.adapters.gemini.reader:GeminiSessionReader",
    "opencode": "whilly.adapters.opencode.reader:OpencodeSessionReader",
    "codex": "whilly.adapters.codex.reader:CodexSessionReader",
}
"""Output dialect → the reader's class, made with the descriptor and what is known beforehand."""

SHARED_FOLDER = "shared"
"""Beside the homes of a run's attempts, which are numbers."""

NO_PRICES: Mapping[str, Price] = MappingProxyType({})
MAX_ARGUMENT = 128 * 1024 - 1
"""Bytes of one argument; Linux allows no more (MAX_ARG_STRLEN, with the final NUL)."""


@final
class CommandAgent(Agent):
    """One agent CLI, as its descriptor says.

    Args:
        environ: where the allowed environment variables are taken from.
        prices: by model, for a CLI that reports tokens and no cost.
        is_root: whether agents will run as root.
        probe_limit: how long the program may take to say its version.
    """

    def __init__(
        self,
        descriptor: AgentDescriptor,
        environ: Mapping[str, str],
        prices: Mapping[str, Price] = NO_PRICES,
        *,
        is_root: bool = False,
        probe_limit: timedelta = timedelta(seconds=20),
    ) -> None:
        self._descriptor = descriptor
        self._prices = prices
        self._probe_limit = probe_limit
        fixed = {name: text for name, text in descriptor.env_set.items() if not find_placeholders((text,))}
        self._env = {
            **pick_environment(environ, (*PASSED, *descriptor.env_pass, *descriptor.login_env)),
            **{name: render_argv((text,), {})[0] for name, text in fixed.items()},
            **(descriptor.env_set_as_root if is_root else {}),
            **({} if descriptor.trust else descriptor.hygiene_env),
        }
        module, _, name = DIALECTS[descriptor.output].partition(":")
        self._reader = cast("Callable[[AgentDescriptor, Prior], SessionReader]", getattr(import_module(module), name))

    @override
    def facts(self) -> AgentFacts:
        about = self._descriptor
        return AgentFacts(
            name=about.name,
            label=about.label or about.name,
            can_resume=about.can_resume,
            reports_usage=about.output != "text",
            reports_cost=about.cost != "unknown",
            is_free=about.cost == "free",
            is_priced=about.cost == "tokens",
            reports_limits=about.output != "text" and not about.bridge,
            bounds_turns="max_turns" in about.known,
            bounds_cost="max_cost" in about.known,
            has_safe_mode="safe" in about.permissions and ("permission" in about.known or bool(about.bridge)),
            runs_plugins=about.runs_plugins,
            remedy=about.login or about.install,
        )

    @override
    async def probe(self) -> AgentHealth:
        about = self._descriptor
        program = self._find_program()
        if program is None:
            return AgentHealth(program="", problem=f"{self._program_name} is not installed", remedy=about.install)
        try:
            version = await ask_version((program, *about.version_args), self._env, self._probe_limit)
        except Unavailable as error:
            return AgentHealth(program=program, problem=error.message, remedy=about.install)
        is_logged_in = self._find_login()
        problem = "not logged in" if is_logged_in is False else ""
        remedy = about.login if problem else ""
        return AgentHealth(program=program, version=version, is_logged_in=is_logged_in, problem=problem, remedy=remedy)

    @override
    def launch(self, request: SessionRequest) -> Launch:
        about = self._descriptor
        program = self._find_program()
        if program is None:
            message = f"agent {about.name}: {self._program_name} is not installed"
            raise ConfigError(message, remedy=about.install or f"install it, or set agents.{about.name}.program")
        values = self._values(request, program)
        # The first argument is the program's name, or {program}: both mean the resolved path.
        argv = (program, *render_argv(about.command[1:], values), *about.extra_args)
        bridge = self._find_bridge(values)
        argv = tuple(argument.replace("\x00", "") for argument in (*bridge, *argv))
        if any(len(argument.encode(errors="replace")) > MAX_ARGUMENT for argument in argv):
            message = f"agent {about.name}: an argument is longer than a command line allows"
            raise ConfigError(message, remedy="give it the prompt by {prompt_file} or on standard input")
        stdin = None if "prompt" in about.placeholders else request.prompt
        return Launch(
            argv=argv,
            cwd=request.workspace,
            env={**self._env, **{name: _fill(text, values) for name, text in about.env_set.items()}},
            stdin=stdin,
            files={_fill(name, values): "".join(render_argv(text, values)) for name, text in about.files.items()},
            links=self._find_links(values),
            has_own_tmp=about.own_tmp,
            needs=tuple(self._find_needs((*bridge, program) if bridge else ())),
        )

    @override
    def reader(self, prior: Prior = NOTHING_KNOWN) -> SessionReader:
        reader = self._reader(self._descriptor, prior)
        if self._descriptor.cost != "tokens":
            return reader
        return PricedSessionReader(reader, self._prices, prior.model or self._descriptor.model, prior.deposit)

    @property
    def descriptor(self) -> AgentDescriptor:
        """What tells it from other agents."""
        return self._descriptor

    def _find_needs(self, started: tuple[str, ...]) -> Iterator[str]:
        """Paths that the description itself names, such as a script after its interpreter; the prompt names none.

        Args:
            started: what is started besides the first program.
        """
        about = self._descriptor
        for part in (*started, *about.argv[1:], *about.extra_args):
            for word in (part,) if isinstance(part, str) else part:
                if word.startswith("/") and Path(word).exists():
                    yield word

    @property
    def _program_name(self) -> str:
        first = self._descriptor.argv[0]
        return self._descriptor.program or (first if isinstance(first, str) else first[0])

    def _find_program(self) -> str | None:
        found = shutil.which(self._program_name, path=self._env.get("PATH", ""))
        return self._find_native(Path(found)) if found else None

    def _find_native(self, found: Path) -> str:
        """The program that `found` would only start and wait for, where the description knows it; else `found`."""
        folder = found.resolve().parent
        choices = (path for pattern in self._descriptor.native for path in sorted(folder.glob(pattern)))
        native = next((path.resolve() for path in choices if os.access(path, os.X_OK) and path.is_file()), None)
        return str(native or found.absolute())

    def _find_login(self) -> bool | None:
        about = self._descriptor
        if not about.login_env and not about.login_files:
            return None
        if any(self._env.get(name) for name in about.login_env):
            return True
        places = [each for each in map(Template, about.login_files) if set(each.get_identifiers()) <= set(self._env)]
        if places and Path(places[0].safe_substitute(self._env)).is_file():
            return True
        # macOS keeps logins in its keychain, which cannot be looked into without asking the user.
        return None if sys.platform == "darwin" else False

    def _find_bridge(self, values: Mapping[str, str]) -> tuple[str, ...]:
        if not self._descriptor.bridge:
            return ()
        program = files(f"whilly.adapters.{self._descriptor.bridge}").joinpath("bridge.py")
        # -X utf8: the isolated interpreter ignores PYTHONUTF8, and the locale may be C.
        return (sys.executable, "-I", "-S", "-X", "utf8", str(program), values["permission"])

    def _find_links(self, values: Mapping[str, str]) -> dict[str, str]:
        targets = {name: Template(text) for name, text in self._descriptor.links.items()}
        known = {name: text for name, text in targets.items() if set(text.get_identifiers()) <= set(self._env)}
        return {_fill(name, values): text.substitute(self._env) for name, text in known.items()}

    def _find_login_mode(self) -> str:
        modes = self._descriptor.login_modes
        return next((mode for name, mode in modes.items() if self._env.get(name)), modes.get("default", ""))

    def _values(self, request: SessionRequest, program: str) -> dict[str, str]:
        about = self._descriptor
        cost = request.max_cost_usd
        return {
            "program": program,
            "prompt": request.prompt,
            "prompt_file": str(Path(request.home) / STDIN_FILE),
            "workspace": request.workspace,
            "workspace_toml": json.dumps(request.workspace, ensure_ascii=False),
            "home": request.home,
            "run_home": str(Path(request.home).parent / SHARED_FOLDER),
            "id": request.attempt,
            "model": request.model or about.model,
            "session": request.resume or request.session,
            "new_session": "" if request.resume else request.session,
            "resume": request.resume or "",
            "max_turns": str(request.max_turns) if request.max_turns > 0 else "",
            "max_cost": "" if cost is None else f"{cost:f}",
            "login_mode": self._find_login_mode(),
            "permission": about.permissions.get("safe" if about.safe else "free", ""),
        }


def _fill(text: str, values: Mapping[str, str]) -> str:
    return render_argv((text,), values)[0]
