"""Take the pictures of the page again: arcf serve, then python docs/screenshots.py http://127.0.0.1:8000/.

Wants playwright, Pillow and Chromium; the server must have the packaged corpus.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
WIDE = {"width": 1280, "height": 1010}
NARROW = {"width": 390, "height": 1180}
FOLDER = Path(__file__).parent


def take(page: Page, name: str) -> None:
    """Write the picture with a palette: a third of the size."""
    page.mouse.move(0, 0)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)


def main(address: str) -> None:
    """Light with the whole chain, dark in the middle of a replay, narrow."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, options, step in (
            ("page-light", {"viewport": WIDE}, None),
            ("page-dark", {"viewport": WIDE, "color_scheme": "dark"}, 3),
            ("page-narrow", {"viewport": NARROW}, None),
        ):
            page = browser.new_page(**options)
            page.goto(f"{address}#id=science-030")
            page.locator("#status", has_text="facts considered").wait_for()
            if step is not None:
                page.locator(f"#graph [data-step='{step}']").click()
            take(page, name)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
