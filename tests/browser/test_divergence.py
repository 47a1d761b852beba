"""Does a reviewer find the wrong ticket with eyes, mouse or keys, and can they say what they think of it?"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Served, enter, serving, waypost


@pytest.fixture(scope="module")
def astray_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a demo run whose resumed life opened a ticket for the wrong distribution."""
    home = tmp_path_factory.mktemp("astray")
    done = waypost(home, "demo", "--no-serve", "--diverge", "--approve")
    assert done.returncode == 0, done.stderr[-2000:]
    (home / "result.json").write_text(done.stdout.strip().splitlines()[-1], "utf-8")
    return home


@pytest.fixture
def astray(astray_home: Path, tmp_path: Path) -> Iterator[Served]:
    """An inspector over a copy of it."""
    home = Path(shutil.copytree(astray_home, tmp_path / "home"))
    yield from serving(home, json.loads((home / "result.json").read_text("utf-8"))["run_id"])


def test_fields_show_when_a_pair_is_pointed_at_or_focused_and_stay_when_it_is_chosen(
    browser: Browser, astray: Served
) -> None:
    page = enter(browser, astray)
    page.goto(f"/runs/{astray.run_id}/divergence")
    shown = page.locator("[data-fields]:visible")
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text("dist")
    first = page.locator("[data-pair]").nth(0)
    chosen = page.locator("[data-pair][aria-current]").get_attribute("data-pair")
    assert first.get_attribute("data-pair") != chosen
    first.hover()
    expect(shown).to_have_attribute("data-fields", first.get_attribute("data-pair") or "")
    page.locator("h1").hover()
    expect(shown).to_have_attribute("data-fields", chosen or "")
    page.locator("[data-pair]").nth(1).focus()
    expect(shown).to_have_attribute(
        "data-fields", page.locator("[data-pair]").nth(1).get_attribute("data-pair") or ""
    )
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-pair]").nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[data-pair]").nth(2)).to_have_attribute("aria-current", "true")
    assert "pair=" in page.url
    page.keyboard.press("J")
    expect(page.locator(".pair[data-differs] [data-pair]:focus")).to_have_count(1)
    page.context.close()


def test_the_alert_is_found_from_the_list_and_acknowledged_with_a_note(
    browser: Browser, astray: Served
) -> None:
    page = enter(browser, astray)
    page.goto("/")
    page.get_by_role("link", name=re.compile("^Alerts")).click()
    expect(page.locator(".count.odd")).to_have_text(re.compile("^1"))
    row = page.locator("tr[data-row]")
    expect(row).to_have_count(1)
    row.locator("a.title").click()
    wrong = json.loads((astray.home / "result.json").read_text("utf-8"))["alert"]
    expect(page.locator("h1")).to_have_text(wrong.removesuffix("."))
    page.get_by_label("Note, kept with the alert").fill("The ticket was closed by hand.")
    page.get_by_role("button", name="Acknowledge").click()
    expect(page.locator("#acknowledge")).to_contain_text("The ticket was closed by hand.")
    expect(page.locator(".count.odd")).to_have_count(0)
    store = sqlite3.connect(astray.home / "waypost.db")
    kept = store.execute("SELECT state, decided_by, note FROM alert").fetchall()
    store.close()
    assert kept == [("acknowledged", "maya.t", "The ticket was closed by hand.")]
    page.context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 360)])
def test_the_pages_of_an_alert_are_accessible_and_fit(
    browser: Browser, astray: Served, scheme: Literal["light", "dark"], width: int
) -> None:
    page = enter(browser, astray, color_scheme=scheme, viewport={"width": width, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    for address in (f"/runs/{astray.run_id}/divergence", "/alerts", f"/runs/{astray.run_id}", "/"):
        page.goto(address)
        found = Axe().run(page).response["violations"]
        assert [(v["id"], v["nodes"][0]["html"]) for v in found] == [], address
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
    assert said == []
    page.context.close()
