// The page: asks, shows the chain grow, and asks again when the reader changes it.

import { nothing, read, request, sameQuestion, write } from "./address.js";
import { get, passes, reason, stream } from "./api.js";
import { Chain } from "./chain.js";
import { clean, count, find } from "./dom.js";
import { Corpus } from "./facts.js";
import { describe, fill, filled, fold, follow, giveWay, state } from "./form.js";
import { DARK, LIGHT, picture } from "./graph.js";
import { changes, head, judge, nearest } from "./heading.js";
import { Inspector } from "./inspector.js";
import { tell, work } from "./notice.js";
import { Replay } from "./replay.js";
import { toolbar } from "./toolbar.js";

const dark = matchMedia("(prefers-color-scheme: dark)"), paper = matchMedia("print");
/** Where the details have a column of their own; elsewhere they lie over the picture, and only when asked for. */
const wide = matchMedia("(min-width: 64rem)");

/** The request whose answer is shown; `running` has the one that is under way, `failed` is one that can be tried again. */
let asked = nothing();
let running = null;
let failed = null;
let chain = null;
let memory = new Map();
let selected = 1;
let opened = false;
let shown = Infinity;
let info = null;
let introduction = null;
const texts = new Map();

const uids = () => chain.facts.map((fact) => fact.uid);

/** What the reader changes: the request under way, if it asks what is shown. */
const basis = () => running && sameQuestion(running.wanted, asked) ? running.wanted : asked;

/** Where the reader is. */
const moment = () => ({ form: state(), focus: document.activeElement });

const inspector = new Inspector({
  take,
  pin: (step) => pin(uids()[step - 1]),
  remove: (step) => {
    const uid = uids()[step - 1], { start, excluded } = basis();
    texts.set(uid, chain.facts[step - 1].text);
    change(start.filter((one) => one !== uid), [...excluded, uid], step);
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
  pin,
  known: ({ uid, text }) => texts.set(uid, text),
  canPin: (uid) => chain !== null && !asked.start.includes(uid),
});

/** Take a fact instead of that of a step: it is pinned, as are those before it; later pins stay. */
function take(step, uid) {
  const { start, excluded } = basis();
  const before = uids().slice(0, step - 1).filter((one) => !excluded.includes(one)), replaced = uids()[step - 1];
  change([...before, uid, ...start.filter((one) => one !== replaced)], excluded, step);
}

/** Begin the chain with a fact, after those that it begins with already; or no longer, if it is shown to. */
function pin(uid) {
  const { start, excluded } = basis(), others = start.filter((one) => one !== uid);
  change(asked.start.includes(uid) ? others : [...others, uid], excluded, asked.start.includes(uid) ? 1 : others.length + 1);
}

/** The same question, with other facts pinned or removed. Whoever pins a fact wants it, removed or not. */
function change(start, excluded, step = 1) {
  const before = basis(), added = start.filter((uid) => !before.start.includes(uid));
  ask({ ...before, start: [...new Set(start)], excluded: [...new Set(excluded)].filter((uid) => !added.includes(uid)) }, { step });
}

/** Ask, and follow the answer; `step` is the one whose details are shown, `since` where the reader was. */
async function ask(wanted, { step = 1, remember = true, missing = [], since = moment() } = {}) {
  running?.controller.abort();
  running = { wanted, controller: new AbortController() };
  failed = null;
  const { signal } = running.controller;
  follow(wanted);
  replay.pause();
  tell(missing.length ? `This link names ${count(missing.length, "fact")} that this corpus does not have (${missing.join(", ")}); the explanation does without.` : "");
  work("Looking at the facts near the question…");
  try {
    await stream("api/explain/stream", request(wanted), signal, (event, data) => {
      if (signal.aborted) return;
      if (event === "start") begin(wanted, data, { step, remember, since });
      else grow(event, data);
    });
  } catch (error) {
    if (error.status === 404 && !signal.aborted) await askWithoutUnknown(wanted, { remember, since }, signal);
    if (signal.aborted) return;
    failed = passes(error) ? wanted : null;
    breakOff("Not finished");
    tell(reason(error), failed !== null);
  } finally {
    if (!signal.aborted) stop();
  }
}

/** Wait for no answer any more. */
function stop() {
  running?.controller.abort();
  running = null;
  work("");
}

/** A link may name facts that are not here, or no longer: ask again without them. */
async function askWithoutUnknown(wanted, options, signal) {
  const missing = [];
  for (const uid of new Set([...wanted.start, ...wanted.excluded])) {
    try {
      texts.set(uid, (await get(`api/facts/${encodeURIComponent(uid)}?k=0`)).text);
    } catch (error) {
      if (error.status === 404) missing.push(uid);
    }
  }
  if (!missing.length || signal.aborted) return;
  const known = (uid) => !missing.includes(uid);
  ask({ ...wanted, start: wanted.start.filter(known), excluded: wanted.excluded.filter(known) }, { ...options, missing });
}

/** What is shown stays, as far as it was found, and the address is its own. */
function breakOff(why) {
  if (!chain) return;
  history.replaceState(null, "", write(asked));
  if (chain.end) return;
  chain.breakOff(why);
  render();
}

/** The server has begun to answer; until now, what was asked before stands there and can be used. */
function begin(wanted, data, { step, remember, since }) {
  const same = sameQuestion(wanted, asked) && JSON.stringify(wanted.settings) === JSON.stringify(asked.settings);
  if (!same) memory = new Map();
  asked = wanted;
  if (remember) history.pushState(null, "", write(asked));
  chain = new Chain(memory);
  chain.open(data);
  selected = step;
  opened = false;
  shown = Infinity;
  const held = document.activeElement, elsewhere = held === since.focus && (find("examples").contains(held) || find("browser").contains(held));
  open(data, same, since);
  const now = document.activeElement, lost = held !== document.body && (now === document.body || !now.checkVisibility());
  if (elsewhere || lost) find("asked").focus();
}

function open(data, same, since) {
  find("result").hidden = false;
  giveWay(asked, asked.id ? data : asked, since.form);
  if (!same) head(data);
  find("examples-title").textContent = "Try another";
  corpus.hide(clean(data.question));
  tellChanges();
  render();
  corpus.list();
  introduce();
}

function tellChanges() {
  changes(asked, (uid) => texts.get(uid) ?? uid, (uid) => change(basis().start, basis().excluded.filter((one) => one !== uid)));
  const unknown = asked.excluded.find((uid) => !texts.has(uid));
  if (!unknown) return;
  texts.set(unknown, unknown);
  get(`api/facts/${encodeURIComponent(unknown)}?k=0`).then(({ text }) => texts.set(unknown, text)).catch(() => {}).finally(tellChanges);
}

function grow(event, data) {
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

toolbar(() => [chain, new URL(write(asked), location).href]);
find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  ask(filled());
});
find("ask").addEventListener("keydown", (event) => { if (event.key === "Escape" && chain) { fold(true); find("edit").focus(); } });
find("cancel").addEventListener("click", () => {
  stop();
  follow(asked);
  breakOff("Cancelled");
});
find("retry").addEventListener("click", () => {
  tell("");
  introduce();
  if (failed) ask(failed, { remember: location.hash !== write(failed) });
  find("cancel").focus();
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
  stop();
  replay.pause();
  tell("");
  failed = null;
  asked = nothing();
  chain = null;
  document.title = "arcf";
  fill(asked);
  fold(false);
  find("result").hidden = true;
  find("examples-title").textContent = "Or try one of these";
  corpus.hide(null);
  corpus.list();
}

function restore() {
  const wanted = read(location.hash);
  if (!wanted) return clear();
  if (!chain && wanted.question) fill(wanted);
  return ask(wanted, { remember: false });
}

/** Learn what the server has; asked again, as long as it did not say. */
function introduce() {
  introduction ??= get("api/info").then((found) => {
    info = found;
    find("versions").textContent = `arcf ${info.versions.arcf}${info.model ? ` · model ${info.model}` : ""}`;
    describe(info);
    return corpus.describe(info);
  }).catch((error) => {
    introduction = null;
    tell(reason(error), true);
  });
}

addEventListener("popstate", restore);
for (const query of [dark, paper, wide]) query.addEventListener("change", render);
let width = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (contentRect.width !== width) render();
  ({ width } = contentRect);
}).observe(find("graph"));
document.fonts.ready.then(render);
find("explain").disabled = false;
introduce();
if (read(location.hash)) restore();
