// Taking a chain along: copied as text, JSON or link, saved as a picture.

import { draw } from "./dom.js";
import { LIGHT, picture } from "./graph.js";

const WIDTH = 900, MARGIN = 24, SCALE = 2, PAPER = "#ffffff";
/** Programs that do not know embedded fonts show a saved picture in whatever font they have. */
const SLACK = 1.08;
const FONTS = { Inter: ["inter-latin-wght-normal", "100 900"], Newsreader: ["newsreader-latin-wght-normal", "200 800"] };

/** Copy; where the clipboard is closed to pages (no https, no localhost), the old way. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const held = document.activeElement;
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    held.focus({ preventScroll: true });
  }
}

/** The page's fonts as CSS that holds them, so that a saved picture looks like the page. */
async function fontFaces() {
  const rules = Object.entries(FONTS).map(async ([family, [name, weights]]) => {
    const file = await (await fetch(`page/fonts/${name}.woff2`)).blob();
    return `@font-face { font-family: ${family}; font-weight: ${weights}; src: url("${await asData(file)}") format("woff2"); }`;
  });
  return (await Promise.all(rules)).join("\n");
}

function asData(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.replace(/^data:[^,]*,/, "data:font/woff2;base64,"));
    reader.onerror = reject;
    reader.readAsDataURL(file);
  });
}

/** The whole chain as an SVG file: light, on white, with a margin. */
export async function svgFile(chain) {
  const fonts = await fontFaces();
  const svg = picture(chain, WIDTH, { colors: { ...LIGHT, paper: PAPER }, shown: Infinity, ring: 0, chosen: 0, alone: true, slack: SLACK });
  const width = WIDTH + 2 * MARGIN, height = Number(svg.getAttribute("height")) + 2 * MARGIN;
  const around = { viewBox: `${-MARGIN} ${-MARGIN} ${width} ${height}`, width, height };
  Object.entries(around).forEach(([name, value]) => svg.setAttribute(name, value));
  svg.prepend(draw("style", { text: fonts }), draw("rect", { x: -MARGIN, y: -MARGIN, width, height, fill: PAPER }));
  for (const node of svg.querySelectorAll('[role="button"]')) {
    ["tabindex", "cursor", "aria-pressed", "data-step", "data-uid"].forEach((name) => node.removeAttribute(name));
    node.setAttribute("role", "img");
  }
  return new Blob(['<?xml version="1.0" encoding="UTF-8"?>\n', new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
}

export async function pngFile(chain) {
  const address = URL.createObjectURL(await svgFile(chain));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width * SCALE;
    canvas.height = image.height * SCALE;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
