"""Does every page of a killed and resumed run work for whoever looks at it?"""

from __future__ import annotations

import json
import sqlite3
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Served, enter

PAGES = (
    "/",
    "/?q=state:interupted",
    "/runs/{run}",
    "/runs/{run}?axis=clock",
    "/runs/{run}/c/14",
    "/runs/{run}/c/14?tab=state",
    "/runs/{run}/c/14?tab=calls",
    "/runs/{run}/c/14?tab=trace",
    "/runs/{run}/c/14?tab=raw",
    "/runs/{run}/diff/13...15",
    "/runs/{run}/diff/13...15?layout=unified",
    "/runs/{run}/resumes",
    "/runs/{run}/resumes/1",
    "/runs/{run}/calls",
    "/runs/{run}/calls/1",
    "/runs/{run}/divergence",
    "/runs/{run}/divergence?with=attempt",
    "/compare/{run}-never-killed...{run}",
    "/alerts",
    "/inbox",
    "/runs/nobody",
)


def settled(page: Page) -> None:
    """The figure, where there is one, is drawn."""
    if page.locator("plotly-figure").count():
        page.wait_for_selector("plotly-figure .main-svg")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 360)])
def test_pages_are_accessible_and_break_no_rule_of_their_own(
    browser: Browser, demo: Served, scheme: Literal["light", "dark"], width: int
) -> None:
    page = enter(browser, demo, color_scheme=scheme, viewport={"width": width, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console", lambda said: errors.append(said.text) if "Content Security Policy" in said.text else None
    )
    for address in PAGES:
        page.goto(address.format(run=demo.run_id))
        settled(page)
        found = Axe().run(page).response["violations"]
        assert [(v["id"], v["nodes"][0]["html"]) for v in found] == [], address
    assert errors == []
    page.context.close()


def test_no_page_is_wider_than_its_screen(browser: Browser, demo: Served) -> None:
    page = enter(browser, demo)
    for address in PAGES:
        page.goto(address.format(run=demo.run_id))
        for width in (360, 768, 1000, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (
                f"{address} at {width}"
            )
    page.context.close()


def test_counts_on_the_pages_equal_the_store(browser: Browser, demo: Served) -> None:
    store = sqlite3.connect(demo.home / "waypost.db")

    def count(question: str) -> int:
        return int(store.execute(f"SELECT count(*) FROM {question}", (demo.run_id,)).fetchone()[0])

    checkpoints = count("entry WHERE run_id = ? AND sequence IS NOT NULL")
    calls = count('"call" WHERE run_id = ?')
    resumes = count("entry WHERE run_id = ? AND kind = 'resume'")
    store.close()
    assert checkpoints == json.loads((demo.home / "result.json").read_text("utf-8"))["checkpoints"]
    page = enter(browser, demo)
    page.goto(f"/runs/{demo.run_id}")
    settled(page)
    expect(page.locator(".rail a[data-seq]")).to_have_count(checkpoints)
    expect(page.locator(".foot .end")).to_have_text(
        f"{checkpoints} of {checkpoints} checkpoints, {calls} of {calls} calls"
    )
    expect(page.locator(".rail .seam")).to_have_count(resumes)
    ticks = page.evaluate("document.querySelector('.draw').data.find(t => t.name === 'checkpoints').x.length")
    assert ticks == checkpoints
    page.goto(f"/runs/{demo.run_id}/calls")
    expect(page.locator("[data-row]")).to_have_count(min(calls, 200))
    expect(page.locator(".pager")).to_contain_text(f"{min(calls, 200)} of {calls} calls shown")


def test_a_crash_is_seen_in_the_figure_and_in_the_rail(browser: Browser, demo: Served) -> None:
    page = enter(browser, demo)
    page.goto(f"/runs/{demo.run_id}")
    settled(page)
    expect(page.locator(".draw")).to_contain_text("interrupted")
    expect(page.locator(".draw")).to_contain_text("ghost of segment 1")
    expect(page.locator(".rail .seam")).to_contain_text("process died")
    page.get_by_role("button", name="Numbers").click()
    expect(page.locator("#numbers")).to_contain_text("Segment 2")
    page.get_by_role("link", name="segment 2").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Resume 1")


def test_keys_walk_the_rail_open_the_difference_and_the_help(browser: Browser, demo: Served) -> None:
    page = enter(browser, demo)
    page.goto(f"/runs/{demo.run_id}?c=20")
    heading = page.locator("#detail h2")
    expect(heading).to_have_text("Checkpoint 20")
    page.keyboard.press("j")
    expect(heading).to_have_text("Checkpoint 19")
    assert page.url.endswith("?c=19")
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(heading).to_have_text("Checkpoint 21")
    page.keyboard.press("J")
    expect(heading).to_have_text("Checkpoint 20")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.keyboard.press("]")
    expect(page.locator("#detail details[open]").first).to_be_visible()
    page.keyboard.press("[")
    expect(page.locator("#detail details[open]")).to_have_count(0)
    page.keyboard.press("d")
    page.wait_for_url("**/diff/19...20")
    page.keyboard.press("n")
    expect(page.locator(".row.here")).to_have_count(1)
    page.keyboard.press("u")
    page.wait_for_url("**layout=unified")
    page.keyboard.press("g")
    page.keyboard.press("a")
    page.wait_for_url("**/inbox")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url(f"{demo.url}/")
    page.keyboard.press("/")
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.type("jkd?")
    expect(page.locator("#filter")).to_have_value("jkd?")


def test_the_theme_is_kept_and_the_figure_follows_it(browser: Browser, demo: Served) -> None:
    page = enter(browser, demo, color_scheme="light")
    page.goto(f"/runs/{demo.run_id}")
    settled(page)

    def ink() -> str:
        return str(page.evaluate("document.querySelector('.draw').layout.font.color"))

    light = ink()
    page.locator("#theme").click()
    page.locator("#theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("#theme")).to_have_text("Dark")
    page.reload()
    settled(page)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert ink() != light


def test_tabs_open_beside_the_rail_and_a_click_on_the_figure_opens_its_checkpoint(
    browser: Browser, demo: Served
) -> None:
    page = enter(browser, demo)
    page.goto(f"/runs/{demo.run_id}?c=20")
    settled(page)
    page.locator("#detail .tabs a", has_text="State").click()
    expect(page.locator("#detail table")).to_contain_text("todo")
    page.locator("#detail").get_by_role("link", name="todo", exact=True).click()
    expect(page.locator("#detail .crumb")).to_contain_text("todo")
    page.get_by_role("link", name="Who wrote this").click()
    expect(page.locator("#detail")).to_contain_text("wrote it")
    page.evaluate(
        "document.querySelector('.draw').emit('plotly_click', {points: [{customdata: '/runs/x?c=17'}]})"
    )
    expect(page.locator("#detail h2")).to_have_text("Checkpoint 17")
