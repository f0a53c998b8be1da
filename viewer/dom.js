// Elements by one call each. What is put in as text stays text.
//
//   h("button", { type: "button", onclick: go }, "look");   s("rect", { x: 0, y: 0, width: 8, height: 8 });

const svg = "http://www.w3.org/2000/svg";

function filled(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  return element;
}

export const h = (tag, props, ...children) => filled(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => filled(document.createElementNS(svg, tag), props, children);
export const bold = (text) => h("b", {}, h("bdi", {}, text));
export const clear = (element, ...children) => (element.replaceChildren(), filled(element, {}, children));

// A choice of several, as a labelled <select>; options are texts or [value, text].
export function choice(label, options, value, change) {
  const list = h("select", { onchange: () => change(list.value) },
    options.map((o) => (Array.isArray(o) ? o : [o, o])).map(([v, t]) => h("option", { value: v }, t)));
  list.value = String(value);
  return h("label", {}, label, list);
}

// Buttons of which one is pressed.
export function toggles(options, value, change) {
  return h("span", { class: "group", role: "group" },
    options.map(([v, t]) => h("button", { type: "button", "aria-pressed": String(v === value), onclick: () => change(v) }, t)));
}

// Right-to-left if the first letter that has a direction is.
export const rightToLeft = (text) => {
  const found = /[A-Za-z\u00c0-\u02b8\u0370-\u058f\u0900-\ud7ff]|([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])/.exec(text);
  return Boolean(found && found[1]);
};

let measuring;
export function widthOf(text, font) {
  measuring ??= document.createElement("canvas").getContext("2d");
  measuring.font = font;
  return measuring.measureText(text).width;
}

export const percent = (w) => (w >= 0.0995 ? Math.round(100 * w) + " %" : w >= 0.001 ? (100 * w).toFixed(1) + " %" : w > 0 ? "< 0.1 %" : "0");
export const number = (x) => (Math.abs(x) >= 1e4 || (x !== 0 && Math.abs(x) < 5e-5) ? x.toExponential(2) : x.toFixed(4));
export const shortened = (text, most) => { const all = [...text]; return all.length > most ? all.slice(0, most - 1).join("") + "…" : text; };
