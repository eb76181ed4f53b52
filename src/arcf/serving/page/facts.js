// Looking around in the corpus: what can be asked of it, and its facts, with a search.

import { get, reason } from "./api.js";
import { clean, count, find, make } from "./dom.js";
import { nothing } from "./address.js";

const EXAMPLES = 6, SIZE = 10, PATIENCE = 250;

/** A question that any fact answers for itself: what else explains it? */
export const about = ({ uid, text }) => ({ ...nothing(), question: `What explains that ${text}?`, excluded: [uid] });

/** `on` has: ask(asked), pin(uid), known(fact), tell(message), canPin(uid). */
export class Corpus {
  constructor(on) {
    this.on = on;
    this.page = 1;
    this.examplePage = 0;
    this.question = null;
    this.asked = null;
    this.listed = [];
    find("more-examples").addEventListener("click", () => this.try(() => this.examples()));
    find("browser").addEventListener("toggle", () => this.try(() => this.browse(1)));
    find("corpus").addEventListener("click", () => {
      find("browser").open = true;
      find("browser").scrollIntoView({ block: "start" });
      find("query").focus({ preventScroll: true });
    });
    find("query").addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.try(() => this.browse(1)), PATIENCE);
    });
    find("earlier").addEventListener("click", () => this.try(() => this.browse(this.page - 1)));
    find("later").addEventListener("click", () => this.try(() => this.browse(this.page + 1)));
  }

  try(work) {
    work().catch((error) => this.on.tell(reason(error)));
  }

  describe({ corpus, facts, questions }) {
    const number = facts.toLocaleString("en");
    find("corpus").textContent = `Facts: ${corpus} (${number})`;
    find("browser-title").textContent = `Look through the ${count(number, "fact", facts)}`;
    this.facts = facts;
    this.questions = questions;
    if (!questions) find("browser").open = true;
    return this.examples();
  }

  /** Questions of the dataset; of a corpus without any, facts to be explained by others. */
  async examples() {
    const list = this.questions ? await this.askedBefore() : await this.someFacts();
    find("examples").hidden = !list.length;
    find("more-examples").hidden = (this.questions || this.facts) <= EXAMPLES;
    find("example-list").replaceChildren(...list.map(({ asked, question, answer, uid }) => make("li", {}, make("button", {
      type: "button", dir: "auto", "data-id": asked.id, "data-about": uid, onclick: () => this.on.ask(asked),
    }, make("span", { class: "q", text: question }), answer ? make("span", { class: "a", text: answer }) : null))));
    this.hide(this.question);
    if (list.length) find("question").placeholder = `For example: ${clean(list[0].question)}`;
    find("answer").placeholder = list[0]?.answer ? `For example: ${clean(list[0].answer)}` : "";
  }

  /** An example is not one while it is asked. */
  hide(question) {
    this.question = question;
    for (const button of find("example-list").querySelectorAll("button")) button.parentElement.hidden = button.firstChild.textContent === question;
  }

  async askedBefore() {
    const found = await get(`api/questions?size=${EXAMPLES}&page=${this.examplePage + 1}`);
    this.examplePage = (this.examplePage + 1) % Math.max(found.pages, 1);
    return found.items.map((one) => ({ asked: { ...nothing(), id: one.id }, question: one.question, answer: one.answer }));
  }

  async someFacts() {
    const found = await get(`api/facts?size=${EXAMPLES}&page=${this.examplePage + 1}`);
    this.examplePage = (this.examplePage + 1) % Math.max(found.pages, 1);
    return found.items.map((fact) => {
      this.on.known(fact);
      const asked = about(fact);
      return { asked, question: asked.question, uid: fact.uid };
    });
  }

  async browse(page) {
    if (!find("browser").open) return;
    const query = find("query").value.trim(), ticket = {};
    this.asked = ticket;
    const found = await get(`api/facts?query=${encodeURIComponent(query)}&page=${page}&size=${SIZE}`);
    if (this.asked !== ticket) return;
    this.page = page;
    find("found").textContent = found.total
      ? `${count(found.total.toLocaleString("en"), "fact", found.total)}${query ? ", nearest first" : ""}`
      : `No fact shares a word with “${clean(query)}”.`;
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
        make("button", { type: "button", text: "Explain it", "aria-label": `Explain: ${fact.text}`, onclick: () => this.on.ask(about(fact)) }),
        this.on.canPin(fact.uid) ? make("button", { type: "button", text: "Pin", "aria-label": `Pin: ${fact.text}`, onclick: () => this.on.pin(fact.uid) }) : null));
  }
}
