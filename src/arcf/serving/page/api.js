// Talking to the server: JSON, server-sent events over fetch, and the token where one is wanted.

import { find } from "./dom.js";

const TOKEN = "arcf-token";
/** What a token may be, as the server has it; and what is pasted along with one. */
const FIT = /^[A-Za-z0-9._~+/=-]+$/, BLANK = /^[\s\u200b-\u200d\u2060]+|[\s\u200b-\u200d\u2060]+$/g;

export class ProblemError extends Error {
  constructor(problem) {
    const more = (problem.errors ?? []).map((error) => `${error.pointer}: ${error.detail}`);
    super([problem.detail || problem.title, ...more].join(" "));
    this.status = problem.status;
  }
}

/** What to tell of a failure: browsers call it a type error when nobody answers. */
export const reason = (error) => error instanceof TypeError ? "The server cannot be reached." : error.message;

/** Whether the same request may be answered another time: it is not the request that is wrong. */
export const passes = (error) => ![400, 404, 413, 422].includes(error.status);

/** GET a path below the page's own address. */
export async function get(path) {
  return (await ask(path, {})).json();
}

/** POST, and call `on(event, data)` for each event of the answer. */
export async function stream(path, request, signal, on) {
  const answer = await ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
    signal,
  });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "", last = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const blocks = (pending + value).split("\n\n");
    pending = blocks.pop();
    for (const block of blocks) last = tell(block, on);
  }
  if (last !== "end") throw new ProblemError({ detail: "The answer broke off; ask again." });
}

function tell(block, on) {
  const fields = block.split("\n").map((line) => line.split(/: (.*)/s));
  const { event, data } = Object.fromEntries(fields);
  const record = JSON.parse(data);
  if (event === "error") throw new ProblemError(record);
  on(event, record);
  return event;
}

async function ask(path, options) {
  const token = sessionStorage.getItem(TOKEN), before = closed;
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const answer = await fetch(path, { ...options, headers });
  if (answer.ok) return answer;
  if (answer.status === 401 && (closed > before ? given : await askToken(token !== null))) return ask(path, options);
  // What stands before the server answers in words of its own, and over HTTP/2 in none.
  const unsaid = { detail: answer.statusText || `The server cannot answer now (${answer.status}).`, status: answer.status };
  throw new ProblemError(await answer.json().catch(() => unsaid));
}

let asking = null, closed = 0, given = false;

if (!FIT.test(sessionStorage.getItem(TOKEN))) sessionStorage.removeItem(TOKEN);

find("token-form").addEventListener("submit", (event) => {
  const token = find("token").value.replace(BLANK, "");
  find("token").value = "";
  if (FIT.test(token)) return sessionStorage.setItem(TOKEN, token);
  event.preventDefault();
  find("token-refused").hidden = false;
});

/** Ask the reader for the token, once for all requests that wait for it. */
function askToken(refused) {
  asking ??= new Promise((resolve) => {
    const dialog = find("token-dialog");
    find("token-refused").hidden = !refused;
    dialog.addEventListener("close", () => {
      asking = null;
      closed += 1;
      given = dialog.returnValue === "given";
      resolve(given);
    }, { once: true });
    dialog.returnValue = "";
    dialog.showModal();
  });
  return asking;
}
