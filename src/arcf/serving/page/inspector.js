// Beside the picture: the slider that replays the selection, and the scores of each step as bars.

import { percent } from "./chain.js";
import { find, make } from "./dom.js";

const PACE = 1200;

export class Inspector {
  /** `on` has: show(step), take(step, uid), pin(place), remove(place). */
  constructor(on) {
    this.on = on;
    this.timer = null;
    this.slider = find("slider");
    this.slider.addEventListener("input", () => { this.pause(); on.show(Number(this.slider.value)); });
    find("play").addEventListener("click", () => this.timer ? this.pause() : this.play());
  }

  play() {
    const first = Number(this.slider.value) >= Number(this.slider.max) ? 1 : Number(this.slider.value) + 1;
    this.on.show(Math.min(first, Number(this.slider.max)));
    this.timer = setInterval(() => {
      if (Number(this.slider.value) >= Number(this.slider.max)) this.pause();
      else this.on.show(Number(this.slider.value) + 1);
    }, PACE);
    this.mark();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.mark();
  }

  mark() {
    const play = find("play");
    play.classList.toggle("playing", this.timer !== null);
    play.setAttribute("aria-label", this.timer ? "Pause the replay" : "Replay the selection");
  }

  render(chain, step) {
    const steps = Math.max(chain.steps, 1);
    this.slider.max = steps;
    this.slider.value = step;
    this.slider.disabled = chain.steps < 2;
    this.slider.style.setProperty("--share", `${steps > 1 ? ((step - 1) / (steps - 1)) * 100 : 100}%`);
    const stopping = step > chain.facts.length;
    this.slider.setAttribute("aria-valuetext", stopping ? "the decision to stop" : `fact ${step} of ${chain.facts.length}`);
    find("place").textContent = chain.steps ? `${step} / ${steps}` : "";
    const panel = find("inspected"), held = panel.contains(document.activeElement) ? document.activeElement.dataset : null;
    panel.replaceChildren(...(chain.steps ? this.panel(chain, step, stopping) : []));
    if (held) (again(panel, held) ?? panel.querySelector("h2"))?.focus({ preventScroll: true });
  }

  panel(chain, step, stopping) {
    const fact = chain.facts[step - 1];
    const heading = make("h2", { text: stopping ? "Then it ended" : whose(fact, step), tabindex: -1 });
    const field = chain.field(step);
    const bars = field.length
      ? make("ol", { class: "bars", "aria-label": "Scores, best first" }, ...this.bars(chain, field, step, stopping))
      : make("p", { class: "hint", text: "It was not chosen, so there are no scores to compare." });
    return [heading, stopping ? null : this.actions(chain, step), make("p", { class: "hint", text: hint(chain, field, step, stopping) }), bars]
      .filter(Boolean);
  }

  actions(chain, step) {
    const pinned = chain.facts[step - 1].given;
    return make("div", { class: "row" },
      make("button", {
        type: "button", "data-action": "pin", "aria-pressed": String(pinned), text: pinned ? "Pinned" : "Pin",
        title: pinned ? "Let it be chosen, or not, like the others" : "Begin the chain with it, and find the rest again",
        onclick: () => this.on.pin(step - 1),
      }),
      make("button", {
        type: "button", "data-action": "remove", text: "Remove",
        title: "Leave it out, and go on without it", onclick: () => this.on.remove(step - 1),
      }),
    );
  }

  bars(chain, field, step, stopping) {
    const scores = field.map((one) => one.score);
    const low = Math.min(...scores), span = Math.max(...scores) - low || 1;
    return field.map((one) => {
      const share = 0.06 + 0.94 * ((one.score - low) / span);
      const bar = make("span", { class: "bar" });
      bar.style.setProperty("--share", `${(share * 100).toFixed(1)}%`);
      const content = [
        make("span", { class: "bar-text", dir: "auto", text: one.stop ? "stop here" : one.text }),
        make("span", { class: "bar-score", text: one.score.toFixed(2) }),
        bar,
      ];
      if (!one.stop && chain.isGold(one.uid)) content[0].append(make("span", { class: "gold-mark", text: " gold ✓" }));
      const kind = one.chosen ? "chosen" : one.stop ? "stop" : "other";
      if (one.chosen || one.stop) {
        return make("li", { class: `one ${kind}${one.stop ? " stop" : ""}`, "aria-current": one.chosen ?? null }, make("div", { class: "bar-row" }, ...content));
      }
      const label = stopping ? "Go on with" : "Take instead", gold = chain.isGold(one.uid) ? ", gold" : "";
      return make("li", { class: "one other" }, make("button", {
        type: "button", class: "bar-row", "data-uid": one.uid, "aria-label": `${label}: ${one.text}, score ${one.score.toFixed(2)}${gold}`,
        title: label, onclick: () => this.on.take(step, one.uid),
      }, ...content));
    });
  }
}

/** Who put a fact into the chain. */
const whose = (fact, step) => fact.kept ? `Fact ${step}, kept` : fact.given ? `Fact ${step}, put here by you` : `Fact ${step} was chosen`;

/** What had the focus, in a panel that was drawn again. */
const again = (panel, { action, uid }) => [...panel.querySelectorAll("button")]
  .find((one) => one.dataset.action === action && one.dataset.uid === uid);

function hint(chain, field, step, stopping) {
  if (stopping) {
    const why = chain.end.stopped ? "Stopping scored higher than any further fact." : `The next fact belongs to the explanation with a probability of ${percent(chain.end.next_confidence)}.`;
    return field.length > 1 ? `${why} Click one to go on with it all the same.` : "";
  }
  if (!field.length) return "";
  const others = field.some((one) => !one.chosen && !one.stop), { confidence } = chain.facts[step - 1];
  const sure = confidence === null ? "" : `It belongs to the explanation with a probability of ${percent(confidence)}. `;
  return sure + (others ? "Its score, and those of the runners-up. Click one to take it instead." : "");
}
