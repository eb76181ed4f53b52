// The page: asks, shows the chain grow, and asks again when the reader changes it.

import { nothing, read, request, write } from "./address.js";
import { get, reason, stream } from "./api.js";
import { Chain } from "./chain.js";
import { clean, count, find } from "./dom.js";
import { copy, pngFile, save, svgFile } from "./exports.js";
import { Corpus } from "./facts.js";
import { describe, fill, filled, fold } from "./form.js";
import { DARK, LIGHT, picture } from "./graph.js";
import { changes, head, judge, nearest } from "./heading.js";
import { Inspector } from "./inspector.js";
import { Replay } from "./replay.js";

const dark = matchMedia("(prefers-color-scheme: dark)"), paper = matchMedia("print");
/** Where the details have a column of their own; elsewhere they lie over the picture, and only when asked for. */
const wide = matchMedia("(min-width: 64rem)");

let asked = nothing();
let chain = null;
let memory = new Map();
let selected = 1;
let opened = false;
let shown = Infinity;
let running = null;
let info = null;
const texts = new Map();

const uids = () => chain.facts.map((fact) => fact.uid);

const inspector = new Inspector({
  take: (step, uid) => change([...uids().slice(0, step - 1), uid, ...laterPins(step, uid)], asked.excluded, step),
  pin: (step) => pin(uids()[step - 1]),
  remove: (step) => {
    const uid = uids()[step - 1];
    texts.set(uid, chain.facts[step - 1].text);
    change(asked.start.filter((one) => one !== uid), [...asked.excluded, uid], step);
  },
  close: () => {
    opened = false;
    render();
    find("graph").querySelector(`[data-step="${selected}"]`)?.focus({ preventScroll: true });
  },
  least: () => asked.settings.min_facts ?? info?.settings.min_facts,
});

const replay = new Replay((step) => {
  shown = step >= chain.steps ? Infinity : step;
  selected = step;
  opened = false;
  render();
});

const corpus = new Corpus({
  ask: (wanted) => ask(wanted),
  pin: (uid) => pin(uid),
  known: ({ uid, text }) => texts.set(uid, text),
  tell: (message) => tell(message),
  canPin: (uid) => chain !== null && !asked.start.includes(uid),
});

const laterPins = (step, uid) => uids().slice(step).filter((one) => asked.start.includes(one) && one !== uid);

/** Begin the chain with a fact, after those that it begins with already; or no longer. */
function pin(uid) {
  const start = asked.start.includes(uid) ? asked.start.filter((one) => one !== uid) : [...asked.start, uid];
  change(start, asked.excluded, start.indexOf(uid) + 1 || 1);
}

/** The same question, with other facts pinned or removed. Whoever pins a fact wants it, removed or not. */
function change(start, excluded, step = 1) {
  const once = [...new Set(start)], added = once.filter((uid) => !asked.start.includes(uid));
  ask({ ...asked, start: once, excluded: excluded.filter((uid) => !added.includes(uid)) }, { step });
}

/** Ask, and follow the answer; `step` is the one whose details are shown. */
async function ask(wanted, { step = 1, remember = true, missing = [] } = {}) {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  replay.pause();
  tell(missing.length ? `This link names ${count(missing.length, "fact")} that this corpus does not have (${missing.join(", ")}); the explanation does without.` : "");
  work("Looking at the facts near the question…");
  try {
    await stream("api/explain/stream", request(wanted), signal, (event, data) => {
      if (signal.aborted) return;
      if (event === "start") begin(wanted, data, step, remember);
      else take(event, data);
    });
  } catch (error) {
    if (signal.aborted) return;
    if (error.status === 404 && await askWithoutUnknown(wanted, remember, signal)) return;
    breakOff("Not finished");
    tell(reason(error));
  } finally {
    if (!signal.aborted) work("");
  }
}

/** A link may name facts that are not here, or no longer: ask again without them. */
async function askWithoutUnknown(wanted, remember, signal) {
  const missing = [];
  for (const uid of new Set([...wanted.start, ...wanted.excluded])) {
    try {
      texts.set(uid, (await get(`api/facts/${encodeURIComponent(uid)}?k=0`)).text);
    } catch (error) {
      if (error.status === 404) missing.push(uid);
    }
  }
  if (!missing.length || signal.aborted) return false;
  const known = (uid) => !missing.includes(uid);
  ask({ ...wanted, start: wanted.start.filter(known), excluded: wanted.excluded.filter(known) }, { remember, missing });
  return true;
}

/** Tell what is being done, and offer to cancel it; nothing: it is done. */
function work(message) {
  document.body.classList.toggle("busy", message !== "");
  find("cancel").hidden = !message;
  find("waiting").textContent = message;
}

/** Leave the chain as far as it was found. */
function breakOff(why) {
  if (!chain || chain.end) return;
  chain.breakOff(why);
  render();
}

/** The server has begun to answer; until now, what was asked before stands there and can be used. */
function begin(wanted, data, step, remember) {
  const same = ["id", "question", "answer", "options", "settings"]
    .every((name) => JSON.stringify(wanted[name]) === JSON.stringify(asked[name]));
  if (!same) memory = new Map();
  asked = wanted;
  if (remember) history.pushState(null, "", write(asked));
  chain = new Chain(memory);
  chain.open(data);
  selected = step;
  opened = false;
  shown = Infinity;
  const held = document.activeElement, elsewhere = find("examples").contains(held) || find("browser").contains(held);
  open(data, same);
  const now = document.activeElement, lost = held !== document.body && (now === document.body || !now.checkVisibility());
  if (elsewhere || lost) find("asked").focus();
}

function open(data, same) {
  find("result").hidden = false;
  fold(true);
  if (!same) head(data);
  fill(data, asked.settings);
  find("examples-title").textContent = "Try another";
  corpus.hide(clean(data.question));
  tellChanges();
  render();
  corpus.list();
}

function tellChanges() {
  changes(asked, (uid) => texts.get(uid) ?? uid, (uid) => change(asked.start, asked.excluded.filter((one) => one !== uid)));
  const unknown = asked.excluded.find((uid) => !texts.has(uid));
  if (!unknown) return;
  texts.set(unknown, unknown);
  get(`api/facts/${encodeURIComponent(unknown)}?k=0`).then(({ text }) => texts.set(unknown, text)).catch(() => {}).finally(tellChanges);
}

function take(event, data) {
  if (event === "step") {
    chain.add(data);
    find("waiting").textContent = `${count(chain.facts.length, "fact")} so far…`;
  } else {
    chain.close(data);
    selected = Math.min(selected, Math.max(chain.steps, 1));
  }
  render();
}

function render() {
  if (!chain?.opening) return;
  judge(chain, info);
  nearest(chain, pin);
  find("picture").hidden = find("toolbar").hidden = chain.isEmpty;
  const detailed = wide.matches || opened ? selected : 0;
  inspector.render(chain, detailed);
  if (chain.isEmpty) return;
  replay.render(chain, Math.min(shown, chain.steps));
  const holder = find("graph"), focused = holder.contains(document.activeElement);
  const ring = detailed || (shown <= chain.steps ? shown : 0);
  const look = paper.matches
    ? { colors: { ...LIGHT, paper: "#ffffff" }, shown: Infinity, ring: 0, chosen: 0 }
    : { colors: dark.matches ? DARK : LIGHT, shown, ring, chosen: ring <= chain.facts.length ? ring : 0 };
  const svg = picture(chain, Math.max(280, Math.floor(holder.clientWidth)), look);
  holder.replaceChildren(svg);
  if (focused) svg.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
}

/** Show why a step was taken. */
function select(step) {
  replay.pause();
  selected = Math.max(1, Math.min(step, chain.steps));
  opened = true;
  shown = Infinity;
  render();
  const card = find("graph").querySelector(`[data-step="${selected}"]`).getBoundingClientRect();
  const covered = wide.matches ? innerHeight : find("inspector").getBoundingClientRect().top;
  if (card.bottom > covered - 12) scrollBy({ top: card.bottom - covered + 12 });
  else if (card.top < 12) scrollBy({ top: card.top - 12 });
}

function tell(message) {
  find("notice").hidden = !message;
  find("notice").textContent = clean(message);
}

const actions = {
  "copy-text": () => copy(chain.text()),
  "copy-json": () => copy(JSON.stringify(chain.end ?? chain.opening, null, 2)),
  "copy-link": () => copy(location.href),
  "save-svg": async () => save(await svgFile(chain), "chain.svg"),
  "save-png": async () => save(await pngFile(chain), "chain.png"),
  print: () => print(),
};

find("toolbar").addEventListener("click", async ({ target }) => {
  const button = target.closest("button");
  if (!button || !chain?.opening) return;
  try {
    await actions[button.dataset.action]();
  } catch (error) {
    tell(reason(error));
    return;
  }
  if (!button.dataset.action.startsWith("copy")) return;
  button.classList.add("done");
  setTimeout(() => button.classList.remove("done"), 1500);
});

find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  ask(filled(asked.id, chain?.opening));
});
find("ask").addEventListener("keydown", (event) => { if (event.key === "Escape" && chain) { fold(true); find("edit").focus(); } });
find("cancel").addEventListener("click", () => {
  running?.abort();
  work("");
  breakOff("Cancelled");
});
find("start-over").addEventListener("click", () => change([], []));
find("edit").addEventListener("click", () => { fold(false); find("question").focus(); });
find("new").addEventListener("click", () => {
  history.pushState(null, "", location.pathname);
  clear();
  find("question").focus();
});
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); find("main").focus(); });
find("graph").addEventListener("click", ({ target }) => {
  const card = target.closest("[data-step]");
  if (card) select(Number(card.dataset.step));
});
find("graph").addEventListener("keydown", (event) => {
  const card = event.target.closest("[data-step]");
  const move = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Enter: 0, " ": 0 }[event.key];
  if (!card || move === undefined) return;
  event.preventDefault();
  select(Number(card.dataset.step) + move);
  if (move === 0) inspector.focus();
});

/** Back to the empty page. */
function clear() {
  running?.abort();
  replay.pause();
  work("");
  tell("");
  asked = nothing();
  chain = null;
  document.title = "arcf";
  find("ask").reset();
  fold(false);
  find("result").hidden = true;
  find("examples-title").textContent = "Or try one of these";
  corpus.hide(null);
  corpus.list();
}

function restore() {
  const wanted = read(location.hash);
  if (!wanted) return clear();
  if (!chain && wanted.question) fill(wanted, wanted.settings);
  return ask(wanted, { remember: false });
}

addEventListener("popstate", restore);
for (const query of [dark, paper, wide]) query.addEventListener("change", render);
let width = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (contentRect.width !== width) render();
  ({ width } = contentRect);
}).observe(find("graph"));
document.fonts.ready.then(render);
get("api/info").then((found) => {
  info = found;
  find("versions").textContent = `arcf ${info.versions.arcf}${info.model ? ` · model ${info.model}` : ""}`;
  describe(info);
  return corpus.describe(info);
}).catch((error) => tell(reason(error)));
restore();
