"""The commands, by name. A command's module is imported when the command is used, never for `--help`."""

from __future__ import annotations

from typing import NamedTuple


class Lazy(NamedTuple):
    """A command that is imported when it is used.

    Attributes:
        target: `module:attribute` of a `click.Command`.
        help: one line for the list of commands.
    """

    target: str
    help: str


COMMANDS: dict[str, Lazy] = {
    "init": Lazy("whilly.cli.configure.init:init", "Set up Whilly in this repository."),
    "run": Lazy("whilly.cli.work.run:run", "Work through a plan."),
    "prd": Lazy("whilly.cli.prd.prd:prd", "Let an agent describe an idea, and make a plan of that."),
    "plan": Lazy("whilly.cli.plan.plan:plan", "Challenge a plan before it costs anything."),
    "import": Lazy("whilly.cli.intake.import_issues:import_issues", "Make tasks of a plan file from issues."),
    "forge": Lazy("whilly.cli.forge.forge:forge", "Turn an issue into a pull request, and look after that."),
    "status": Lazy("whilly.cli.inspect.status:status", "Show where a plan stands."),
    "why": Lazy("whilly.cli.inspect.why:why", "Say why a task is where it is."),
    "timeline": Lazy("whilly.cli.inspect.timeline:timeline", "Show everything that has happened to a task."),
    "logs": Lazy("whilly.cli.inspect.logs:logs", "Show what the agents of a task did."),
    "attach": Lazy("whilly.cli.inspect.attach:attach", "Read along while agents work."),
    "report": Lazy("whilly.cli.inspect.report:report", "Report a plan: outcomes, attempts, time, cost."),
    "cancel": Lazy("whilly.cli.steer.cancel:cancel", "Cancel a task."),
    "stop": Lazy("whilly.cli.steer.stop:stop", "End what is being done for a task; it can go on later."),
    "say": Lazy("whilly.cli.steer.say:say", "Tell something to whoever works on a task next."),
    "retry": Lazy("whilly.cli.steer.retry:retry", "Let tasks go on that failed or wait for a person."),
    "accept": Lazy("whilly.cli.steer.accept:accept", "Agree to a change that a person has to look at."),
    "handoff": Lazy("whilly.cli.handoff.handoff:handoff", "Take work that is handed to people, and give it back."),
    "export": Lazy("whilly.cli.steer.export:export", "Print a plan file with the ledger's statuses."),
    "reset": Lazy("whilly.cli.steer.reset:reset", "Make every task of a plan pending again."),
    "doctor": Lazy("whilly.cli.doctor.doctor:doctor", "Look for what is wrong here, and mend it."),
    "agents": Lazy("whilly.cli.configure.agents:agents", "Show which agent CLIs there are."),
    "config": Lazy("whilly.cli.configure.config:config", "Show, edit and migrate settings."),
}
"""In the order of the list that people see."""
