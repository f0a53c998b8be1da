// Text: the words themselves. Point at one: ink shows what it attends to, bars below show what attends to it.
import { ink, onInk, theme } from "fovea/colours";
import { longTextView } from "fovea/long_text";
import { bold, h, percent, rightToLeft, s, widthOf } from "fovea/dom";

// Words set in lines of a width: each with its x, y and width. Right-to-left texts begin at the right.
export function set(units, width, size, font) {
  const backwards = rightToLeft(units.filter((u) => !u.special).map((u) => u.label).join(" "));
  const pad = 0.16 * size, gap = 0.1 * size, line = 1.75 * size;
  let x = 0, y = size * 1.25, before;
  const placed = units.map((u) => {
    const label = u.label.trim() || "·";
    const w = Math.min(width, widthOf(label, u.special ? font.special : font.plain) + 2 * pad);
    // Pieces of one word, and signs, stand close to what is before them.
    const close = before && ((u.begin === before.end && !u.special && !before.special) || (u.sign && u.begin === before.end));
    if (x > 0) x += close ? 0.02 * size : gap + 0.16 * size;
    if (x + w > width && x > 0) { x = 0; y += line; }
    const at = { u, label, x, y, w };
    x += w; before = u;
    return at;
  });
  if (backwards) for (const p of placed) p.x = width - p.x - p.w;
  return { placed, height: y + 0.9 * size, backwards };
}

// As large as fills a line and a half, within reason.
function sizeFor(units, width, t) {
  const natural = units.reduce((sum, u) => sum + widthOf(u.label, `${t.unit}px ${t.sans}`) + 0.6 * t.unit, 0);
  return t.unit * Math.min(3.4, Math.max(1.05, (1.5 * width) / natural), Math.max(1.3, width / t.unit / 11));
}

// A token that was written, and what might have stood there: each with its probability, and a bar for it.
export function stepLine({ piece, probability, others }) {
  const one = (text, p, mine) => h("span", { class: mine ? "written mine" : "written", style: `--p:${(100 * p).toFixed(1)}%` }, h("bdi", {}, text.trim() || "·"), " ", h("small", {}, p >= 0.0005 ? p.toFixed(3) : p.toExponential(0)));
  return h("p", { class: "choices" }, one(piece, probability, true), others.length > 0 && h("span", { class: "note" }, "instead of"), others.map((o) => one(o.piece, o.probability, false)));
}

export async function textView(frame) {
  const { seen, place, state } = frame;
  frame.tools(frame.placeTools(), frame.unitTools());
  if (!seen.isWhole(place)) return longTextView(frame);
  const m = await seen.matrix(frame.chosen);
  if (!frame.current) return;
  const t = theme(), room = frame.room(), one = place.rows === place.columns;
  const together = one || room < 46 * t.unit, gap = 3.2 * t.unit, width = together ? Math.min(room, 62 * t.unit) : (room - gap) / 2;
  const size = Math.min(sizeFor(m.rows, width, t), sizeFor(m.columns, width, t));
  const font = { plain: `${size}px ${t.sans}`, special: `${0.72 * size}px ${t.sans}` };
  const picked = /^([rc])(\d+)$/.exec(state.pick ?? "");
  const firstReal = Math.max(0, m.rows.findIndex((u) => !u.special));
  let side = picked?.[1] ?? "r", index = Math.min(Number(picked?.[2] ?? (one && place.causal ? m.rows.length - 1 : firstReal)), (side === "r" ? m.rows : m.columns).length - 1);

  const blocks = one ? [["rc", m.columns, place.columns]] : [["c", m.columns, place.columns], ["r", m.rows, place.rows]];
  const svg = s("svg", { role: "group", "aria-label": "words" });
  const words = [];
  let x = 0, y = 0, height = 0;
  for (const [sides, units, name] of blocks) {
    const g = s("g", { transform: `translate(${x} ${y})` });
    if (!one) g.append(s("text", { x: 0, y: 0.8 * t.unit, "font-size": 0.78 * t.unit, fill: t.quiet }, name));
    const text = set(units, width, size, font), top = one ? 0 : 1.2 * t.unit;
    text.placed.forEach((p, i) => {
      const box = s("rect", { x: p.x, y: top + p.y - 1.02 * size, width: p.w, height: 1.36 * size, rx: 0.14 * size });
      const bar = s("rect", { x: p.x, y: top + p.y + 0.42 * size, width: 0, height: 0.09 * size, fill: t.accent });
      const label = s("text", { x: p.x + p.w / 2, y: top + p.y, "text-anchor": "middle", "font-size": p.u.special ? 0.72 * size : size, direction: text.backwards ? "rtl" : undefined }, p.label);
      const mine = sides === "c" ? "c" : "r";
      const word = s("g", { tabindex: 0, role: "button", id: `word-${mine}${i}`, style: "cursor:pointer",
        onpointerenter: (e) => { if (e.pointerType === "mouse") pick(mine, i, false); }, onclick: () => pick(mine, i, true), onfocus: () => pick(mine, i, false),
        onkeydown: (e) => move(e, mine, i, units.length) }, box, bar, label, s("title", {}, p.u.label));
      words.push({ sides, i, box, bar, label, word, p, special: p.u.special });
      g.append(word);
    });
    svg.append(g);
    const taken = top + text.height + 0.6 * t.unit;
    if (together) { y += taken + 1.2 * t.unit; height = y; } else { x += width + gap; height = Math.max(height, taken); }
  }
  const full = together ? width : 2 * width + gap;
  svg.setAttribute("viewBox", `0 0 ${full} ${height}`);
  svg.setAttribute("width", full);
  const told = h("p", { class: "value", role: "status" }), instead = h("div", { id: "alternatives" });

  // What row i gives to column j, seen from whichever of the two is picked.
  function shown(word) {
    const looksOut = side === "r" && word.sides.includes("c"), isLooked = (side === "c" || one) && word.sides.includes("r");
    return { out: looksOut ? m.at(index, word.i) : 0, in: isLooked ? m.at(word.i, index) : 0 };
  }
  function paint() {
    const out = side === "r" ? m.rowLargest(index) : Math.max(...m.rows.map((_, i) => m.at(i, index)));
    const into = one ? Math.max(...m.rows.map((_, i) => m.at(i, index))) : 0;
    for (const w of words) {
      const v = shown(w), strength = (side === "c" ? v.in : v.out) / (out || 1), isPicked = w.sides.includes(side) && w.i === index;
      w.box.setAttribute("fill", isPicked && !one ? "transparent" : ink(strength, t.dark));
      w.box.setAttribute("fill-opacity", strength < 0.015 ? 0 : 1);
      w.box.setAttribute("stroke", isPicked ? t.accent : "none");
      w.box.setAttribute("stroke-width", 0.07 * size);
      const faint = !one && side === "r" && w.sides === "r" && w.i > index && seen.sequences.prefix;
      w.label.setAttribute("fill", strength >= 0.015 ? onInk(strength, t) : isPicked ? t.ink : w.special || faint ? t.quiet : t.ink);
      w.label.setAttribute("fill-opacity", faint ? 0.45 : 1);
      w.bar.setAttribute("width", one && side === "r" ? w.p.w * Math.min(1, v.in / (into || 1)) : 0);
      w.word.setAttribute("aria-pressed", String(isPicked));
    }
    tell();
  }
  function tell() {
    const units = side === "r" ? m.rows : m.columns, others = side === "r" ? m.columns : m.rows;
    const best = others.map((u, j) => [side === "r" ? m.at(index, j) : m.at(j, index), u.label]).sort((a, b) => b[0] - a[0]).slice(0, 3).filter(([w]) => w > 0.005);
    const written = units[index]?.probability;
    told.replaceChildren(bold(units[index]?.label ?? ""), side === "r" ? " looks at " : " is looked at by ",
      ...best.flatMap(([w, label], k) => [k ? ", " : "", bold(label), " " + percent(w)]), written !== undefined && side === "r" ? `; written with probability ${written.toFixed(2)}` : "");
    instead.replaceChildren(...(side === "r" ? units[index]?.steps ?? [] : []).map(stepLine));
  }
  function pick(where, i, keep) {
    if (side === where && index === i && !keep) return;
    side = where; index = i;
    paint();
    if (keep) { const hash = new URLSearchParams(location.hash.slice(1)); hash.set("pick", side + index); history.replaceState(null, "", "#" + hash); }
  }
  function move(e, where, i, count) {
    const backwards = e.key === "ArrowLeft" || e.key === "ArrowUp", forwards = e.key === "ArrowRight" || e.key === "ArrowDown";
    if (!backwards && !forwards && e.key !== "Enter" && e.key !== " ") return;
    e.preventDefault();
    const next = backwards ? Math.max(0, i - 1) : forwards ? Math.min(count - 1, i + 1) : i;
    svg.querySelector(`#word-${where}${next}`)?.focus();
    pick(where, next, true);
  }

  const steps = !one && m.rows.length > 1 && h("label", {}, "step", h("input", { type: "range", id: "step", min: 0, max: m.rows.length - 1, value: side === "r" ? index : 0,
    oninput: (e) => pick("r", Number(e.target.value), true) }));
  frame.tools(frame.placeTools(), frame.unitTools(), steps);
  frame.draw(svg, told, instead, seen.answer && !seen.sequences.target && h("p", { class: "note" }, seen.answer));
  frame.picture = () => svg;
  frame.table(m, "weights, a row for each that looks, a column for each that is looked at");
  paint();
}
