// A matrix as ink: cells with names on two sides, as one group of an SVG.
import { difference, rgb, theme } from "fovea/colours";
import { s, shortened, widthOf } from "fovea/dom";

// Cells as a picture of one pixel each, which an SVG shows in any size.
export function pixels(m, { largest = 1, signed = false } = {}) {
  const width = m.columns.length, height = m.rows.length, canvas = document.createElement("canvas");
  canvas.width = width; canvas.height = height;
  const context = canvas.getContext("2d"), image = context.createImageData(width, height), { dark } = theme();
  for (let i = 0; i < m.values.length; ++i) {
    const v = m.values[i] / largest, [r, g, b] = signed ? difference(v, dark) : rgb(v, dark);
    image.data.set([r, g, b, 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

const image = (m, box, options) => s("image", {
  ...box, href: pixels(m, options), preserveAspectRatio: "none", style: "image-rendering:pixelated",
});

export function thumbnail(m, x, y, width, height, options) {
  const t = theme();
  return s("g", {}, image(m, { x, y, width, height }, options), s("rect", { x, y, width, height, fill: "none", stroke: t.line }));
}

// { group, width, height }: at most `room` wide; names where there is space for them.
export function heatMap(m, room, { largest = 1, signed = false, title = "", point } = {}) {
  const t = theme(), font = 0.78 * t.unit, css = `${font}px ${t.sans}`, most = 18;
  const widest = (units) => Math.min(8.5 * font, Math.max(0, ...units.slice(0, 400).map((u) => widthOf(shortened(u.label, most), css))));
  const left = widest(m.rows) + font, head = title ? 2.2 * font : 0, rows = m.rows.length, columns = m.columns.length;
  const cell = Math.max(1, Math.min(3.6 * font, (room - left) / columns)), named = cell >= 0.85 * font;
  const rowHeight = Math.min(cell, 3.6 * font), namedRows = rowHeight >= 0.85 * font;
  const above = head + (named ? widest(m.columns) * 0.78 + font : 0.4 * font), g = s("g", { "font-size": font });
  if (title) g.append(s("text", { x: 0, y: font, fill: t.ink, "font-weight": 600 }, title));
  const box = { x: left, y: above, width: columns * cell, height: rows * rowHeight };
  g.append(image(m, box, { largest, signed }), s("rect", { ...box, fill: "none", stroke: t.line }));
  if (namedRows)
    m.rows.forEach((u, i) => g.append(s("text", { x: left - 0.5 * font, y: above + (i + 0.5) * rowHeight, "text-anchor": "end",
      "dominant-baseline": "central", fill: u.special ? t.quiet : t.ink }, shortened(u.label, most))));
  if (named)
    m.columns.forEach((u, j) => {
      const x = left + (j + 0.5) * cell, y = above - 0.5 * font;
      g.append(s("text", { x, y, transform: `rotate(-52 ${x} ${y})`, "dominant-baseline": "central", fill: u.special ? t.quiet : t.ink },
        shortened(u.label, most)));
    });
  if (point) {
    const over = s("rect", { ...box, fill: "transparent", onpointermove: (e) => {
      const at = over.getBoundingClientRect();
      point(Math.min(rows - 1, Math.floor((e.clientY - at.top) / at.height * rows)), Math.min(columns - 1, Math.floor((e.clientX - at.left) / at.width * columns)));
    }, onpointerleave: () => point(-1, -1) });
    g.append(over);
  }
  return { group: g, width: left + box.width + font, height: above + box.height + 0.5 * font };
}
