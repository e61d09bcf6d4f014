"""Checks of a commit on Gitea, and the logs of its own actions where its version has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.gitea.endpoint import PAGE
from whilly.adapters.gitea.payloads import read_check
from whilly.transport.http.request import Request

if TYPE_CHECKING:
    from whilly.adapters.gitea.endpoint import GiteaEndpoint
    from whilly.domain.forge.pull_request import Check
    from whilly.transport.http.fields import Fields

LOG_BYTES = 1 << 20
_ABSENT = frozenset({404})
"""Also what a version without this part of the API answers."""


async def fetch_checks(endpoint: GiteaEndpoint, repository: str, commit: str) -> tuple[Check, ...]:
    """The newest result of each check."""
    found: list[Fields] = []
    page = 1
    while True:
        path = f"/repos/{repository}/commits/{commit}/status"
        data = await endpoint.http.fetch(path, limit=PAGE, page=page)
        statuses = data.children("statuses")
        found += statuses
        if not statuses or len(found) >= data.number("total_count"):
            break
        page += 1
    return tuple(read_check(data, endpoint.place) for data in found)


async def fetch_job_log(endpoint: GiteaEndpoint, repository: str, commit: str, check: Check) -> str:
    """The end of a job's log; what the check says about itself when there is none."""
    job = await _find_job(endpoint, repository, commit, check.log) if check.log else ""
    if not job:
        return check.summary
    path = f"/repos/{repository}/actions/jobs/{job}/logs"
    request = Request("GET", path, is_json=False, keeps_end=LOG_BYTES, accept=_ABSENT)
    answer = await endpoint.http.send(request)
    return answer.text if answer.is_success else check.summary


async def _find_job(endpoint: GiteaEndpoint, repository: str, commit: str, place: str) -> str:
    """The id of a job, which the check's address names by numbers that people see."""
    run_number, _, position = place.partition("/")
    path = f"/repos/{repository}/actions/runs"
    listed = await endpoint.http.fetch(path, accept=_ABSENT, head_sha=commit, limit=PAGE)
    runs = [run for run in listed.children("workflow_runs") if run_number in {run.text("run_number"), run.text("id")}]
    if not runs:
        return ""
    jobs = (await endpoint.http.fetch(f"{path}/{runs[0].need('id')}/jobs", accept=_ABSENT)).children("jobs")
    by_id = [job.text("id") for job in jobs if job.text("id") == position]
    at_position = [job.text("id") for index, job in enumerate(jobs) if str(index) == position]
    return (by_id or at_position or [""])[0]
