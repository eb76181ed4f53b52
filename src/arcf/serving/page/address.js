// What is asked, as the part of the address after #: a link brings it back, and servers never see it.

const NUMBERS = ["k", "max_facts", "min_facts"];

export const nothing = () => ({
  id: null, question: "", answer: "", options: [], settings: {}, start: [], excluded: [],
});

export function write(asked) {
  const fields = new URLSearchParams();
  if (asked.id) fields.set("id", asked.id);
  else {
    fields.set("q", asked.question);
    if (asked.answer) fields.set("a", asked.answer);
    asked.options.forEach((option) => fields.append("o", option));
  }
  NUMBERS.forEach((name) => asked.settings[name] !== undefined && fields.set(name, asked.settings[name]));
  asked.start.forEach((uid) => fields.append("start", uid));
  asked.excluded.forEach((uid) => fields.append("without", uid));
  return `#${fields}`;
}

export function read(hash) {
  const fields = new URLSearchParams(hash.slice(1));
  const asked = nothing();
  asked.id = fields.get("id");
  asked.question = fields.get("q") ?? "";
  asked.answer = fields.get("a") ?? "";
  asked.options = fields.getAll("o");
  asked.start = fields.getAll("start");
  asked.excluded = fields.getAll("without");
  for (const name of NUMBERS) {
    const number = Number.parseInt(fields.get(name), 10);
    if (Number.isFinite(number)) asked.settings[name] = number;
  }
  return asked.id || asked.question ? asked : null;
}

const subject = ({ id, question, answer, options }) => id ? { id } : { question, answer, options };

/** Whether two requests ask the same, whatever their settings and changes. */
export const sameQuestion = (one, other) => JSON.stringify(subject(one)) === JSON.stringify(subject(other));

/** What the server is sent. */
export const request = (asked) => ({ ...subject(asked), settings: asked.settings, start: asked.start, excluded: asked.excluded });
