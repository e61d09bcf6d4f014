"""Settings of trackers and boards."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from whilly.config.tables.fields import SENSITIVE, SecretReference, Section


class GithubSettings(Section):
    """GitHub: the token for github.com. The rest is accepted now and used by a later version."""

    token: SecretReference = Field(
        default="",
        json_schema_extra=SENSITIVE,
        description="Reference to the token for github.com: `keyring:whilly/github`, `env:NAME`. Without one, "
        "`GH_TOKEN`, `GITHUB_TOKEN` and the login of `gh` are tried, in this order.",
    )
    auto_close: bool = Field(default=True, description="Close an issue when its task is done.")
    add_comments: bool = Field(default=True, description="Comment on an issue when its task is done.")


class JiraSettings(Section):
    """Jira; accepted now, used by the Jira adapter of a later version."""

    server_url: str = Field(default="", description="Address of the server.")
    username: str = Field(default="", description="Name of the account.")
    token: SecretReference = Field(
        default="",
        json_schema_extra=SENSITIVE,
        description="Reference to the API token: `keyring:whilly/jira`, `env:NAME`.",
    )
    enabled: bool = Field(default=False, description="Close tickets of tasks that are done.")
    enable_board_sync: bool = Field(default=False, description="Move tickets along the board.")
    auto_close: bool = Field(default=True, description="Make the transition when a task is done.")
    add_comments: bool = Field(default=True, description="Comment on a ticket when its task is done.")
    transition_to: str = Field(default="Done", description="Name of the transition for a task that is done.")
    status_mapping: Mapping[str, str] = Field(default_factory=dict, description="Whilly's status → Jira's status.")


class ProjectBoardSettings(Section):
    """A GitHub project board; accepted now, used by the board sync of a later version."""

    url: str = Field(default="", description="Address of the board.")
    enabled: bool = Field(default=True, description="Keep the board in step, if there is one.")
    default_repo: str = Field(default="", description="`owner/name` of the repository that issues are made in.")
    status_mapping: Mapping[str, str] = Field(default_factory=dict, description="Whilly's status → the board's column.")
