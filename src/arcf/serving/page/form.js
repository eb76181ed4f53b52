// The form. While an answer stands there, the question and the answer are its heading, and the form is folded away.

import { nothing } from "./address.js";
import { clean, find } from "./dom.js";

const NUMBERS = ["k", "max_facts", "min_facts"];

/** Show the form, or the question that was asked: never both. */
export function fold(folded) {
  find("ask").hidden = folded;
  find("heading").hidden = !folded;
}

export function fill({ question, answer, options }, settings) {
  find("question").value = clean(question);
  find("answer").value = clean(answer);
  find("options").value = options.map(clean).join("\n");
  for (const name of NUMBERS) find(name).value = settings[name] ?? "";
}

/** What the form asks; by its id, if it is the question `known` that was asked by one. */
export function filled(id, known) {
  const wanted = nothing();
  wanted.question = find("question").value.trim();
  wanted.answer = find("answer").value.trim();
  wanted.options = find("options").value.split("\n").map((line) => line.trim()).filter(Boolean);
  for (const name of NUMBERS) if (find(name).value) wanted.settings[name] = Number(find(name).value);
  const same = id && known && known.question === wanted.question && known.answer === wanted.answer
    && known.options.join("\n") === wanted.options.join("\n");
  return same ? { ...wanted, id } : wanted;
}

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
