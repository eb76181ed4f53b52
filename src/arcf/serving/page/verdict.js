// How far a chain can be trusted, in plain words; `arcf/picture/verdict.py` says the same in files.

/** From these probabilities on, a fact is called likely or possible; below, it is a guess. */
export const LIKELY = 0.5, POSSIBLE = 0.35;

const VERDICTS = {
  likely: "Probably a good explanation",
  possible: "Perhaps a good explanation: part of it is a guess",
  "a guess": "Weak: most of it is guesswork",
};
const NONE_FOUND = "No good explanation found";
const NOT_JUDGED = "Not judged: nothing is known of how sure these facts are";

export const percent = (probability) => `${Math.round(100 * probability)}%`;

/** What a probability is called. */
export const inWords = (probability) => probability >= LIKELY ? "likely" : probability >= POSSIBLE ? "possible" : "a guess";

/** Whether a finished chain can be trusted, in one line. `level` is what its color goes by. */
export function verdict({ facts, confidence }) {
  if (!facts.length) return { level: "none", title: NONE_FOUND };
  if (confidence === null) return { level: "unknown", title: NOT_JUDGED };
  const word = inWords(confidence);
  return { level: word.replace(" ", "-"), title: VERDICTS[word] };
}

/** The figures behind it, in one sentence; empty if there are none. */
export function expectation({ facts }) {
  const known = facts.map((fact) => fact.confidence ?? null).filter((one) => one !== null);
  if (!known.length) return "";
  const sum = known.reduce((total, one) => total + one, 0), mean = percent(sum / known.length);
  const pinned = facts.some((fact) => fact.given) ? " Pinned facts are not counted." : "";
  return (known.length === 1
    ? `The fact that was chosen belongs to it with a probability of ${mean}.`
    : `About ${Math.round(sum)} of ${known.length} facts can be expected to belong to it (${mean}).`) + pinned;
}

/** How sure a fact is: a word and a number; its score, for a model without calibration; null, if neither is known. */
export function worth({ score, confidence }) {
  if ((confidence ?? null) !== null) return [inWords(confidence), percent(confidence)];
  return (score ?? null) === null ? null : [score.toFixed(2), "score"];
}

/** "likely, 74%", or "score 3.21". */
export const inOneLine = ([first, second]) => second === "score" ? `score ${first}` : `${first}, ${second}`;
