// Picture: what a model saw, as bright or as coloured as it looked at each part. A word that it wrote, a head, or a part that is pointed
// at shows what it looked at.
import { theme } from "fovea/colours";
import { bold, choice, h, number, percent, s, shortened, toggles, widthOf } from "fovea/dom";
import { floats, Matrix } from "fovea/seen";

const warm = [255, 122, 24];

// How light a picture is, from 0 to 1: on a dark one the dark says nothing.
async function lightness(url) {
  const image = new Image(), canvas = document.createElement("canvas"), side = 16;
  image.src = url;
  await image.decode();
  canvas.width = canvas.height = side;
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0, side, side);
  const { data } = context.getImageData(0, 0, side, side);
  let sum = 0;
  for (let i = 0; i < data.length; i += 4) sum += (data[i] + data[i + 1] + data[i + 2]) / 3;
  return sum / (255 * side * side);
}

// Attention through all layers in which parts look at each other; words look through them too.
function rolledOut(seen, m, cross) {
  const size = m.columns.length, through = (seen.picture.floats ??= floats(seen.picture.rollout));
  if (!cross) return new Matrix(m.columns, m.columns, through, false);
  const values = new Float32Array(m.values.length);
  for (let i = 0; i < m.rows.length; ++i)
    for (let k = 0; k < size; ++k) {
      const w = m.at(i, k);
      for (let j = 0; j < size; ++j) values[i * size + j] += w * through[k * size + j];
    }
  return new Matrix(m.rows, m.columns, values, false);
}

// The parts of the picture as an image of one pixel each, over it.
class Overlay {
  constructor(seen, how) {
    Object.assign(this, { how, extra: seen.picture.extra, parts: seen.picture.parts });
    this.canvas = document.createElement("canvas");
    [this.canvas.height, this.canvas.width] = this.parts;
  }
  url(row) {
    const count = this.parts[0] * this.parts[1], context = this.canvas.getContext("2d"), image = context.createImageData(this.parts[1], this.parts[0]);
    let most = 1e-9;
    for (let i = 0; i < count; ++i) most = Math.max(most, row(this.extra + i));
    for (let i = 0; i < count; ++i) {
      const v = Math.max(0, row(this.extra + i)) / most;
      image.data.set(this.how === "light" ? [0, 0, 0, Math.round(255 * 0.72 * (1 - v))] : [...warm, Math.round(255 * 0.82 * v)], 4 * i);
    }
    context.putImageData(image, 0, 0);
    return this.canvas.toDataURL();
  }
}

// Where everything stands: the picture, and small ones beside it or below.
function layout(room, t, seen, count, across) {
  const beside = room > 44 * t.unit, [width, height] = seen.picture.size, gap = 2.6 * t.unit;
  const most = beside ? Math.min(0.46 * room, 38 * t.unit) : Math.min(room, 30 * t.unit);
  const scale = most / Math.max(width, height), wide = width * scale, tall = height * scale;
  const left = beside ? wide + gap : 0, free = beside ? room - left : room;
  const columns = Math.max(1, Math.min(across, Math.floor(free / (6.2 * t.unit)))), space = 1.1 * t.unit;
  const line = 1.7 * t.unit, ratio = height / width, rows = Math.ceil(count / columns), level = (tall - 2.6 * t.unit) / rows - line - 0.4 * t.unit;  // as low as the picture
  const cell = Math.min(11 * t.unit, (free - (columns - 1) * space) / columns, beside ? Math.max(6.2 * t.unit, level / ratio) : Infinity);
  return { scale, wide, tall, left, top: beside ? 0 : tall + gap, columns, space, cell, cellTall: cell * ratio, line, beside, free };
}

export async function pictureView(frame) {
  const { seen, state } = frame, looking = seen.places.filter((p) => p.columns === "patches");
  if (!seen.picture || looking.length === 0) { frame.tools(); frame.noTable(); return frame.draw(h("p", { class: "note" }, "This model looks at no picture here.")); }
  const place = looking.find((p) => p.path === frame.place.path) ?? looking[looking.length - 1], cross = place.rows !== "patches";
  const through = Boolean(seen.picture.rollout) && state.layers === "rollout", alike = seen.alike(place);
  seen.picture.light ??= await lightness(seen.picture.png);
  const how = state.shade === "light" || state.shade === "colour" ? state.shade : seen.picture.light < 0.4 ? "colour" : "light";
  const head = state.head === "mean" || state.head === "max" || Number(state.head) < place.heads.length ? state.head : "mean";
  const chosen = { ...frame.chosen, place: place.path, head: through ? "mean" : head, layers: state.layers === "all" ? "all" : "one", unit: "words" };
  const plain = await seen.matrix(chosen), m = through ? rolledOut(seen, plain, cross) : plain;
  const tiles = cross ? wordTiles() : await headTiles();
  if (!frame.current) return;
  frame.tools(choice("attention", looking.map((p) => p.path), place.path, (v) => frame.set({ place: v, pick: undefined })),
    (alike.length > 1 || seen.picture.rollout) && choice("layers", [["one", "this one"], ...(alike.length > 1 ? [["all", "all of them"]] : []), ...(seen.picture.rollout ? [["rollout", "through all (rollout)"]] : [])], through ? "rollout" : chosen.layers, (v) => frame.set({ layers: v })),
    !through && place.heads.length > 1 && choice("head", [["mean", "mean"], ["max", "largest"], ...place.heads.map((n, i) => [i, n])], head, (v) => frame.set({ head: v })),
    toggles([["light", "light"], ["colour", "colour"]], how, (v) => frame.set({ shade: v })));

  const t = theme(), room = frame.room(), overlay = new Overlay(seen, how), extra = seen.picture.extra, [down, across] = seen.picture.parts;
  const laid = layout(room, t, seen, tiles.length, cross ? 5 : Math.max(...alike.map((p) => p.heads.length)));
  const first = cross ? Math.max(0, m.rows.findIndex((u) => !u.special)) : 0;
  const given = /^r(\d+)(?:p(\d+))?$/.exec(state.pick ?? ""), within = (text, count, otherwise) => (Number(text) < count ? Number(text) : otherwise);
  // Who looks, the part that was chosen, and the one under the pointer.
  let row = within(given?.[1], m.rows.length, first), chosenPart = within(given?.[2], down * across, -1), pointedPart = -1, peeked;

  const [pw, ph] = seen.picture.size, id = "seen-picture";
  const svg = s("svg", { role: "group", "aria-label": "the picture" }), told = h("p", { class: "value", role: "status" });
  svg.append(s("defs", {}, s("image", { id, width: pw, height: ph, href: seen.picture.png, preserveAspectRatio: "none", style: pw < 160 ? "image-rendering:pixelated" : undefined })));
  const photo = (x, y, scale) => s("use", { href: "#" + id, transform: `translate(${x} ${y}) scale(${scale})` });
  const shade = s("image", { x: 0, y: 0, width: laid.wide, height: laid.tall, preserveAspectRatio: "none", style: "image-rendering:pixelated" });
  const edges = (stroke, width) => s("rect", { width: laid.wide / across, height: laid.tall / down, fill: "none", stroke, "stroke-width": width });
  const mark = s("g", { visibility: "hidden" }, edges("#000000", 0.3 * t.unit), edges("#ffffff", 0.14 * t.unit));  // seen on any picture
  const field = s("g", { tabindex: 0, role: "application", id: "parts", "aria-label": `the picture in ${down} rows of ${across} patches; arrows move among them`, style: "cursor:crosshair",
    onpointermove: (e) => { if (e.pointerType === "mouse") point(partAt(e)); }, onpointerleave: () => point(-1), onblur: () => point(-1), onclick: (e) => choose(partAt(e)), onkeydown: move },
    photo(0, 0, laid.scale), shade, s("rect", { width: laid.wide, height: laid.tall, fill: "transparent", stroke: t.line }), mark);
  svg.append(field);
  const small = tiles.map((tile, k) => addTile(tile, k));
  const below = laid.top + heading() + Math.ceil(tiles.length / laid.columns) * (laid.cellTall + laid.line + 0.4 * t.unit);
  svg.setAttribute("viewBox", `0 0 ${room} ${Math.max(laid.tall, below) + 2}`);
  svg.setAttribute("width", room);
  frame.draw(svg, told);
  frame.picture = () => svg;
  paint();

  function wordTiles() {
    return m.rows.map((u, i) => ({ label: u.label, special: u.special, values: (j) => m.at(i, j), row: i })).filter((tile) => !tile.special);
  }
  async function headTiles() {
    const all = [], layers = alike.reduce((sum, p) => sum + p.heads.length, 0) <= 64 ? alike : [place];
    for (const p of layers)
      for (const [n, name] of p.heads.entries()) {
        const one = await seen.matrix({ ...chosen, place: p.path, head: n, layers: "one" });
        all.push({ label: `${p.path} ${name}`, values: (j, i) => one.at(i, j), place: p.path, head: n });
      }
    if (seen.picture.rollout) { const one = rolledOut(seen, plain, false); all.push({ label: "rollout", values: (j, i) => one.at(i, j), rollout: true }); }
    return all;
  }
  // The answer above the small pictures.
  function heading() { return 2.6 * t.unit; }
  function addTile(tile, k) {
    const { left, top, columns, cell, cellTall, space, line } = laid;
    if (k === 0) {
      const [label, probability] = seen.answer.split("\t"), size = 1.5 * t.unit, most = Math.max(8, Math.floor(laid.free / (0.45 * t.unit)));
      svg.append(s("text", { x: left, y: top + size, "font-size": fitted(shortened(label, most), laid.free - (probability ? 5 * t.unit : 0), size, t), "font-weight": 600, fill: t.ink, id: "answer" }, shortened(label, most),
        probability && s("tspan", { dx: 0.7 * t.unit, "font-size": t.unit, "font-weight": 400, fill: t.quiet }, probability)));
    }
    const x = left + (k % columns) * (cell + space), y = top + heading() + Math.floor(k / columns) * (cellTall + line + 0.4 * t.unit);
    const over = s("image", { x, y, width: cell, height: cellTall, preserveAspectRatio: "none", style: "image-rendering:pixelated" });
    const edge = s("rect", { x, y, width: cell, height: cellTall, fill: "transparent" });
    const name = s("text", { x, y: y + cellTall + 1.15 * t.unit, "font-size": cross ? 0.95 * t.unit : 0.72 * t.unit, fill: t.ink }, shortened(tile.label, Math.max(6, Math.floor(cell / (0.52 * (cross ? 0.95 : 0.72) * t.unit)))));
    const go = () => (cross ? (row = tile.row, chosenPart = -1, keep(), paint()) : tile.rollout ? frame.set({ layers: "rollout" }) : frame.set({ place: tile.place, head: tile.head, layers: undefined }));
    const group = s("g", { tabindex: 0, role: "button", id: "tile-" + k, style: "cursor:pointer", onclick: go, onfocus: () => peek(tile), onblur: () => peek(),
      onpointerenter: (e) => { if (e.pointerType === "mouse") peek(tile); }, onpointerleave: () => peek(),
      onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); go(); } else step(e, k); } },
      photo(x, y, cell / pw), over, edge, name, s("title", {}, tile.label));
    svg.append(group);
    return { tile, over, edge, name, group };
  }
  function step(e, k) {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -laid.columns, ArrowDown: laid.columns }[e.key];
    if (!by) return;
    e.preventDefault();
    svg.querySelector(`#tile-${Math.max(0, Math.min(tiles.length - 1, k + by))}`)?.focus();
  }
  function keep() {
    const hash = new URLSearchParams(location.hash.slice(1));
    hash.set("pick", `r${row}` + (chosenPart >= 0 ? `p${chosenPart}` : ""));
    history.replaceState(null, "", "#" + hash);
  }
  function partAt(e) {
    const at = field.lastChild.previousSibling.getBoundingClientRect(), x = Math.floor((e.clientX - at.left) / at.width * across), y = Math.floor((e.clientY - at.top) / at.height * down);
    return x >= 0 && y >= 0 && x < across && y < down ? y * across + x : -1;
  }
  function partShown() { return pointedPart >= 0 ? pointedPart : cross ? chosenPart : row - extra; }
  // A part that is pointed at or chosen: where parts look at each other, it shows what this one looked at.
  function point(which) { pointedPart = which; paint(); }
  function choose(which) {
    if (which < 0) return;
    if (cross) chosenPart = chosenPart === which ? -1 : which;
    else row = row === extra + which ? first : extra + which;
    keep(); paint();
  }
  function move(e) {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[e.key], part = partShown();
    if (by) point(part < 0 ? 0 : Math.max(0, Math.min(down * across - 1, part + by)));
    else if (e.key === "Enter" || e.key === " ") choose(part);
    else if (e.key === "Escape") { pointedPart = chosenPart = -1; if (!cross) row = first; keep(); paint(); }
    else return;
    e.preventDefault();
  }
  function peek(tile) { peeked = tile; paint(); }

  // What is shown now: a small picture that is pointed at, a part, or what was chosen.
  function paint() {
    const part = partShown(), pointed = !cross && pointedPart >= 0 ? extra + pointedPart : row, values = peeked ? (j) => peeked.values(j, pointed) : (j) => m.at(pointed, j);
    shade.setAttribute("href", overlay.url(values));
    mark.setAttribute("visibility", part >= 0 ? "visible" : "hidden");
    if (part >= 0) mark.setAttribute("transform", `translate(${(part % across) * laid.wide / across} ${Math.floor(part / across) * laid.tall / down})`);
    for (const { tile, over, edge, name, group } of small) {
      const on = peeked ? tile === peeked : cross ? tile.row === row : tile.rollout ? through : !through && chosen.layers === "one" && tile.place === place.path && String(tile.head) === String(head);
      over.setAttribute("href", overlay.url((j) => tile.values(j, pointed)));
      edge.setAttribute("stroke", on ? t.accent : t.line); edge.setAttribute("stroke-width", on ? Math.max(2, 0.14 * t.unit) : 1);
      name.setAttribute("font-weight", on ? 650 : 400);
      group.setAttribute("aria-pressed", String(on));
    }
    tell(part, pointed, values);
    const looker = m.rows[peeked?.row ?? pointed]?.label ?? "";
    frame.rows([`${looker} looks at`, ...Array.from({ length: across }, (_, x) => `column ${x + 1}`)],
      Array.from({ length: down }, (_, y) => [`row ${y + 1}`, ...Array.from({ length: across }, (_, x) => values(extra + y * across + x).toFixed(4))]));
  }
  function tell(part, pointed, values) {
    const looker = m.rows[peeked?.row ?? pointed], best = m.columns.map((u, j) => [values(j), u.label]).sort((a, b) => b[0] - a[0]).slice(0, 3).filter(([w]) => w > 0.005);
    const list = (pairs) => pairs.flatMap(([w, label], k) => [k ? ", " : "", bold(label), " " + percent(w)]);
    const under = part >= 0 ? m.columns[extra + part].label : "";
    if (cross && part >= 0) {
      const by = m.rows.map((u, i) => [m.at(i, extra + part), u.label]).sort((a, b) => b[0] - a[0]).slice(0, 3).filter(([w]) => w > 0.005);
      return told.replaceChildren(bold(under), " has ", h("b", {}, number(values(extra + part))), " of what ", bold(looker?.label ?? ""), " looks at", ...(by.length ? ["; it is looked at by ", ...list(by)] : []));
    }
    const written = looker?.probability;
    told.replaceChildren(bold(looker?.label ?? ""), " looks at ", ...list(best), written !== undefined ? `; written with probability ${written.toFixed(2)}` : "",
      ...(part >= 0 && extra > 0 ? ["; it has ", h("b", {}, number(m.at(0, extra + part))), " of what ", bold(m.rows[0].label), " looks at"] : []));
  }
}

// The size in which a line fits its room.
function fitted(text, room, size, t) {
  return Math.max(0.8 * t.unit, Math.min(size, size * room / widthOf(text, `600 ${size}px ${t.sans}`)));
}
