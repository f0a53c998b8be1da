// Sound: how loud and how high it was over time, the words where they were said, and what each of them listened to.
import { rgb, theme } from "fovea/colours";
import { bold, choice, h, number, percent, s, shortened, widthOf } from "fovea/dom";
import { bytesOf, floats } from "fovea/seen";

// Low pitches below; as ink, a pixel for each frame and band.
function spectrogramUrl(sound, dark) {
  const [bands, frames] = sound.size, bytes = (sound.bytes ??= bytesOf(sound.spectrogram)), canvas = document.createElement("canvas");
  canvas.width = frames; canvas.height = bands;
  const context = canvas.getContext("2d"), image = context.createImageData(frames, bands);
  for (let b = 0; b < bands; ++b)
    for (let f = 0; f < frames; ++f) image.data.set([...rgb((bytes[b * frames + f] / 255) ** 1.6, dark), 255], 4 * ((bands - 1 - b) * frames + f));
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

// Each word's weights over the states of sound: by the heads that go along with what is said, or by those that were chosen.
async function listened(seen, chosen) {
  const { sound } = seen;
  if (!chosen) {
    const all = (sound.listened ??= floats(sound.heard)), size = sound.states;
    return sound.words.map((_, i) => all.subarray(i * size, (i + 1) * size));
  }
  const cells = await seen.cells(chosen), width = seen.place(chosen.place).size[1];
  return sound.words.map(({ rows }) => {
    const sum = new Float32Array(width);
    for (const r of rows) for (let j = 0; j < width; ++j) sum[j] += cells[r * width + j] / rows.length;
    return sum;
  });
}

// All words below each other, a row of ink for each; as many columns as the screen can show.
function rowsUrl(weights, shown, columns, dark) {
  const canvas = document.createElement("canvas");
  canvas.width = columns; canvas.height = Math.max(1, weights.length);
  const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
  weights.forEach((w, i) => {
    const pooled = new Float32Array(columns);
    for (let j = 0; j < shown; ++j) { const at = Math.min(columns - 1, Math.floor(j * columns / shown)); pooled[at] = Math.max(pooled[at], w[j]); }
    if (columns > shown) for (let c = 0; c < columns; ++c) pooled[c] = w[Math.floor(c * shown / columns)];
    const most = Math.max(1e-9, ...pooled);
    pooled.forEach((v, c) => image.data.set([...rgb(Math.sqrt(v / most), dark), 255], 4 * (i * columns + c)));
  });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

const seconds = (x) => x.toFixed(2) + " s";

export async function soundView(frame) {
  const { seen, state } = frame, { sound } = seen, across = seen.places.filter((p) => p.columns === "frames" && p.rows === "target");
  if (!sound?.heard) { frame.tools(); frame.noTable(); return frame.draw(h("p", { class: "note" }, "No word was heard here.")); }
  const place = across.find((p) => p.path === state.place), heads = place && (state.head === "mean" || state.head === "max" || Number(state.head) < place.heads.length ? state.head : "mean");
  frame.tools(choice("attention", [["", "the heads that go along"], ...across.map((p) => [p.path, p.path])], place?.path ?? "", (v) => frame.set({ place: v || undefined, head: undefined })),
    place && choice("layers", [["one", "this one"], ["all", "all of them"]], state.layers, (v) => frame.set({ layers: v })),
    place && choice("head", [["mean", "mean"], ["max", "largest"], ...place.heads.map((n, i) => [i, n])], heads, (v) => frame.set({ head: v })));
  const weights = await listened(seen, place && { place: place.path, head: heads, layers: state.layers });
  if (!frame.current) return;

  const t = theme(), room = frame.room(), words = sound.words, font = 0.86 * t.unit, css = `${font}px ${t.sans}`;
  const left = Math.min(0.24 * room, Math.max(...words.map((w) => widthOf(shortened(w.text, 16), "650 " + css))) + 0.8 * t.unit), wide = room - left - 2;
  const x = (time) => left + (time / sound.seconds) * wide, shown = Math.min(weights[0].length, Math.ceil(sound.seconds / sound.state_seconds));
  const wave = 4.2 * t.unit, high = Math.min(13 * t.unit, 0.42 * room), lane = 1.35 * t.unit, line = 1.45 * t.unit;
  let index = Math.min(Number(/^w(\d+)$/.exec(state.pick ?? "")?.[1] ?? 0), words.length - 1), kept = index, time = -1;

  const svg = s("svg", { role: "group", "aria-label": "the sound and its words" }), told = h("p", { class: "value", role: "status" });
  svg.append(waveform());
  const top = wave + 0.5 * t.unit, box = { x: left, y: top, width: wide, height: high };
  const span = s("rect", { y: 0, height: top + high, fill: t.accent, "fill-opacity": 0.16 }), curve = s("path", { fill: t.accent, "fill-opacity": 0.22, stroke: t.accent, "stroke-width": Math.max(1.4, 0.1 * t.unit), "stroke-linejoin": "round" });
  const needle = s("line", { y1: 0, stroke: t.quiet, "stroke-dasharray": "3 3", visibility: "hidden" });
  svg.append(s("image", { ...box, href: spectrogramUrl(sound, t.dark), preserveAspectRatio: "none" }), span, curve, s("rect", { ...box, fill: "none", stroke: t.line }));
  let y = top + high;
  svg.append(axis(y));
  y += 2.5 * t.unit;
  const [labels, lanes] = spoken(y);
  y += lanes * lane + 1.2 * t.unit;
  const listTop = y, strip = { x: left, y, width: wide, height: words.length * line };
  svg.append(s("image", { ...strip, href: rowsUrl(weights, shown, Math.min(Math.round(wide), 3 * shown), t.dark), preserveAspectRatio: "none", style: "image-rendering:pixelated" }), s("rect", { ...strip, fill: "none", stroke: t.line }));
  const frameOf = s("rect", { x: left, width: wide, height: line, fill: "none", stroke: t.accent, "stroke-width": Math.max(1.5, 0.1 * t.unit) });
  const names = words.map((w, i) => named(w, i, listTop));
  svg.append(frameOf, needle);
  y += strip.height + 0.4 * t.unit;
  needle.setAttribute("y2", y);
  svg.append(s("rect", { x: left, y: 0, width: wide, height: top + high, fill: "transparent", style: "cursor:crosshair", onpointermove: hear, onpointerleave: () => { time = -1; pick(kept, false); }, onclick: (e) => { hear(e); pick(index, true); } }),
    s("rect", { ...strip, fill: "transparent", style: "cursor:crosshair", onpointermove: hear, onpointerleave: () => { time = -1; pick(kept, false); }, onclick: (e) => { hear(e); pick(index, true); } }));
  svg.setAttribute("viewBox", `0 0 ${room} ${y}`);
  svg.setAttribute("width", room);
  frame.draw(svg, told);
  frame.picture = () => svg;
  frame.rows(["word", "from", "to", "probability", "listens most at", "within its time"], words.map((w, i) => [w.text, seconds(w.start), seconds(w.end), w.probability.toFixed(3), seconds(peak(i) * sound.state_seconds), percent(within(i))]));
  paint();

  function waveform() {
    const loud = bytesOf(sound.loudness), middle = wave / 2, most = Math.max(1, ...loud), points = [];
    const of = (i) => (loud[i] / most) * middle;
    for (let i = 0; i < loud.length; ++i) points.push(`${left + ((i + 0.5) / loud.length) * wide} ${middle - of(i)}`);
    for (let i = loud.length; i-- > 0;) points.push(`${left + ((i + 0.5) / loud.length) * wide} ${middle + of(i)}`);
    return s("path", { d: "M" + points.join("L") + "Z", fill: t.quiet, "fill-opacity": 0.75 });
  }
  function axis(y) {
    const most = Math.max(2, Math.floor(wide / (3.4 * t.unit))), step = [0.1, 0.2, 0.5, 1, 2, 5, 10].find((d) => sound.seconds / d <= most) ?? 30, g = s("g", { "font-size": 0.72 * t.unit, fill: t.quiet });
    for (let k = 0; k * step <= sound.seconds; ++k)
      g.append(s("line", { x1: x(k * step), x2: x(k * step), y1: y, y2: y + 0.3 * t.unit, stroke: t.quiet }), s("text", { x: x(k * step), y: y + 1.1 * t.unit, "text-anchor": k ? "middle" : "start" }, (step < 1 ? (k * step).toFixed(1) : k * step) + (k ? "" : " s")));
    return g;
  }
  // Each word where it was said, in the first line that is free there.
  function spoken(y) {
    const ends = [];
    const all = words.map((w, i) => {
      const width = widthOf(w.text, css), at = Math.min(x(w.start), room - width - 2);
      let k = ends.findIndex((end) => end + 0.45 * t.unit <= at);
      if (k < 0) k = ends.length;
      ends[k] = at + width;
      const bar = s("line", { x1: x(w.start), x2: Math.max(x(w.start) + 1, x(w.end)), y1: y + k * lane + 0.25 * t.unit, y2: y + k * lane + 0.25 * t.unit, stroke: t.line, "stroke-width": 2 });
      const label = s("text", { x: at, y: y + k * lane, "font-size": font, fill: t.ink }, w.text);
      svg.append(s("g", { style: "cursor:pointer", onpointerenter: () => pick(i, false), onpointerleave: () => pick(kept, false), onclick: () => pick(i, true) }, bar, label));
      return { bar, label };
    });
    return [all, ends.length];
  }
  function named(w, i, y) {
    const label = s("text", { x: left - 0.6 * t.unit, y: y + (i + 0.5) * line, "text-anchor": "end", "dominant-baseline": "central", "font-size": font, fill: t.ink, tabindex: 0, role: "button", id: "spoken-" + i, style: "cursor:pointer",
      onpointerenter: () => pick(i, false), onpointerleave: () => pick(kept, false), onclick: () => pick(i, true), onfocus: () => pick(i, false),
      onkeydown: (e) => {
        const by = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1, Enter: 0, " ": 0 }[e.key];
        if (by === undefined) return;
        e.preventDefault();
        const next = Math.max(0, Math.min(words.length - 1, i + by));
        pick(next, true);
        svg.querySelector("#spoken-" + next)?.focus();
      } }, shortened(w.text, 16));
    svg.append(label);
    return label;
  }
  function hear(e) {
    const at = svg.getBoundingClientRect(), scale = room / at.width;
    time = Math.max(0, Math.min(sound.seconds - 1e-6, (((e.clientX - at.left) * scale - left) / wide) * sound.seconds));
    const row = Math.floor(((e.clientY - at.top) * scale - listTop) / line), said = words.findIndex((w) => w.start <= time && time < w.end);
    if (row >= 0 && row < words.length) index = row;
    else if (said >= 0) index = said;
    paint();
  }
  function pick(i, keep) {
    index = i;
    if (keep) {
      kept = i;
      const hash = new URLSearchParams(location.hash.slice(1));
      hash.set("pick", "w" + i);
      history.replaceState(null, "", "#" + hash);
    }
    paint();
  }
  function peak(i) { let best = 0; for (let j = 1; j < shown; ++j) if (weights[i][j] > weights[i][best]) best = j; return best; }
  function within(i) {
    let sum = 0;
    for (let j = 0; j < weights[i].length; ++j) { const middle = (j + 0.5) * sound.state_seconds; if (middle >= words[i].start && middle < words[i].end) sum += weights[i][j]; }
    return sum;
  }
  function paint() {
    const w = words[index], row = weights[index], most = Math.max(1e-9, ...row.subarray(0, shown)), base = top + high, points = [];
    for (let j = 0; j < shown; ++j) points.push(`${x((j + 0.5) * sound.state_seconds)} ${base - (row[j] / most) * (high - 0.3 * t.unit)}`);
    curve.setAttribute("d", `M${x(0)} ${base}L${points.join("L")}L${x(sound.seconds)} ${base}`);
    span.setAttribute("x", x(w.start)); span.setAttribute("width", Math.max(1, x(Math.min(w.end, sound.seconds)) - x(w.start)));
    frameOf.setAttribute("y", listTop + index * line);
    labels.forEach(({ bar, label }, i) => { const on = i === index; label.setAttribute("font-weight", on ? 650 : 400); label.setAttribute("fill", on ? t.accent : t.ink); bar.setAttribute("stroke", on ? t.accent : t.line); });
    names.forEach((name, i) => { name.setAttribute("font-weight", i === index ? 650 : 400); name.setAttribute("aria-pressed", String(i === index)); });
    needle.setAttribute("visibility", time >= 0 ? "visible" : "hidden");
    if (time >= 0) { needle.setAttribute("x1", x(time)); needle.setAttribute("x2", x(time)); }
    const state2 = Math.min(row.length - 1, Math.floor(time / sound.state_seconds));
    told.replaceChildren(bold(w.text), ` ${w.start.toFixed(2)} to ${seconds(w.end)}, probability ${w.probability.toFixed(2)}; it listens most at `, h("b", {}, seconds(peak(index) * sound.state_seconds)), `, ${percent(within(index))} within its time`,
      ...(time >= 0 ? [`; at ${seconds(state2 * sound.state_seconds)} `, h("b", {}, number(row[state2]))] : []));
  }
}
