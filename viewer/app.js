// The page: what is looked at stands in the address, and whatever is chosen goes there.
import { clear, choice, h, toggles } from "fovea/dom";
import { drawn, save, standalone } from "fovea/export";
import { Seen } from "fovea/seen";
import { compareView } from "fovea/compare";
import { explainView } from "fovea/explain";
import { headsView } from "fovea/heads";
import { matrixView } from "fovea/matrix";
import { modelView } from "fovea/model";
import { pictureView } from "fovea/picture";
import { soundView } from "fovea/sound";
import { stepsView } from "fovea/steps";
import { textView } from "fovea/text";

const views = [["text", "Text", textView], ["picture", "Picture", pictureView], ["sound", "Sound", soundView], ["heads", "Heads", headsView], ["model", "Model", modelView],
               ["matrix", "Matrix", matrixView], ["steps", "Steps", stepsView], ["compare", "Compare", compareView],
               ["explain", "Explain", explainView]];
// What is drawn of a text, of a picture or of a sound alone; the other views are of all of them.
const only = { text: "text", explain: "text", picture: "picture", sound: "sound" };
const kindOf = (seen) => (seen.picture ? "picture" : seen.sound ? "sound" : "text");
const byId = (id) => document.getElementById(id);

class App {
  constructor(data) {
    this.data = data;
    this.served = data.served;
    this.recordings = data.recordings.map((r) => new Seen(r, ask));
    this.given = [];  // what the program shows first stays
    this.models = data.models;
    this.shown = 0;
    this.kind = "text";
  }

  async start() {
    byId("views").append(...views.map(([name, title]) =>
      h("button", { type: "button", role: "tab", id: "tab-" + name, onclick: () => this.set({ view: name }) }, title)));
    byId("views").addEventListener("keydown", (e) => this.moveTab(e));
    byId("ask").addEventListener("submit", (e) => { e.preventDefault(); this.look(); });
    byId("text").addEventListener("keydown", (e) => { if (e.key === "Enter" && !e.shiftKey) { e.preventDefault(); this.look(); } });
    byId("home").addEventListener("click", (e) => { e.preventDefault(); this.set({ view: "text" }); });
    addEventListener("hashchange", () => this.show());
    addEventListener("resize", () => { clearTimeout(this.later); this.later = setTimeout(() => this.show(), 120); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
    this.drawExports();
    if (this.served) await this.readFirst();
    await this.show();
  }

  // ---- what the address says

  get state() {
    const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    const first = this.served ? this.data.first : { model: this.recordings[0]?.model, text: this.recordings[0]?.text };
    return { view: "text", unit: "words", head: "mean", layers: "one", ...first, ...given };
  }
  set(change) {
    const now = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    const next = new URLSearchParams();
    for (const [k, v] of Object.entries({ ...now, ...change })) if (v !== undefined && v !== null && v !== "") next.set(k, v);
    const hash = "#" + next.toString();
    if (location.hash === hash) return this.show();
    if ("pick" in change && Object.keys(change).length === 1) { history.replaceState(null, "", hash); return this.show(); }
    location.hash = hash;
  }

  // ---- what the program is asked for

  async readFirst() {
    this.fillForm(this.state);
    this.say(`${this.state.model} reads …`);
    try {
      this.given = [new Seen(await answer(await fetch("first")), ask)];
      this.recordings = [...this.given];
      this.say("");
    } catch (e) { this.say(e.message, true); }
  }
  async recording(model, text) {
    const known = [...this.recordings, ...this.given].find((r) => r.model === model && r.text === text);
    if (known || !this.served) return known ?? this.recordings[0];
    this.say(`${model} reads …`);
    const begun = performance.now();
    const seen = new Seen(await answer(await fetch("run", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ model, text }) })), ask);
    this.recordings.unshift(seen);
    this.recordings.length = Math.min(this.recordings.length, 4);
    this.say(`${Math.round(performance.now() - begun)} ms`);
    return seen;
  }
  // Which words the answer comes from; undefined where nobody can be asked.
  async explained(seen, { answer: wanted, erase, check }) {
    if (!this.served) return seen.explained;
    const key = JSON.stringify([wanted, erase, check]);
    seen.explanations ??= new Map();
    if (!seen.explanations.has(key)) {
      this.say(`${seen.model} reads …`);
      const begun = performance.now();
      seen.explanations.set(key, await answer(await fetch("explain", { method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ model: seen.model, text: seen.text, answer: wanted, methods: "all", erase, check }) })));
      this.say(`${Math.round(performance.now() - begun)} ms`);
    }
    return seen.explanations.get(key);
  }
  look() {
    const text = byId("text").readOnly ? undefined : byId("text").value;
    this.set({ model: byId("model").value, ...(text === undefined ? {} : { text }), pick: undefined, place: undefined, answer: undefined });
  }

  // ---- what is shown

  async show() {
    const state = this.state, turn = ++this.shown;
    if (state.theme === "dark" || state.theme === "light") document.documentElement.dataset.theme = state.theme;
    else delete document.documentElement.dataset.theme;
    this.fillForm(state);
    this.markTabs(state.view);
    try {
      const seen = state.view === "steps" && state.form !== "model" ? undefined : await this.recording(state.model, state.text);
      if (turn !== this.shown) return;
      if (seen) this.kind = kindOf(seen);
      const [, , view] = this.markTabs(state.view);
      if (seen && seen.places.length === 0 && this.view !== "explain") return this.nothing(seen);
      document.title = seen ? `fovea: ${seen.text.slice(0, 60)}` : "fovea";
      const kept = document.activeElement?.id;
      const frame = new Frame(this, state, seen, turn);
      await view(frame);
      if (kept && document.activeElement === document.body) byId(kept)?.focus({ preventScroll: true });
    } catch (e) {
      if (turn !== this.shown) return;
      clear(byId("tools")); clear(byId("stage"), h("p", { class: "note error" }, e.message)); clear(byId("rows"));
      this.say("");
    }
  }
  // Which view is shown of what is looked at: the one that was asked for, or the first that fits.
  markTabs(wanted) {
    const fitting = views.filter(([name]) => (only[name] ?? this.kind) === this.kind), shown = fitting.find(([name]) => name === wanted) ?? fitting[0];
    this.view = shown[0];
    for (const [name] of views) {
      const tab = byId("tab-" + name);
      tab.hidden = !fitting.some(([n]) => n === name);
      tab.setAttribute("aria-selected", String(name === this.view));
      tab.tabIndex = name === this.view ? 0 : -1;
    }
    return shown;
  }
  nothing(seen) {
    clear(byId("tools"));
    clear(byId("stage"), h("p", { class: "note" }, seen.text ? "This model attends to nothing here." : "Nothing was given to read."));
    clear(byId("rows"));
  }
  fillForm(state) {
    const names = [...new Set([...this.models, ...this.recordings.map((r) => r.model), state.model])].filter(Boolean);
    const list = byId("model");
    clear(list, names.map((n) => h("option", { value: n }, n)));
    list.value = state.model;
    list.onchange = () => this.served ? this.look() : this.set({ model: list.value, text: this.recordings.find((r) => r.model === list.value)?.text });
    const field = byId("text");
    const text = state.text ?? "", long = text.length > 20_000;
    if (document.activeElement !== field) field.value = long ? text.slice(0, 200) + " …" : text;
    field.readOnly = !this.served || long;
    byId("go").hidden = !this.served;
  }
  moveTab(e) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!step) return;
    const open = views.filter(([name]) => !byId("tab-" + name).hidden), at = open.findIndex(([name]) => name === this.view), next = open[(at + step + open.length) % open.length][0];
    e.preventDefault();
    this.set({ view: next });
    byId("tab-" + next).focus();
  }
  say(text, bad = false) { clear(byId("status"), h("span", { class: bad ? "error" : undefined }, text)); }

  drawExports() {
    const next = { undefined: "dark", dark: "light", light: "" };
    clear(byId("exports"),
      h("button", { type: "button", id: "theme", onclick: () => this.set({ theme: next[this.state.theme] ?? "" }) }, "light or dark"),
      h("button", { type: "button", id: "svg", onclick: () => this.export("svg") }, "SVG"),
      h("button", { type: "button", id: "png", onclick: () => this.export("png") }, "PNG"));
  }
  async picture() {
    const svg = this.frame?.picture?.();
    if (!svg) throw new Error("there is no picture here");
    return svg;
  }
  async export(kind) {
    try {
      const svg = await this.picture();
      save(kind === "svg" ? new Blob([standalone(svg)], { type: "image/svg+xml" }) : await drawn(svg), `fovea-${this.view}.${kind}`);
    } catch (e) { this.say(e.message, true); }
  }
}

// What a view gets: where to draw, what was chosen, and how to choose something else.
class Frame {
  constructor(app, state, seen, turn) {
    Object.assign(this, { app, state, seen, turn });
    this.stage = byId("stage");
    app.frame = this;
    const place = seen && (seen.place(state.place) ?? mostTelling(seen));
    this.place = place;
    this.chosen = place && { place: place.path, head: state.head, layers: state.layers, unit: state.unit };
  }
  get current() { return this.turn === this.app.shown; }
  set(change) { this.app.set(change); }
  room() { return Math.max(280, this.stage.clientWidth); }
  draw(...children) { clear(this.stage, children); }
  tools(...children) { clear(byId("tools"), children); }
  // Which attention is looked at: chosen beside every view.
  placeTools({ layers = true, heads = true } = {}) {
    const { seen, place, state } = this;
    const all = seen.places.map((p) => [p.path, p.path]);
    return [
      choice("attention", all, place.path, (v) => this.set({ place: v, pick: undefined })),
      layers && seen.alike(place).length > 1 && choice("layers", [["one", "this one"], ["all", "all of them"]], state.layers, (v) => this.set({ layers: v })),
      heads && (place.heads.length > 1 || state.layers === "all") && choice("head", [["mean", "mean"], ["max", "largest"], ...place.heads.map((n, i) => [i, n])], state.head, (v) => this.set({ head: v })),
    ];
  }
  unitTools() {
    return toggles([["words", "words"], ["pieces", "pieces"]], this.state.unit, (v) => this.set({ unit: v, pick: undefined }));
  }
  // For those who cannot see the picture.
  table(m, caption) {
    const most = 60, rows = m.rows.slice(0, most), columns = m.columns.slice(0, most);
    clear(byId("rows"), h("table", {}, h("caption", { class: "unseen" }, caption),
      h("thead", {}, h("tr", {}, h("th", {}), columns.map((c) => h("th", { scope: "col" }, c.label)))),
      h("tbody", {}, rows.map((r, i) => h("tr", {}, h("th", { scope: "row" }, r.label), columns.map((_, j) => h("td", {}, m.at(i, j).toFixed(3))))))),
      (m.rows.length > most || m.columns.length > most) && h("p", {}, `the first ${most} of ${m.rows.length} rows and ${m.columns.length} columns`));
    byId("table").hidden = false;
  }
  rows(names, lines) {
    clear(byId("rows"), h("table", {}, h("thead", {}, h("tr", {}, names.map((n) => h("th", { scope: "col" }, n)))),
      h("tbody", {}, lines.map((line) => h("tr", {}, line.map((x, i) => (i ? h("td", {}, x) : h("th", { scope: "row" }, x))))))));
    byId("table").hidden = false;
  }
  noTable() { clear(byId("rows")); byId("table").hidden = true; }
}

// The last attention over another sequence, or the last of all: where an answer is closest. A pointer tells what would be copied, not this.
function mostTelling(seen) {
  const across = seen.places.filter((p) => p.kind !== "self" && p.kind !== "pointer");
  return across[across.length - 1] ?? seen.places[seen.places.length - 1];
}

async function answer(response) {
  const text = await response.text();
  let json;
  try { json = JSON.parse(text); } catch { throw new Error(text.trim() || `the program answered ${response.status}`); }
  if (!response.ok) throw new Error(json.error ?? `the program answered ${response.status}`);
  return json;
}

// Weights that were not sent: the largest and the mean of squares, behind how many there are of each.
export async function askTile(run, place, head, { level = 0, row = 0, column = 0, rows = 256, columns = 256 }) {
  const query = new URLSearchParams({ run, place: place.path, head, level, row, column, rows, columns });
  const response = await fetch("tile?" + query);
  if (!response.ok) await answer(response);
  const bytes = await response.arrayBuffer(), [height, width] = new Int32Array(bytes, 0, 2), cells = height * width;
  return { height, width, largest: new Float32Array(bytes, 8, cells), mean: new Float32Array(bytes, 8 + (level > 0 ? 4 * cells : 0), cells) };
}
async function ask(run, place, head, rows, columns) {
  if (!window.fovea.served) throw new Error(`This page was written without the weights of ${place.path}: fovea view shows them.`);
  return (await askTile(run, place, head, { row: rows[0], column: columns[0], rows: rows[1] - rows[0], columns: columns[1] - columns[0] })).largest;
}

export function start() {
  window.fovea = new App(JSON.parse(byId("data").textContent));
  return window.fovea.start();
}
