"""What is asked of GitHub in GraphQL, because REST has no way; each is validated against the published schema."""

from __future__ import annotations

from typing import Final

THREADS: Final = """
query Threads($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 50, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { id isResolved path line comments(first: 100) { nodes { databaseId } } }
      }
    }
  }
}
"""

RESOLVE: Final = """
mutation Resolve($thread: ID!) {
  resolveReviewThread(input: {threadId: $thread}) { thread { id isResolved } }
}
"""

READY: Final = """
mutation Ready($pull: ID!) {
  markPullRequestReadyForReview(input: {pullRequestId: $pull}) { pullRequest { id isDraft } }
}
"""

DRAFT: Final = """
mutation Draft($pull: ID!) {
  convertPullRequestToDraft(input: {pullRequestId: $pull}) { pullRequest { id isDraft } }
}
"""

VIEWER: Final = """
query Viewer {
  viewer { login databaseId }
}
"""

DOCUMENTS: Final = (THREADS, RESOLVE, READY, DRAFT, VIEWER)
"""All of them."""
