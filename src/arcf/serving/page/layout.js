// Where everything in the picture goes. Facts stand in one column, in the order in which they were chosen. Every
// source has a line of its own that runs down a lane on the left and branches off to the facts seen from it; the
// words that they share stand where the branch arrives.

export const FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";
export const SERIF = "Newsreader, 'Iowan Old Style', Palatino, Georgia, serif";
const TEXT = 15, LINE = 22, SMALL = 12, LABEL = 22;
const PAD = 16, BADGE = 13, GAP = 14;
/** The question stands out; the last line, why the chain ends, steps back. */
const KINDS = {
  question: { size: 20, line: 27, family: SERIF, least: 68 },
  fact: { size: TEXT, line: LINE, family: FONT, least: 52 },
  stop: { size: 14, line: 20, family: FONT, least: 40 },
};

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

/** Longer lines further out, and each in the first lane where it meets no other. */
function lanes(nodes) {
  const last = new Map();
  nodes.forEach((node, index) => node.sources.forEach(({ from }) => last.set(from, index)));
  const taken = [], lane = new Map();
  for (const [from, to] of [...last].sort((a, b) => b[1] - b[0] - (a[1] - a[0]) || a[0] - b[0])) {
    let place = taken.findIndex((spans) => spans.every(([first, end]) => to <= first || end <= from));
    if (place < 0) place = taken.push([]) - 1;
    taken[place].push([from, to]);
    lane.set(from, place);
  }
  return { lane, count: taken.length };
}

/** `nodes` have `kind`, `text`, `sources` ({from, words}) and, for the question, `note`. Adds places; returns the size. */
export function layout(nodes, width, slack = 1) {
  const beside = width >= 640;
  const { lane, count } = lanes(nodes);
  const step = beside ? 15 : 9;
  const gutter = count ? count * step + (beside ? 10 : 6) : 0;
  const labels = beside && count ? Math.min(200, Math.max(120, width * 0.22)) : 0;
  const left = gutter + labels, card = width - left - 1;
  let y = 1;
  for (const node of nodes) {
    const own = node.sources.length;
    Object.assign(node, { x: left, y, width: card });
    node.textX = left + PAD + 2 * BADGE + 12;
    const room = (left + card - node.textX - (node.score === undefined ? PAD : 62)) / slack;
    const { size, line, family, least } = KINDS[node.kind];
    node.font = { size, line, family };
    node.lines = wrap(node.text, room, size, family);
    node.noteLines = node.note ? wrap(node.note, room, size, family) : [];
    const above = beside ? 0 : own * LABEL;
    const text = (node.lines.length + node.noteLines.length) * line;
    const branches = lane.has(nodes.indexOf(node)) ? 16 : 6;
    node.height = Math.max(above + text + 26, beside ? own * LABEL + branches + 12 : 0, least);
    node.textY = y + above + (node.height - above - text) / 2 + line / 2;
    node.badgeY = y + above + (node.height - above) / 2;
    node.exit = y + node.height - 11;
    node.entries = node.sources.map(({ from, words }, index) => {
      const space = (beside ? labels - 26 : card - 2 * PAD) - 18;
      const shown = shorten(words.length ? words.join(", ") : "near", space / slack, SMALL);
      const wide = widthOf(shown, SMALL, 500) * slack + 18;
      const middle = y + (beside ? 17 : 19) + index * LABEL;
      const pillX = beside ? left - 12 - wide : left + PAD - 4;
      return { from, words, shown, wide, y: middle, pillX, laneX: laneX(lane.get(from)) };
    });
    y += node.height + GAP;
  }
  nodes.forEach((node, index) => { node.laneX = lane.has(index) ? laneX(lane.get(index)) : null; });
  return { width, height: y - GAP + 1, beside };

  function laneX(place) {
    return 6 + place * step;
  }
}

export const SIZES = { TEXT, SMALL, BADGE, PAD };
