// Attention as ink: the program's own colours (fovea/explain/colours.cpp), for paper and for the dark.

const paper = [[247, 251, 255], [198, 219, 239], [107, 174, 214], [33, 113, 181], [8, 48, 107]];
const night = [[15, 18, 21], [18, 54, 92], [33, 113, 181], [107, 174, 214], [226, 238, 250]];
// Differences: blue for less, orange for more, which everybody tells apart (Okabe and Ito 2008).
const less = [0, 114, 178], more = [213, 94, 0];
// Heads beside each other, by the same authors.
export const several = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a7a00", "#8c564b"];

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function theme() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  return { paper: of("paper"), ink: of("ink"), quiet: of("quiet"), line: of("line"), wash: of("wash"), accent: of("accent"),
           sans: of("sans"), unit: parseFloat(style.fontSize), dark: isDark() };
}

function mixed(stops, value) {
  const place = Math.min(1, Math.max(0, value)) * (stops.length - 1);
  const lower = Math.min(stops.length - 2, Math.floor(place)), t = place - lower;
  return stops[lower].map((c, i) => Math.round((1 - t) * c + t * stops[lower + 1][i]));
}

export const rgb = (value, dark = isDark()) => mixed(dark ? night : paper, value);
export const ink = (value, dark = isDark()) => `rgb(${rgb(value, dark).join(",")})`;
export const onInk = (value, t) => (t.dark ? (value > 0.6 ? "#0f1215" : t.ink) : value > 0.55 ? "#ffffff" : t.ink);
export function difference(value, dark = isDark()) {  // from −1 to 1
  const ground = dark ? night[0] : [255, 255, 255], end = value < 0 ? less : more, t = Math.min(1, Math.abs(value));
  return ground.map((c, i) => Math.round((1 - t) * c + t * end[i]));
}
