// A view as a picture: SVG as it stands on the page, with the paper behind it; PNG drawn from that, twice as large.
import { theme } from "fovea/colours";
import { s } from "fovea/dom";

export function standalone(svg) {
  const t = theme(), copy = svg.cloneNode(true), [x, y, width, height] = svg.getAttribute("viewBox").split(" ").map(Number), edge = t.unit;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", [x - edge, y - edge, width + 2 * edge, height + 2 * edge].join(" "));
  copy.setAttribute("width", width + 2 * edge);
  copy.setAttribute("height", height + 2 * edge);
  copy.setAttribute("font-family", t.sans);
  copy.removeAttribute("style");
  for (const e of copy.querySelectorAll("[tabindex]")) e.removeAttribute("tabindex");
  copy.prepend(s("rect", { x: x - edge, y: y - edge, width: width + 2 * edge, height: height + 2 * edge, fill: t.paper }));
  // Characters that XML does not have would make a file that nobody can read.
  return new XMLSerializer().serializeToString(copy).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}

export async function drawn(svg, scale = 2) {
  const text = standalone(svg), image = new Image();
  await new Promise((done, fail) => {
    image.onload = done;
    image.onerror = () => fail(new Error("the browser could not draw the picture"));
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  });
  const canvas = document.createElement("canvas"), most = 8192;
  const k = Math.min(scale, most / image.width, most / image.height);
  canvas.width = Math.ceil(image.width * k); canvas.height = Math.ceil(image.height * k);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob); link.download = name; link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
