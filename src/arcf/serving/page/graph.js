// The picture of a chain: SVG without styles or scripts of its own, so that a saved copy looks the same elsewhere.

import { percent } from "./chain.js";
import { clean, draw } from "./dom.js";
import { FONT, SIZES, layout } from "./layout.js";

const { TEXT, SMALL, BADGE } = SIZES;
const RADIUS = 8;

export const LIGHT = {
  paper: "#f7f5f1", card: "#ffffff", edge: "#dcd8d0", ink: "#1f1d1a", soft: "#6d675e", question: "#26242f",
  onQuestion: "#ffffff", answer: "#c7d2fe", gold: "#96600f", goldCard: "#fffbeb", ring: "#4338ca",
  lines: ["#57534e", "#286ada", "#b45120", "#197e56", "#984cc3", "#886b0d", "#cb2d6d", "#157a8a", "#866a39", "#5b5bd6", "#5a791a"],
};
export const DARK = {
  paper: "#101116", card: "#1e2027", edge: "#343741", ink: "#ece9e4", soft: "#a09a92", question: "#2f3140",
  onQuestion: "#ffffff", answer: "#c7d2fe", gold: "#f0b849", goldCard: "#2a2619", ring: "#a5b4fc",
  lines: ["#a8a29e", "#6aa1ff", "#ff945e", "#4cc997", "#c58bea", "#e6c34a", "#f57fab", "#4fd0e4", "#c9a46a", "#9a9aff", "#a4cc4c"],
};

const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u;

/**
 * The picture, `width` wide. `look`: colors, step (how far the chain is shown), ring (the card that has one), chosen
 * (the fact whose lines stand out; 0: all do), slack (how much wider than here its text may turn out).
 */
export function picture(chain, width, look) {
  const { opening, facts, end } = chain;
  const nodes = [
    { kind: "question", text: clean(opening.question), note: opening.answer && clean(opening.answer), sources: [] },
    ...facts.map((fact, place) => ({
      kind: "fact",
      uid: fact.uid,
      text: clean(fact.text),
      score: fact.score,
      confidence: fact.confidence,
      sources: chain.sources(place).map(({ from, words }) => ({ from, words: words.map(clean) })),
      gold: chain.isGold(fact.uid),
      given: fact.given,
      kept: fact.kept,
      more: chain.more(place),
    })),
    ...(end?.stopped ? [{ kind: "stop", text: "enough: stopping scores highest", score: end.stop_score, confidence: null, sources: [] }] : []),
    ...(end?.unsure ? [{ kind: "stop", text: "enough: the next fact is too doubtful", score: null, confidence: end.next_confidence, sources: [] }] : []),
  ];
  const size = layout(nodes, width, look.slack);
  const svg = draw("svg", {
    xmlns: "http://www.w3.org/2000/svg", width, height: size.height, viewBox: `0 0 ${width} ${size.height}`,
    role: "group", "aria-label": "The chain of facts", "font-family": FONT, "font-size": TEXT,
  });
  const shown = (index) => index <= look.step;
  const branches = nodes.flatMap((node, index) => !shown(index) ? [] : node.entries.map((entry) => ({
    entry, target: node, source: nodes[entry.from],
    faded: look.chosen > 0 && look.chosen !== index && look.chosen !== entry.from,
  })));
  for (const faded of [true, false]) {
    nodes.forEach((source) => svg.append(...bundle(branches.filter((one) => one.source === source && one.faded === faded), look.colors, faded)));
  }
  nodes.forEach((node, index) => svg.append(card(node, index, look, shown(index))));
  return svg;
}

/** All branches of one line: first what sets them off from lines below them, then they themselves. */
function bundle(branches, colors, faded) {
  if (!branches.length) return [];
  const paths = branches.map(branch), color = lineOf(colors, branches[0].entry.from);
  return [draw("g", { opacity: faded ? 0.28 : 1, "aria-hidden": "true", fill: "none" },
    ...paths.map(({ way }) => draw("path", { d: way, stroke: colors.paper, "stroke-width": 6 })),
    ...paths.map(({ way, rest }) => draw("path", { d: way + rest, stroke: color, "stroke-width": 2 })),
    ...paths.filter(({ tip }) => tip).map(({ tip }) => draw("path", { d: tip, fill: color })),
  )];
}

function branch({ source, target, entry }) {
  const x = entry.laneX;
  const end = Math.max(entry.pillX, x + RADIUS);
  const way = `M${source.x} ${source.exit}H${x + RADIUS}Q${x} ${source.exit} ${x} ${source.exit + RADIUS}`
    + `V${entry.y - RADIUS}Q${x} ${entry.y} ${x + RADIUS} ${entry.y}H${end}`;
  const outside = entry.pillX < target.x;
  const rest = outside ? `M${entry.pillX + entry.wide} ${entry.y}H${target.x - 5}` : "";
  return { way, rest, tip: outside ? `M${target.x - 1} ${entry.y}l-7 -4v8z` : "" };
}

function card(node, index, look, shown) {
  const { colors } = look, question = node.kind === "question", stop = node.kind === "stop";
  const ring = look.ring === index && !question;
  const group = draw("g", question ? { role: "img", "aria-label": spoken(node, index) } : {
    role: "button", tabindex: ring ? 0 : -1, "aria-label": spoken(node, index), "aria-pressed": String(ring),
    "data-step": index, "data-uid": node.uid, cursor: "pointer",
  });
  if (!shown) group.setAttribute("opacity", 0.16);
  group.append(draw("rect", {
    x: node.x + 0.5, y: node.y + 0.5, width: node.width - 1, height: node.height - 1, rx: 12,
    fill: question ? colors.question : stop ? "none" : node.gold ? colors.goldCard : colors.card,
    stroke: ring ? colors.ring : question ? colors.question : node.gold ? colors.gold : colors.edge,
    "stroke-width": ring && !stop ? 2.5 : 1, "stroke-dasharray": stop ? "4 4" : null,
  }));
  if (shown) node.entries.forEach((entry) => group.append(pill(entry, colors)));
  group.append(badge(node, index, colors), ...texts(node, question, colors));
  if (!question) group.append(...marks(node, colors));
  return group;
}

function spoken(node, index) {
  if (node.kind === "question") return `Question: ${node.text}${node.note ? `. Answer: ${node.note}` : ""}`;
  if (node.kind === "stop") return "The decision to stop";
  return `Fact ${index}: ${node.text}${node.gold ? " (gold)" : ""}${node.kept ? " (kept)" : node.given ? " (put here by you)" : ""}. ${origin(node)}`;
}

const origin = (node) => node.sources.length
  ? `Seen from ${node.sources.map(({ from, words }) => `${from ? `fact ${from}` : "the question"}: ${words.join(", ")}`).join("; ")}${node.more ? ` and ${node.more} more` : ""}.`
  : "";

function pill(entry, colors) {
  const color = lineOf(colors, entry.from);
  return draw("g", {},
    draw("rect", { x: entry.pillX, y: entry.y - 9.5, width: entry.wide, height: 19, rx: 9.5, fill: colors.card, stroke: color }),
    draw("text", {
      x: entry.pillX + entry.wide / 2, y: entry.y + 4.2, "text-anchor": "middle", "font-size": SMALL, "font-weight": 500,
      fill: color, text: entry.shown,
    }, draw("title", { text: `shares: ${entry.words.join(", ")}` })),
  );
}

function badge(node, index, colors) {
  const x = node.x + SIZES.PAD + BADGE, y = node.badgeY;
  if (node.kind === "stop") return draw("rect", { x: x - 5, y: y - 5, width: 10, height: 10, rx: 2, fill: colors.soft });
  return draw("g", {},
    draw("circle", { cx: x, cy: y, r: BADGE, fill: index ? lineOf(colors, index) : colors.onQuestion }),
    draw("text", {
      x, y: y + 4.8, "text-anchor": "middle", "font-size": 13, "font-weight": 700,
      fill: index ? colors.paper : colors.question, text: index || "?",
    }),
  );
}

function texts(node, question, colors) {
  const lines = [
    ...node.lines.map((text) => ({ text, fill: question ? colors.onQuestion : node.kind === "stop" ? colors.soft : colors.ink })),
    ...node.noteLines.map((text) => ({ text, fill: colors.answer })),
  ];
  const words = new Set(node.sources.flatMap((source) => source.words.map((word) => word.toLowerCase())));
  return lines.map(({ text, fill }, place) => {
    const backwards = RIGHT_TO_LEFT.test(text);
    const line = draw("text", {
      x: backwards ? node.x + node.width - 70 : node.textX, y: node.textY + place * node.font.line + node.font.size / 3, fill,
      "font-size": node.font.size, "font-family": node.font.family, direction: backwards ? "rtl" : null, "xml:space": "preserve",
    });
    line.append(...(backwards ? [text] : marked(text, words)));
    return line;
  });
}

/** Words that a source shares are set in bold. */
function marked(text, words) {
  return text.split(/([\p{L}\p{N}]+)/u).filter(Boolean)
    .map((part) => words.has(part.toLowerCase()) ? draw("tspan", { "font-weight": 650, text: part }) : part);
}

function marks(node, colors) {
  const x = node.x + node.width - 16;
  const known = (value) => value !== null && value !== undefined;
  const score = known(node.confidence) ? percent(node.confidence) : known(node.score) ? node.score.toFixed(2) : node.given ? "given" : "";
  const two = node.gold || (node.given && score !== "given");
  const y = node.badgeY + 4.5;
  return [
    draw("text", { x, y: two ? y - 8 : y, "text-anchor": "end", "font-size": 13, fill: colors.soft, text: score }),
    node.gold ? draw("text", { x, y: y + 9, "text-anchor": "end", "font-size": 12, "font-weight": 600, fill: colors.gold, text: "gold ✓" })
      : two ? draw("text", { x, y: y + 9, "text-anchor": "end", "font-size": 12, fill: colors.soft, text: node.kept ? "kept" : "pinned" }) : null,
  ].filter(Boolean);
}

const lineOf = (colors, index) => index === 0 ? colors.lines[0] : colors.lines[1 + ((index - 1) % (colors.lines.length - 1))];
