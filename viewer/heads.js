// Heads: two columns of words, and lines between them as strong as the weights; several heads beside each other in colours.
import { several, theme } from "fovea/colours";
import { bold, h, percent, s, shortened, widthOf } from "fovea/dom";

export async function headsView(frame) {
  const { seen, place, state } = frame;
  const count = place.heads.length;
  const shown = (state.heads ?? "").split(".").filter((x) => x !== "").map(Number).filter((n) => n < count);
  const chosen = shown.length ? shown : [...Array(Math.min(count, 8)).keys()];
  frame.tools(frame.placeTools({ layers: false, heads: false }), frame.unitTools(),
    count > 1 && h("span", { class: "group", role: "group", "aria-label": "heads" }, place.heads.map((n, i) =>
      h("button", { type: "button", id: "head-" + i, "aria-pressed": String(chosen.includes(i)), onclick: () => toggle(i),
        style: chosen.includes(i) ? `color:${several[i % several.length]};border-color:${several[i % several.length]}` : undefined }, `head ${n}`))));
  function toggle(i) {
    const next = chosen.includes(i) ? chosen.filter((n) => n !== i) : [...chosen, i].sort((a, b) => a - b);
    frame.set({ heads: (next.length ? next : [i]).join(".") });
  }
  const most = 400;
  if (place.size[0] > most || place.size[1] > most) {
    frame.noTable();
    return frame.draw(h("p", { class: "note" }, `Lines between ${place.size[0]} and ${place.size[1]} tokens would be a blot: the Matrix shows them.`));
  }
  const all = [];
  for (const n of chosen) all.push(await seen.matrix({ ...frame.chosen, head: n, layers: "one" }));
  if (!frame.current) return;
  const t = theme(), m = all[0], size = 1.05 * t.unit, line = 1.75 * size, font = `${size}px ${t.sans}`;
  const room = Math.min(frame.room(), 46 * t.unit), top = 2 * t.unit;
  const widest = (units) => Math.min(room * 0.34, Math.max(...units.map((u) => widthOf(shortened(u.label, 22), font))));
  const left = widest(m.rows) + 0.8 * size, right = room - widest(m.columns) - 0.8 * size;
  const height = top + line * Math.max(m.rows.length, m.columns.length);
  const svg = s("svg", { viewBox: `0 0 ${room} ${height}`, width: room, role: "group", "aria-label": "heads" });
  const yOf = (i) => top + (i + 0.5) * line, lines = s("g", { fill: "none" }), told = h("p", { class: "value", role: "status" });
  const drawn = [];
  all.forEach((one, k) => {
    const colour = chosen.length === 1 ? (t.dark ? "#6baed6" : "#08306b") : several[chosen[k] % several.length];
    for (let i = 0; i < one.rows.length; ++i)
      for (let j = 0; j < one.columns.length; ++j) {
        const w = one.at(i, j);
        if (w < 0.02) continue;
        const bend = (right - left) * 0.45, shift = (k - (all.length - 1) / 2) * 1.6;
        const path = s("path", { d: `M${left} ${yOf(i) + shift} C${left + bend} ${yOf(i) + shift} ${right - bend} ${yOf(j) + shift} ${right} ${yOf(j) + shift}`,
          stroke: colour, "stroke-opacity": Math.min(1, w * 0.95 + 0.03), "stroke-width": Math.max(0.6, (chosen.length > 3 ? 2.2 : 4.2) * w * t.unit / 16) });
        drawn.push({ path, i, j });
        lines.append(path);
      }
  });
  svg.append(s("text", { x: left - 0.8 * size, y: 0.8 * t.unit, "text-anchor": "end", "font-size": 0.78 * t.unit, fill: t.quiet }, place.rows),
    s("text", { x: right + 0.8 * size, y: 0.8 * t.unit, "font-size": 0.78 * t.unit, fill: t.quiet }, place.columns), lines);
  const names = [];
  const column = (units, mine, x, anchor) => units.forEach((u, i) => {
    const name = s("text", { x, y: yOf(i), "text-anchor": anchor, "dominant-baseline": "central", "font-size": size, fill: u.special ? t.quiet : t.ink, tabindex: 0, role: "button",
      style: "cursor:pointer", onpointerenter: () => only(mine, i), onpointerleave: () => only(), onfocus: () => only(mine, i), onblur: () => only() }, shortened(u.label, 22));
    names.push({ name, mine, i, special: u.special });
    svg.append(name);
  });
  column(m.rows, "i", left - 0.8 * size, "end");
  column(m.columns, "j", right + 0.8 * size, "start");
  function only(mine, at) {
    for (const d of drawn) d.path.setAttribute("visibility", mine === undefined || d[mine] === at ? "visible" : "hidden");
    for (const n of names) n.name.setAttribute("font-weight", n.mine === mine && n.i === at ? 650 : 400);
    if (mine === undefined) return told.replaceChildren("\u00a0");
    const other = mine === "i" ? m.columns : m.rows;
    const best = other.map((u, k) => [Math.max(...all.map((one) => (mine === "i" ? one.at(at, k) : one.at(k, at)))), u.label]).sort((a, b) => b[0] - a[0]).slice(0, 3);
    told.replaceChildren(bold((mine === "i" ? m.rows : m.columns)[at].label), mine === "i" ? " looks at " : " is looked at by ",
      ...best.flatMap(([w, label], k) => [k ? ", " : "", bold(label), " " + percent(w)]));
  }
  frame.draw(svg, told);
  frame.picture = () => svg;
  frame.table(m, `weights of head ${place.heads[chosen[0]]}`);
  only();
}
