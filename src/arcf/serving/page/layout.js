// Where everything in the picture goes. Facts stand in one column, in the order in which they were chosen. Every
// source has a line of its own that runs down a lane on the left and branches off to the facts found from it; under
// a fact's text, chips name its sources and the words that they share. What a later fact brings moves no earlier card.

import { inOneLine } from "./verdict.js";

export const FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";
export const SERIF = "Newsreader, 'Iowan Old Style', Palatino, Georgia, serif";
export const SIZES = { SMALL: 12, BADGE: 13, CHIP: 20, INSET: 9, LEAVE: 11 };
/** The size and the line height of each style of text. */
export const STYLES = {
  question: { size: 20, line: 27, family: SERIF },
  answer: { size: 20, line: 27, family: SERIF },
  verdict: { size: 14, line: 24, family: FONT },
  root: { size: 14, line: 22, family: FONT },
  fact: { size: 15, line: 22, family: FONT },
  stop: { size: 14, line: 22, family: FONT },
};
const { SMALL, BADGE, CHIP, INSET } = SIZES;
const TOP = 14, GAP = 14, BETWEEN = 6, ENTRY = 17, BRANCH = 12;
const WIDE = { pad: 16, lanes: 78, lane: 13, gutter: 14, worth: 86 };
const NARROW = { pad: 12, lanes: 28, lane: 7, gutter: 10, worth: 0 };

const canvas = document.createElement("canvas").getContext("2d");

export function widthOf(text, size, weight = 500, family = FONT) {
  canvas.font = `${weight} ${size}px ${family}`;
  return canvas.measureText(text).width;
}

/** Lines of words that fit; a word that does not fit on a line of its own is cut. */
export function wrap(text, width, size, family) {
  const weight = 500;
  const lines = [];
  let line = "";
  for (let word of text.split(/\s+/).filter(Boolean)) {
    while (widthOf(word, size, weight, family) > width) {
      const part = cut(word, line ? width - widthOf(`${line} `, size, weight, family) : width, size, family);
      if (part || line) lines.push([line, part].filter(Boolean).join(" "));
      line = "";
      word = word.slice(part.length);
    }
    const longer = line ? `${line} ${word}` : word;
    if (widthOf(longer, size, weight, family) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line || !lines.length ? [...lines, line] : lines;
}

function cut(word, width, size, family) {
  const letters = [...word];
  let fits = 0;
  for (let low = 0, high = letters.length; low <= high;) {
    const middle = (low + high) >> 1;
    if (widthOf(letters.slice(0, middle).join(""), size, 500, family) <= width) {
      fits = middle;
      low = middle + 1;
    } else high = middle - 1;
  }
  return letters.slice(0, Math.max(fits, width >= size * 2 ? 1 : 0)).join("");
}

function shorten(text, width, size) {
  return widthOf(text, size, 500) <= width ? text : `${cut(text, width - size, size, FONT)}…`;
}

/** A lane for each source, in the order of their first branches, so that none changes when the chain grows. */
function lanes(nodes, { lanes: room, lane: step }) {
  const sources = [...new Set(nodes.flatMap((node) => node.sources.map(({ from }) => from)))];
  const apart = Math.min(step, room / sources.length);
  return new Map(sources.map((from, place) => [from, 6 + place * apart]));
}

/** `nodes` have `kind`, `texts` ({style, text}), `worth`, `chips` ({kind, text, from}) and `sources` ({from, words}).
 * Adds places; returns the size. Text may turn out `slack` times as wide as here. */
export function layout(nodes, width, slack = 1) {
  const form = width >= 560 ? WIDE : NARROW;
  const laneOf = lanes(nodes, form);
  const left = form.lanes + form.gutter;
  let y = 1;
  for (const node of nodes) {
    const textX = left + form.pad + 2 * BADGE + 10;
    const room = width - 1 - textX - (node.worth && form.worth || form.pad);
    node.lines = node.texts.flatMap(({ style, text }) => wrap(text, room / slack, STYLES[style].size, STYLES[style].family).map((line) => ({ style, text: line })));
    const root = node.texts[0].style === "root";
    const wide = root ? textX - left + widthOf(node.texts[0].text, STYLES.root.size) * slack + form.pad : width - left - 1;
    const below = y + TOP + node.lines.reduce((sum, { style }) => sum + STYLES[style].line, 0);
    const marks = node.worth && !form.worth ? [{ kind: "worth", text: inOneLine(node.worth) }, ...node.chips] : node.chips;
    node.chips = chips(marks, textX, below + BETWEEN, room, slack);
    const end = node.chips.length ? node.chips.at(-1).y + CHIP : below;
    Object.assign(node, {
      x: left, y, width: wide, textX, badgeX: left + form.pad + BADGE, height: end + TOP - y + (root ? -4 : 0),
      first: y + TOP + STYLES[node.texts[0].style].line / 2 + (root ? -2 : 0), worthX: form.worth ? left + wide - form.pad : null,
    });
    node.leave = y + node.height - SIZES.LEAVE;
    node.entries = node.sources.map(({ from }, index) => ({ from, laneX: laneOf.get(from), y: y + ENTRY + index * BRANCH }));
    y += node.height + GAP;
  }
  return { width, height: y - GAP + 1 };
}

/** Chips beside each other; a row that is full is followed by another. */
function chips(marks, left, top, room, slack) {
  let x = left, y = top;
  return marks.map((mark) => {
    const inset = mark.kind === "worth" ? 0 : INSET, icon = mark.kind === "pinned" ? 12 : 0;
    const label = shorten(mark.text, (room - 2 * INSET) / slack, SMALL);
    const width = widthOf(label, SMALL) * slack + 2 * inset + icon;
    if (x > left && x + width > left + room) {
      x = left;
      y += CHIP + BETWEEN;
    }
    const placed = { ...mark, label, x, y, width, textX: x + icon + (width - icon) / 2 };
    x += width + BETWEEN;
    return placed;
  });
}
