"""Does the page follow a run, and does a decision reach it?"""

from __future__ import annotations

import json
import re
import sqlite3

from playwright.sync_api import Browser, expect

from tests.browser.conftest import Served, enter, program, waypost


def test_a_person_approves_in_place_and_the_next_resume_uses_it(browser: Browser, own: Served) -> None:
    page = enter(browser, own)
    page.goto("/")
    page.get_by_role("link", name="Answer a question").click()
    expect(page.locator("#request")).to_contain_text("publish the report?")
    approve = page.get_by_role("button", name=re.compile("Approve"))
    approve.click()
    expect(page.get_by_role("button", name=re.compile("Yes, approve"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(approve).to_be_visible()
    page.keyboard.press("a")
    page.keyboard.press("a")
    expect(page.locator(".strips")).to_contain_text(
        "Approved. The next resume uses it once. Signed as maya.t."
    )
    store = sqlite3.connect(own.home / "waypost.db")
    assert store.execute(
        "SELECT state, decided_by FROM approval WHERE run_id = ?", (own.run_id,)
    ).fetchall() == [("approved", "maya.t")]
    store.close()
    page.goto("/")
    expect(page.locator("table.runs")).to_contain_text("awaiting approval")


def test_a_denial_asks_for_a_reason_first(browser: Browser, own: Served) -> None:
    page = enter(browser, own)
    page.goto("/inbox")
    page.keyboard.press("x")
    expect(page.locator("[name=why]")).to_be_focused()
    page.keyboard.type("not before the review")
    page.get_by_role("button", name=re.compile("Deny")).click()
    page.get_by_role("button", name=re.compile("Yes, deny")).click()
    expect(page.locator(".strips")).to_contain_text("Denied.")
    found = waypost(own.home, "show", own.run_id, "--json")
    assert found.returncode == 0, found.stderr


def test_a_new_run_appears_without_a_reload_and_the_page_holds_still_while_somebody_types(
    browser: Browser, own: Served
) -> None:
    page = enter(browser, own)
    page.goto("/")
    page.evaluate("window.stays = true")
    expect(page.locator("[data-row]")).to_have_count(2)  # the audit, and the one that was never killed
    program(own.home, "fresh", "3")
    expect(page.locator("#run-fresh")).to_be_visible()
    page.locator("#filter").focus()
    expect(page.locator("#live")).to_have_class(re.compile("held"))
    program(own.home, "later", "2")
    expect(page.locator("#live")).to_contain_text("Held")
    expect(page.locator("#run-later")).to_have_count(0)
    page.locator("#live").click()
    expect(page.locator("#run-later")).to_be_visible()
    assert page.evaluate("window.stays") is True


def test_five_thousand_checkpoints_stay_small_and_all_can_be_reached(browser: Browser, long: Served) -> None:
    page = enter(browser, long)
    page.goto("/runs/long")
    page.wait_for_selector("plotly-figure .main-svg")
    total = int(page.locator("#rail header .num").inner_text().replace(",", ""))
    assert total >= 5_000
    expect(page.locator(".rail a[data-seq]")).to_have_count(200)
    expect(page.locator(".rail-note")).to_have_text(f"200 of {total:,} shown")
    expect(page.locator("#timeline")).to_contain_text("one mark stands for")
    assert page.evaluate("document.querySelectorAll('*').length") < 5_000
    assert page.evaluate("performance.memory.usedJSHeapSize") < 150_000_000
    page.get_by_role("link", name="Older checkpoints").click()
    expect(page.locator(".rail a[data-seq]")).to_have_count(400)
    expect(page.locator(".rail-note")).to_have_text(f"400 of {total:,} shown")
    page.get_by_role("link", name=re.compile("^Newest")).click()
    page.wait_for_selector("plotly-figure .main-svg")
    expect(page.locator("#timeline")).not_to_contain_text("one mark stands for")
    page.goto("/runs/long?c=1")
    expect(page.locator("#detail h2")).to_have_text("Checkpoint 1")
    expect(page.locator(".rail a[data-seq='1']")).to_be_in_viewport()


def test_the_launch_link_works_once(browser: Browser, own: Served) -> None:
    enter(browser, own)
    other = browser.new_context().new_page()
    other.goto(own.link)
    expect(other.get_by_role("heading", level=1)).to_have_text("This browser has not been let in yet")
    other.goto(own.url)
    expect(other.locator("main")).to_contain_text("waypost inspect")
    assert json.loads((own.home / "result.json").read_text("utf-8"))["run_id"] not in other.content()
