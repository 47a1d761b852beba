"""The resume log of a run, and one entry of it."""

from __future__ import annotations

from flask import Blueprint, Response, redirect
from werkzeug.wrappers import Response as Answer

from inspector.build.context import run_href
from inspector.build.resume import number_of, resume_page, resumes_page
from inspector.respond import respond
from inspector.security import PERSON, allow
from inspector.views.request import branch_run, number, reading

pages = Blueprint("resumes", __name__)


@pages.get("/runs/<run:run_id>/resumes")
@allow(PERSON)
def resumes(run_id: str) -> Response | Answer:
    """Every attempt; `?segment=` leads to the one that opened it."""
    with reading() as context:
        row = branch_run(context, run_id)
        found = number_of(context, row, number("segment")) if number("segment") else 0
        if found:
            return redirect(run_href(row.run_id, row.branch, f"/resumes/{found}"), 303)
        return respond("resumes.html", resumes_page(context, row))


@pages.get("/runs/<run:run_id>/resumes/<int:entry>")
@allow(PERSON)
def resume(run_id: str, entry: int) -> Response:
    """One attempt to go on."""
    with reading() as context:
        return respond("resume.html", resume_page(context, branch_run(context, run_id), entry))
