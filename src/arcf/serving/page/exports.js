// Taking a chain along: copied as text, JSON or link, saved as a picture.

import { LIGHT, picture } from "./graph.js";

const WIDTH = 900, MARGIN = 24, SCALE = 2, PAPER = "#ffffff";
/** A saved picture is shown in whatever font the reader has. */
const SLACK = 1.15;

/** Copy; where the clipboard is closed to pages (no https, no localhost), the old way. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** The whole chain as an SVG file: light, on white, with a margin. */
export function svgFile(chain) {
  const svg = picture(chain, WIDTH, { colors: { ...LIGHT, paper: PAPER }, step: chain.facts.length + 1, ring: 0, chosen: 0, slack: SLACK });
  const height = Number(svg.getAttribute("height"));
  svg.setAttribute("viewBox", `${-MARGIN} ${-MARGIN} ${WIDTH + 2 * MARGIN} ${height + 2 * MARGIN}`);
  svg.setAttribute("width", WIDTH + 2 * MARGIN);
  svg.setAttribute("height", height + 2 * MARGIN);
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const attributes = { x: -MARGIN, y: -MARGIN, width: WIDTH + 2 * MARGIN, height: height + 2 * MARGIN, fill: PAPER };
  Object.entries(attributes).forEach(([name, value]) => paper.setAttribute(name, value));
  svg.prepend(paper);
  for (const node of svg.querySelectorAll('[role="button"]')) {
    ["tabindex", "cursor", "aria-pressed", "data-step", "data-uid"].forEach((name) => node.removeAttribute(name));
    node.setAttribute("role", "img");
  }
  return new Blob(['<?xml version="1.0" encoding="UTF-8"?>\n', new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
}

export async function pngFile(chain) {
  const address = URL.createObjectURL(svgFile(chain));
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
