"""The part of GitHub's GraphQL that REST has no way for; any document over this part of the schema is executed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, final

from whilly.testing.forges.serving import find_caller
from whilly.testing.forges.wire import Call, Json, Reply

if TYPE_CHECKING:
    from graphql import GraphQLSchema

    from whilly.testing.forges.hub import Hub, Remark, Ticket

SCHEMA = """
type Query { repository(owner: String!, name: String!, followRenames: Boolean = true): Repository, viewer: User! }
type User { login: String!, databaseId: Int }
type Repository { pullRequest(number: Int!): PullRequest }
type PullRequest {
  id: ID!, number: Int!, isDraft: Boolean!
  reviewThreads(after: String, before: String, first: Int, last: Int): PullRequestReviewThreadConnection!
}
type PageInfo { hasNextPage: Boolean!, endCursor: String }
type PullRequestReviewThreadConnection { pageInfo: PageInfo!, nodes: [PullRequestReviewThread] }
type PullRequestReviewThread {
  id: ID!, isResolved: Boolean!, path: String!, line: Int
  comments(after: String, before: String, first: Int, last: Int, skip: Int): PullRequestReviewCommentConnection!
}
type PullRequestReviewCommentConnection { nodes: [PullRequestReviewComment] }
type PullRequestReviewComment { databaseId: Int, body: String! }
type Mutation {
  resolveReviewThread(input: ResolveReviewThreadInput!): ResolveReviewThreadPayload
  markPullRequestReadyForReview(input: MarkPullRequestReadyForReviewInput!): MarkPullRequestReadyForReviewPayload
  convertPullRequestToDraft(input: ConvertPullRequestToDraftInput!): ConvertPullRequestToDraftPayload
}
input ResolveReviewThreadInput { clientMutationId: String, threadId: ID! }
input MarkPullRequestReadyForReviewInput { clientMutationId: String, pullRequestId: ID! }
input ConvertPullRequestToDraftInput { clientMutationId: String, pullRequestId: ID! }
type ResolveReviewThreadPayload { clientMutationId: String, thread: PullRequestReviewThread }
type MarkPullRequestReadyForReviewPayload { clientMutationId: String, pullRequest: PullRequest }
type ConvertPullRequestToDraftPayload { clientMutationId: String, pullRequest: PullRequest }
"""


@cache
def _schema() -> GraphQLSchema:
    from graphql import build_schema  # noqa: PLC0415  (only who needs it pays for it)

    return build_schema(SCHEMA)


@final
class GraphQL:
    """Executes documents on what the hub holds."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def answer(self, call: Call) -> Reply:
        """The data, or the errors, with status 200 as GitHub has it."""
        from graphql import graphql_sync  # noqa: PLC0415  (only who needs it pays for it)

        if find_caller(self._hub, call) is None:
            return Reply(401, {"message": "Bad credentials"})
        done = graphql_sync(
            _schema(),
            str(call.data.get("query")),
            root_value=_Root(self._hub),
            variable_values=call.data.get("variables"),
        )
        errors = [
            {"type": getattr(each.original_error, "kind", "INVALID"), "message": each.message}
            for each in done.errors or ()
        ]
        return Reply(data={"data": done.data, **({"errors": errors} if errors else {})})


class _Absent(Exception):
    kind = "NOT_FOUND"


class _Root:
    """The fields of queries and mutations, called by the library by their names."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def viewer(self, _: Any) -> Json:  # noqa: ANN401  (the library's context)
        user = self._hub.users["whilly-bot"]
        return {"login": user.login, "databaseId": user.id}

    def repository(self, _: Any, owner: str, name: str, **__: object) -> Json:  # noqa: ANN401  (the library's context)
        repo = self._hub.repos.get(f"{owner}/{name}")
        if repo is None:
            message = f"Could not resolve to a Repository with the name '{owner}/{name}'."
            raise _Absent(message)
        return {"pullRequest": lambda _, number: _render_pull(repo.tickets[number])}

    def resolveReviewThread(self, _: Any, input: Json) -> Json:  # noqa: A002, ANN401, N802  (the schema's names)
        for ticket in self._tickets():
            for remark in ticket.pull.remarks if ticket.pull else ():
                if f"PRRT_{remark.first}" == input["threadId"]:
                    remark.is_resolved = True
                    return {"thread": _render_thread([remark])}
        message = f"Could not resolve to a node with the global id of '{input['threadId']}'"
        raise _Absent(message)

    def markPullRequestReadyForReview(self, _: Any, input: Json) -> Json:  # noqa: A002, ANN401, N802  (the schema's names)
        return self._set_draft(input, is_draft=False)

    def convertPullRequestToDraft(self, _: Any, input: Json) -> Json:  # noqa: A002, ANN401, N802  (the schema's names)
        return self._set_draft(input, is_draft=True)

    def _set_draft(self, given: Json, *, is_draft: bool) -> Json:
        for ticket in self._tickets():
            if ticket.pull and f"PR_{ticket.id}" == given["pullRequestId"]:
                ticket.pull.is_draft, ticket.updated = is_draft, self._hub.now()
                return {"pullRequest": _render_pull(ticket), "clientMutationId": given.get("clientMutationId")}
        message = f"Could not resolve to a node with the global id of '{given['pullRequestId']}'"
        raise _Absent(message)

    def _tickets(self) -> list[Ticket]:
        return [ticket for repo in self._hub.repos.values() for ticket in repo.tickets.values()]


def _render_pull(ticket: Ticket) -> Json:
    pull = ticket.pull
    remarks = pull.remarks if pull else []
    first = [remark for remark in remarks if remark.first == remark.id]
    threads = [_render_thread([each for each in remarks if each.first == start.id]) for start in first]

    def review_threads(_: Any, first: int = 0, after: str | None = None, **__: object) -> Json:  # noqa: ANN401  (the library's context)
        begin = int(after or 0)
        end = begin + first
        return {"nodes": threads[begin:end], "pageInfo": {"hasNextPage": end < len(threads), "endCursor": str(end)}}

    is_draft = pull is not None and pull.is_draft
    return {"id": f"PR_{ticket.id}", "number": ticket.number, "isDraft": is_draft, "reviewThreads": review_threads}


def _render_thread(remarks: list[Remark]) -> Json:
    start = remarks[0]
    nodes = [{"databaseId": remark.id, "body": remark.body} for remark in remarks]
    return {
        "id": f"PRRT_{start.first}",
        "isResolved": any(remark.is_resolved for remark in remarks),
        "path": start.path,
        "line": start.line,
        "comments": lambda _, **__: {"nodes": nodes},
    }
