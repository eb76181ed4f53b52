// The picture of a chain: SVG without styles or scripts of its own, so that a saved copy looks the same elsewhere.

import { clean, draw } from "./dom.js";
import { FONT, SIZES, STYLES, layout } from "./layout.js";
import { expectation, inOneLine, verdict, worth } from "./verdict.js";

const { SMALL, BADGE, CHIP } = SIZES;
const RADIUS = 7;

export const LIGHT = {
  paper: "#f7f5f1", card: "#ffffff", edge: "#dcd8d0", ink: "#1f1d1a", soft: "#6d675e", question: "#26242f", dim: "#d3cec4",
  onQuestion: "#ffffff", answer: "#c7d2fe", verdict: "#d6d3d1", gold: "#96600f", pinned: "#4338ca", ring: "#4338ca",
  lines: ["#57534e", "#286ada", "#b45120", "#197e56", "#984cc3", "#886b0d", "#cb2d6d", "#157a8a", "#866a39", "#5b5bd6", "#5a791a"],
};
export const DARK = {
  paper: "#101116", card: "#1e2027", edge: "#343741", ink: "#ece9e4", soft: "#a09a92", question: "#2f3140", dim: "#3d404b",
  onQuestion: "#ffffff", answer: "#c7d2fe", verdict: "#d6d3d1", gold: "#f0b849", pinned: "#a5b4fc", ring: "#a5b4fc",
  lines: ["#a8a29e", "#6aa1ff", "#ff945e", "#4cc997", "#c58bea", "#e6c34a", "#f57fab", "#4fd0e4", "#c9a46a", "#9a9aff", "#a4cc4c"],
};

const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u;
const PIN = "M-3.2 -5h6.4l-1 4.2 2.2 2.2v1.2h-3.8v4.4h-1.2v-4.4h-3.8v-1.2l2.2 -2.2z";

/**
 * The picture, `width` wide. `look`: colors, shown (how many steps), ring (the card that has one), chosen (the fact
 * whose lines stand out; 0: all do), alone (it says the question and the verdict too), slack (see `layout`).
 */
export function picture(chain, width, look) {
  const nodes = [question(chain, look.alone), ...chain.facts.map((fact, place) => factNode(chain, fact, place))];
  if (chain.end && chain.facts.length) nodes.push({ kind: "stop", texts: [{ style: "stop", text: `Ends here: ${chain.ending()}` }], chips: [], sources: [] });
  const size = layout(nodes, width, look.slack);
  const svg = draw("svg", {
    xmlns: "http://www.w3.org/2000/svg", width, height: size.height, viewBox: `0 0 ${width} ${size.height}`,
    role: "group", "aria-label": "The chain of facts", "font-family": FONT, "font-size": STYLES.fact.size,
  });
  const branches = nodes.flatMap((target, index) => index > look.shown ? [] : target.entries.map((entry) => ({
    entry, target, source: nodes[entry.from], dim: look.chosen > 0 && look.chosen !== index && look.chosen !== entry.from,
  })));
  for (const dim of [true, false]) {
    nodes.forEach((source) => svg.append(...bundle(branches.filter((one) => one.source === source && one.dim === dim), look)));
  }
  nodes.forEach((node, index) => svg.append(card(node, index, look)));
  return svg;
}

function question({ opening, end }, alone) {
  const texts = alone
    ? [["question", opening.question], ["answer", opening.answer], ["verdict", end ? `${verdict(end).title}. ${expectation(end)}`.trim() : ""]]
    : [["root", opening.answer ? "Question and answer" : "Question"]];
  return { kind: "question", texts: texts.filter(([, text]) => text).map(([style, text]) => ({ style, text: clean(text) })), chips: [], sources: [] };
}

function factNode(chain, fact, place) {
  const sources = chain.sources(place).map(({ from, words }) => ({ from, words: words.map(clean) }));
  return {
    kind: "fact", uid: fact.uid, texts: [{ style: "fact", text: clean(fact.text) }], worth: worth(fact), sources,
    chips: [
      ...(fact.given ? [{ kind: "pinned", text: "pinned" }] : []),
      ...sources.map(({ from, words }) => ({ kind: "source", from, text: named(from, words) })),
      ...(chain.isGold(fact.uid) ? [{ kind: "gold", text: "reference ✓" }] : []),
    ],
    more: chain.more(place),
  };
}

const named = (from, words) => words.length
  ? `${from ? `fact ${from}` : "question"}: ${words.join(", ")}`
  : `near ${from ? `fact ${from}` : "the question"}`;

/** All branches of one line. Where none is dimmed, each is set off from the lines below it. */
function bundle(branches, { colors, chosen }) {
  if (!branches.length) return [];
  const paths = branches.map(branch), dim = branches[0].dim, color = dim ? colors.dim : lineOf(colors, branches[0].entry.from);
  return [draw("g", { "aria-hidden": "true", fill: "none", "data-line": branches[0].entry.from },
    ...(chosen ? [] : paths.map(({ way }) => draw("path", { d: way, stroke: colors.paper, "stroke-width": 5 }))),
    ...paths.map(({ way }) => draw("path", { d: way, stroke: color, "stroke-width": dim ? 1.5 : 2 })),
    ...paths.map(({ tip }) => draw("path", { d: tip, fill: color })),
  )];
}

function branch({ source, target, entry: { laneX: x, y } }) {
  const way = `M${source.x} ${source.leave}H${x + RADIUS}Q${x} ${source.leave} ${x} ${source.leave + RADIUS}`
    + `V${y - RADIUS}Q${x} ${y} ${x + RADIUS} ${y}H${target.x - 5}`;
  return { way, tip: `M${target.x - 1} ${y}l-7 -4v8z` };
}

function card(node, index, look) {
  const { colors } = look, asked = node.kind === "question", stop = node.kind === "stop";
  const ring = look.ring === index && !asked;
  const group = draw("g", asked ? { role: "img", "aria-label": node.texts.map(({ text }) => text).join(". ") } : {
    role: "button", tabindex: index === (look.ring || 1) ? 0 : -1, "aria-label": spoken(node, index), "aria-pressed": String(ring),
    "data-step": index, "data-uid": node.uid, cursor: "pointer",
  });
  if (index > look.shown) group.setAttribute("opacity", 0.16);
  group.append(draw("rect", {
    x: node.x + 0.5, y: node.y + 0.5, width: node.width - 1, height: node.height - 1, rx: 12,
    fill: asked ? colors.question : stop ? colors.paper : colors.card,
    stroke: ring ? colors.ring : asked ? colors.question : colors.edge,
    "stroke-width": ring ? 2 : 1, "stroke-dasharray": stop ? "4 4" : null,
  }), badge(node, index, colors), ...texts(node, colors), ...node.chips.map((one) => chip(one, colors)), ...sureness(node, colors));
  return group;
}

function spoken(node, index) {
  const text = node.texts[0].text;
  if (node.kind === "stop") return text;
  const sources = node.sources.map(({ from, words }) => named(from, words)).join("; ");
  const origin = sources ? ` Found from ${sources}${node.more ? ` and ${node.more} more` : ""}.` : "";
  const marks = node.chips.filter(({ kind }) => kind === "pinned" || kind === "gold").map(({ kind }) => kind === "gold" ? " In the reference explanation." : " Pinned.");
  const sure = node.worth ? ` ${inOneLine(node.worth)}.` : "";
  return `Fact ${index}: ${text}.${sure}${marks.join("")}${origin}`;
}

function chip(one, colors) {
  const color = { pinned: colors.pinned, gold: colors.gold, worth: colors.soft }[one.kind] ?? lineOf(colors, one.from);
  return draw("g", { "data-chip": one.kind },
    one.kind === "worth" ? null : draw("rect", { x: one.x, y: one.y, width: one.width, height: CHIP, rx: CHIP / 2, fill: colors.card, stroke: color }),
    one.kind === "pinned" ? draw("path", { d: PIN, fill: color, transform: `translate(${one.x + 12} ${one.y + CHIP / 2})` }) : null,
    draw("text", {
      x: one.textX, y: one.y + CHIP / 2 + 4.2, "text-anchor": "middle", "font-size": SMALL, "font-weight": 500, fill: color, text: one.label,
    }, draw("title", { text: one.text })),
  );
}

function badge(node, index, colors) {
  const x = node.badgeX, y = node.first;
  if (node.kind === "stop") return draw("rect", { x: x - 5, y: y - 5, width: 10, height: 10, rx: 2, fill: colors.soft });
  return draw("g", {},
    draw("circle", { cx: x, cy: y, r: BADGE, fill: index ? lineOf(colors, index) : colors.onQuestion }),
    draw("text", {
      x, y: y + 4.8, "text-anchor": "middle", "font-size": 13, "font-weight": 700,
      fill: index ? colors.card : colors.question, text: index || "?",
    }),
  );
}

function texts(node, colors) {
  const fill = { question: colors.onQuestion, answer: colors.answer, verdict: colors.verdict, root: colors.onQuestion, fact: colors.ink, stop: colors.soft };
  const words = new Set(node.sources.flatMap((source) => source.words.map((word) => word.toLowerCase())));
  let y = node.first - STYLES[node.lines[0].style].line / 2;
  return node.lines.map(({ style, text }) => {
    const { size, line, family } = STYLES[style], backwards = RIGHT_TO_LEFT.test(text);
    const drawn = draw("text", {
      x: backwards ? node.x + node.width - 86 : node.textX, y: y + line / 2 + size * 0.36, fill: fill[style],
      "font-size": size, "font-family": family, direction: backwards ? "rtl" : null, "xml:space": "preserve",
    });
    drawn.append(...(backwards ? [text] : marked(text, words)));
    y += line;
    return drawn;
  });
}

/** Words that a source shares are set in bold. */
function marked(text, words) {
  return text.split(/([\p{L}\p{N}]+)/u).filter(Boolean)
    .map((part) => words.has(part.toLowerCase()) ? draw("tspan", { "font-weight": 650, text: part }) : part);
}

/** How sure the fact is, at the right: the word, and the number below it. */
function sureness(node, colors) {
  if (!node.worth || node.worthX === null) return [];
  const place = { x: node.worthX, "text-anchor": "end" }, y = node.first + 4.5;
  return [
    draw("text", { ...place, y, "font-size": 13, fill: colors.ink, text: node.worth[0] }),
    draw("text", { ...place, y: y + 16, "font-size": SMALL, fill: colors.soft, text: node.worth[1] }),
  ];
}

const lineOf = (colors, index) => index === 0 ? colors.lines[0] : colors.lines[1 + ((index - 1) % (colors.lines.length - 1))];
