"""What is taken along: copies, and files that look like the page."""

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, expect

from arcf.explainer import Explainer
from arcf.picture import html_page, svg_file

Visiting = Callable[..., Any]
SVG = "{http://www.w3.org/2000/svg}"
WIDTHS = """
() => ['15px Inter', '20px Newsreader', '15px sans-serif', '20px serif'].map(font => {
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = font;
  return pen.measureText('melting means a solid turning into a liquid').width;
})
"""
DIFFERENCE = """
async ([one, other]) => {
  const pixels = async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [948, Math.round(image.height * 948 / image.width)];
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    await new Promise(done => setTimeout(done, 200));
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    return pen.getImageData(0, 0, canvas.width, canvas.height).data;
  };
  const [a, b] = [await pixels(one), await pixels(other)];
  let apart = 0;
  for (let place = 0; place < a.length; place += 4) apart += Math.abs(a[place] - (b[place] ?? 0)) > 96;
  return apart / (a.length / 4);
}
"""


def as_data(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{b64encode(content).decode()}"


def test_what_cannot_be_saved_is_told(visit: Visiting) -> None:
    visit = visit("#id=science-001", is_refused=True)
    visit.finished()
    visit.page.route("**/page/fonts/**", lambda route: route.abort())
    visit.button("Save SVG").click()
    expect(visit.find("#notice")).to_have_text("The server cannot be reached.")


def test_copies(visit: Visiting, explainer: Explainer) -> None:
    visit = visit("#id=science-001", permissions=["clipboard-read", "clipboard-write"])
    visit.finished()

    def copied(name: str) -> str:
        visit.page.evaluate("() => navigator.clipboard.writeText('')")
        visit.button(name).click()
        visit.page.wait_for_function("async () => await navigator.clipboard.readText() !== ''")
        text: str = visit.page.evaluate("() => navigator.clipboard.readText()")
        return text

    explanation = explainer.explain(explainer.dataset.question("science-001"))
    assert copied("Copy text") == str(explanation)
    assert json.loads(copied("Copy JSON"))["facts"][0]["uid"] == explanation.facts[0].uid
    assert copied("Copy link") == visit.page.url


def test_a_chain_that_was_cancelled_is_copied(step_by_step: Any, serve: Visiting) -> None:
    visit = serve(step_by_step.explainer, permissions=["clipboard-read", "clipboard-write"])
    visit.ask("Which process turned the ice cube to water?", "melting")
    step_by_step.permits.release(2)
    expect(visit.find("#graph [data-step]")).to_have_count(2)
    visit.button("Cancel").click()
    visit.button("Copy JSON").click()
    visit.page.wait_for_function("async () => (await navigator.clipboard.readText()).startsWith('{')")
    copied = json.loads(visit.page.evaluate("() => navigator.clipboard.readText()"))
    assert copied["answer"] == "melting"
    assert [fact["uid"] for fact in copied["facts"]] == visit.cards()
    step_by_step.permits.release(40)


def test_the_focus_stays_where_the_clipboard_is_closed(visit: Visiting) -> None:
    visit = visit("#id=science-001")
    visit.finished()
    visit.page.evaluate("() => Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    visit.button("Copy text").click()
    expect(visit.find("[data-action='copy-text'].done")).to_be_focused()


def test_saved_pictures_have_the_fonts_of_the_page(visit: Visiting, browser: Browser) -> None:
    visit = visit("#id=science-001")
    visit.finished()
    with visit.page.expect_download() as saved:
        visit.button("Save SVG").click()
    svg = saved.value.path().read_bytes()
    with visit.page.expect_download() as saved:
        visit.button("Save PNG").click()
    png = saved.value.path().read_bytes()
    root = ElementTree.fromstring(svg)
    assert not list(root.iter(f"{SVG}script"))
    assert "Which process turned the ice cube to water?" in " ".join(root.itertext())
    style = root.find(f"{SVG}style")
    assert style is not None
    assert style.text.count("@font-face") == 2
    elsewhere = browser.new_page()
    drawn = elsewhere.evaluate(DIFFERENCE, [as_data("image/png", png), as_data("image/svg+xml", svg)])
    bare = svg.replace(b"@font-face", b"@no-face")
    without = elsewhere.evaluate(DIFFERENCE, [as_data("image/png", png), as_data("image/svg+xml", bare)])
    elsewhere.close()
    assert drawn < without / 4, (drawn, without)


@pytest.mark.parametrize("write", [html_page, svg_file])
def test_files_of_the_command_line_have_the_fonts_of_the_page(
    write: Callable[[Any], str], explainer: Explainer, visit: Visiting, browser: Browser, tmp_path: Path
) -> None:
    here = visit()
    here.page.evaluate("() => document.fonts.load('20px Newsreader')")
    expected = here.page.evaluate(WIDTHS)
    assert expected[:2] != expected[2:]
    path = tmp_path / "chain.html"
    written = write(explainer.explain(explainer.dataset.question("science-001")))
    # The fonts of a drawing are those of the page that it is put into.
    path.write_text(written if write is html_page else written.partition("?>")[2], encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.evaluate("() => document.fonts.ready")
    assert page.evaluate("() => [...document.fonts].map(face => face.status)") == ["loaded", "loaded"]
    assert page.evaluate(WIDTHS) == expected
    page.close()
