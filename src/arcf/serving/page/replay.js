// Below the picture: the slider that shows the chain as it was found, fact by fact.

import { find } from "./dom.js";

const PACE = 1200;

export class Replay {
  /** `show(step)` shows the chain as far as a step. */
  constructor(show) {
    this.show = show;
    this.timer = null;
    this.slider = find("slider");
    this.slider.addEventListener("input", () => { this.pause(); show(Number(this.slider.value)); });
    find("play").addEventListener("click", () => this.timer ? this.pause() : this.play());
  }

  get isLast() {
    return Number(this.slider.value) >= Number(this.slider.max);
  }

  play() {
    this.show(this.isLast ? 1 : Number(this.slider.value) + 1);
    this.timer = setInterval(() => {
      if (this.isLast) this.pause();
      else this.show(Number(this.slider.value) + 1);
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
    play.setAttribute("aria-label", this.timer ? "Pause the replay" : "Replay how it was found");
  }

  render(chain, step) {
    const { steps } = chain;
    find("replay").hidden = steps < 2 || !(chain.end || chain.broken);
    this.slider.max = steps;
    this.slider.value = step;
    this.slider.style.setProperty("--share", `${steps > 1 ? ((step - 1) / (steps - 1)) * 100 : 100}%`);
    this.slider.setAttribute("aria-valuetext", step > chain.facts.length ? "the end" : `fact ${step} of ${chain.facts.length}`);
    find("place").textContent = step > chain.facts.length ? "whole chain" : `fact ${step} of ${chain.facts.length}`;
  }
}
