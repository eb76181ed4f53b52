// The page: asks, shows the chain grow, and asks again when the reader changes it.

import { nothing, read, request, write } from "./address.js";
import { get, stream } from "./api.js";
import { Chain, percent } from "./chain.js";
import { clean, count, find, make } from "./dom.js";
import { copy, pngFile, save, svgFile } from "./exports.js";
import { DARK, LIGHT, picture } from "./graph.js";
import { Inspector } from "./inspector.js";

const EXAMPLES = 6;
const dark = matchMedia("(prefers-color-scheme: dark)");

let asked = nothing();
let chain = null;
let memory = new Map();
let step = 1;
let running = null;
let texts = new Map();

const inspector = new Inspector({
  show: (wanted) => show(wanted),
  take: (place, uid) => change(
    [...uids().slice(0, place - 1), uid, ...laterPins(place - 1, uid)],
    asked.excluded.filter((one) => one !== uid),
  ),
  pin: (place) => {
    const uid = uids()[place];
    const start = asked.start.includes(uid) ? asked.start.filter((one) => one !== uid) : [...asked.start, uid];
    change(start, asked.excluded);
  },
  remove: (place) => {
    const uid = uids()[place];
    texts.set(uid, chain.facts[place].text);
    change([...uids().slice(0, place), ...laterPins(place, uid)], [...asked.excluded, uid]);
  },
});

const uids = () => chain.facts.map((fact) => fact.uid);
const laterPins = (place, uid) => uids().slice(place + 1).filter((one) => asked.start.includes(one) && one !== uid);

/** The same question, with other facts given or left out. */
function change(start, excluded) {
  const once = [...new Set(start)].filter((uid) => !excluded.includes(uid));
  ask({ ...asked, start: once, excluded }, Math.max(once.length, 1));
}

/** Ask, and follow the answer; `from` is the step that is shown first. */
async function ask(wanted, from = 1, remember = true) {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  inspector.pause();
  tell("");
  find("waiting").textContent = "Looking at the facts near the question…";
  document.body.classList.add("busy");
  try {
    await stream("api/explain/stream", request(wanted), signal, (event, data) => {
      if (signal.aborted) return;
      if (event === "start") begin(wanted, data, from, remember);
      else take(event, data);
    });
  } catch (error) {
    if (signal.aborted) return;
    if (chain && !chain.end) find("status").textContent = "";
    tell(error.status === undefined ? "The server cannot be reached." : error.message);
  } finally {
    if (!signal.aborted) rest();
  }
}

function rest() {
  document.body.classList.remove("busy");
  find("waiting").textContent = "";
}

/** The server has begun to answer; until now, what was asked before stands there and can be used. */
function begin(wanted, data, from, remember) {
  const same = ["id", "question", "answer", "options", "settings"]
    .every((name) => JSON.stringify(wanted[name]) === JSON.stringify(asked[name]));
  if (!same) memory = new Map();
  asked = wanted;
  if (remember) history.pushState(null, "", write(asked));
  chain = new Chain(memory);
  chain.open(data);
  step = Math.max(1, Math.min(from, chain.facts.length));
  const held = document.activeElement, example = find("examples").contains(held);
  open(data);
  render();
  const now = document.activeElement, lost = held !== document.body && (now === document.body || !now.checkVisibility());
  if (example || lost) find("asked").focus();
}

function take(event, data) {
  if (event === "step") {
    chain.add(data);
    if (!asked.start.length && !asked.excluded.length) step = chain.facts.length;
    find("status").textContent = `${count(chain.facts.length, "fact")} so far; looking for the next…`;
  } else {
    chain.close(data);
    close(data);
    if (!asked.start.length && !asked.excluded.length) step = chain.steps;
  }
  render();
}

function open(data) {
  find("waiting").textContent = "";
  find("status").textContent = "Looking at the facts near the question…";
  find("result").hidden = false;
  if (find("result").nextElementSibling !== find("examples")) find("result").after(find("examples"));
  find("asked").textContent = clean(data.question);
  find("choices").replaceChildren(...(data.options.length ? data.options : [data.answer]).filter(Boolean)
    .map((text) => make("li", { dir: "auto", class: text === data.answer ? "right" : "", text })));
  fillForm(data);
  find("left-out").hidden = !asked.excluded.length;
  find("left-out-list").replaceChildren(...asked.excluded.map((uid) => make("li", {},
    make("button", {
      type: "button", dir: "auto", text: texts.get(uid) ?? uid, title: "Allow it again",
      "aria-label": `Allow again: ${texts.get(uid) ?? uid}`,
      onclick: () => change(asked.start, asked.excluded.filter((one) => one !== uid)),
    }))));
  find("start-over").hidden = !asked.excluded.length && !asked.start.length;
  find("gold-line").hidden = true;
}

function close(data) {
  const ending = data.ending.charAt(0).toUpperCase() + data.ending.slice(1);
  const sure = data.confidence === null ? "" : `${percent(data.confidence)} of these facts can be expected to explain the answer. `;
  find("status").textContent = `${sure}${ending}. ${data.considered} facts considered in ${data.seconds.toFixed(2)}\u00a0s.`;
  if (!data.gold.length) return;
  const hit = data.facts.filter((fact) => data.gold.includes(fact.uid)).length;
  find("gold-line").hidden = false;
  find("gold-line").replaceChildren(
    make("span", { class: "gold-mark", text: `✓ ${hit} of ${count(data.gold.length, "gold fact")}` }),
    ` in the chain · average precision ${data.average_precision.toFixed(3)}`,
  );
}

function show(wanted) {
  step = Math.max(1, Math.min(wanted, chain.steps));
  render();
}

function render() {
  if (!chain?.opening) return;
  inspector.render(chain, step);
  const holder = find("graph");
  const focused = holder.contains(document.activeElement);
  const look = { colors: dark.matches ? DARK : LIGHT, step, ring: step, chosen: step <= chain.facts.length ? step : 0 };
  const svg = picture(chain, Math.max(280, Math.floor(holder.clientWidth)), look);
  holder.replaceChildren(svg);
  if (focused) svg.querySelector(`[data-step="${step}"]`)?.focus({ preventScroll: true });
}

function fillForm(data) {
  find("question").value = clean(data.question);
  find("answer").value = clean(data.answer);
  find("options").value = data.options.map(clean).join("\n");
  for (const name of ["k", "max_facts", "min_facts"]) find(name).value = asked.settings[name] ?? "";
}

function tell(message) {
  find("notice").hidden = !message;
  find("notice").textContent = message;
}

function fromForm() {
  const wanted = nothing();
  wanted.question = find("question").value.trim();
  wanted.answer = find("answer").value.trim();
  wanted.options = find("options").value.split("\n").map((line) => line.trim()).filter(Boolean);
  for (const name of ["k", "max_facts", "min_facts"]) if (find(name).value) wanted.settings[name] = Number(find(name).value);
  const known = chain?.opening;
  const same = asked.id && known && known.question === wanted.question && known.answer === wanted.answer
    && known.options.join("\n") === wanted.options.join("\n");
  return same ? { ...wanted, id: asked.id } : wanted;
}

let examplePage = 0;

async function showExamples() {
  const found = await get(`api/questions?size=${EXAMPLES}&page=${examplePage + 1}`);
  find("examples").hidden = !found.total;
  find("more-examples").hidden = found.pages < 2;
  examplePage = (examplePage + 1) % Math.max(found.pages, 1);
  find("example-list").replaceChildren(...found.items.map((one) => make("li", {}, make("button", {
    type: "button", dir: "auto", "data-id": one.id, onclick: () => ask({ ...nothing(), id: one.id }),
  }, make("span", { class: "q", text: one.question }), make("span", { class: "a", text: one.answer })))));
}

async function about() {
  const info = await get("api/info");
  find("corpus").textContent = `${info.corpus} · ${info.facts.toLocaleString("en")} facts${info.model ? ` · model ${info.model}` : ""}`;
  find("versions").textContent = `arcf ${info.versions.arcf}`;
  for (const name of ["k", "max_facts", "min_facts"]) {
    find(name).placeholder = info.settings[name];
    if (info.limits[name]) find(name).max = info.limits[name];
  }
}

const actions = {
  "copy-text": () => copy(chain.text()),
  "copy-json": () => copy(JSON.stringify(chain.end ?? chain.opening, null, 2)),
  "copy-link": () => copy(location.href),
  "save-svg": () => save(svgFile(chain), "chain.svg"),
  "save-png": async () => save(await pngFile(chain), "chain.png"),
  "start-over": () => change([], []),
};

document.querySelector(".toolbar").addEventListener("click", async ({ target }) => {
  const button = target.closest("button");
  if (!button || !chain?.opening) return;
  await actions[button.dataset.action]();
  if (!button.dataset.action.startsWith("copy")) return;
  button.classList.add("done");
  setTimeout(() => button.classList.remove("done"), 1500);
});

find("ask").addEventListener("submit", (event) => { event.preventDefault(); ask(fromForm()); });
find("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); find("ask").requestSubmit(); }
});
find("more-examples").addEventListener("click", () => showExamples().catch((error) => tell(error.message)));
find("graph").addEventListener("click", ({ target }) => {
  const card = target.closest("[data-step]");
  if (card) { inspector.pause(); show(Number(card.dataset.step)); }
});
find("graph").addEventListener("keydown", (event) => {
  const card = event.target.closest("[data-step]");
  const move = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Enter: 0, " ": 0 }[event.key];
  if (!card || move === undefined) return;
  event.preventDefault();
  show(Number(card.dataset.step) + move);
});

/** Back to the empty page. */
function clear() {
  running?.abort();
  inspector.pause();
  rest();
  tell("");
  asked = nothing();
  chain = null;
  find("ask").reset();
  find("result").hidden = true;
}

function restore() {
  const wanted = read(location.hash);
  if (wanted) ask(wanted, 1, false);
  else clear();
}

addEventListener("popstate", restore);
dark.addEventListener("change", render);
new ResizeObserver(() => render()).observe(find("graph"));
document.fonts.ready.then(render);
about().catch((error) => tell(error.message));
showExamples().catch((error) => tell(error.message));
restore();
