// Looking around in the corpus: what can be asked of it, and its facts, with a search.

import { get, reason } from "./api.js";
import { clean, count, find, make } from "./dom.js";
import { nothing } from "./address.js";
import { tell } from "./notice.js";

const EXAMPLES = 6, SIZE = 10, PATIENCE = 250, HINT = 120;

/** A question that any fact answers for itself: what else explains it? */
export const about = ({ uid, text }) => ({ ...nothing(), question: `What explains that ${text}?`, excluded: [uid] });

const letters = (text) => [...text].length;

const shortened = (text) => letters(text) > HINT ? `${[...text].slice(0, HINT - 1).join("")}…` : text;

/** `on` has: ask(asked), pin(uid), known(fact), canPin(uid). */
export class Corpus {
  constructor(on) {
    this.on = on;
    this.page = 1;
    this.examplePage = this.examplePages = 1;
    this.longest = Infinity;
    this.question = null;
    this.asked = null;
    this.listed = [];
    find("more-examples").addEventListener("click", () => {
      this.examples(this.examplePage % this.examplePages + 1).catch((error) => tell(reason(error)));
    });
    find("browser").addEventListener("toggle", () => this.browse(1));
    find("corpus").addEventListener("click", () => {
      find("browser").open = true;
      find("browser").scrollIntoView({ block: "start" });
      find("query").focus({ preventScroll: true });
    });
    find("query").addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.browse(1), PATIENCE);
    });
    find("earlier").addEventListener("click", () => this.browse(this.page - 1));
    find("later").addEventListener("click", () => this.browse(this.page + 1));
  }

  describe({ corpus, facts, questions, limits }) {
    const number = facts.toLocaleString("en");
    find("corpus").textContent = `Facts: ${corpus} (${number})`;
    find("browser-title").textContent = `Look through the ${count(number, "fact", facts)}`;
    this.questions = questions;
    this.longest = limits.question_chars;
    if (!questions) find("browser").open = true;
    this.list();
    return this.examples(1);
  }

  /** Questions of the dataset; of a corpus without any, facts to be explained by others. */
  async examples(page) {
    const found = await get(`api/${this.questions ? "questions" : "facts"}?size=${EXAMPLES}&page=${page}`);
    this.examplePage = page;
    this.examplePages = found.pages;
    const list = this.questions ? found.items.map(askedBefore) : this.toExplain(found.items);
    find("more-examples").hidden = found.pages < 2;
    find("examples").hidden = !list.length && found.pages < 2;
    find("example-list").replaceChildren(...list.map(({ asked, question, answer, uid }) => make("li", {}, make("button", {
      type: "button", dir: "auto", "data-id": asked.id, "data-about": uid, onclick: () => this.on.ask(asked),
    }, make("span", { class: "q", text: question }), answer ? make("span", { class: "a", text: answer }) : null))));
    this.hide(this.question);
    if (list.length) find("question").placeholder = `For example: ${clean(shortened(list[0].question))}`;
    find("answer").placeholder = list[0]?.answer ? `For example: ${clean(shortened(list[0].answer))}` : "";
  }

  /** An example is not one while it is asked. */
  hide(question) {
    this.question = question;
    for (const button of find("example-list").querySelectorAll("button")) button.parentElement.hidden = button.firstChild.textContent === question;
  }

  toExplain(facts) {
    facts.forEach(this.on.known);
    return facts.filter((fact) => this.canExplain(fact)).map((fact) => ({ asked: about(fact), question: about(fact).question, uid: fact.uid }));
  }

  /** The server takes no longer question. */
  canExplain(fact) {
    return letters(about(fact).question) <= this.longest;
  }

  async browse(page) {
    if (!find("browser").open) return;
    const query = find("query").value.trim(), ticket = {};
    this.asked = ticket;
    try {
      const found = await get(`api/facts?query=${encodeURIComponent(query)}&page=${page}&size=${SIZE}`);
      if (this.asked === ticket) this.show(found, query, page);
    } catch (error) {
      if (this.asked === ticket) say(clean(reason(error)), true);
    }
  }

  show(found, query, page) {
    this.page = page;
    say(found.total
      ? `${count(found.total.toLocaleString("en"), "fact", found.total)}${query ? ", nearest first" : ""}`
      : `No fact shares a word with “${clean(query)}”.`);
    this.listed = found.items;
    this.list();
    find("pages").hidden = found.pages < 2;
    find("page").textContent = `Page ${page.toLocaleString("en")} of ${found.pages.toLocaleString("en")}`;
    find("earlier").disabled = page <= 1;
    find("later").disabled = page >= found.pages;
  }

  /** The facts that were found, with what can be done with them now. */
  list() {
    find("fact-list").replaceChildren(...this.listed.map((fact) => this.row(fact)));
  }

  row(fact) {
    this.on.known(fact);
    return make("li", {},
      make("span", { dir: "auto", text: fact.text }),
      make("span", { class: "row" },
        this.canExplain(fact) ? make("button", { type: "button", text: "Explain it", "aria-label": `Explain: ${fact.text}`, onclick: () => this.on.ask(about(fact)) }) : null,
        this.on.canPin(fact.uid) ? make("button", { type: "button", text: "Pin", "aria-label": `Pin: ${fact.text}`, onclick: () => this.on.pin(fact.uid) }) : null));
  }
}

const askedBefore = ({ id, question, answer }) => ({ asked: { ...nothing(), id }, question, answer });

/** What was found, or why not, beside the list. */
function say(text, isRefused = false) {
  find("found").textContent = text;
  find("found").classList.toggle("refused", isRefused);
}
