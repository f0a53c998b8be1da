// The squares of a matrix as pictures, a tile at a time: from the weights at hand, or from the program.
//
//   const tiles = new Tiles(frame, matrix, "max", redraw);   tiles.look(level, row, column);   tiles.pump(wanted);
//
// What is asked for is what was seen last: at most two tiles at a time, and only so many pictures stay.
import { rgb, theme } from "fovea/colours";
import { askTile } from "fovea/app";

const side = 256, mostSpan = 16384, mostPictures = 256, mostAsked = 2, mostValues = 2000;

export class Tiles {
  constructor(frame, matrix, how, changed) {
    Object.assign(this, { frame, matrix, how, changed, kept: new Map(), values: new Map(), asked: 0, wanted: [] });
    this.height = matrix ? matrix.rows.length : frame.place.size[0];
    this.width = matrix ? matrix.columns.length : frame.place.size[1];
    this.full = matrix && this.width > 64 ? Math.max(1e-6, matrix.largest()) : 0;  // the weight that has all the ink
    this.dark = theme().dark;
    this.head = Number.isInteger(Number(frame.state.head)) ? Math.min(Number(frame.state.head), frame.place.heads.length - 1) : 0;
    this.begin();
  }

  // What the Model view knows of the head is shown until more comes.
  begin() {
    const known = this.matrix ? undefined : this.frame.place.pooled?.get(this.head);
    if (!known || this.span(known.level) < Math.max(this.height, this.width)) return;
    this.full ||= this.width > 64 ? Math.max(1e-6, known.largest.reduce((a, b) => Math.max(a, b), 0)) : 1;
    this.keep(`${known.level}/0/0`, this.picture(known, known.level));
  }

  // How many weights a tile has on a side: fewer squares where they are large, so that none takes long.
  span(level) { return Math.max(2 ** level, Math.min(side * 2 ** level, mostSpan)); }

  // The picture of a tile if it is here.
  look(level, row, column) {
    const key = `${level}/${row}/${column}`, found = this.kept.get(key);
    if (found) { this.kept.delete(key); this.kept.set(key, found); }
    else if (this.matrix) return this.keep(key, this.picture(this.local(level, row, column), level));
    return found;
  }
  // A coarser picture that has this tile in it, and which part of it: { canvas, x, y, width, height }.
  coarser(level, row, column) {
    const span = this.span(level), top = row * span, left = column * span;
    const height = Math.min(span, this.height - top), width = Math.min(span, this.width - left);
    for (let l = level + 1; l < level + 12; ++l) {
      const larger = this.span(l), r = Math.floor(top / larger), c = Math.floor(left / larger), canvas = this.kept.get(`${l}/${r}/${c}`);
      if (canvas) return { canvas, x: (left - c * larger) / 2 ** l, y: (top - r * larger) / 2 ** l, width: width / 2 ** l, height: height / 2 ** l };
    }
    return undefined;
  }
  // What is missing, the most wanted first: nobody waits any more for what was wanted before.
  pump(wanted) {
    this.wanted = wanted;
    while (!this.matrix && this.asked < mostAsked && this.wanted.length && this.frame.current) this.ask(...this.wanted.shift());
  }
  get missing() { return this.asked + this.wanted.length; }

  async ask(level, row, column) {
    const { place, seen, app } = this.frame, key = `${level}/${row}/${column}`, span = this.span(level), squares = span / 2 ** level;
    if (this.coming?.has(key)) return;
    (this.coming ??= new Set()).add(key);
    ++this.asked;
    try {
      const t = await askTile(seen.run, place, this.head, { level, row: row * span, column: column * span, rows: squares, columns: squares });
      this.full ||= this.width > 64 ? Math.max(1e-6, t.largest.reduce((a, b) => Math.max(a, b), 0)) : 1;
      this.keep(key, this.picture(t, level));
      this.failed = false;
    } catch (e) { this.failed = true; app.say(e.message, true); }
    this.coming.delete(key);
    --this.asked;
    if (!this.failed) this.changed();
  }
  keep(key, canvas) {
    this.kept.set(key, canvas);
    if (this.kept.size > mostPictures) this.kept.delete(this.kept.keys().next().value);
    return canvas;
  }

  local(level, row, column) {
    const m = this.matrix, step = 2 ** level, span = this.span(level), r0 = row * span, c0 = column * span;
    const height = Math.ceil(Math.min(span, this.height - r0) / step), width = Math.ceil(Math.min(span, this.width - c0) / step);
    const largest = new Float32Array(height * width), mean = new Float32Array(height * width);
    for (let i = 0; i < height; ++i)
      for (let j = 0; j < width; ++j) {
        let most = 0, sum = 0, count = 0;
        for (let r = r0 + i * step; r < Math.min(this.height, r0 + (i + 1) * step); ++r)
          for (let c = c0 + j * step; c < Math.min(this.width, c0 + (j + 1) * step); ++c) { const w = m.at(r, c); most = Math.max(most, w); sum += w; ++count; }
        largest[i * width + j] = most; mean[i * width + j] = sum / count;
      }
    return { height, width, largest, mean };
  }
  picture(t, level) {
    const canvas = document.createElement("canvas");
    canvas.width = t.width; canvas.height = t.height;
    const context = canvas.getContext("2d"), image = context.createImageData(t.width, t.height), values = this.how === "mean" ? t.mean : t.largest;
    // Of means the ink is as strong as if the squares were single weights of their sum.
    // Where a row has many columns, small weights are made visible by a root.
    const scale = (this.how === "mean" ? Math.min(2 ** level, this.width) : 1) / (this.full || 1), root = this.width > 64;
    this.inks ??= Array.from({ length: 1025 }, (_, i) => rgb(i / 1024, this.dark));
    for (let i = 0; i < values.length; ++i) {
      const v = values[i] * scale, [r, g, b] = this.inks[Math.round(1024 * Math.min(1, Math.max(0, root ? Math.sqrt(v) : v)))] ?? this.inks[0];
      image.data[4 * i] = r; image.data[4 * i + 1] = g; image.data[4 * i + 2] = b; image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    return canvas;
  }

  // One weight, exactly; undefined while it is asked for.
  at(row, column) {
    if (this.matrix) return this.matrix.at(row, column);
    const key = row * this.width + column, { place, seen } = this.frame;
    if (!this.values.has(key)) {
      if (this.values.size > mostValues) this.values.clear();
      if (this.reading) return undefined;
      this.reading = true;
      askTile(seen.run, place, this.head, { row, column, rows: 1, columns: 1 }).then((t) => this.values.set(key, t.largest[0]), (e) => this.values.set(key, e))
        .finally(() => { this.reading = false; });
    }
    return this.values.get(key);
  }
}
