// The form. While an answer stands there, the question and the answer are its heading, and the form is folded away.

import { nothing, sameQuestion } from "./address.js";
import { clean, find } from "./dom.js";

const NUMBERS = ["k", "max_facts", "min_facts"];

/** The request that the form shows, and what the form says of it. */
let source = nothing(), saying = "";

/** Show the form, or the question that was asked: never both. */
export function fold(folded) {
  find("ask").hidden = folded;
  find("heading").hidden = !folded;
}

/** Show a request, in the words of `said` where it names its question by an id. */
export function fill(asked, said = asked) {
  find("question").value = clean(said.question);
  find("answer").value = clean(said.answer);
  find("options").value = said.options.map(clean).join("\n");
  for (const name of NUMBERS) find(name).value = asked.settings[name] ?? "";
  if (NUMBERS.some((name) => name in asked.settings)) find("more").open = true;
  source = asked;
  saying = JSON.stringify(words());
}

/** The reader's changes to the question of the form are those of `asked` now. */
export function follow(asked) {
  if (sameQuestion(source, asked)) source = asked;
}

/** What stands in the form, and whether it is to be seen. */
export const state = () => ({ written: JSON.stringify([words(), numbers()]), folded: find("ask").hidden });

/** An answer begins: make way for it, unless the reader turned to the form since it was in the state `before`. */
export function giveWay(asked, said, before) {
  const { written, folded } = state();
  if (written !== before.written) return;
  fill(asked, said);
  if (folded === before.folded) fold(true);
}

/** What the form asks; as it was asked before, id and changes included, if its words are the same. */
export const filled = () => ({
  ...(JSON.stringify(words()) === saying ? source : { ...nothing(), ...words() }), settings: numbers(),
});

const words = () => ({
  question: find("question").value.trim(),
  answer: find("answer").value.trim(),
  options: find("options").value.split("\n").map((line) => line.trim()).filter(Boolean),
});

const numbers = () => Object.fromEntries(NUMBERS.filter((name) => find(name).value).map((name) => [name, Number(find(name).value)]));

/** What the server does unless told otherwise. */
export function describe({ settings, limits }) {
  for (const name of NUMBERS) {
    find(name).placeholder = settings[name];
    if (limits[name]) find(name).max = limits[name];
  }
}

find("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); find("ask").requestSubmit(); }
});
find("more").addEventListener("invalid", () => { find("more").open = true; }, true);
