from __future__ import annotations

import pickle
from datetime import timedelta

from whilly.domain.errors import RateLimited


def test_an_error_survives_pickling_with_its_keyword_arguments() -> None:
    error = pickle.loads(pickle.dumps(RateLimited("slow", remedy="wait", retry_after=timedelta(seconds=5))))  # noqa: S301  (our own bytes)
    assert (str(error), error.retry_after) == ("slow → wait", timedelta(seconds=5))
