// Text of which one sees a page at a time: which words one word looks at, wherever they stand, and the text around them.
import { ink, onInk, theme } from "fovea/colours";
import { bold, h, percent, s } from "fovea/dom";
import { set, stepLine } from "fovea/text";

const pageTokens = 300;

export async function longTextView(frame) {
  const { seen, place, state } = frame, [rows, columns] = place.size, t = theme();
  const head = Math.min(place.heads.length - 1, Number.isInteger(Number(state.head)) ? Number(state.head) : 0);
  const row = Math.min(rows - 1, Number(/^r(\d+)$/.exec(state.pick ?? "")?.[1] ?? rows - 1));
  const mine = seen.units(place.rows, "pieces"), units = seen.units(place.columns, "pieces");
  const begin = Math.max(0, Math.min(columns - 1, Number.isInteger(Number(state.from ?? "x")) ? Number(state.from) : Math.min(row, columns - 1) - Math.floor(pageTokens * 0.8)));
  const end = Math.min(columns, begin + pageTokens), one = place.rows === place.columns;
  const jump = (v) => frame.set({ pick: `r${Math.max(0, Math.min(rows - 1, Number(v) || 0))}`, from: undefined });
  frame.tools(frame.placeTools({ layers: false, heads: false }), place.heads.length > 1 && headChoice(frame, head),
    h("label", {}, "token", h("input", { type: "number", id: "row", min: 0, max: rows - 1, value: row, style: "width:7em", onchange: (e) => jump(e.target.value) })),
    h("button", { type: "button", id: "earlier", onclick: () => frame.set({ from: Math.max(0, begin - pageTokens) }) }, "text before"),
    h("button", { type: "button", id: "later", onclick: () => frame.set({ from: Math.min(Math.max(0, columns - 20), begin + pageTokens) }) }, "text behind"));
  frame.noTable();
  const weights = await seen.row(place, head, row);
  if (!frame.current) return;

  const best = largest(weights, 8), full = best.length ? best[0][0] : 1, room = Math.min(frame.room(), 70 * t.unit);
  const told = h("p", { class: "value", role: "status" }, bold(mine[row].label), ` (${row.toLocaleString("en")}) looks at `,
    best.slice(0, 3).flatMap(([w, j], k) => [k ? ", " : "", bold(units[j].label), ` (${j.toLocaleString("en")}) ${percent(w)}`]));
  const svg = s("svg", { role: "group", "aria-label": "words" });
  const strip = overview({ t, room, weights, full, columns, begin, end, go: (j) => frame.set({ from: Math.max(0, j - Math.floor(pageTokens / 2)) }) });
  svg.append(strip.group);
  const size = 1.15 * t.unit, font = { plain: `${size}px ${t.sans}`, special: `${0.72 * size}px ${t.sans}` };
  const text = set(units.slice(begin, end), room, size, font), words = s("g", { transform: `translate(0 ${strip.height})` });
  text.placed.forEach((p, i) => {
    const j = begin + i, strength = weights[j] / (full || 1), picked = one && j === row;
    words.append(s("g", { id: `word-${j}`, tabindex: 0, role: "button", style: "cursor:pointer", "aria-label": `${p.label}, ${j}, ${percent(weights[j])}`,
      onclick: () => (one ? jump(j) : undefined), onkeydown: (e) => { if (e.key === "Enter" && one) jump(j); } },
      s("rect", { x: p.x, y: p.y - 1.02 * size, width: p.w, height: 1.36 * size, rx: 0.14 * size, fill: ink(strength, t.dark), "fill-opacity": strength < 0.015 ? 0 : 1,
        stroke: picked ? t.accent : "none", "stroke-width": 0.09 * size }),
      s("text", { x: p.x + p.w / 2, y: p.y, "text-anchor": "middle", "font-size": p.u.special ? 0.72 * size : size, fill: strength >= 0.015 ? onInk(strength, t) : p.u.special ? t.quiet : t.ink }, p.label),
      s("title", {}, `${p.label} (${j}): ${percent(weights[j])}`)));
  });
  svg.append(words);
  svg.setAttribute("viewBox", `0 0 ${room} ${strip.height + text.height}`);
  svg.setAttribute("width", room);
  frame.draw(told, svg, mine[row].steps.map(stepLine), h("p", { class: "note" }, `tokens ${begin.toLocaleString("en")} to ${(end - 1).toLocaleString("en")} of ${columns.toLocaleString("en")}`));
  frame.picture = () => svg;
  frame.rows(["token", "piece", "weight"], largest(weights, 16).map(([w, j]) => [j, units[j].label, w.toFixed(6)]));
}

function headChoice(frame, head) {
  const list = h("select", { onchange: () => frame.set({ head: list.value }) }, frame.place.heads.map((n, i) => h("option", { value: i }, n)));
  list.value = String(head);
  return h("label", {}, "head", list);
}

// The largest weights and where they stand, falling.
function largest(weights, count) {
  const best = [];
  for (let j = 0; j < weights.length; ++j) {
    if (!(weights[j] > 0) || (best.length === count && weights[j] <= best[count - 1][0])) continue;
    let at = best.length;
    while (at > 0 && best[at - 1][0] < weights[j]) --at;
    best.splice(at, 0, [weights[j], j]);
    best.length = Math.min(best.length, count);
  }
  return best;
}

// The whole row as bars of its largest weights; the part whose text is below is marked.
function overview({ t, room, weights, full, columns, begin, end, go }) {
  const tall = 3.2 * t.unit, bars = Math.min(columns, Math.floor(room / 2)), wide = room / bars, most = new Float32Array(bars);
  for (let j = 0; j < columns; ++j) { const at = Math.floor((j * bars) / columns); most[at] = Math.max(most[at], weights[j]); }
  const group = s("g", {}, s("rect", { x: (begin / columns) * room, y: 0, width: Math.max(2, ((end - begin) / columns) * room), height: tall, fill: t.wash, stroke: t.line }));
  most.forEach((w, i) => {
    const height = tall * Math.sqrt(Math.min(1, w / (full || 1)));
    if (height > 0.3) group.append(s("rect", { x: i * wide, y: tall - height, width: Math.max(0.8, wide - 0.4), height, fill: ink(0.35 + 0.65 * Math.min(1, w / (full || 1)), t.dark) }));
  });
  const over = s("rect", { x: 0, y: 0, width: room, height: tall, fill: "transparent", id: "strip", style: "cursor:pointer", onclick: (e) => {
    const at = over.getBoundingClientRect();
    go(Math.min(columns - 1, Math.floor(((e.clientX - at.left) / at.width) * columns)));
  } });
  group.append(over, s("line", { x1: 0, x2: room, y1: tall, y2: tall, stroke: t.line }));
  return { group, height: tall + 1.2 * t.unit };
}
