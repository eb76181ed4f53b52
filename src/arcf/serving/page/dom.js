// Building elements. Text from data only ever becomes text nodes, so markup in it stays text.

const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text with what cannot be shown (and what XML forbids) made visible. */
export const clean = (text) => String(text).replace(CONTROL, "\ufffd");

export const find = (id) => document.getElementById(id);

/** An element: attributes (on… are listeners, class and text as they say), then children. */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same in SVG. */
export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") element.textContent = clean(value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** "1 fact", "2 facts"; `number` may be written out, with its `value` beside it. */
export const count = (number, noun, value = number) => `${number} ${noun}${value === 1 ? "" : "s"}`;
