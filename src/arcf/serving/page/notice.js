// What the reader is told besides the answer: what is being done, and what went wrong.

import { clean, find } from "./dom.js";

/** Tell what is being done, and offer to cancel it; nothing: it is done. */
export function work(message) {
  const lost = !message && document.activeElement === find("cancel");
  document.body.classList.toggle("busy", message !== "");
  find("cancel").hidden = !message;
  find("waiting").textContent = message;
  if (lost) find(find("ask").hidden ? "asked" : "question").focus({ preventScroll: true });
}

/** Say what went wrong, where it is seen; `canRetry`: it may go better another time. */
export function tell(message, canRetry = false) {
  find("trouble").hidden = !message;
  find("notice").textContent = clean(message);
  find("retry").hidden = !canRetry;
  if (message) find("trouble").scrollIntoView({ block: "nearest" });
}
