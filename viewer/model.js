// Model: every head of every attention as a small picture; one that is chosen opens as a matrix.
import { theme } from "fovea/colours";
import { askTile } from "fovea/app";
import { h, percent, s } from "fovea/dom";
import { thumbnail } from "fovea/heat";
import { Matrix } from "fovea/seen";

// Many tokens become few: the largest of each square.
function shrunk(m, most) {
  const step = Math.ceil(Math.max(m.rows.length, m.columns.length) / most);
  if (step <= 1) return m;
  const rows = Math.ceil(m.rows.length / step), columns = Math.ceil(m.columns.length / step), values = new Float32Array(rows * columns);
  for (let i = 0; i < m.rows.length; ++i)
    for (let j = 0; j < m.columns.length; ++j) {
      const at = Math.floor(i / step) * columns + Math.floor(j / step);
      values[at] = Math.max(values[at], m.at(i, j));
    }
  return new Matrix(Array(rows), Array(columns), values, m.causal);
}

// Squares of a head that is not here, computed where that is quick, or kept in the file already.
const thumbnailSide = 128, thumbnailsAsked = 2;
const hasTiles = (place) => place.tiles !== undefined || Math.max(...place.size) <= 8192;
async function pooled(frame, place, head) {
  const kept = (place.pooled ??= new Map()), level = Math.max(place.tiles ?? 0, Math.ceil(Math.log2(Math.max(...place.size) / thumbnailSide)));
  if (!kept.has(head)) kept.set(head, { level, ...await askTile(frame.seen.run, place, head, { level, rows: 8 * thumbnailSide, columns: 8 * thumbnailSide }) });
  const t = kept.get(head);
  return new Matrix(Array(t.height), Array(t.width), t.largest.map(Math.sqrt), place.causal);
}

// How sure a head is: the mean of its rows' largest weights.
function focus(m) {
  let sum = 0;
  for (let i = 0; i < m.rows.length; ++i) sum += m.rowLargest(i);
  return sum / Math.max(1, m.rows.length);
}

// Attentions of the same rows and columns stand below each other, as layers; each such column beside the others where there is room.
function grouped(places) {
  const groups = new Map();
  for (const p of places) {
    const key = `${p.rows} → ${p.columns}`;
    groups.set(key, [...(groups.get(key) ?? []), p]);
  }
  return [...groups];
}

export async function modelView(frame) {
  const { seen } = frame, t = theme(), room = frame.room(), font = 0.78 * t.unit;
  frame.tools(frame.unitTools(), h("span", {}, "a line for each attention, a picture for each head with its number, what it did in this text, and its focus"));
  frame.noTable();
  const whole = seen.places.filter((p) => seen.isWhole(p) || hasTiles(p)), groups = grouped(whole);
  const across = Math.max(1, Math.min(groups.length, Math.floor(room / (21 * t.unit)))), space = 3.2 * t.unit, gap = 0.6 * t.unit;
  const width = (room - (across - 1) * space) / across, most = Math.max(1, ...whole.map((p) => p.heads.length));
  const per = Math.min(most, Math.max(4, Math.floor(width / (4.2 * t.unit)))), cell = Math.min(10 * t.unit, (width - (per - 1) * gap) / per);
  const svg = s("svg", { role: "group", "aria-label": "all heads" }), places = [];
  let top = 0, lowest = 0;
  for (const [k, [title, layers]] of groups.entries()) {
    if (k > 0 && k % across === 0) top = lowest + 2 * t.unit;
    const left = (k % across) * (width + space);
    let y = top + t.unit;
    svg.append(s("text", { x: left, y, "font-size": t.unit, "font-weight": 600, fill: t.ink }, title));
    y += 1.6 * t.unit;
    for (const place of layers) {
      const tall = cell * Math.min(1, Math.max(0.12, place.size[0] / place.size[1]));
      svg.append(s("text", { x: left, y, "font-size": font, fill: t.quiet }, place.path));
      y += 0.55 * t.unit;
      for (const [number, head] of place.heads.entries()) {
        if (number > 0 && number % per === 0) y += tall + 3.3 * font;
        places.push({ place, number, head, box: { x: left + (number % per) * (cell + gap), y, width: cell, height: tall, font } });
      }
      y += tall + 4.6 * font;
    }
    lowest = Math.max(lowest, y);
  }
  svg.setAttribute("viewBox", `0 0 ${room} ${Math.max(lowest, 1)}`);
  svg.setAttribute("width", room);
  const note = whole.length < seen.places.length && h("p", { class: "note" }, "Attentions of more than 8,192 tokens are left out here: the Matrix shows them.");
  frame.picture = () => svg;
  // Weights that are here are drawn at once; others as they come, some at a time.
  if (!places.every(({ place }) => seen.isWhole(place))) frame.draw(svg, note);
  const table = new Array(places.length);
  let next = 0;
  async function fill() {
    for (let at = next++; at < places.length && frame.current; at = next++) {
      const { place, number, head, box } = places[at], long = !seen.isWhole(place);
      const m = long ? await pooled(frame, place, number) : await seen.matrix({ ...frame.chosen, place: place.path, head: number, layers: "one" });
      const sure = long ? NaN : focus(m), named = place.names?.[number] ?? "";
      table[at] = [place.path, head, named, Number.isNaN(sure) ? "" : sure.toFixed(3)];
      svg.append(picture(frame, place, number, m, { ...box, sure, named }));
    }
  }
  await Promise.all(Array.from({ length: thumbnailsAsked }, fill));
  if (!frame.current) return;
  if (!frame.stage.contains(svg)) frame.draw(svg, note);
  frame.rows(["attention", "head", "name", "focus"], table);
}

// What fits below a picture: "previous token" becomes "previous" where there is little room.
function short(named, width, font) {
  const most = Math.floor(width / (0.54 * font)), word = named.split(" ")[0];
  return ["mixed", ""].includes(named) ? "" : named.length <= most ? named : word.length <= most ? word : "";
}

function picture(frame, place, number, m, { x, y, width, height, font, sure, named }) {
  const t = theme(), head = place.heads[number];
  const go = () => frame.set({ view: "matrix", place: place.path, head: number, layers: undefined });
  return s("g", { tabindex: 0, role: "button", "aria-label": `${place.path}, head ${head}${named && ", " + named}, focus ${Number.isNaN(sure) ? "unknown" : sure.toFixed(2)}`, style: "cursor:pointer",
    onclick: go, onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); go(); } } },
    thumbnail(shrunk(m, 160), x, y, width, height, { largest: Math.max(0.05, Math.min(1, m.largest())) }),
    s("text", { x, y: y + height + 1.25 * font, "font-size": font, fill: t.quiet }, `${head}`),
    s("text", { x, y: y + height + 2.45 * font, "font-size": font, fill: t.ink }, short(named, width, font)),
    s("text", { x: x + width, y: y + height + 1.25 * font, "font-size": font, fill: t.quiet, "text-anchor": "end" }, Number.isNaN(sure) ? "" : percent(sure)),
    s("title", {}, `${place.path}, head ${head}${named && ": " + named}`));
}
