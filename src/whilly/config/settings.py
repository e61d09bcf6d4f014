"""Every setting of Whilly, typed, with its default and its meaning; the reference page is generated from here."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from whilly.config.tables.contained import ContainedSettings
from whilly.config.tables.fields import (
    SENSITIVE,
    Dollars,
    RepositoryPath,
    Seconds,
    Section,
    VariableName,
)
from whilly.config.tables.forges import ForgeTable, TrackerTable
from whilly.config.tables.issues import IssueSettings
from whilly.config.tables.people import HandoffSettings
from whilly.config.tables.prices import PriceTable
from whilly.config.tables.protection import MachineSettings
from whilly.config.tables.pull_requests import PullRequestSettings
from whilly.config.tables.roles import RoleTable
from whilly.config.tables.trackers import GithubSettings, JiraSettings, ProjectBoardSettings
from whilly.config.values import checked_branch, command_table
from whilly.domain.change import CheckCommand
from whilly.domain.claims import Refused, normalize
from whilly.domain.flow.brief import Profile


class RunSettings(Section):
    """How `whilly run` works through a plan."""

    parallel: int = Field(default=3, ge=1, le=1000, description="How many agents work at the same time.")
    max_iterations: int = Field(
        default=0, ge=0, description="How many attempts one `whilly run` may start in all; 0 is no limit."
    )
    max_attempts: int = Field(
        default=3,
        ge=1,
        le=100,
        description="How many tries one stage of a task gets; transient errors and limits do not count.",
    )
    budget_usd: Dollars = Field(
        default=Decimal(0),
        description="What a plan may cost in US dollars. At 80 % it warns, at 100 % it stops; 0 is no limit.",
    )
    task_budget_usd: Dollars = Field(
        default=Decimal(0),
        description="What one task may cost over all its tries; at the end of it, it has failed. 0 is no limit.",
    )
    day_budget_usd: Dollars = Field(
        default=Decimal(0),
        description="What all plans of the repository may cost in a day, by this machine's time; 0 is no limit.",
    )
    project_budget_usd: Dollars = Field(
        default=Decimal(0), description="What all plans of the repository may cost together; 0 is no limit."
    )
    timeout_s: Seconds = Field(
        default=0, description="Seconds after which a run is ended, work in progress saved; 0 is never."
    )
    headless: bool = Field(
        default=False, description="Report as JSON lines, even on a terminal; without a terminal that is always so."
    )


class AgentSettings(Section):
    """Which agent does the work, and within which limits."""

    name: str = Field(
        default="",
        description=(
            "The agent: `claude`, `codex`, `gemini`, `opencode`, `demo` or a table of `agents`; empty is `claude`."
        ),
    )
    substitutes: tuple[str, ...] = Field(
        default=(),
        description="Agents that take over, in this order, while the account of `agent.name` is at its usage limit. "
        "Empty: its tasks wait for the reset.",
    )
    model: str = Field(
        default="",
        description="The model of `agent.name`, in that agent's own words; empty leaves the choice to the agent.",
    )
    isolation: Literal["open", "contained"] = Field(
        default="open",
        description=(
            "`open`: agents may do what you may. `contained`: each works in a sandbox, with no secret, no other file "
            "and no network but the gateway; Whilly refuses to start where the sandbox does not hold."
        ),
    )
    attempt_timeout_s: Seconds = Field(default=3600, description="Seconds that one attempt may take; 0 is no limit.")
    first_output_s: Seconds = Field(
        default=120,
        description="Seconds without any output at the start after which an attempt is stalled; 0 is never.",
    )
    stall_s: Seconds = Field(
        default=900,
        description=(
            "Seconds without output and without anything at work below the agent after which an attempt is stalled; "
            "0 is never."
        ),
    )
    result_grace_s: Seconds = Field(
        default=30, description="Seconds of silence after an agent's last word until it is ended, with its result."
    )
    max_output_mb: int = Field(
        default=512, ge=0, description="MiB that an agent may write to its output or to its errors; 0 is no limit."
    )
    grace_s: Seconds = Field(
        default=5, description="Seconds between asking an agent to end (TERM) and ending it (KILL)."
    )
    reservation_usd: Dollars = Field(
        default=Decimal("1.00"),
        description="US dollars set aside before an attempt starts, and what it counts as when its cost is unknown.",
    )
    max_turns: int = Field(
        default=0, ge=0, description="How many turns an agent may take in one attempt; 0 is no limit."
    )
    env_pass: tuple[VariableName, ...] = Field(
        default=(), description="More environment variables that agents may see; `NAME*` is every name that begins so."
    )


class AgentTable(Section):
    """One agent CLI: `[agents.claude]`, `[agents.demo]`, or a name of your own for any command line.

    What is not set here is as the agent's own description has it.
    """

    kind: Literal["", "claude", "codex", "gemini", "opencode", "acp", "demo", "command", "handoff"] = Field(
        default="", description="How to drive it; empty is the table's own name, or `command` for any other name."
    )
    program: str = Field(default="", description="Name or path of the program; empty is the agent's usual one.")
    argv: tuple[str | tuple[str, ...], ...] = Field(
        default=(),
        description=(
            "The whole command line, with `{placeholders}`; needed for a command of your own. "
            "A list inside it is left out when a placeholder in it is empty."
        ),
    )
    native: tuple[str, ...] = Field(
        default=(),
        description=(
            "Patterns of files, seen from the folder of the program (links resolved): the first one that can be run is "
            "started instead of a program that would only start it and stay beside it."
        ),
    )
    bridge: Literal["", "acp"] = Field(
        default="", description="What stands between Whilly and the agent: nothing, or the Agent Client Protocol."
    )
    model: str = Field(
        default="", description="The model when neither the task nor, for the default agent, `agent.model` names one."
    )
    extra_args: tuple[str, ...] = Field(default=(), description="More arguments, as they are, put last.")
    hygiene: tuple[str, ...] = Field(
        default=(),
        description=(
            "Arguments that keep the repository's own settings, hooks, servers and plugins from running; they stand "
            "for the argument `{hygiene}`."
        ),
    )
    hygiene_env: Mapping[str, str] = Field(default_factory=dict, description="Variables for the same purpose.")
    runs_plugins: bool = Field(
        default=False, description="Whether code that the repository has for it runs whatever the hygiene says."
    )
    trust: bool = Field(
        default=False, description="Let the repository's own settings for the agent count: leave the hygiene out."
    )
    safe: bool = Field(
        default=False, description="Leave the agent's own permission rules on, instead of allowing every tool."
    )
    permissions: Mapping[Literal["free", "safe"], str] = Field(
        default_factory=dict, description="The values of the placeholder `{permission}`, without and with `safe`."
    )
    output: Literal["text", "jsonl", "claude", "codex", "gemini", "opencode"] = Field(
        default="text",
        description="How to read standard output: plain text, Whilly's JSON lines, or as that agent writes it.",
    )
    cost: Literal["unknown", "free", "reported", "tokens"] = Field(
        default="unknown",
        description=(
            "What a session costs: unknown, nothing, what the output says, or its tokens by the price table (`prices`)."
        ),
    )
    label: str = Field(default="", description="What views show; empty is the name.")
    env_pass: tuple[VariableName, ...] = Field(
        default=(), description="More environment variables that it may see; `NAME*` is every name that begins so."
    )
    env_set: Mapping[str, str] = Field(
        default_factory=dict, description="Variables that it is given, with `{placeholders}`."
    )
    env_set_as_root: Mapping[str, str] = Field(
        default_factory=dict, description="Variables that it is given when Whilly is run by root."
    )
    gateway: Mapping[Literal["api", "url_env", "key_env", "upstream"], str] = Field(
        default_factory=dict,
        description=(
            "How a contained agent reaches its model: the protocol (`anthropic`, `openai`, `google`), the variables of "
            "the address and the key, and the service's address unless the first variable says it."
        ),
    )
    gateways: Mapping[str, Mapping[Literal["api", "url_env", "key_env", "upstream"], str]] = Field(
        default_factory=dict,
        description=(
            "The same for an agent that knows many services: by the provider, which its models' names begin with "
            "(`provider/model`)."
        ),
    )
    gateway_args: tuple[str, ...] = Field(
        default=(),
        description=(
            "More arguments for a contained agent, with `{gateway}` (its address), `{base}` (that and the version), "
            "`{key_env}`, `{provider}` and `{model}`."
        ),
    )
    gateway_files: Mapping[str, str] = Field(
        default_factory=dict,
        description="Files for a contained agent, with the same words: a path (`~/` is its home) and the text.",
    )
    version_args: tuple[str, ...] = Field(
        default=("--version",), description="Arguments that make it say its version, for `whilly doctor`."
    )
    login_env: tuple[VariableName, ...] = Field(
        default=(), description="Variables of which one is enough to be logged in."
    )
    login_files: tuple[str, ...] = Field(
        default=(), description="A file that shows a login: the first one here whose `$NAME` variables are all set."
    )
    own_tmp: bool = Field(
        default=False, description="Give each session a temporary folder of its own, which is removed afterwards."
    )
    files: Mapping[str, tuple[str | tuple[str, ...], ...]] = Field(
        default_factory=dict,
        description=(
            "Files that are written before a session: a path and the pieces of its text, both with `{placeholders}`; "
            "a list among the pieces is left out when a placeholder in it is empty."
        ),
    )
    links: Mapping[str, str] = Field(
        default_factory=dict,
        description="Links that are made before a session: a path with `{placeholders}`, and a target with `$NAME`s.",
    )
    login_modes: Mapping[str, str] = Field(
        default_factory=dict,
        description="The value of `{login_mode}`: by the first variable that is set, else that of `default`.",
    )
    install: str = Field(default="", description="The command that installs it, for messages.")
    login: str = Field(default="", description="The command that mends a missing login, for messages.")

    isolation: Literal["", "open", "contained"] = Field(
        default="",
        description=(
            "The tier that it works in at least; with `contained`, every task that it may get is contained. Empty is "
            "`agent.isolation`."
        ),
    )

    def driver(self, name: str) -> str:
        """What drives the agent that this table describes under `name`: one of the kinds."""
        return self.kind or (name if name in get_args(AgentTable.model_fields["kind"].annotation) else "command")

    def changes(self) -> dict[str, object]:
        """What is set of the agent's description, and nothing else."""
        return self.model_dump(exclude_unset=True, exclude={"isolation"})


class RepositorySettings(Section):
    """Where work starts and where it goes."""

    base_branch: Annotated[str, AfterValidator(checked_branch)] = Field(
        default="",
        description="The branch that tasks start from; empty is the one checked out, or else the remote's default.",
    )
    target: Annotated[str, AfterValidator(checked_branch)] = Field(
        default="auto",
        description=(
            "The branch that finished tasks go to: `base`, a branch's name, or `auto`: the base branch unless it is "
            "checked out somewhere, else `<branch_prefix><plan>`."
        ),
    )
    branch_prefix: Annotated[str, AfterValidator(checked_branch)] = Field(
        default="whilly/", min_length=1, description="What the names of all branches that Whilly makes begin with."
    )


class CommandTable(Section):
    """A shell command and the exit codes that count as a pass."""

    run: str = Field(min_length=1, description="The shell command.")
    accept: tuple[Annotated[int, Field(ge=0, le=255)], ...] = Field(
        default=(0,), min_length=1, description="The exit codes that count as a pass."
    )


Command = Annotated[CommandTable, BeforeValidator(command_table)]


class ProfileSettings(Section):
    """How this repository is set up and checked. A command is text, or a table `{run = "…", accept = [0, 5]}`."""

    setup: tuple[Command, ...] = Field(
        default=(), description="Commands that make a clean checkout ready for the checks."
    )
    verify: tuple[Command, ...] = Field(
        default=(), description="Commands that must pass before a task's work is integrated."
    )
    repair_verify: tuple[Command, ...] = Field(
        default=(), description="Commands that are tried first on a repair, to see early that it fails; empty is none."
    )
    allowed_paths: tuple[RepositoryPath, ...] = Field(
        default=(), description="Paths, directories or globs that tasks may change; empty is all of the repository."
    )
    forbidden_paths: tuple[RepositoryPath, ...] = Field(
        default=(), description="Paths, directories or globs that no task may change, whatever else allows it."
    )
    check_timeout_s: Seconds = Field(default=1800, description="Seconds that one command may take; 0 is no limit.")
    env_pass: tuple[VariableName, ...] = Field(
        default=(),
        description="More environment variables that the commands may see; `NAME*` is every name that begins so.",
    )

    def commands(self, kind: Literal["setup", "verify", "repair_verify"]) -> tuple[CheckCommand, ...]:
        """The commands of one kind, as the checks take them; those of `repair_verify` count as `verify`."""
        table: tuple[CommandTable, ...] = getattr(self, kind)
        as_kind = "setup" if kind == "setup" else "verify"
        return tuple(CheckCommand(run=entry.run, accept=entry.accept, kind=as_kind) for entry in table)

    def paths(self, kind: Literal["allowed_paths", "forbidden_paths"]) -> tuple[str, ...]:
        """The paths of one kind, in the one spelling that changed paths are held against."""
        paths: tuple[str, ...] = getattr(self, kind)
        return tuple(normal for path in paths if not isinstance(normal := normalize(path), Refused))

    def profile(self) -> Profile:
        """What the checks of every attempt go by."""
        return Profile(
            setup=self.commands("setup"),
            verify=self.commands("verify"),
            repair_verify=self.commands("repair_verify"),
            allowed_paths=self.paths("allowed_paths"),
            forbidden_paths=self.paths("forbidden_paths"),
        )


class StorageSettings(Section):
    """Where the ledger is."""

    database_url: str = Field(
        default="",
        json_schema_extra=SENSITIVE,
        description=(
            "The ledger's database: `sqlite:///…`, `postgresql://…`, or a secret reference to one; "
            "empty is `.whilly/whilly.db` in the repository."
        ),
    )


class Settings(Section):
    """All settings."""

    run: RunSettings = RunSettings()
    agent: AgentSettings = AgentSettings()
    agents: Mapping[str, AgentTable] = Field(
        default_factory=dict, description="Agent CLIs by name; see the table of one agent."
    )
    roles: Mapping[str, RoleTable] = Field(
        default_factory=dict, description="Who works in which role of a pipeline; see the table of one role."
    )
    prices: Mapping[str, PriceTable] = Field(
        default_factory=dict,
        description="Prices by model, for agents that report tokens and no cost; see the table of one model.",
    )
    contained: ContainedSettings = ContainedSettings()
    handoff: HandoffSettings = HandoffSettings()
    forges: Mapping[str, ForgeTable] = Field(
        default_factory=dict, description="Forges by name, where issues and pull requests live; see the table of one."
    )
    trackers: Mapping[str, TrackerTable] = Field(
        default_factory=dict, description="Trackers by name that are no forges; see the table of one."
    )
    machine: MachineSettings = MachineSettings()
    issues: IssueSettings = IssueSettings()
    pull_request: PullRequestSettings = PullRequestSettings()
    repository: RepositorySettings = RepositorySettings()
    profile: ProfileSettings = ProfileSettings()
    storage: StorageSettings = StorageSettings()
    github: GithubSettings = GithubSettings()
    jira: JiraSettings = JiraSettings()
    project_board: ProjectBoardSettings = ProjectBoardSettings()
