// The buttons that take a chain along.

import { reason } from "./api.js";
import { find } from "./dom.js";
import { copy, pngFile, save, svgFile } from "./exports.js";
import { tell } from "./notice.js";

const ACTIONS = {
  "copy-text": (chain) => copy(chain.text()),
  "copy-json": (chain) => copy(JSON.stringify(chain.record(), null, 2)),
  "copy-link": (chain, link) => copy(link),
  "save-svg": async (chain) => save(await svgFile(chain), "chain.svg"),
  "save-png": async (chain) => save(await pngFile(chain), "chain.png"),
  print: () => print(),
};

/** `taken()` gives the chain that is shown, and the link that brings it back. */
export function toolbar(taken) {
  find("toolbar").addEventListener("click", async ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    const { action } = button.dataset;
    try {
      await ACTIONS[action](...taken());
    } catch (error) {
      tell(reason(error));
      return;
    }
    if (!action.startsWith("copy")) return;
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1500);
  });
}
