"""The page in a browser: classes as bars, surprise as colour, text while it is generated, on a phone too."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.helpers.fake_served import FakeClassifier, FakeLanguageModel
from tests.helpers.running_server import Client, running

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_playwright() as started:
        running_browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield running_browser
        running_browser.close()


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running(FakeClassifier(), FakeLanguageModel(seconds=0.003), max_characters=200) as client:
        yield client


@pytest.fixture
def page(browser: Any, client: Client) -> Iterator[Any]:
    """The page, which asks nothing of other addresses and reports no error."""
    page = browser.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.goto(client.address)
    page.wait_for_selector(".bars li")
    yield page
    page.close()
    assert {url for url in asked if not url.startswith((client.address, "data:"))} == set()
    assert [one for one in wrong if "413" not in one] == []


def test_what_is_typed_is_classified_and_coloured(page: Any) -> None:
    page.fill("#text", "one sixsix")
    expect(page.locator(".token")).to_have_count(3)
    assert page.text_content(".bars .first") == "short"
    assert page.text_content(".bars .number") == "66.7 %"
    heats = page.eval_on_selector_all(".token", "all => all.map(one => one.style.getPropertyValue('--heat'))")
    assert [float(heat) for heat in heats] == [0.3, 0.6, 0.4]
    colours = page.eval_on_selector_all(".token", "all => all.map(one => getComputedStyle(one).backgroundColor)")
    assert len(set(colours)) == 3
    assert page.text_content("#tokens") == "one sixsixend"
    page.click(".token >> nth=1")
    assert page.text_content("#chosen") == "▁sixsix: 6.00 nats, probability 0.248 %"


def test_a_refusal_is_shown_and_goes_away(page: Any) -> None:
    page.fill("#text", "x" * 201)
    page.wait_for_selector("#wrong:not([hidden])")
    assert "at most 200 characters are allowed" in page.text_content("#wrong")
    page.fill("#text", "<b>x</b>")
    page.wait_for_selector("#wrong", state="hidden")
    assert page.text_content("#tokens") == "<b>x</b>end"  # text, never markup


def test_text_is_shown_while_it_is_generated_and_can_be_stopped(page: Any, client: Client) -> None:
    page.fill("#text", "so")
    page.fill("#length", "5")
    page.click("#go")
    expect(page.locator("#ended")).not_to_be_empty()
    assert page.text_content("#output") == "so 0 1 2 3 4"
    assert page.text_content("#ended") == "5 tokens. As long as was asked for."
    page.fill("#length", "1000")
    page.click("#go")
    expect(page.locator("#output")).to_contain_text(" 20 ")
    page.click("#stop")
    expect(page.locator("#ended")).to_contain_text("Stopped.")
    assert " 900" not in page.text_content("#output")
    page.wait_for_timeout(100)
    assert client.metric('elman_generations_total{why="gone"}') == 1


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_nothing_is_wider_than_a_phone_in_light_and_in_dark(browser: Any, client: Client, path: str) -> None:
    grounds = set()
    for scheme in ("light", "dark"):
        with browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme) as context:
            page = context.new_page()
            page.goto(client.address + path)
            page.wait_for_selector(".bars li" if path == "/" else "h2")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2


def test_the_page_of_routes_lists_them_with_an_example(browser: Any, client: Client) -> None:
    page = browser.new_page()
    page.goto(f"{client.address}/docs")
    page.wait_for_selector("h2")
    text = page.text_content("#routes")
    page.close()
    for route in ("POST /classify", "POST /generate", "POST /streams/{stream_id}/feed", "DELETE /streams/{stream_id}"):
        assert route in text
    assert f"curl {client.address}/classify" in text
    assert "wheat exports rose" in text
    assert "429" in text
