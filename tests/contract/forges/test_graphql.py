"""What is sent to GitHub in GraphQL is valid by the published schema, and our server's schema is a part of that."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphql import GraphQLSchema, build_schema, parse, validate
from graphql.utilities import find_breaking_changes

from whilly.adapters.github.documents import DOCUMENTS
from whilly.testing.forges.github.graphql import SCHEMA

PUBLISHED = Path(__file__).parents[3] / ".agents/node_modules/@octokit/graphql-schema/schema.graphql"


@pytest.fixture(scope="module")
def published() -> GraphQLSchema:
    if not PUBLISHED.is_file():
        pytest.skip("no published schema → scripts/install_agents.sh")
    # It defines two fields twice and deprecates some that its interfaces do not: no difference for what we ask.
    return build_schema(PUBLISHED.read_text(encoding="utf-8"), assume_valid=True)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_document_is_valid(published: GraphQLSchema, document: str) -> None:
    assert validate(published, parse(document)) == []
    assert validate(build_schema(SCHEMA), parse(document)) == []


def test_a_document_that_is_not_valid_is_found(published: GraphQLSchema) -> None:
    assert validate(published, parse(DOCUMENTS[0].replace("isResolved", "resolved"))) != []


def test_our_servers_schema_is_a_part_of_the_published_one(published: GraphQLSchema) -> None:
    ours = build_schema(SCHEMA)
    changes = find_breaking_changes(ours, published)
    assert [change.description for change in changes if "User." not in change.description] == []
