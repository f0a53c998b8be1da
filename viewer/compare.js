// Compare: two texts, heads, models or precisions of one side by side, and their difference where both have the same rows and columns.
import { theme } from "fovea/colours";
import { bold, choice, clear, h, number, s } from "fovea/dom";
import { heatMap } from "fovea/heat";
import { Matrix } from "fovea/seen";

export async function compareView(frame) {
  const { seen, state, app } = frame;
  const other = { model: state.model2 ?? state.model, text: state.text2 ?? state.text, head: state.head2 ?? (state.head2 === undefined && state.model2 === undefined && state.text2 === undefined ? "0" : state.head), place: state.place2 ?? frame.place.path };
  const second = await app.recording(other.model, other.text);
  if (!frame.current || !second) return;
  const place = second.place(other.place) ?? second.places[second.places.length - 1];
  if (!place) throw new Error("the second one attends to nothing here");
  const field = h("input", { id: "text2", dir: "auto", value: second.text, readonly: !app.served, onchange: () => frame.set({ text2: field.value }), style: "border-bottom:1px solid var(--line);width:22em;max-width:100%" });
  const own = seen.model.split(" @ ")[0], precisions = app.served && app.models.includes(own) ? ["f32", "bf16", "int8"].map((p) => `${own} @ ${p}`) : [];
  const known = [...new Set([...app.models, ...precisions, ...app.recordings.map((r) => r.model)])];
  frame.tools(frame.placeTools({ layers: false }), frame.unitTools(), h("span", { style: "flex-basis:100%" }),
    choice("with", known, second.model, (v) => frame.set({ model2: v, place2: undefined })), field,
    choice("attention", second.places.map((p) => p.path), place.path, (v) => frame.set({ place2: v })),
    choice("head", [["mean", "mean"], ["max", "largest"], ...place.heads.map((n, i) => [String(i), n])], other.head, (v) => frame.set({ head2: v })));
  if ([[seen, frame.place], [second, place]].some(([r, p]) => r.size(p) > 1_000_000)) {
    frame.noTable();
    return frame.draw(h("p", { class: "note" }, "Two attentions of more than a million weights are not shown side by side."));
  }
  const a = await seen.matrix({ ...frame.chosen, layers: "one" }), b = await second.matrix({ place: place.path, head: other.head, layers: "one", unit: state.unit });
  if (!frame.current) return;
  const t = theme(), room = frame.room(), alike = a.rows.length === b.rows.length && a.columns.length === b.columns.length;
  const panels = [[a, `${seen.model} ${frame.place.path} ${headName(frame.place, state.head)}`, false], [b, `${second.model} ${place.path} ${headName(place, other.head)}`, false]];
  if (alike) panels.push([new Matrix(b.rows, b.columns, b.values.map((w, i) => w - a.values[i])), "second − first", true]);
  const across = room > 62 * t.unit ? panels.length : room > 40 * t.unit ? 2 : 1, gap = 2 * t.unit, each = (room - (across - 1) * gap) / across;
  const told = h("p", { class: "value", role: "status" }, "\u00a0"), svg = s("svg", { role: "group", "aria-label": "two attentions" });
  let x = 0, y = 0, tallest = 0;
  panels.forEach(([m, title, signed], k) => {
    const most = signed ? Math.max(1e-6, ...m.values.map(Math.abs)) : 1;
    const heat = heatMap(m, each, { title, signed, largest: most, point: (i, j) => tell(m, i, j) });
    if (k % across === 0 && k > 0) { x = 0; y += tallest + gap; tallest = 0; }
    heat.group.setAttribute("transform", `translate(${x} ${y})`);
    svg.append(heat.group);
    x += each + gap; tallest = Math.max(tallest, heat.height);
  });
  function tell(m, i, j) {
    if (i < 0) return clear(told, "\u00a0");
    clear(told, bold(m.rows[i].label), " → ", bold(m.columns[j].label), "  ", alike ? `${number(a.at(i, j))}, ${number(b.at(i, j))}, difference ${number(b.at(i, j) - a.at(i, j))}` : number(m.at(i, j)));
  }
  svg.setAttribute("viewBox", `0 0 ${room} ${y + tallest}`);
  svg.setAttribute("width", room);
  const apart = alike && Math.max(...panels[2][0].values.map(Math.abs));
  frame.draw(svg, told, h("p", { class: "note" }, alike ? `The largest difference is ${number(apart)}.` : "They have other rows or columns, so there is no difference to draw."));
  frame.picture = () => svg;
  frame.table(alike ? panels[2][0] : b, alike ? "difference of the weights" : "weights of the second");
}

const headName = (place, head) => (head === "mean" || head === "max" ? head : `head ${place.heads[Number(head)] ?? head}`);
