// Steps: attention by hand. Every number can be changed, and all that follows from it changes.
import { ink, theme } from "fovea/colours";
import { h, number, s, toggles } from "fovea/dom";
import { modelStepsView } from "fovea/model_steps";

const product = (x, w) => w[0].map((_, j) => x.reduce((sum, v, i) => sum + v * w[i][j], 0));
const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
function softmax(scores) {
  const most = Math.max(...scores), e = scores.map((v) => Math.exp(v - most)), sum = e.reduce((a, b) => a + b, 0);
  return e.map((v) => v / sum);
}

// The first page is the smallest: one number for each word, q = 2, k = 1 2 3, v = 2 4 6.
const small = () => ({ tokens: ["I", "love", "NLP"], query: 1, x: [[1], [2], [3]], heads: [{ q: [[1]], k: [[1]], v: [[2]] }] });
const larger = (heads) => ({
  tokens: ["I", "love", "NLP"], query: 1, x: [[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 1]],
  heads: [{ q: [[1, 0], [1, 0], [0, 1], [0, 1]], k: [[0, 1], [1, 0], [1, 0], [0, 1]], v: [[1, 0], [0, 2], [1, 1], [0, 1]] },
          { q: [[0, 1], [1, 1], [1, 0], [0, 0]], k: [[1, 0], [0, 1], [0, 1], [1, 0]], v: [[0, 1], [1, 0], [2, 0], [0, 1]] }].slice(0, heads),
});
const forms = {
  dot: { title: "dot", formula: "qᵀ k", make: small, score: (q, k) => dot(q, k), by: "Luong, Pham and Manning 2015" },
  scaled: { title: "scaled dot", formula: "qᵀ k / √d", make: () => larger(1), score: (q, k) => dot(q, k) / Math.sqrt(q.length), by: "Vaswani et al. 2017" },
  general: { title: "general", formula: "qᵀ W k", make: () => ({ ...larger(1), w: [[1, 0.5], [0, 1]] }), score: (q, k, p) => dot(product(q, p.w), k), by: "Luong, Pham and Manning 2015" },
  additive: { title: "additive", formula: "vᵀ tanh(W q + U k)", make: () => ({ ...larger(1), w: [[1, 0], [0, 1]], u: [[1, 0.5], [0, 1]], a: [[1, -1]] }),
              score: (q, k, p) => dot(p.a[0], product(q, p.w).map((v, i) => Math.tanh(v + product(k, p.u)[i]))), by: "Bahdanau, Cho and Bengio 2014" },
  heads: { title: "multi-head", formula: "[head 0; head 1]", make: () => larger(2), score: (q, k) => dot(q, k) / Math.sqrt(q.length), by: "Vaswani et al. 2017" },
};

const packed = (p) => JSON.stringify([p.query, p.x, p.heads.map((o) => [o.q, o.k, o.v]), p.w ?? 0, p.u ?? 0, p.a ?? 0]);
function unpacked(p, text) {
  try {
    const [query, x, heads, w, u, a] = JSON.parse(text);
    const shaped = (like, m) => Array.isArray(m) && m.length === like.length && m.every((r, i) => Array.isArray(r) && r.length === like[i].length && r.every(Number.isFinite));
    if (!(query >= 0 && query < p.tokens.length) || !shaped(p.x, x)) return p;
    p.heads.forEach((o, i) => ["q", "k", "v"].forEach((name, j) => { if (shaped(o[name], heads[i][j])) o[name] = heads[i][j]; }));
    for (const [name, m] of [["w", w], ["u", u], ["a", a]]) if (p[name] && shaped(p[name], m)) p[name] = m;
    return { ...p, query, x };
  } catch { return p; }
}

export async function stepsView(frame) {
  const choose = (now) => toggles([...Object.entries(forms).map(([k, f]) => [k, f.title]), ["model", "a model's own"]], now, (v) => frame.set({ form: v, numbers: undefined }));
  if (frame.state.form === "model" && frame.seen) return modelStepsView(frame, choose("model"));
  const name = forms[frame.state.form] ? frame.state.form : "dot", form = forms[name], t = theme();
  const p = unpacked(form.make(), frame.state.numbers ?? "");
  frame.noTable();
  frame.tools(choose(name),
    h("span", {}, `score = ${form.formula}   (${form.by})`), h("button", { type: "button", id: "again", onclick: () => frame.set({ numbers: undefined }) }, "as it was"));
  const body = h("div", { class: "steps by-hand" }), focusKept = document.activeElement?.dataset?.cell;

  const keep = () => { const hash = new URLSearchParams(location.hash.slice(1)); hash.set("numbers", packed(p)); history.replaceState(null, "", "#" + hash); };
  let cells = 0;
  const edit = (row, j) => {
    const id = String(cells++);
    return h("td", {}, h("input", { type: "number", step: "any", value: row[j], "data-cell": id, "aria-label": "number", oninput: (e) => {
      const v = Number(e.target.value);
      if (e.target.value === "" || !Number.isFinite(v)) return;
      row[j] = v; keep(); fill();
    } }));
  };
  const grid = (m, names, cell) => h("table", {}, h("tbody", {}, m.map((row, i) => h("tr", {}, names && h("th", { scope: "row" }, names[i] ?? ""), row.map((_, j) => cell(row, j))))));
  const fixed = (row, j) => h("td", {}, number(row[j]));
  const section = (title, more, ...content) => h("section", {}, h("h2", {}, title, " ", h("span", {}, more)), h("div", { class: "wide" }, content));
  const side = (...content) => h("div", { class: "sides" }, content);
  const titled = (title, content) => h("div", {}, h("h2", {}, h("span", {}, title)), content);

  const given = h("div", {}), found = h("div", { class: "steps" });
  // What can be changed stays as it is while numbers are typed; what follows is made anew.
  given.append(section("the words", "and which of them asks", side(
    titled("x", grid(p.x, p.tokens, edit)),
    titled("query", h("div", { class: "group", role: "radiogroup" }, p.tokens.map((w, i) => h("button", { type: "button", "aria-pressed": String(i === p.query), onclick: (e) => {
      p.query = i; keep(); for (const b of e.target.parentNode.children) b.setAttribute("aria-pressed", String(b === e.target)); fill(); } }, w)))))),
    ...p.heads.map((o, n) => section(p.heads.length > 1 ? `three lenses of head ${n}` : "three lenses", "x W_Q is what a word asks, x W_K what it answers to, x W_V what it says", side(
      titled("W_Q", grid(o.q, null, edit)), titled("W_K", grid(o.k, null, edit)), titled("W_V", grid(o.v, null, edit))))),
    ...(p.w ? [section("of the score", form.formula, side(titled("W", grid(p.w, null, edit)), p.u && titled("U", grid(p.u, null, edit)), p.a && titled("v", grid(p.a, null, edit))))] : []));
  given.className = "steps";

  const bars = (weights) => {
    const wide = Math.min(30 * t.unit, frame.room()), line = 1.9 * t.unit, left = 4.5 * t.unit;
    return s("svg", { viewBox: `0 0 ${wide} ${line * weights.length}`, width: wide, role: "img", "aria-label": "weights" }, weights.map((w, j) => [
      s("text", { x: 0, y: (j + 0.5) * line, "dominant-baseline": "central", "font-size": t.unit, fill: t.ink }, p.tokens[j]),
      s("rect", { x: left, y: j * line + 0.25 * t.unit, width: Math.max(1, w * (wide - left - 4.5 * t.unit)), height: line - 0.5 * t.unit, fill: ink(0.25 + 0.75 * w, t.dark) }),
      s("text", { x: left + w * (wide - left - 4.5 * t.unit) + 0.6 * t.unit, y: (j + 0.5) * line, "dominant-baseline": "central", "font-size": 0.9 * t.unit, fill: t.quiet }, w.toFixed(4))]));
  };
  function fill() {
    const outputs = [];
    found.replaceChildren(...p.heads.flatMap((o, n) => {
      const q = product(p.x[p.query], o.q), k = p.x.map((x) => product(x, o.k)), v = p.x.map((x) => product(x, o.v));
      const scores = k.map((one) => form.score(q, one, p)), weights = softmax(scores);
      const context = v[0].map((_, d) => weights.reduce((sum, w, j) => sum + w * v[j][d], 0));
      outputs.push(...context);
      const title = p.heads.length > 1 ? `head ${n}: ` : "";
      return [section(title + "projections", "", side(titled(`q of ${p.tokens[p.query]}`, grid([q], null, fixed)), titled("keys", grid(k, p.tokens, fixed)), titled("values", grid(v, p.tokens, fixed)))),
        section(title + "1  scores", "how well each key fits the query", grid(scores.map((x) => [x]), p.tokens, fixed)),
        section(title + "2  weights", "softmax of the scores", bars(weights)),
        section(title + "3  context", "Σ weight · value", grid([context], null, (row, j) => h("td", {}, h("b", {}, row[j].toFixed(5)))))];
    }));
    if (p.heads.length > 1) found.append(section("together", "the heads' contexts, one behind the other", grid([outputs], null, (row, j) => h("td", {}, h("b", {}, row[j].toFixed(5))))));
  }
  fill();
  body.append(given, found);
  frame.draw(body);
  if (focusKept) body.querySelector(`[data-cell="${focusKept}"]`)?.focus();
  // As a picture: the weights of all heads, with the numbers of each step.
  frame.picture = () => {
    const wide = 34 * t.unit, line = 1.8 * t.unit, g = s("svg", {});
    let y = t.unit;
    const say = (text, weight = 400, fill = t.ink) => { g.append(s("text", { x: 0, y, "font-size": t.unit, "font-weight": weight, fill }, text)); y += line; };
    say(`${form.title} attention: score = ${form.formula}   (${form.by})`, 600);
    p.heads.forEach((o, n) => {
      const q = product(p.x[p.query], o.q), scores = p.x.map((x) => form.score(q, product(x, o.k), p)), weights = softmax(scores), v = p.x.map((x) => product(x, o.v));
      if (p.heads.length > 1) say(`head ${n}`, 600);
      weights.forEach((w, j) => {
        g.append(s("text", { x: 0, y, "font-size": t.unit, fill: t.ink }, p.tokens[j]), s("text", { x: 9 * t.unit, y, "font-size": t.unit, fill: t.quiet, "text-anchor": "end" }, scores[j].toFixed(4)),
          s("rect", { x: 10.5 * t.unit, y: y - 0.9 * t.unit, width: Math.max(1, w * 16 * t.unit), height: 1.2 * t.unit, fill: ink(0.25 + 0.75 * w, t.dark) }),
          s("text", { x: 10.5 * t.unit + w * 16 * t.unit + 0.5 * t.unit, y, "font-size": t.unit, fill: t.quiet }, w.toFixed(4)));
        y += line;
      });
      say("context  " + v[0].map((_, d) => weights.reduce((sum, w, j) => sum + w * v[j][d], 0).toFixed(5)).join("  "));
    });
    g.setAttribute("viewBox", `0 0 ${wide} ${y}`);
    return g;
  };
}
