"""Every kind of finding: when it is made, why it matters, what `--fix` does. The reference is generated from here."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from whilly.cli.doctor.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

FIX = "whilly doctor --fix"


class Kind(NamedTuple):
    """One kind of finding.

    Attributes:
        when: what is the case when it is made.
        why: why that matters.
        severity: as a rule; a check may say otherwise.
        mends: what `--fix` does about it; empty when that is left to people.
    """

    when: str
    why: str
    severity: Severity = Severity.PROBLEM
    mends: str = ""


NOTE = Severity.NOTE

CATALOGUE: Mapping[str, Kind] = MappingProxyType(
    {
        "python_untried": Kind(
            "Python is newer than every version that Whilly is tested with.", "something may not work in it", NOTE
        ),
        "python_unsupported": Kind("Python is older than 3.11.", "Whilly does not run on it"),
        "sqlite_unusable": Kind(
            "Python 3.12 or later is built against an SQLite before 3.42, and `pysqlite3` is missing.",
            "the engine cannot keep its ledger in SQLite",
        ),
        "git_unusable": Kind("git is missing or older than 2.38.", "every task gets its workspace from git"),
        "disk_low": Kind(
            "The disk of `.whilly` has less than 1 GiB free, that of `TMPDIR` less than 256 MiB, or a disk has fewer "
            "than 10,000 free inodes.",
            "every agent has a work tree of its own, and so has every verification: when the disk is full, they fail "
            "half-way",
        ),
        "temporary_unusable": Kind(
            "The directory for temporary files cannot be written.", "agents and checks are given it as TMPDIR"
        ),
        "state_unwritable": Kind(
            "`.whilly` or a file in it cannot be written, for instance after Whilly was run by root.",
            "the ledger and all workspaces are in it",
        ),
        "journal_unusable": Kind(
            "SQLite's write-ahead log does not work on the file system of `.whilly`, as on most network file systems.",
            "several processes share the ledger through it",
        ),
        "repository_unusable": Kind(
            "The repository is bare, has no commit, is damaged, or git does not trust its owner (`safe.directory`).",
            "there is nothing that a workspace could be made from",
        ),
        "base_branch_missing": Kind(
            "The branch that work starts from does not exist or cannot be told.", "tasks start from it"
        ),
        "repository_unusual": Kind(
            "The clone is shallow or sparse, or has submodules or files in Git LFS.",
            "workspaces may hold less than your checkout",
            NOTE,
        ),
        "identity_missing": Kind(
            "git knows no `user.name` or `user.email` for you.",
            "commits name Whilly as their author, and agents cannot commit by themselves",
            NOTE,
        ),
        "state_not_ignored": Kind(
            "git does not ignore `.whilly`.",
            "the ledger and workspaces would be committed with `git add --all`",
            mends="writes `.whilly/.gitignore`, or adds a line to it",
        ),
        "configuration_invalid": Kind("A setting is wrong or unknown.", "`whilly run` does not start"),
        "configuration_warning": Kind(
            "A setting is deprecated, or is the predecessor's and does nothing.", "it does not do what it says", NOTE
        ),
        "setting_for_later": Kind(
            "A setting is one that a later version uses.", "in this version it changes nothing", NOTE
        ),
        "pipeline_invalid": Kind(
            "A file in `.whilly/pipelines` is not a pipeline.", "`whilly run` does not start without its pipelines"
        ),
        "prompt_invalid": Kind(
            "A file in `.whilly/prompts` is not a template.", "no work begins without the prompts of its pipelines"
        ),
        "secret_missing": Kind(
            "A setting refers to a secret that is not there.", "what needs it fails only when it is used"
        ),
        "secret_unreadable": Kind(
            "A setting refers to a secret whose file or store cannot be read.",
            "what needs it fails only when it is used",
        ),
        "keyring_unusable": Kind(
            "A setting refers to the keyring, and there is none, or it is locked.",
            "what needs the secret fails only when it is used",
        ),
        "forge_unusable": Kind(
            "A forge or tracker has no address, no token, or a token that cannot be read.",
            "its issues and pull requests are out of reach",
        ),
        "forge_unreachable": Kind(
            "A forge or tracker that the settings name does not answer, or something else answers at its address.",
            "its issues and pull requests are out of reach",
        ),
        "forge_refuses": Kind("A forge or tracker refuses the token.", "its issues and pull requests are out of reach"),
        "forge_token_weak": Kind(
            "A forge's token may not do everything that Whilly needs.", "what needs it fails only when it is used"
        ),
        "token_shadowed": Kind(
            "Of several tokens that are set for a forge, one does not count, or counts in the place of another.",
            "Whilly may act as somebody else than you mean",
            NOTE,
        ),
        "agent_unknown": Kind("The default agent is none that Whilly knows.", "tasks that name no agent cannot start"),
        "agent_misconfigured": Kind(
            "A table under `[agents]` does not describe an agent.", "`whilly run` needs all of them to be right"
        ),
        "agent_missing": Kind(
            "The default agent, or one that the settings describe (a note), is not installed.",
            "tasks cannot be given to it",
        ),
        "agent_broken": Kind(
            "The default agent is installed and fails or does not answer when asked for its version; a note for others "
            "and for commands of your own.",
            "tasks cannot be given to it",
        ),
        "agent_not_logged_in": Kind(
            "The default agent, or one that the settings describe (a note), is not logged in.",
            "its first session would end the run",
        ),
        "sandbox_unusable": Kind(
            "`agent.isolation` is `contained`, and the sandbox of this machine is missing or does not hold.",
            "an agent that obeys hostile text could do whatever you may, so `whilly run` does not start",
        ),
        "ledger_unreadable": Kind(
            "The ledger cannot be opened, does not answer, or its address is not set.",
            "no command can say where tasks stand",
        ),
        "ledger_damaged": Kind(
            "The ledger is not a database, or what is in it cannot be read.", "no command can say where tasks stand"
        ),
        "ledger_newer": Kind("The ledger was written by a newer Whilly.", "this version would not understand it"),
        "ledger_outdated": Kind(
            "The ledger was written by an older Whilly, or is still empty.",
            "the next command that uses it brings it up to date",
            NOTE,
            "brings it up to date",
        ),
        "ledger_not_examined": Kind(
            "The configuration is invalid, so it is not known where the ledger is.",
            "nothing can be said about plans, workspaces and processes",
            NOTE,
        ),
        "plan_active": Kind(
            "The ledger says that a plan is being worked on, and no Whilly is alive.",
            "`whilly status` shows work that nobody does",
            mends="brings the plan to rest; `whilly run` goes on with it",
        ),
        "plan_file_missing": Kind(
            "A plan of the ledger came from a file that is not there; a note when the plan is over.",
            "it cannot be run again, nor exported",
        ),
        "plan_file_outside": Kind(
            "A plan of the ledger came from a file outside the repository.",
            "whoever clones the repository does not get it",
            NOTE,
        ),
        "work_unreachable": Kind(
            "Tasks are done, and neither the plan's target branch nor its base has their commits or their content.",
            "the branch was deleted or moved back; if nobody meant it, the work is missing",
            NOTE,
        ),
        "plan_name_invalid": Kind("The name of a plan file holds a `:`.", "it cannot be checked out on Windows", NOTE),
        "plan_invalid": Kind("A plan file is not a plan, is empty, or has errors.", "`whilly run` refuses it", NOTE),
        "plan_finished": Kind("Everything in a plan file is done or skipped.", "running it does nothing", NOTE),
        "processes_left": Kind(
            "Processes of an attempt still run, the attempt is not current, and no Whilly is alive.",
            "they use the machine, may cost money, and nobody will look at what they do",
            mends="ends them: TERM, a second, KILL; and makes sure",
        ),
        "processes_waiting": Kind(
            "Agents of an interrupted run are still at work.",
            "`whilly run` goes on with them; until then nobody limits what they cost",
            NOTE,
        ),
        "workspace_orphan": Kind(
            "A workspace belongs to a run that is closed or unknown.",
            "it takes room, and its branch cannot be checked out elsewhere",
            mends="saves what is in it under `refs/whilly/`, then removes it; its branch stays",
        ),
        "workspace_detached": Kind(
            "A directory in `.whilly/worktrees` or `.whilly/checkouts` is no work tree that git knows.",
            "it may hold work that is nowhere else",
            NOTE,
        ),
        "checkout_orphan": Kind(
            "A scratch checkout is left of a verification that is over.",
            "it takes room",
            mends="makes sure that its commits are held by a ref, then removes it",
        ),
        "contained_orphan": Kind(
            "A contained checkout belongs to a run that is closed or unknown.",
            "it takes room",
            mends="packs what is in it in a sandbox, keeps it under `refs/whilly/`, then removes it; its branch stays. "
            "What git may not be given goes to `.whilly/contained/refused`",
        ),
        "contained_scratch": Kind(
            "A clone for checks, or a repository that an agent's work was looked at in, is left of a dead run.",
            "it takes room; nothing in it is work",
            mends="removes it",
        ),
        "contained_refused": Kind(
            "A checkout in `.whilly/contained` holds work that git was not given, or belongs to nobody known.",
            "it may hold work that is nowhere else; its git configuration is an agent's: let no git of yours open it",
            NOTE,
        ),
        "leftover_stuck": Kind(
            "Something in `.whilly/gone` could not be removed: files of another user, as containers make them, or "
            "protected ones.",
            "it takes room; nothing in it is needed any more",
            mends="tries to remove it once more",
        ),
        "worktree_missing": Kind(
            "git has a work tree of Whilly's on its list whose directory is gone.",
            "its branch counts as checked out, so it can be neither moved nor deleted",
            mends="makes sure that its commits are held by a ref, then takes it off the list",
        ),
        "branch_in_the_way": Kind(
            "A branch is called as what Whilly's branches begin with, `whilly` for instance.",
            "git keeps branches like files in folders: none of Whilly's can be made beside it",
        ),
        "branch_unknown": Kind(
            "Branches that begin as Whilly's do belong to no run or plan of the ledger.",
            "they may hold work that was never integrated",
            NOTE,
        ),
        "run_record_stale": Kind(
            "`.whilly/run.json` is of a `whilly run` that is dead.",
            "other programs may take it for alive",
            NOTE,
            "removes the file",
        ),
        "predecessor_left": Kind(
            "There are files of the predecessor.", "nothing uses them any more; they may hold work", NOTE
        ),
        "whilly_at_work": Kind(
            "`--fix` was asked for while a Whilly is alive.", "what looks like a leftover may be in use", NOTE
        ),
        "check_unfinished": Kind("A check did not end within its time limit.", "nothing is known about its subject"),
        "check_failed": Kind("A check failed for a reason that nobody foresaw.", "nothing is known about its subject"),
    }
)
"""Code → kind, in the order of the checks."""


def found(
    code: str, what: str, *, remedy: str = "", subject: str = "", why: str = "", severity: Severity | None = None
) -> Finding:
    """A finding of this kind; without a remedy it is `whilly doctor --fix`."""
    kind = CATALOGUE[code]
    return Finding(
        code=code,
        severity=severity or kind.severity,
        what=what,
        why=why or kind.why,
        remedy=remedy or (FIX if kind.mends else ""),
        subject=subject,
        is_mendable=bool(kind.mends),
    )
