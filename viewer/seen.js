// A recording as the program tells it: sequences of tokens, and places with their weights, which are here or are asked for.
//
//   const seen = new Seen(json, ask);   const m = await seen.matrix({ place: "decoder.0.cross", head: "mean", unit: "words" });
//   m.at(row, column);   m.rows[0].label;

export function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}
export const floats = (base64) => new Float32Array(bytesOf(base64).buffer);

export const mostCells = 1_000_000;  // of one matrix that is held whole

export class Matrix {
  constructor(rows, columns, values, causal) {
    this.rows = rows; this.columns = columns; this.values = values; this.causal = causal;
  }
  at(i, j) { return this.values[i * this.columns.length + j]; }
  largest() { return this.most ??= this.values.reduce((a, b) => Math.max(a, b), 0); }
  rowLargest(i) { let most = 0; for (let j = 0; j < this.columns.length; ++j) most = Math.max(most, this.at(i, j)); return most; }
}

export class Seen {
  constructor(json, ask) {
    Object.assign(this, json);
    this.ask = ask;  // (place, head, rows, columns) → Float32Array, from the program
    this.places = json.places.map((p) => ({ ...p, weights: undefined, packed: p.weights, cache: new Map() }));
    this.title = `${this.text} ${this.answer ? "→ " + this.answer : ""}`;
  }

  place(path) { return this.places.find((p) => p.path === path); }
  // Places that have the same rows and columns, as layers of one kind.
  alike(place) { return this.places.filter((p) => p.rows === place.rows && p.columns === place.columns); }

  // The units of a sequence: its tokens, or its words with the tokens of each; special tokens stand alone.
  units(name, unit) {
    const key = `${name}/${unit}`;
    this.unitsKnown ??= new Map();
    if (!this.unitsKnown.has(key)) this.unitsKnown.set(key, this.unitsOf(name, unit));
    return this.unitsKnown.get(key);
  }
  unitsOf(name, unit) {
    const q = this.sequences[name], all = [];
    q.pieces.forEach((piece, i) => {
      const word = q.words[i], last = all[all.length - 1];
      const part = q.spans[i][1] > q.spans[i][0];
      if (unit === "words" && part && last && last.word === word && word >= 0) {
        last.tokens.push(i); last.end = q.spans[i][1];
      } else all.push({ label: piece, word: part ? word : -1, tokens: [i], begin: q.spans[i][0], end: q.spans[i][1] });
    });
    const bytes = new TextEncoder().encode(q.text), decoder = new TextDecoder();
    for (const u of all) {
      if (u.tokens.length > 1) u.label = decoder.decode(bytes.slice(u.begin, u.end)).trim();
      if (u.label === "▁" || (u.label && !u.label.trim())) u.label = u.label.includes("\n") ? "⏎" : "␣";  // a space of its own
      u.special = u.end === u.begin && !(q.ids[u.tokens[0]] === -1 && u.label);  // parts of pictures and sounds are no tokens of a text
      const known = q.probabilities && u.tokens.every((i) => q.probabilities[i] !== null);
      u.probability = known ? u.tokens.reduce((p, i) => p * q.probabilities[i], 1) : undefined;
      u.steps = known ? u.tokens.map((i) => ({ piece: q.pieces[i], probability: q.probabilities[i], others: q.alternatives?.[i] ?? [] })) : [];
      u.sign = /^[\p{P}\p{S}]+$/u.test(u.label) && !u.special;
    }
    return all;
  }

  size(place) { return place.size[0] * place.size[1]; }
  isWhole(place) { return this.size(place) <= mostCells; }

  // The weights of one head, [rows, columns], whole.
  async head(place, number) {
    const cells = this.size(place);
    if (place.packed && !place.weights) { place.weights = floats(place.packed); place.packed = undefined; }
    if (place.weights) return place.weights.subarray(number * cells, (number + 1) * cells);
    if (!place.cache.has(number)) {
      if (place.cache.size > 24) place.cache.delete(place.cache.keys().next().value);
      place.cache.set(number, this.ask(this.run, place, number, [0, place.size[0]], [0, place.size[1]]));
    }
    return place.cache.get(number);
  }

  // The weights of one row, [columns]; the latest few stay.
  async row(place, number, row) {
    const width = place.size[1];
    if (this.isWhole(place)) return (await this.head(place, number)).subarray(row * width, (row + 1) * width);
    const key = `${number}/${row}`;
    place.rowsKnown ??= new Map();
    if (!place.rowsKnown.has(key)) {
      if (place.rowsKnown.size > 24) place.rowsKnown.delete(place.rowsKnown.keys().next().value);
      place.rowsKnown.set(key, await this.ask(this.run, place, number, [row, row + 1], [0, width]));
    }
    return place.rowsKnown.get(key);
  }

  // One head's, or the mean or the largest of several heads and layers.
  async cells({ place: path, head, layers }) {
    const place = this.place(path);
    const chosen = layers === "all" ? this.alike(place) : [place];
    const lists = [];
    for (const p of chosen)
      for (const number of head === "mean" || head === "max" ? p.heads.keys() : [Math.min(Number(head), p.heads.length - 1)])
        lists.push(await this.head(p, number));
    if (lists.length === 1) return lists[0];
    const all = new Float32Array(lists[0].length);
    for (const list of lists)
      for (let i = 0; i < all.length; ++i) all[i] = head === "max" ? Math.max(all[i], list[i]) : all[i] + list[i] / lists.length;
    return all;
  }

  // Rows are the mean of their tokens', columns the sum.
  async matrix(chosen) {
    const place = this.place(chosen.place);
    const rows = this.units(place.rows, chosen.unit), columns = this.units(place.columns, chosen.unit);
    const cells = await this.cells(chosen), width = place.size[1];
    if (rows.length === place.size[0] && columns.length === width) return new Matrix(rows, columns, cells, place.causal);
    const values = new Float32Array(rows.length * columns.length);
    rows.forEach((r, i) => columns.forEach((c, j) => {
      let sum = 0;
      for (const t of r.tokens) for (const u of c.tokens) sum += cells[t * width + u];
      values[i * columns.length + j] = sum / r.tokens.length;
    }));
    return new Matrix(rows, columns, values, place.causal);
  }
}
