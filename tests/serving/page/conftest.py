"""Visits to the page in a real browser, and explainers that are as sure as a test wants."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from threading import Semaphore
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, Locator, Page, Route, expect, sync_playwright

from arcf.chain import ChainSettings
from arcf.chain.confidence import Calibration
from arcf.explainer import Explainer
from arcf.rankers import Autoregressive
from arcf.scorer.base import Prefix
from arcf.serving import ServingSettings

Running = Callable[[Explainer, ServingSettings], AbstractContextManager[str]]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SHOTS = os.environ.get("ARCF_SHOTS")
"""A folder for pictures of the page, to be looked at."""

BUSY = "The server is busy; try again in 7 s."

expect.set_options(timeout=20_000)


class Held:
    """Requests that are not answered until they are let go."""

    def __init__(self, page: Page, path: str) -> None:
        self.page, self.path = page, f"**/{path}"
        self.routes: list[Route] = []
        page.route(self.path, lambda route: self.routes.append(route))

    def wait(self, number: int = 1) -> None:
        """Until so many requests were made."""
        while len(self.routes) < number:
            self.page.evaluate("() => new Promise(requestAnimationFrame)")

    def release(self) -> None:
        """Answer the last one, and whatever is asked from now on."""
        self.wait()
        self.routes[-1].continue_()
        self.page.unroute(self.path)


class Visit:
    """The page in a browser, and what a reader does with it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def ask(self, question: str, answer: str = "") -> None:
        self.page.get_by_label("Question", exact=True).fill(question)
        self.page.get_by_label("Answer", exact=True).fill(answer)
        self.button("Explain").click()

    def hold(self, path: str = "api/explain/stream") -> Held:
        return Held(self.page, path)

    def refuse(self, path: str = "api/explain/stream", status: int = 503, detail: str = BUSY) -> None:
        """Answer with a problem."""
        problem = {"title": "Refused", "status": status, "detail": detail}
        self.page.route(f"**/{path}", lambda route: route.fulfill(status=status, json=problem))

    def relent(self, path: str = "api/explain/stream") -> None:
        """Answer again."""
        self.page.unroute(f"**/{path}")

    def finished(self) -> None:
        expect(self.find("#cancel")).to_be_hidden()
        expect(self.find("#status")).to_contain_text("facts considered")

    def cards(self) -> list[str]:
        """The uids of the facts in the picture."""
        uids: list[str] = self.find("#graph [data-uid]").evaluate_all("all => all.map(one => one.dataset.uid)")
        return uids

    def select(self, step: int) -> None:
        self.find(f"#graph [data-step='{step}']").click()

    def told(self, text: str) -> None:
        """What is told of a step begins with these words."""
        expect(self.find("#inspected h2")).to_have_text(text)

    def shoot(self, name: str) -> None:
        if SHOTS:
            self.page.mouse.move(0, 0)
            self.page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


class StepByStep:
    """Scores as another scorer, once for every permit."""

    def __init__(self, explainer: Explainer) -> None:
        search = explainer.ranker.search
        self.scorer, self.permits = search.scorer, Semaphore(0)
        self.explainer = Explainer(explainer.dataset, Autoregressive(self, search.neighborhood, search.settings))

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        assert self.permits.acquire(timeout=30)
        return self.scorer.score(prefix, candidates)


@pytest.fixture
def step_by_step(explainer: Explainer) -> StepByStep:
    """An explainer of which every scoring wants a permit."""
    return StepByStep(explainer)


@pytest.fixture(scope="session")
def sure_of(explainer: Explainer) -> Callable[..., Explainer]:
    """An explainer whose first fact has the log-odds `bias`, and each later fact those of a lower probability."""

    def build(bias: float, **settings: Any) -> Explainer:
        search, calibration = explainer.ranker.search, Calibration(bias, {"place": -1.0})
        ranker = Autoregressive(search.scorer, search.neighborhood, ChainSettings(**settings), calibration=calibration)
        return Explainer(explainer.dataset, ranker)

    return build


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed after each module: as long as it is open, its event loop runs in this thread, and no other can."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here: run make browser as root, or install it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def address(explainer: Explainer, running: Running) -> Iterator[str]:
    with running(explainer, ServingSettings(model="stand-in")) as address:
        yield address


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Callable[..., Visit]]:
    """Opens the page, and fails if it complains: an error, or something that the policy forbids.

    `is_refused`: the server is to say no, which browsers complain of as well.
    """
    complaints: list[str] = []
    contexts = []

    def opened(at: str = "", base: str = address, is_refused: bool = False, **options: Any) -> Visit:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        if not is_refused:
            page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.goto(base + at)
        return Visit(page)

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def serve(running: Running, visit: Callable[..., Visit]) -> Iterator[Callable[..., Visit]]:
    """Opens the page of a server of one's own, which outlives it."""
    with ExitStack() as stack:

        def opened(explainer: Explainer, at: str = "", **options: Any) -> Visit:
            base = stack.enter_context(running(explainer, ServingSettings()))
            made = visit(at, base=base, **options)
            stack.callback(made.page.close)
            return made

        yield opened
