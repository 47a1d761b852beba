"""Does a reviewer see at once what the resumed agent did otherwise, and is what they say kept, once?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.divergence_live.conftest import MIND, alerts, audit, entries, given, stopped
from tests.inspector.conftest import OURS, known, served
from tests.inspector.test_pages import read
from tracer import Paused, Ruling, approvals, configure
from tracer.contract import DecisionKind
from tracer.recorder import recorder, reset
from tracer.store import read as stored
from tracer.store.engine import Store

EVIL = "<script>document.title='taken'</script>\u202egnp sk-abcdefghijklmnop1234567890"


@pytest.fixture(scope="module")
def diverged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two models and four runs: one that waits because of what it did, one that kept its course, one that
    diverged twice, and one whose call was held before it was sent."""
    MIND.__init__()  # type: ignore[misc]
    home = tmp_path_factory.mktemp("diverged") / ".waypost"
    reset()
    configure(home=str(home))
    for name in ("model-1", "model-2"):
        audit().start_or_resume(name, given())
    made = stopped(ruling=Ruling.REAPPROVE)
    MIND.other = {"mailkit": EVIL}
    with pytest.raises(Paused):
        made.start_or_resume("audit-1")
    MIND.other = {}
    stopped(run_id="audit-2").start_or_resume("audit-2")
    made = stopped(ruling=Ruling.REAPPROVE, run_id="audit-4")
    MIND.other = {"mailkit": EVIL.rpartition(" ")[0]}
    with pytest.raises(Paused, match="exactly this call"):
        made.start_or_resume("audit-4")
    MIND.other = {}
    made = stopped(run_id="audit-3")
    MIND.other, MIND.extra = {"mailkit": "gtk"}, "qrlib"
    made.start_or_resume("audit-3")
    MIND.__init__()  # type: ignore[misc]
    reset()
    return home


@pytest.fixture
def app(diverged: Path, tmp_path: Path) -> Iterator[Flask]:
    """The inspector over a copy of that store."""
    import shutil

    home = Path(shutil.copytree(diverged, tmp_path / ".waypost"))
    reset()
    configure(home=str(home))
    yield from served(home)
    reset()


@pytest.fixture
def person(app: Flask) -> FlaskClient:
    """A browser whose session was opened by maya."""
    return known(app)


def page(person: FlaskClient, address: str) -> str:
    answer = person.get(address, headers=OURS)
    assert answer.status_code == 200, answer.text[:1000]
    return answer.text


def token(html: str) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', html)
    assert found is not None
    return found[1]


def send(person: FlaskClient, address: str, html: str, **form: str) -> int:
    answer = person.post(address, data={"csrf_token": token(html), **form}, headers=OURS)
    return answer.status_code


ADDRESSES = (
    "/alerts",
    "/alerts?state=open",
    "/alerts?state=muted",
    "/alerts?state=nonsense",
    "/runs/audit-1/divergence",
    "/runs/audit-2/divergence",
    "/runs/audit-3/divergence?with=attempt",
    "/runs/audit-3/divergence?pair=a8&with=model-2",
    "/runs/audit-3/divergence?start=3&segment=2",
    "/runs/audit-4/divergence",
    "/runs/audit-4/divergence?pair=a6",
    "/runs/model-1/divergence",
    "/compare/model-1...audit-3",
    "/compare/audit-1...model-2?pair=b6",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_page_is_whole_and_nothing_in_it_acts(person: FlaskClient, address: str) -> None:
    for headers in (OURS, {**OURS, "HX-Request": "true"}):
        answer = person.get(address, headers=headers)
        assert answer.status_code == 200, answer.text[:1000]
        found = read(answer.text)
        assert found.acts == []
        assert len(found.ids) == len(set(found.ids))
        assert "\u202e" not in answer.text
        assert "<script>document" not in answer.text
        assert "sk-abcdefghijklmnop" not in answer.text


def test_the_list_has_what_waits_in_front_and_counts_as_the_store_does(person: FlaskClient) -> None:
    html = page(person, "/alerts")
    assert html.count("data-row") == 3
    assert "3 open" in html
    assert 'class="count odd">3' in html
    assert "3 of 3 alerts" in html
    assert "audit-2" not in html


def test_the_tape_shows_each_pair_with_its_verdict_and_the_reasons_beside_their_calls(
    person: FlaskClient,
) -> None:
    html = page(person, "/runs/audit-3/divergence")
    assert html.count("data-pair=") == 11
    assert "11 pairs: 9 same, 2 differ" in html
    pair = html[html.index('data-pair="a6"') - 200 : html.index('data-pair="a7"')]
    assert 'aria-current="true"' in pair
    assert "arguments" in pair
    assert "dist: mailkit → gtk" in pair
    assert "write.repeated" in pair
    closed = html[html.index('data-pair="a9"') : html.index('data-pair="a10"')]
    assert "no partner" in closed
    assert "write.outside_plan" in closed
    fields = html[html.index('data-fields="a6"') : html.index('data-fields="a7"')]
    assert "<del>mailkit</del>" in fields
    assert "<ins>gtk</ins>" in fields
    assert "hidden" not in fields[:30]
    assert "score = 1 − (1 −" in html
    assert "model-1" in html


def test_what_the_dead_process_had_done_is_a_tape_of_its_own_with_dashed_calls(person: FlaskClient) -> None:
    html = page(person, "/runs/audit-3/divergence?with=attempt")
    assert "call ghost" in html
    assert "lost with its process" in html
    assert "given back, not sent" in html


def test_a_run_that_kept_its_course_says_so_and_with_what_it_was_compared(person: FlaskClient) -> None:
    html = page(person, "/runs/audit-2/divergence")
    assert "The run keeps its course" in html
    assert "10 pairs: 10 same, 0 differ" in html
    assert "Acknowledge" not in html


def test_a_run_with_nothing_to_compare_with_is_never_called_quiet(person: FlaskClient) -> None:
    html = page(person, "/runs/model-1/divergence")
    assert "Not enough evidence" in html
    assert "keeps its course" not in html


def question(run_id: str) -> str:
    """Id of the one question that a run asks."""
    with recorder().store.reader.connect() as connection:
        (asked,) = stored.approvals(connection, run_id=run_id)
    return asked.approval_id


def test_a_held_call_is_said_to_be_held_and_leads_to_no_call_that_was_never_made(person: FlaskClient) -> None:
    html = page(person, "/runs/audit-4/divergence")
    head, why = html.partition("<h1")[2].partition("</header>")[0], html.partition("<h2>Why</h2>")[2]
    assert "Held, not sent. If sent: open_ticket has dist" in head
    assert "the call waits" in head
    assert re.search(r"Raised after resume 1, before <code>open_ticket [^<]+</code> was sent", head)
    table = why.partition("</table>")[0]
    assert "<code><bdi>open_ticket " in table
    assert "<a " not in table
    assert "This lets exactly the held call be sent, once." in why
    shown = page(person, f"/inbox/{question('audit-4')}")
    assert read(shown).acts == []
    assert "May exactly this call be sent?" in shown
    assert "Exactly this will run" in shown
    assert "copyleft" in shown
    assert "Held, not sent. If sent: open_ticket has dist" in page(person, "/alerts")


def test_after_a_no_the_page_does_not_promise_that_the_call_is_sent(person: FlaskClient) -> None:
    approvals.decide(recorder().journal, question("audit-4"), DecisionKind.DENY, who="maya")
    html = page(person, "/runs/audit-4/divergence")
    assert "lets exactly the held call" not in html
    assert "It does not resume, approve or send anything." in html


def test_an_acknowledgement_is_signed_kept_and_frees_the_run_that_waits(person: FlaskClient) -> None:
    html = page(person, "/runs/audit-1/divergence")
    assert "The run waits for this" in html
    (alert,) = alerts("audit-1")
    address = f"/alerts/{alert.alert_id}/acknowledge"
    assert send(person, address, html, why="  ", judgement="true") == 400
    assert send(person, address, html, why="a\u202eb", judgement="true") == 400
    assert send(person, address, html, why="seen", judgement="whatever") == 400
    assert send(person, address, html, why="seen by me", judgement="true") == 303
    html = page(person, f"/runs/audit-1/divergence?alert={alert.alert_id}&done=acknowledged")
    assert "seen by me" in html
    assert "by maya" in html
    ((_, body),) = [one for one in entries("decision", "audit-1") if one[0] == "acknowledge"]
    assert (body["who"], body["how"]) == ("maya", "inspector session on loopback, by launch link")
    assert (
        send(person, address, html + '<input name="csrf_token" value="x">', why="again", judgement="true")
        != 303
    )
    assert 'class="count odd">2' in html


def test_a_post_without_the_token_or_from_elsewhere_changes_nothing(person: FlaskClient) -> None:
    (alert,) = alerts("audit-1")
    address = f"/alerts/{alert.alert_id}/acknowledge"
    form = {"why": "seen", "judgement": "true"}
    assert person.post(address, data=form, headers=OURS).status_code == 400
    elsewhere = {**OURS, "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert person.post(address, data=form, headers=elsewhere).status_code == 403
    assert alerts("audit-1")[0].state == "open"


def test_a_shape_is_muted_listed_and_unmuted(person: FlaskClient) -> None:
    html = page(person, "/runs/audit-3/divergence")
    (alert,) = alerts("audit-3")
    shape = re.search(r'name="shape" value="(write\.outside_plan[^"]*)"', html)
    assert shape is not None
    assert send(person, f"/alerts/{alert.alert_id}/mute", html, shape=shape[1], why="") == 400
    assert send(person, f"/alerts/{alert.alert_id}/mute", html, shape=shape[1], why="the new tool") == 303
    listed = page(person, "/alerts?done=muted")
    assert "Muted shapes" in listed
    assert "by maya" in listed
    assert "the new tool" in listed
    here = page(person, "/runs/audit-3/divergence")
    assert "muted by maya" in here
    values = {"agent": "licence-audit", "plan": "3", "shape": shape[1]}
    assert send(person, "/alerts/unmute", listed, **values) == 303
    assert "Muted shapes" not in page(person, "/alerts?done=unmuted")
    assert send(person, "/alerts/unmute", listed, **values) == 404
    assert [mark for mark, _ in entries("decision", "audit-3")] == ["mute", "unmute"]


def test_two_runs_are_laid_beside_each_other_and_can_be_turned_round(person: FlaskClient) -> None:
    html = page(person, "/compare/model-1...audit-3")
    assert "audit-3 beside model-1" in html
    assert "/compare/audit-3...model-1" in html
    assert html.count("data-pair=") == 11
    assert person.get("/compare/model-1...nobody", headers=OURS).status_code == 404
    assert person.get("/runs/audit-3/divergence?alert=none", headers=OURS).status_code == 404


def test_the_run_and_the_list_of_runs_lead_to_the_alert(person: FlaskClient) -> None:
    assert "/runs/audit-3/divergence" in page(person, "/runs/audit-3")
    listed = page(person, "/?q=alerts:>0")
    assert "/runs/audit-3/divergence" in listed
    assert "Read the alert" in listed


def test_the_list_without_alerts_shows_lines_that_are_python(tmp_path: Path) -> None:
    import ast

    from inspector.build.alerts import EXAMPLE

    Store.open(tmp_path / "empty" / "waypost.db").close()
    for app in served(tmp_path / "empty"):
        html = page(known(app), "/alerts")
        assert "No resumed agent has done something else" in html
        assert "ResumePolicy(divergence" in html
    ast.parse(EXAMPLE)


def test_a_long_run_is_shown_a_window_at_a_time(tmp_path: Path) -> None:
    reset()
    home = tmp_path / "long"
    configure(home=str(home))
    todo = [f"dist-{number:04}" for number in range(150)]
    long = given().model_copy(update={"todo": todo})
    audit().start_or_resume("model-1", long)
    made = audit()
    MIND.stop_at = todo[3]
    with pytest.raises(Exception, match="dist-0003"):
        made.start_or_resume("audit-1", long)
    MIND.stop_at, MIND.other = "", {todo[120]: "elsewhere"}
    made.start_or_resume("audit-1", long)
    MIND.other = {}
    reset()
    for app in served(home):
        person = known(app)
        html = page(person, "/runs/audit-1/divergence")
        assert "dist: dist-0120 → elsewhere" in html
        assert html.count("data-pair=") <= 48
        assert "48 of 300 places shown" in html
        later = re.search(r'rel="prev" href="([^"]+)"', html)
        assert later is not None
        before = page(person, later[1].replace("&amp;", "&").split("#")[0])
        assert "Next difference, at" in before
