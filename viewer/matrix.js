// Matrix: all weights of a head, to be moved about in: the wheel or two fingers zoom, dragging moves, + − 0 and arrows do both.
// What is farther away is shown as the largest, or the mean, of squares; they come from the program a tile at a time.
import { theme } from "fovea/colours";
import { bold, h, number, s, shortened, toggles } from "fovea/dom";
import { alikeHeads } from "fovea/alike";
import { heatMap } from "fovea/heat";
import { Tiles } from "fovea/tiles";

export async function matrixView(frame) {
  const { seen, place, state } = frame, whole = seen.isWhole(place), how = state.pool === "mean" ? "mean" : "max";
  const numbered = Number.isInteger(Number(state.head));
  if (!whole && !numbered) return frame.set({ head: 0 });
  frame.tools(frame.placeTools({ layers: whole }), whole && frame.unitTools(),
    toggles([["max", "largest of each square"], ["mean", "mean"]], how, (v) => frame.set({ pool: v })), h("button", { type: "button", id: "whole", onclick: () => { fit(); draw(); } }, "all of it"));
  frame.noTable();
  const m = whole ? await seen.matrix(frame.chosen) : undefined;
  if (!frame.current) return;
  const rows = m ? m.rows : seen.units(place.rows, "pieces"), columns = m ? m.columns : seen.units(place.columns, "pieces");
  const tiles = new Tiles(frame, m, how, () => draw());
  const t = theme(), canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": `weights of ${place.path}, ${rows.length} rows and ${columns.length} columns`, id: "canvas" });
  const box = h("div", { class: "matrix" }, canvas), told = h("p", { class: "value", role: "status", id: "value" }, "\u00a0");
  const left = h("div", { class: "seen" }, box, told), beside = h("div", { class: "beside" }, left);
  frame.draw(beside);
  const context = canvas.getContext("2d"), font = 0.8 * t.unit, label = Math.min(8 * t.unit, Math.max(60, box.clientWidth * 0.16)), above = Math.max(0.75 * label, 4.6 * t.unit);
  const view = { x: 0, y: 0, cell: 1 };  // the first cell that is seen, and how many pixels one takes
  if (m) shrink();
  let width = 0, height = 0, pointed = [-1, -1], waiting = false;

  // A matrix that is smaller than its frame leaves the rest to others.
  function shrink() {
    const wide = box.clientWidth, tall = box.clientHeight, cell = Math.min((wide - label) / columns.length, (tall - above) / rows.length, 3.2 * t.unit);
    box.style.height = `${Math.min(tall, above + rows.length * cell + 2)}px`;
    const needed = Math.max(22 * t.unit, label + columns.length * cell + 2);
    if (needed < 0.6 * wide) left.style.flex = `0 0 ${needed}px`;
  }
  function size() {
    const k = devicePixelRatio || 1;
    width = box.clientWidth; height = box.clientHeight;
    canvas.width = Math.round(width * k); canvas.height = Math.round(height * k);
    context.setTransform(k, 0, 0, k, 0, 0);
  }
  const inner = () => [width - label, height - above];
  function fit() {
    const [w, hgt] = inner();
    view.cell = Math.min(w / tiles.width, hgt / tiles.height, 3.2 * t.unit);
    view.x = view.y = 0;
  }
  function hold() {
    const [w, hgt] = inner(), least = Math.min(w / tiles.width, hgt / tiles.height, 3.2 * t.unit);
    view.cell = Math.min(4 * t.unit, Math.max(least, view.cell));
    view.x = Math.max(0, Math.min(view.x, tiles.width - w / view.cell)); view.y = Math.max(0, Math.min(view.y, tiles.height - hgt / view.cell));
  }
  function draw() {
    if (waiting || !frame.current) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; if (frame.current) paint(); });
  }
  function paint() {
    const left = label, top = above, [w, hgt] = inner();
    context.clearRect(0, 0, width, height);
    const level = Math.max(0, Math.min(24, Math.floor(Math.log2(1 / view.cell)))), span = tiles.span(level), missing = [];
    context.save();
    context.beginPath(); context.rect(left, top, w, hgt); context.clip();
    context.imageSmoothingEnabled = false;
    const lastRow = Math.min(tiles.height, view.y + hgt / view.cell), lastColumn = Math.min(tiles.width, view.x + w / view.cell);
    const far = (r, c) => Math.hypot((r + 0.5) * span - (view.y + lastRow) / 2, (c + 0.5) * span - (view.x + lastColumn) / 2);
    for (let r = Math.floor(view.y / span); r * span < lastRow; ++r)
      for (let c = Math.floor(view.x / span); c * span < lastColumn; ++c) {
        const x = left + (c * span - view.x) * view.cell, y = top + (r * span - view.y) * view.cell;
        const wide = Math.min(span, tiles.width - c * span) * view.cell, tall = Math.min(span, tiles.height - r * span) * view.cell;
        const tile = tiles.look(level, r, c), coarse = tile ? undefined : tiles.coarser(level, r, c);
        if (tile) context.drawImage(tile, x, y, wide, tall);
        else if (coarse) context.drawImage(coarse.canvas, coarse.x, coarse.y, coarse.width, coarse.height, x, y, wide, tall);
        else { context.fillStyle = t.wash; context.fillRect(x, y, wide, tall); }
        // What a causal mask hides comes last: there is nothing in it.
        if (!tile) missing.push([level, r, c, far(r, c) + (place.causal && c > r ? 1e9 : 0)]);
      }
    context.restore();
    tiles.pump(missing.sort((a, b) => a[3] - b[3]));
    names(left, top, w, hgt);
    if (!m && !tiles.failed) frame.app.say(tiles.missing ? `${tiles.missing} tiles to come` : "");
  }
  function names(left, top, w, hgt) {
    context.font = `${font}px ${t.sans}`; context.textBaseline = "middle";
    context.strokeStyle = t.line;
    context.strokeRect(left, top, Math.min(w, (tiles.width - view.x) * view.cell), Math.min(hgt, (tiles.height - view.y) * view.cell));
    const written = view.cell >= 0.9 * font, least = Math.max(1, Math.ceil(1.25 * font / view.cell)), step = written ? least : roundNumber(4 * least);
    context.textAlign = "right";
    for (let i = Math.ceil(view.y / step) * step; i < rows.length; i += step) {
      const y = top + (i + 0.5 - view.y) * view.cell;
      if (y > top + hgt) break;
      context.fillStyle = i === pointed[0] ? t.accent : written ? (rows[i].special ? t.quiet : t.ink) : t.quiet;
      context.fillText(written ? shortened(rows[i].label, 16) : i.toLocaleString("en"), left - 0.5 * font, y);
    }
    context.textAlign = "left";
    for (let j = Math.ceil(view.x / step) * step; j < columns.length; j += step) {
      const x = left + (j + 0.5 - view.x) * view.cell;
      if (x > left + w) break;
      context.save(); context.translate(x, top - 0.5 * font); context.rotate(-0.95);
      context.fillStyle = j === pointed[1] ? t.accent : written ? (columns[j].special ? t.quiet : t.ink) : t.quiet;
      context.fillText(written ? shortened(columns[j].label, 14) : j.toLocaleString("en"), 0, 0);
      context.restore();
    }
  }
  function tell(i, j) {
    pointed = [i, j];
    if (i < 0) return;
    const w = tiles.at(i, j);
    told.replaceChildren(bold(rows[i].label), ` (${i}) → `, bold(columns[j].label), ` (${j})  `, h("b", {}, w === undefined ? "…" : w instanceof Error ? "not kept" : number(w)));
    if (w === undefined) setTimeout(() => { if (pointed[0] === i && pointed[1] === j && frame.current) tell(i, j); }, 30);
  }
  function cellAt(e) {
    const at = canvas.getBoundingClientRect(), i = Math.floor((e.clientY - at.top - above) / view.cell + view.y), j = Math.floor((e.clientX - at.left - label) / view.cell + view.x);
    return i >= 0 && j >= 0 && i < tiles.height && j < tiles.width && e.clientX - at.left >= label && e.clientY - at.top >= above ? [i, j] : [-1, -1];
  }
  function zoom(factor, x, y) {
    const cx = (x - label) / view.cell + view.x, cy = (y - above) / view.cell + view.y;
    view.cell *= factor; hold();
    view.x = cx - (x - label) / view.cell; view.y = cy - (y - above) / view.cell;
    hold(); draw();
  }
  const fingers = new Map();
  let dragged;
  canvas.addEventListener("wheel", (e) => { e.preventDefault(); const at = canvas.getBoundingClientRect(); zoom(Math.exp(-e.deltaY * 0.0016), e.clientX - at.left, e.clientY - at.top); }, { passive: false });
  canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); fingers.set(e.pointerId, [e.clientX, e.clientY]); dragged = [e.clientX, e.clientY]; });
  canvas.addEventListener("pointermove", (e) => {
    tell(...cellAt(e));
    const before = fingers.get(e.pointerId);
    if (before && fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== e.pointerId)[1], gap = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]), at = canvas.getBoundingClientRect();
      zoom(gap([e.clientX, e.clientY], other) / Math.max(1, gap(before, other)), (e.clientX + other[0]) / 2 - at.left, (e.clientY + other[1]) / 2 - at.top);
    } else if (before) {
      view.x -= (e.clientX - dragged[0]) / view.cell; view.y -= (e.clientY - dragged[1]) / view.cell; dragged = [e.clientX, e.clientY];
      hold();
    }
    if (before) fingers.set(e.pointerId, [e.clientX, e.clientY]);
    draw();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => fingers.delete(e.pointerId));
  canvas.addEventListener("keydown", (e) => {
    const [w, hgt] = inner(), step = 0.15 * Math.min(w, hgt) / view.cell, keys = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (keys[e.key]) { view.x += keys[e.key][0]; view.y += keys[e.key][1]; hold(); }
    else if (e.key === "+" || e.key === "=") return e.preventDefault(), zoom(1.4, width / 2, height / 2);
    else if (e.key === "-") return e.preventDefault(), zoom(1 / 1.4, width / 2, height / 2);
    else if (e.key === "0") fit();
    else return;
    e.preventDefault(); draw();
  });
  size(); fit(); paint();
  const alike = await alikeHeads(frame, m);
  if (!frame.current) return;
  if (alike) beside.append(alike);
  if (m && m.rows.length <= 200) frame.table(m, `weights of ${place.path}`);
  // A small one is drawn again with names and cells of its own; of a large one the picture is what is seen.
  frame.picture = () => {
    if (m && Math.max(m.rows.length, m.columns.length) <= 120) {
      const heat = heatMap(m, 60 * t.unit, { title: `${place.path}, head ${state.head}` });
      return s("svg", { viewBox: `0 0 ${heat.width} ${heat.height}` }, heat.group);
    }
    return s("svg", { viewBox: `0 0 ${width} ${height}` }, s("image", { x: 0, y: 0, width, height, href: canvas.toDataURL() }));
  };
}

// The first of 1, 2, 5, 10, 20, 50 … that is not below x.
function roundNumber(x) {
  const ten = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= x);
}
