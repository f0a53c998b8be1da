// Heads that look alike: those over the same rows and columns that share the most of their attention with a head, as small pictures.
//
//   frame.draw(…, await alikeHeads(frame, matrix));
import { h, percent, s } from "fovea/dom";
import { thumbnail } from "fovea/heat";

const most = 6, mostCompared = 20_000_000;  // of all heads that are compared

// Σ min(a, b) of each row, their mean: the share of the attention that both give to the same tokens.
export function shared(a, b) {
  let sum = 0;
  for (let i = 0; i < a.values.length; ++i) sum += Math.min(a.values[i], b.values[i]);
  return sum / Math.max(1, a.rows.length);
}

// Nothing where one head is not looked at, where there is no other, or where weights would have to be asked for.
export async function alikeHeads(frame, m) {
  const { seen, place, state } = frame, head = Number(state.head), others = seen.alike(place);
  const heads = others.reduce((count, p) => count + p.heads.length, 0);
  if (!m || !Number.isInteger(head) || state.layers === "all" || heads < 2 || heads * seen.size(place) > mostCompared) return undefined;
  if (others.some((p) => !p.weights && !p.packed)) return undefined;
  const found = [];
  for (const p of others)
    for (const number of p.heads.keys()) {
      if (p === place && number === head) continue;
      const other = await seen.matrix({ ...frame.chosen, place: p.path, head: number, layers: "one" });
      found.push({ place: p, number, other, share: shared(m, other) });
    }
  found.sort((a, b) => b.share - a.share);
  const tall = Math.min(1, Math.max(0.25, m.rows.length / m.columns.length));
  return h("div", { class: "alike", role: "group", "aria-label": "heads that look alike" }, h("p", { class: "note" }, "Heads that look alike: what share of their attention goes to the same tokens"),
    found.slice(0, most).map(({ place: p, number, other, share }) => h("button", { type: "button", onclick: () => frame.set({ place: p.path, head: number, layers: undefined }) },
      s("svg", { viewBox: `0 0 100 ${100 * tall}`, "aria-hidden": true }, thumbnail(other, 0, 0, 100, 100 * tall)),
      h("span", {}, `${p.path} ${p.heads[number]}`), h("span", {}, p.names?.[number] && p.names[number] !== "mixed" ? `${p.names[number]}, ${percent(share)}` : percent(share)))));
}
