"""Does text from a model or a tool stay text in a real browser?"""

from __future__ import annotations

from playwright.sync_api import Browser

from tests.browser.conftest import Served, enter

PAGES = (
    "/",
    "/runs/hostile",
    "/runs/hostile?axis=clock",
    "/runs/hostile/c/4",
    "/runs/hostile/c/4?tab=state",
    "/runs/hostile/c/4?tab=state&path=/pages/0/content",
    "/runs/hostile/c/4?tab=calls",
    "/runs/hostile/c/4?tab=raw",
    "/runs/hostile/diff/2...4",
    "/runs/hostile/calls",
    "/runs/hostile/calls/1",
    "/runs/hostile/calls/2",
    "/?q=<script>document.title='taken'</script>",
    "/runs/<script>",
)


def test_no_page_runs_it_and_every_page_shows_it(browser: Browser, hostile: Served) -> None:
    page = enter(browser, hostile)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(f"dialog {dialog.message}"))
    for address in PAGES:
        page.goto(address)
        page.wait_for_load_state("networkidle") if "/runs/" in address else page.wait_for_load_state("load")
        assert "taken" not in page.title(), address
        text = page.evaluate("document.body.innerText")
        assert "\u202e" not in text, address
        assert "\u200b" not in text, address
        assert page.locator("body script:not([src])").count() == 0, address
        assert page.locator("[onload], [onerror], b[hx-get]").count() == 0, address
    assert [url for url in asked if "taken" in url and "?q=" not in url] == []
    assert {url.split("/")[2] for url in asked} == {hostile.url.split("/")[2]}


def test_the_same_text_does_act_where_nothing_guards_it(browser: Browser) -> None:
    """Without this control the test above would prove nothing."""
    page = browser.new_page()
    page.set_content("<p>safe</p><img src=x onerror=\"document.title='taken'\">")
    page.wait_for_function("document.title === 'taken'")
    page.close()


def test_the_policy_stops_what_an_escape_would_let_through(browser: Browser, hostile: Served) -> None:
    page = enter(browser, hostile)
    page.goto("/runs/hostile")
    page.evaluate(
        """() => {
            const box = document.createElement('div');
            const taken = "document.title='taken'";
            box.innerHTML = `<img src=x onerror="${taken}"><a id=j href="javascript:${taken}">x</a>`;
            document.querySelector('main').append(box);
            const script = document.createElement('script');
            script.textContent = "document.title = 'taken'";
            document.body.append(script);
            document.querySelector('#j').click();
        }"""
    )
    page.wait_for_timeout(300)
    assert page.title() != "taken"
