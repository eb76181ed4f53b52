// What was asked, and what the answer is worth: the question, its answer, the verdict, the figures, the reader's changes.

import { clean, count, find, make } from "./dom.js";
import { expectation, percent, verdict } from "./verdict.js";

/** The question and its answer, each once. */
export function head({ question, answer, options }) {
  document.title = `${clean(question)} · arcf`;
  find("asked").textContent = clean(question);
  find("answered").hidden = !answer;
  find("right").textContent = clean(answer);
  const others = options.filter((option) => option !== answer);
  find("others").hidden = !others.length;
  find("others").textContent = `Not: ${others.map(clean).join(" · ")}`;
  find("said").classList.add("folded");
  measure();
}

const PARTS = ["asked", "answered", "others"].map(find);

/** What is long is folded; there is a button only where something is hidden. */
function measure() {
  const folded = find("said").classList.contains("folded");
  if (folded) find("unfold").hidden = PARTS.every((one) => one.scrollHeight <= one.clientHeight + 2);
  find("unfold").textContent = folded ? "Show all of it" : "Show less";
  find("unfold").setAttribute("aria-expanded", String(!folded));
}

find("unfold").addEventListener("click", () => {
  find("said").classList.toggle("folded");
  measure();
});
const sizes = new ResizeObserver(measure);
PARTS.forEach((one) => sizes.observe(one));

/** Whether the chain can be trusted, as far as that is known. */
export function judge({ facts, end, broken }, corpus) {
  const { level, title } = end ? verdict(end) : { level: "open", title: broken || "Looking for facts…" };
  find("verdict").dataset.level = level;
  find("verdict-title").textContent = title;
  find("verdict-detail").textContent = end ? detail(end) : broken ? `${count(facts.length, "fact")} until then.` : "They appear as they are found.";
  find("status").textContent = end ? figures(end, corpus) : "";
}

function detail(end) {
  if (end.facts.length) return expectation(end);
  return end.unsure
    ? `The nearest fact would belong to it with a probability of ${percent(end.next_confidence)} only.`
    : `${end.ending[0].toUpperCase()}${end.ending.slice(1)}. Other words may help, or other facts.`;
}

function figures(end, corpus) {
  const all = corpus ? ` of ${corpus.facts.toLocaleString("en")}` : "", ending = end.facts.length ? ` Ending: ${end.ending}.` : "";
  const considered = `${end.considered.toLocaleString("en")}${all} facts considered in ${end.seconds.toFixed(2)}\u00a0s.${ending}`;
  if (!end.gold.length) return considered;
  const hit = end.facts.filter((fact) => end.gold.includes(fact.uid)).length;
  return `${hit} of the ${count(end.gold.length, "fact")} of the reference explanation are here; average precision of the ranking ${end.average_precision.toFixed(3)}. ${considered}`;
}

/** Where no chain was found: the facts that came nearest, to begin with all the same. */
export function nearest(chain, pin) {
  find("nearest").hidden = !chain.isEmpty || !chain.end.left_out.length;
  find("nearest-list").replaceChildren(...(chain.isEmpty ? chain.end.left_out : []).map((fact) => make("li", {},
    make("span", { dir: "auto", text: fact.text }),
    make("button", { type: "button", text: "Begin with it", "aria-label": `Begin with: ${fact.text}`, onclick: () => pin(fact.uid) }))));
}

/** What the reader changed: what is pinned is marked in the picture, what was removed can be put back here. */
export function changes({ start, excluded }, textOf, putBack) {
  find("changes").hidden = !start.length && !excluded.length;
  find("changed").textContent = [start.length ? `${count(start.length, "fact")} pinned` : "", excluded.length ? `${count(excluded.length, "fact")} removed` : ""].filter(Boolean).join(", ");
  find("removed").replaceChildren(...excluded.map((uid) => make("li", {},
    make("span", { dir: "auto", text: textOf(uid) }),
    make("button", { type: "button", text: "Put back", "aria-label": `Put back: ${textOf(uid)}`, onclick: () => putBack(uid) }))));
}
