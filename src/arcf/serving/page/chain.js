// The chain as far as it is known, and what has been learned about steps that are pinned now but were chosen before.

import { percent } from "./verdict.js";

export const SOURCES = 3;

export class Chain {
  constructor(memory) {
    this.memory = memory;
    this.opening = null;
    this.facts = [];
    this.end = null;
    this.broken = "";
  }

  open(opening) {
    this.opening = opening;
    this.facts = opening.given.map((link, place) => ({ ...link, ...this.recall(opening.given, place) }));
  }

  add(link) {
    this.facts.push(link);
    this.remember(this.facts.length - 1);
  }

  close(end) {
    this.end = end;
  }

  /** The search ended too early, and this is why. */
  breakOff(why) {
    this.broken = why;
  }

  /** Nothing was found, and nothing will be. */
  get isEmpty() {
    return this.end !== null && !this.facts.length;
  }

  /** How many steps there are to look at: one for each fact, and the end. */
  get steps() {
    return this.facts.length + (this.end ? 1 : 0);
  }

  isGold(uid) {
    return this.opening.gold.includes(uid);
  }

  /** The sources of a fact that share the most words with it, in chain order; 0 is the question. Those by words that say
   * nothing of a subject ("kind", "used") only if there are no others. */
  sources(place) {
    const seen = this.facts[place].seen_from, telling = this.telling(place);
    const best = (telling.length ? telling : seen).map((one) => seen.indexOf(one)).sort((a, b) => seen[b].words.length - seen[a].words.length || a - b);
    return best.slice(0, SOURCES).sort((a, b) => a - b).map((index) => ({
      from: seen[index].source === null ? 0 : this.facts.findIndex((fact) => fact.uid === seen[index].source) + 1,
      words: seen[index].words,
    }));
  }

  telling(place) {
    return this.facts[place].seen_from.filter(({ words, light }) => words.length || !light.length);
  }

  /** How many more sources there are than are shown. */
  more(place) {
    return Math.max(0, this.telling(place).length - this.sources(place).length);
  }

  /** What a step was chosen over, best first, each with its share of the softmax; at the end, what could have come. */
  field(step) {
    if (step > this.facts.length) {
      const stop = { stop: true, score: this.end.stop_score, chosen: this.end.stopped };
      return ranked([...(stop.score === null ? [] : [stop]), ...this.end.left_out]);
    }
    const link = this.facts[step - 1];
    if (link.score === null) return [];
    const stop = link.stop_score === null ? [] : [{ stop: true, score: link.stop_score }];
    return ranked([{ ...link, chosen: true }, ...link.runners_up, ...stop]);
  }

  /** Why the chain ends, in plain words. */
  ending() {
    const { unsure, stopped, next_confidence: next, ending } = this.end;
    if (unsure) return `the next fact is too doubtful (${percent(next)})`;
    return stopped ? "no further fact is better than stopping" : ending.split(": ").at(-1);
  }

  remember(place) {
    const { uid, text, score, confidence, runners_up, stop_score } = this.facts[place];
    const before = this.facts.slice(0, place).map((fact) => fact.uid);
    const field = [{ uid, text, score }, ...runners_up];
    for (const one of field) {
      const others = field.filter((other) => other !== one);
      const sure = one.uid === uid ? confidence : null;
      this.memory.set(JSON.stringify([...before, one.uid]), { score: one.score, confidence: sure, runners_up: others, stop_score });
    }
  }

  recall(given, place) {
    return this.memory.get(JSON.stringify(given.slice(0, place + 1).map((fact) => fact.uid)));
  }

  /** The chain as the server tells it, or as much of it as there is. */
  record() {
    return this.end ?? { ...this.opening, facts: this.facts };
  }

  /** The chain as the command line prints it, and where pinned facts can be found from. */
  text() {
    const { question, answer } = this.opening;
    const lines = this.facts.map((fact, place) => {
      const seen = this.sources(place).map(({ from, words }) => {
        const name = from === 0 ? "the question" : String(from);
        return words.length ? `${name} (${words.join(", ")})` : name;
      });
      const more = this.more(place);
      const sure = fact.confidence === null ? fact.score?.toFixed(2) : percent(fact.confidence);
      const origin = seen.length ? `\n${" ".repeat(12)}from ${seen.join(", ")}${more ? ` and ${more} more` : ""}` : "";
      return `${String(place + 1).padStart(2)}. ${fact.given ? "(pinned)" : sure.padStart(6)}  ${fact.text}${origin}`;
    });
    const head = answer ? `${question} -> ${answer}` : question;
    return [head, ...lines, this.end?.ending ?? ""].join("\n").trimEnd();
  }
}

function ranked(field) {
  const best = Math.max(...field.map(({ score }) => score));
  const total = field.reduce((sum, { score }) => sum + Math.exp(score - best), 0);
  return field.map((one) => ({ ...one, share: Math.exp(one.score - best) / total }))
    .sort((a, b) => b.score - a.score || Boolean(b.chosen) - Boolean(a.chosen));
}
