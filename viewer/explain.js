// Explain: which words the answer comes from, by several methods, and whether that is true.
import { difference, several, theme } from "fovea/colours";
import { bold, choice, h, number, rightToLeft, s, shortened, toggles, widthOf } from "fovea/dom";

const signed = (v, t) => `rgb(${difference(v, t.dark).join(",")})`;
const fits = (m) => !m.unfit;
const rounded = (v, digits) => (Math.abs(v) < 0.5 * 10 ** -digits ? 0 : v).toFixed(digits);  // no sign before nothing

// The words on their scores' colours, set in lines of a width.
function words(explained, method, { width, size, t, point }) {
  const most = Math.max(1e-12, ...method.words.map(Math.abs)), font = `${size}px ${t.sans}`, pad = 0.2 * size, line = 1.7 * size;
  const backwards = rightToLeft(explained.text), group = s("g");
  let x = 0, y = 0;
  explained.words.forEach((word, i) => {
    const label = shortened(word.text, 60), w = Math.min(width, widthOf(label, font) + 2 * pad), v = method.words[i] / most;
    if (x > 0 && x + w > width) { x = 0; y += line; }
    const left = backwards ? width - x - w : x;
    group.append(s("g", { onpointerenter: () => point?.(i), onclick: () => point?.(i) },
      s("rect", { x: left, y, width: w, height: 1.45 * size, rx: 0.16 * size, fill: signed(v, t), "fill-opacity": Math.abs(v) < 0.015 ? 0 : 1 }),
      s("text", { x: left + w / 2, y: y + 1.05 * size, "text-anchor": "middle", "font-size": size, fill: Math.abs(v) > 0.55 ? "#ffffff" : t.ink, direction: backwards ? "rtl" : undefined }, label),
      s("title", {}, `${word.text} ${number(method.words[i])}`)));
    x += w + 0.26 * size;
  });
  return { group, height: y + line };
}

// How far the probability falls, over how many of the words are gone: a line for each method, its name at the end.
function curves(check, width, t) {
  const font = 0.78 * t.unit, left = 3 * t.unit, right = 11 * t.unit, top = 0.6 * t.unit, tall = Math.min(15 * t.unit, 0.45 * width) + 4 * t.unit, bottom = 2.6 * t.unit;
  const lines = check.methods.filter(fits), all = lines.flatMap((m) => m.without), high = Math.max(0.05, ...all), low = Math.min(0, ...all);
  const x = (k) => left + (k / (check.percents.length - 1)) * (width - left - right), y = (v) => top + ((high - v) / (high - low)) * (tall - top - bottom);
  const svg = s("g", {}), steps = [low, 0, high].filter((v, i, list) => list.indexOf(v) === i);
  for (const v of steps) svg.append(s("line", { x1: left, x2: width - right, y1: y(v), y2: y(v), stroke: t.line }), s("text", { x: left - 0.5 * t.unit, y: y(v) + 0.35 * font, "font-size": font, fill: t.quiet, "text-anchor": "end" }, v.toFixed(2)));
  check.percents.forEach((p, k) => svg.append(s("text", { x: x(k), y: tall - bottom + 1.4 * t.unit, "font-size": font, fill: t.quiet, "text-anchor": "middle" }, `${p} %`)));
  svg.append(s("text", { x: (left + width - right) / 2, y: tall - 0.1 * t.unit, "font-size": font, fill: t.quiet, "text-anchor": "middle" }, "of the words erased, the highest first, and how far the probability falls"));
  const ends = lines.map((m, i) => ({ m, i, y: y(m.without[m.without.length - 1]) })).sort((a, b) => a.y - b.y);
  for (let i = 1; i < ends.length; ++i) ends[i].y = Math.max(ends[i].y, ends[i - 1].y + 1.15 * font);
  for (const { m, i, y: end } of ends) {
    const colour = m.name === "random" ? t.quiet : several[i % several.length];
    svg.append(s("path", { d: m.without.map((v, k) => `${k ? "L" : "M"}${x(k)} ${y(v)}`).join(" "), fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": m.name === "random" ? "4 4" : undefined }),
      s("text", { x: width - right + 0.5 * t.unit, y: end + 0.35 * font, "font-size": font, fill: colour }, m.name));
  }
  return { group: svg, height: Math.max(tall, ends.length ? ends[ends.length - 1].y + font : 0) };
}

function checkTable(check) {
  return h("table", { id: "check-table" }, h("caption", { class: "unseen" }, "how true each method is"),
    h("thead", {}, h("tr", {}, h("th", {}), ["comprehensiveness", "sufficiency", "lowest erased"].map((n) => h("th", { scope: "col" }, n)))),
    h("tbody", {}, check.methods.filter(fits).map((m) => h("tr", {}, h("th", { scope: "row" }, m.name), [m.comprehensiveness, m.sufficiency, m.lowest].map((v) => h("td", {}, rounded(v, 3)))))));
}

export async function explainView(frame) {
  const { seen, state, app } = frame;
  const checked = state.check === "yes", erase = state.erase ?? "replace";
  const explained = await app.explained(seen, { answer: state.answer ?? "", erase, check: checked ? "yes" : "no" });
  if (!frame.current) return;
  if (!explained) { frame.tools(); frame.noTable(); return frame.draw(h("p", { class: "note" }, "This page was written without explanations: fovea explain --method all --html writes them.")); }
  const t = theme(), room = frame.room(), all = explained.methods, chosen = all.filter((m) => state.method === undefined || m.name === state.method), shown = chosen.filter(fits);
  const single = chosen.length === 1, current = explained.choices.find(([, name]) => name === explained.answer)?.[0] ?? "";
  frame.tools(
    choice("method", [["", "all"], ...all.map((m) => [m.name, m.name])], state.method ?? "", (v) => frame.set({ method: v || undefined })),
    app.served && explained.choices.length > 1 && choice("answer", explained.choices, state.answer ?? current, (v) => frame.set({ answer: v })),
    app.served && choice("words are", [["replace", "replaced"], ["remove", "removed"]], erase, (v) => frame.set({ erase: v })),
    app.served && toggles([["yes", "check"]], checked ? "yes" : "no", () => frame.set({ check: checked ? undefined : "yes" })));
  const told = h("p", { class: "value", role: "status" }, bold(explained.answer), `  ${explained.probability.toFixed(4)}`);
  const tell = (m, i) => told.replaceChildren(bold(explained.words[i].text), `  ${m.name} ${number(m.words[i])}`, `   (${explained.answer} ${explained.probability.toFixed(4)})`);
  const svg = s("svg", { role: "group", "aria-label": "words and how much each counted" }), font = 0.86 * t.unit;
  const wide = !single && room > 48 * t.unit, left = wide ? 12 * t.unit : 0, size = single ? Math.min(2.2 * t.unit, Math.max(1.2 * t.unit, room / 22)) : 1.1 * t.unit;
  let y = 0.6 * t.unit;
  for (const m of chosen) {
    svg.append(s("text", { x: 0, y: y + 1.15 * t.unit, "font-size": font, "font-weight": 600, fill: fits(m) ? t.ink : t.quiet }, m.name));
    if (!wide) y += 1.7 * t.unit;
    if (!fits(m)) {
      svg.append(s("text", { x: left, y: y + 1.15 * t.unit, "font-size": font, fill: t.quiet }, shortened(`does not fit: ${m.unfit}`, Math.floor((room - left) / (0.5 * font)))));
      y += 2.2 * t.unit;
      continue;
    }
    const set = words(explained, m, { width: room - left, size, t, point: (i) => tell(m, i) });
    set.group.setAttribute("transform", `translate(${left} ${y})`);
    svg.append(set.group);
    y += set.height + 0.7 * t.unit;
  }
  if (explained.check) {
    y += 1.2 * t.unit;
    const plot = curves(explained.check, Math.min(room, 56 * t.unit), t);
    plot.group.setAttribute("transform", `translate(0 ${y})`);
    svg.append(plot.group);
    y += plot.height + 1.4 * t.unit;
  }
  svg.setAttribute("viewBox", `0 0 ${room} ${Math.max(y, 1)}`);
  svg.setAttribute("width", room);
  const notes = chosen.filter((m) => m.note).map((m) => h("p", { class: "note" }, `${m.name}: ${m.note}`));
  frame.draw(told, svg, explained.check && h("div", { class: "wide" }, checkTable(explained.check)), single && shown[0] && h("p", { class: "note" }, `${shown[0].formula}   (${shown[0].paper})`), notes,
    h("p", { class: "note" }, "Orange counts for the answer, blue against it; in each method the deepest colour is its largest score."),
    explained.check && h("p", { class: "note" }, `Words ${explained.check.erased}. Comprehensiveness: how far the probability falls without a method's highest words, the more the better. Sufficiency: how far it falls with these alone, the less the better.`));
  frame.picture = () => svg;
  frame.rows(["word", ...shown.map((m) => m.name)], explained.words.map((w, i) => [w.text, ...shown.map((m) => rounded(m.words[i], 4))]));
}
