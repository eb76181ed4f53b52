"""Take the pictures of the page again: arcf serve, then python docs/screenshots.py http://127.0.0.1:8000/.

With a folder as well, the page goes there instead, whole, in every width and color that it should be looked at in.
Wants playwright, Pillow and Chromium; the server must have the packaged corpus.
"""

import io
import shutil
import sys
from itertools import product
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
QUESTION = "#id=science-030"
SHOWN: dict[str, tuple[dict[str, Any], int | None]] = {
    "page-light": ({"viewport": {"width": 1280, "height": 900}}, None),
    "page-dark": ({"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"}, 3),
    "page-narrow": ({"viewport": {"width": 390, "height": 844}}, 2),
}
"""What the documents show: how the page is opened, and the fact that is clicked."""
WIDTHS, COLORS = (390, 800, 1280, 1920), ("light", "dark")


def opened(browser: Browser, address: str, **options: Any) -> Page:
    """The page with a finished chain."""
    page = browser.new_page(**options)
    page.goto(f"{address}{QUESTION}")
    page.locator("#status", has_text="facts considered").wait_for(timeout=120_000)
    return page


def write(page: Page, path: Path, whole: bool = False) -> None:
    """Write the picture with a palette: a third of the size."""
    page.mouse.move(0, 0)
    picture = Image.open(io.BytesIO(page.screenshot(full_page=whole))).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def main(address: str, folder: Path | None = None) -> None:
    """The pictures of the documents; with a folder, all that should be looked at."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        if folder is not None:
            for width, color in product(WIDTHS, COLORS):
                page = opened(browser, address, viewport={"width": width, "height": 900}, color_scheme=color)
                write(page, folder / f"{width}-{color}.png", whole=True)
        else:
            for name, (options, step) in SHOWN.items():
                page = opened(browser, address, **options)
                if step is not None:
                    page.locator(f"#graph [data-step='{step}']").click()
                write(page, Path(__file__).parent / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:3]))
