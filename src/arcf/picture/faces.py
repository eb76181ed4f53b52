"""The page's own fonts, in a form that a file can carry along."""

from base64 import b64encode
from functools import cache
from importlib.resources import files

SANS = "Inter, system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
SERIF = "Newsreader, 'Iowan Old Style', Palatino, Georgia, serif"
FACES = {
    "Inter": ("inter-latin-wght-normal.woff2", "100 900"),
    "Newsreader": ("newsreader-latin-wght-normal.woff2", "200 800"),
}
"""The file of each font, and its range of weights."""


@cache
def font_faces() -> str:
    """CSS that holds the fonts themselves (about 140 kB), so that a file looks the same wherever it is opened."""
    return "\n".join(
        f"@font-face {{ font-family: {family}; font-weight: {weights}; "
        f'src: url("data:font/woff2;base64,{_base64(name)}") format("woff2"); }}'
        for family, (name, weights) in FACES.items()
    )


def _base64(name: str) -> str:
    return b64encode(files("arcf.picture").joinpath("fonts", name).read_bytes()).decode()
