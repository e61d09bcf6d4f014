"""Names of settings besides their own: the predecessor's, the flags', and names that mean nothing any more."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = "WHILLY_"

FLAT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "MAX_ITERATIONS": "run.max_iterations",
        "MAX_PARALLEL": "run.parallel",
        "MAX_TASK_RETRIES": "run.max_attempts",
        "BUDGET_USD": "run.budget_usd",
        "TIMEOUT": "run.timeout_s",
        "HEADLESS": "run.headless",
        "MODEL": "agent.model",
        "AGENT_BACKEND": "agent.name",
        "OPENCODE_BIN": "agents.opencode.program",
        "OPENCODE_SAFE": "agents.opencode.safe",
        "HANDOFF_TIMEOUT": "handoff.timeout_s",
        "MAX_CPU_PERCENT": "machine.max_cpu_percent",
        "MAX_MEMORY_PERCENT": "machine.max_memory_percent",
        "MIN_FREE_SPACE_GB": "machine.min_free_disk_gb",
        "RESOURCE_CHECK_ENABLED": "machine.guarded",
        "GITHUB_AUTO_CLOSE": "github.auto_close",
        "GITHUB_ADD_COMMENTS": "github.add_comments",
        "JIRA_ENABLED": "jira.enabled",
        "JIRA_SERVER_URL": "jira.server_url",
        "JIRA_USERNAME": "jira.username",
        "JIRA_AUTO_CLOSE": "jira.auto_close",
        "JIRA_ADD_COMMENTS": "jira.add_comments",
        "JIRA_TRANSITION_TO": "jira.transition_to",
    }
)
"""The predecessor's settings: top-level keys of its TOML files and, with `WHILLY_` before them, its variables."""

AGENTS: Final[Mapping[str, str]] = MappingProxyType({"claude_handoff": "handoff"})
"""The predecessor's agents that have another name here."""

VALUES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType({"AGENT_BACKEND": AGENTS})
"""Values of the predecessor's settings that are spelled otherwise here."""

VARIABLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "JIRA_SERVER_URL": "jira.server_url",
        "JIRA_USERNAME": "jira.username",
        "JIRA_API_TOKEN": "jira.token",
        "WHILLY_GH_TOKEN": "github.token",
        "CLAUDE_BIN": "agents.claude.program",
        "WHILLY_CLAUDE_SAFE": "agents.claude.safe",
    }
)
"""The predecessor's settings that were variables only. A variable's own name wins over these."""

_WORKSPACES = "every task has a workspace of its own"
_STATE = "Whilly keeps its state and logs in `.whilly/`"
_LATER = "this version does not have it"

NO_EFFECT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "AGENT": "it was a display name; `agent.name` chooses the agent",
        "HEARTBEAT_INTERVAL": "the display refreshes by itself",
        "DECOMPOSE_EVERY": _LATER,
        "USE_TMUX": "agents run under a supervisor of their own and outlive Whilly without tmux",
        "LOG_DIR": _STATE,
        "STATE_FILE": _STATE,
        "VOICE": _LATER,
        "ORCHESTRATOR": "tasks start as soon as their dependencies and files allow, without batches",
        "RICH_DASHBOARD": "a terminal gets live progress, everything else gets JSON lines",
        "WORKTREE": _WORKSPACES,
        "USE_WORKSPACE": _WORKSPACES,
        "OPENCODE_SERVER_URL": "the predecessor never used it either",
        "PROCESS_TIMEOUT_MINUTES": "`agent.attempt_timeout_s` ends an attempt",
        "CLOSE_EXTERNAL_TASKS": "`github.auto_close` and `jira.auto_close` say it for each tracker",
        "CLAUDE_TIMEOUT": "`agent.attempt_timeout_s` ends an attempt",
        "HANDOFF_DIR": "what is handed over lies in `.whilly/handoff`",
        "AUTO_MERGE": "finished tasks are integrated one by one; `repository.target` says where",
        "MR_TARGET": "`repository.target` says where finished tasks go",
        "GH_BIN": _LATER,
        "GH_PREFER_KEYRING": 'write `token = "keyring:whilly/github"` under `[github]`',
        "DECISION_GATE": _LATER,
        "DECISION_GATE_MODEL": _LATER,
        "VERIFY": "every task is verified; `profile.verify` says how",
        "WEB": _LATER,
        "PR_ON_DONE": _LATER,
        "DECOMPOSE_THRESHOLD": _LATER,
        "LOG_LEVEL": _STATE,
        "MAX_LOG_DIR_SIZE_GB": "what attempts left is in `.whilly/attempts`; remove what you do not need",
        "MAX_TASKS": "`run.max_iterations` limits the attempts of a run",
        "REPO": "it belonged to the predecessor's scripts",
        "LABEL": "it belonged to the predecessor's scripts",
        "PLAN": "it belonged to the predecessor's scripts; name the plan on the command line",
        "DRY_RUN": "it belonged to the predecessor's scripts; use `whilly run --dry-run`",
        "MAX_REVIEW_LOOPS": "it belonged to the predecessor's scripts",
        "PROJECT_URL": "it belonged to the predecessor's scripts; `project_board.url` names a board",
    }
)
"""The predecessor's names that mean nothing any more → why."""

INTERNAL: Final = frozenset(
    {
        "WHILLY_ATTEMPT_ID",
        "WHILLY_REQUIRE_ALL",
        "WHILLY_STATE_DIR",
        "WHILLY_SUPERVISOR",
        "WHILLY_SUPPRESS_DOTENV_WARNING",
        "WHILLY_LOG_PATH",
        "WHILLY_GIT_SHA",
        "WHILLY_HANDOFF_RESULT_PATH",
    }
)
"""Variables that are no settings: marks on processes, and what the predecessor's own processes may have left."""

TEST_PREFIX: Final = "WHILLY_TEST_"
"""Variables of test suites; never settings."""

FLAGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "run.parallel": "--parallel",
        "run.max_iterations": "--max-iterations",
        "run.max_attempts": "--max-attempts",
        "run.budget_usd": "--budget",
        "run.timeout_s": "--timeout",
        "run.headless": "--headless",
        "agent.name": "--agent",
        "agent.model": "--model",
    }
)
"""Settings that `whilly run` takes as flags."""


def variable(key: str) -> str:
    """The variable of a setting: `run.parallel` → `WHILLY_RUN__PARALLEL`."""
    return PREFIX + key.upper().replace(".", "__")
