// Beside the picture, or over its lower part where the screen is narrow: why a fact is there, and what else could be.

import { find, make } from "./dom.js";
import { inWords, percent } from "./verdict.js";

export class Inspector {
  /** `on` has: take(step, uid), pin(step), remove(step), close(), least() (the facts that a chain must have). */
  constructor(on) {
    this.on = on;
    this.panel = find("inspected");
    find("close").addEventListener("click", on.close);
    find("inspector").addEventListener("keydown", (event) => { if (event.key === "Escape") on.close(); });
  }

  /** Show a step; 0: none. */
  render(chain, step) {
    find("inspector").hidden = !step || chain.isEmpty;
    const held = this.panel.contains(document.activeElement) ? document.activeElement.dataset : null;
    this.panel.replaceChildren(...(step ? this.content(chain, step) : []));
    if (held) (again(this.panel, held) ?? this.panel.querySelector("h2"))?.focus({ preventScroll: true });
  }

  content(chain, step) {
    const at = step > chain.facts.length;
    if (at && !chain.end) {
      return [heading(chain.broken || `Looking for fact ${step}…`)];
    }
    const field = chain.field(step);
    return [
      heading(at ? "Why it ends here" : `Why fact ${step} is there`),
      make("ul", { class: "reasons" }, ...(at ? this.ending(chain, field) : this.reasons(chain, step)).filter(Boolean).map((text) => make("li", { text }))),
      at ? null : this.actions(chain, step),
      ...(field.length > 1 ? this.others(chain, field, step, at) : []),
    ].filter(Boolean);
  }

  reasons(chain, step) {
    const fact = chain.facts[step - 1], { confidence, score, stop_score: stop } = fact;
    return [
      fact.given ? "Pinned: the chain begins with it because you said so." : null,
      (confidence ?? null) === null ? null : `${capital(inWords(confidence))}: it belongs to the explanation with a probability of ${percent(confidence)}.`,
      origin(chain.sources(step - 1), chain.more(step - 1)),
      chain.isGold(fact.uid) ? "The reference explanation of this question has it too." : null,
      (stop ?? null) === null || stop < score ? null
        : fact.given ? `Stopping scored higher (${stop.toFixed(2)} against ${score.toFixed(2)}).`
          : `Stopping scored higher (${stop.toFixed(2)} against ${score.toFixed(2)}), but the chain was to have at least ${this.on.least()} facts.`,
    ];
  }

  ending(chain, field) {
    const { unsure, stopped, next_confidence: next, stop_score: stop } = chain.end;
    const best = field.find((one) => !one.stop);
    if (unsure) {
      return [
        `The next fact belongs to the explanation with a probability of ${percent(next)} only.`,
        best && stop !== null && best.score > stop ? "It scored higher than stopping, but a score only says what is best of what there is." : null,
      ];
    }
    return [stopped ? "Stopping scored higher than any further fact." : `${capital(chain.ending())}.`];
  }

  actions(chain, step) {
    const pinned = chain.facts[step - 1].given;
    return make("div", { class: "row" },
      make("button", {
        type: "button", "data-action": "pin", text: pinned ? "Unpin" : "Pin",
        title: pinned ? "Let it be chosen, or not, like the others" : "Begin the chain with it, and find the rest again",
        onclick: () => this.on.pin(step),
      }),
      make("button", {
        type: "button", "data-action": "remove", text: "Remove",
        title: "Leave it out, and find the chain without it", onclick: () => this.on.remove(step),
      }),
    );
  }

  others(chain, field, step, at) {
    const title = at ? "What could have come next" : "What could have been here instead";
    const can = field.some((one) => !one.stop && !one.chosen);
    return [
      make("h3", { text: title }),
      make("p", { class: "hint", text: `Numbers are scores; bars show how the model’s preference divides.${can ? ` Click a fact to ${at ? "go on with it" : "take it instead"}.` : ""}` }),
      make("ol", { class: "bars", "aria-label": "Scores, best first" }, ...field.map((one) => this.bar(chain, one, step, at))),
    ];
  }

  bar(chain, one, step, at) {
    const bar = make("span", { class: "bar" }), score = one.score.toFixed(2);
    bar.style.setProperty("--share", `${(one.share * 100).toFixed(1)}%`);
    const gold = !one.stop && chain.isGold(one.uid);
    const content = [
      make("span", { class: "bar-text", dir: "auto", text: one.stop ? "stop here" : one.text }, ...(gold ? [" ", make("span", { class: "gold-mark", text: "reference ✓" })] : [])),
      make("span", { class: "bar-score", text: score }),
      bar,
    ];
    const kind = `one${one.chosen ? " chosen" : ""}${one.stop ? " stop" : ""}`;
    if (one.chosen || one.stop) return make("li", { class: kind, "aria-current": one.chosen ? "true" : null }, make("div", { class: "bar-row" }, ...content));
    const label = at ? "Go on with" : "Take instead";
    return make("li", { class: kind }, make("button", {
      type: "button", class: "bar-row", "data-uid": one.uid, title: label, onclick: () => this.on.take(step, one.uid),
      "aria-label": `${label}: ${one.text}, score ${score}${gold ? ", in the reference explanation" : ""}`,
    }, ...content));
  }

  /** Move the focus to what is told of the step. */
  focus() {
    this.panel.querySelector("h2")?.focus({ preventScroll: true });
  }
}

/** Where a fact was found from, and by which words. */
function origin(sources, more) {
  if (!sources.length) return null;
  const telling = sources.filter(({ words }) => words.length), and = more ? `, and ${more} more` : "";
  const name = (from) => from ? `fact ${from}` : "the question";
  if (!telling.length) return `Near ${listed(sources.map(({ from }) => name(from)))}${and}, but by no word that says much.`;
  return `Shares words with ${listed(telling.map(({ from, words }) => `${name(from)} (${words.join(", ")})`))}${and}.`;
}

const heading = (text) => make("h2", { text, tabindex: -1 });

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const listed = (parts) => parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0];

/** What had the focus, in a panel that was drawn again. */
const again = (panel, { action, uid }) => [...panel.querySelectorAll("button")]
  .find((one) => one.dataset.action === action && one.dataset.uid === uid);
