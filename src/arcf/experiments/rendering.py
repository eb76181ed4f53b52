"""A report as Markdown and as one HTML file: tables, remarks, figures, and the commands behind every row."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from arcf.files import read_text

#: Of the picture of a difference, in pixels.
WIDTH, HEIGHT, MARGIN = 160, 18, 8
#: From so many letters on, a cell may be broken into lines.
LONG_WORDS, LONG_FIGURE = 20, 40


@dataclass(frozen=True, slots=True)
class Whisker:
    """A difference with its interval, and the paper's difference, if it has one."""

    value: float
    low: float
    high: float
    theirs: float | None

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest of all, 0 included."""
        values = (0.0, self.value, self.low, self.high, self.theirs or 0.0)
        return min(values), max(values)


@dataclass(frozen=True)
class Section:
    """A table of the report: what is true of all rows, the rows, remarks below them, the command that makes it.

    Where rows have a command each, these are `commands`, and `names` tells the rows apart; where they have differences
    to be drawn, these are `whiskers`.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    remarks: tuple[str, ...] = ()
    command: str = ""
    commands: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    whiskers: tuple[Whisker | None, ...] = ()


@dataclass(frozen=True)
class Report:
    """All of it; `figures` are SVG files by name."""

    title: str
    introduction: tuple[str, ...]
    sections: tuple[Section, ...]
    figures: Mapping[str, Path]

    def markdown(self) -> str:
        """As Markdown, with links to the figures."""
        parts = [f"# {self.title}", *self.introduction]
        for section in self.sections:
            parts += [f"## {section.title}", section.caption, _markdown_table(section), *section.remarks]
            if commands := section.command or _listed(section):
                parts += ["Commands:", f"```\n{commands}\n```"]
        parts += [f"## {name}\n\n![{name}]({path.name})" for name, path in self.figures.items()]
        return "\n\n".join(part for part in parts if part) + "\n"

    def html(self) -> str:
        """As one HTML file that needs no other."""
        parts = [f"<h1>{escape(self.title)}</h1>", *map(_paragraph, self.introduction)]
        for section in self.sections:
            parts += [f"<h2>{escape(section.title)}</h2>", _paragraph(section.caption), _html_table(section)]
            parts += map(_paragraph, section.remarks)
            if section.command:
                parts.append(f"<pre>{escape(section.command)}</pre>")
        for name, path in self.figures.items():
            parts.append(f"<h2>{escape(name)}</h2>" + _svg(path))
        return PAGE.format(title=escape(self.title), body="\n".join(part for part in parts if part))


def _listed(section: Section) -> str:
    """The commands of the rows, each once, after the names of those that it makes."""
    rows: dict[str, list[str]] = {}
    for name, command in zip(section.names, section.commands, strict=True):
        rows.setdefault(command, []).append(name)
    return "\n".join(f"# {'; '.join(names)}\n{command}" for command, names in rows.items())


def _markdown_table(section: Section) -> str:
    lines = [section.headers, tuple("---" for _ in section.headers), *section.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _html_table(section: Section) -> str:
    drawn = ["● here, ○ the paper"] if section.whiskers else []
    headers = [f"<th>{escape(header)}</th>" for header in (section.headers[0], *drawn, *section.headers[1:])]
    ends = [end for whisker in section.whiskers if whisker for end in whisker.ends]
    body = []
    for number, row in enumerate(section.rows):
        cells = [_cell(text) for text in row]
        if section.whiskers:
            whisker = section.whiskers[number]
            cells.insert(1, f"<td>{_picture(whisker, min(ends), max(ends)) if whisker else ''}</td>")
        if section.commands:
            # The command is a row of its own, which the style sheet shows while the name is open.
            cells[0] = f"<td><details><summary>{escape(row[0])}</summary></details></td>"
        body.append(f"<tr>{''.join(cells)}</tr>")
        if section.commands:
            command = escape(section.commands[number])
            body.append(f'<tr class="command"><td colspan="{len(headers)}"><pre>{command}</pre></td></tr>')
    rows = "\n".join(body)
    return f'<div class="wide"><table><thead><tr>{"".join(headers)}</tr></thead>\n<tbody>{rows}</tbody></table></div>'


def _cell(text: str) -> str:
    """Figures and short words are never broken; sentences are, but not into a column of single words."""
    is_figure = text[:1].isdigit() or text[:2].strip("+-")[:1].isdigit()
    kind = "whole" if len(text) < (LONG_FIGURE if is_figure else LONG_WORDS) else "sentence"
    return f"<td class={kind}>{escape(text)}</td>"


def _picture(whisker: Whisker, left: float, right: float) -> str:
    """The interval as a line, ours as a dot, the paper's as a ring, between two values that all rows share."""
    y, scale = HEIGHT / 2, (WIDTH - 2 * MARGIN) / ((right - left) or 1.0)

    def x(value: float) -> float:
        return round(MARGIN + (value - left) * scale, 1)

    theirs = "" if whisker.theirs is None else f"; the paper's {whisker.theirs:+.4f}"
    told = f"{whisker.value:+.4f}, {whisker.low:+.4f} to {whisker.high:+.4f}{theirs}"
    ring = "" if whisker.theirs is None else f'<circle class="ring" cx="{x(whisker.theirs)}" cy="{y}" r="4"/>'
    return (
        f'<svg class="whisker" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{told}"><title>{told}</title>'
        f'<path class="zero" d="M{x(0.0)} 0V{HEIGHT}"/><path d="M{x(whisker.low)} {y}H{x(whisker.high)}"/>'
        f'<circle cx="{x(whisker.value)}" cy="{y}" r="3.5"/>{ring}</svg>'
    )


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def _svg(path: Path) -> str:
    """The picture itself, without the head of its file."""
    text = read_text(path)
    return text[text.index("<svg") :]


PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 90rem; margin: 2rem auto; padding: 0 1rem; }}
p {{ max-width: 60rem; }} h2 {{ margin-top: 2.5rem; }} .wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; }} th, td {{ padding: .25rem .75rem; text-align: left; vertical-align: top; }}
th {{ border-bottom: 2px solid; vertical-align: bottom; }} tbody tr:not(.command) td {{ border-top: 1px solid #8884; }}
.whole {{ white-space: nowrap; font-variant-numeric: tabular-nums; }} .sentence {{ min-width: 14rem; }}
summary {{ cursor: pointer; white-space: nowrap; }}
.command {{ display: none; }} tr:has(details[open]) + .command {{ display: table-row; }}
@supports not selector(:has(a)) {{ .command {{ display: table-row; }} }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; background: #8882; margin: 0; padding: .7rem; font-size: 12px; }}
svg {{ max-width: 100%; height: auto; background: #fff; }}
.whisker {{ max-width: none; background: none; stroke: currentColor; stroke-width: 2; fill: currentColor; }}
.whisker .zero {{ stroke-width: 1; stroke-dasharray: 2; opacity: .5; }}
.whisker .ring {{ fill: none; stroke: #c2410c; }}
</style></head><body>
{body}
</body></html>
"""
