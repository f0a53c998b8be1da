// Steps with a model's own numbers: one query of one head, from its numbers and those of the keys to the weights and what comes of them.
import { ink, theme } from "fovea/colours";
import { choice, h, number, s } from "fovea/dom";

export async function modelStepsView(frame, forms) {
  const { seen, state, app } = frame;
  // A decoder's keys are in a cache: unless one was chosen, an attention is shown whose numbers are likely to be here.
  if (!state.place) frame.place = seen.places.find((p) => p.kind === "self" && !p.path.startsWith("decoder.")) ?? frame.place;
  const place = frame.place, [count] = place.size;
  const head = Math.min(place.heads.length - 1, Number.isInteger(Number(state.head)) ? Number(state.head) : 0);
  const rows = seen.units(place.rows, "pieces"), columns = seen.units(place.columns, "pieces");
  const row = Math.min(count - 1, Number(/^r(\d+)$/.exec(state.pick ?? "")?.[1] ?? Math.max(0, rows.findIndex((u) => !u.special))));
  const pick = (v) => frame.set({ pick: `r${Math.max(0, Math.min(count - 1, Number(v) || 0))}` });
  frame.tools(forms, frame.placeTools({ layers: false, heads: false }),
    place.heads.length > 1 && choice("head", place.heads.map((n, i) => [i, n]), head, (v) => frame.set({ head: v })),
    count <= 400 ? choice("query", rows.map((u, i) => [i, u.label.trim() || "·"]), row, pick)
      : h("label", {}, "query", h("input", { type: "number", min: 0, max: count - 1, value: row, onchange: (e) => pick(e.target.value) })));
  frame.noTable();
  const note = (text) => frame.draw(h("p", { class: "note" }, text));
  if (!app.served) return note("A file has the weights alone: the numbers that they are made of are shown by fovea view.");
  const response = await fetch("steps?" + new URLSearchParams({ run: seen.run, place: place.path, head, row })), w = await response.json();
  if (!frame.current) return;
  if (response.status === 404) return note(`${place.path} has weights alone here: a decoder's keys stand in a cache, and other scores are more than q·k. Another attention may show its numbers.`);
  if (!response.ok) throw new Error(w.error);

  const t = theme(), name = (j) => columns[j].label.trim() || "·", asks = rows[row].label.trim() || "·", more = (shown, all) => (all > shown ? `the first ${shown} of ${all} numbers` : "");
  const cells = (list) => list.map((x) => h("td", {}, number(x))), head1 = (names) => h("thead", {}, h("tr", {}, names.map(([n, wide = 1]) => h("th", { scope: "col", colspan: wide, style: wide === 1 ? "text-align:right" : undefined }, n))));
  const table = (titles, lines) => h("table", {}, head1(titles), h("tbody", {}, lines.map(([label, ...list]) => h("tr", {}, h("th", { scope: "row" }, label), list))));
  const section = (title, text, content) => h("section", {}, h("h2", {}, title, " ", h("span", {}, text)), h("div", { class: "wide" }, content));
  const keys = w.keys ?? [];
  frame.draw(h("div", { class: "steps" },
    section(`q of ${asks}`, more(w.q.length, w.width), table([], [[asks, ...cells(w.q)]])),
    section("1  scores", `q·k of all ${w.width} numbers, times ${number(w.scale)}`, table([[""], [`k: ${more(w.q.length, w.width) || "all numbers"}`, Math.max(2, w.q.length)], ["q·k"], ["score"]],
      keys.map((k) => [name(k.column), ...cells(k.k), ...cells([k.product, k.score])]))),
    section("2  weights", `softmax: exp(score − ${number(w.lse)}), which is log Σ exp of all ${place.causal ? row + 1 : place.size[1]} scores`, bars(t, frame.room(), keys.map((k) => [name(k.column), k.weight]).concat(w.others > 5e-7 ? [["all others", w.others]] : []))),
    w.context.length ? section("3  context", `Σ weight · what each brings, over all keys; ${more(w.context.length, w.brought_width)}`, table([], [...keys.map((k) => [name(k.column), ...cells(k.brings)]),
      ["Σ", ...w.context.map((x) => h("td", {}, h("b", {}, number(x))))]])) : h("p", { class: "note" }, "What the keys bring is not known here.")));
  frame.picture = () => {
    const svg = bars(t, 34 * t.unit, keys.map((k) => [`${name(k.column)}  ${number(k.score)}`, k.weight]), 11 * t.unit), [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const title = s("text", { x: 0, y: -0.9 * t.unit, "font-size": t.unit, "font-weight": 600, fill: t.ink }, `${asks}: ${place.path}, head ${place.heads[head]}: scores and weights`);
    return s("svg", { viewBox: `0 ${-2 * t.unit} ${width} ${height + 2 * t.unit}` }, title, [...svg.childNodes]);
  };
}

function bars(t, room, lines, left = 7 * t.unit) {
  const wide = Math.min(34 * t.unit, room), line = 1.9 * t.unit, across = wide - left - 4.5 * t.unit;
  return s("svg", { viewBox: `0 0 ${wide} ${Math.max(1, line * lines.length)}`, width: wide, role: "img", "aria-label": "weights" }, lines.map(([label, w], j) => [
    s("text", { x: 0, y: (j + 0.5) * line, "dominant-baseline": "central", "font-size": t.unit, fill: t.ink }, label),
    s("rect", { x: left, y: j * line + 0.25 * t.unit, width: Math.max(1, w * across), height: line - 0.5 * t.unit, fill: ink(0.25 + 0.75 * w, t.dark) }),
    s("text", { x: left + w * across + 0.6 * t.unit, y: (j + 0.5) * line, "dominant-baseline": "central", "font-size": 0.9 * t.unit, fill: t.quiet }, w.toFixed(4))]));
}
