// Colours that need computing; all others are in style.css as variables of the theme.

// Of waiting, from little to much: one hue less bright and more red, readable for all kinds of
// colour vision because lightness falls steadily.
const light: [number, number, number][] = [
  [226, 232, 240],
  [253, 230, 138],
  [251, 176, 64],
  [234, 88, 12],
  [159, 18, 57],
];
const dark: [number, number, number][] = [
  [62, 77, 99],
  [140, 110, 48],
  [204, 122, 24],
  [249, 115, 22],
  [255, 122, 122],
];

export function isDark(): boolean {
  const { theme: chosen, printing } = document.documentElement.dataset;
  if (printing !== undefined) return false;
  if (chosen === "dark" || chosen === "light") return chosen === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

export type Rgb = [number, number, number];

export function ramp(part: number, darkTheme = isDark()): Rgb {
  const stops = darkTheme ? dark : light;
  const at = Math.min(1, Math.max(0, part)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const mix = at - low;
  return [0, 1, 2].map((i) => Math.round(stops[low][i] * (1 - mix) + stops[low + 1][i] * mix)) as Rgb;
}

// Of changes: green is better (less time), red is worse.
export function diverging(part: number, darkTheme = isDark()): Rgb {
  const neutral: Rgb = darkTheme ? [51, 65, 85] : [226, 232, 240];
  const end: Rgb = part < 0 ? (darkTheme ? [52, 211, 153] : [5, 122, 85]) : darkTheme ? [255, 122, 122] : [185, 28, 28];
  const mix = Math.sqrt(Math.min(1, Math.abs(part)));
  return neutral.map((n, i) => Math.round(n * (1 - mix) + end[i] * mix)) as Rgb;
}

export function css([r, g, b]: Rgb): string {
  return `rgb(${r} ${g} ${b})`;
}

// Of a computed style: "rgb(1, 2, 3)".
export function rgb(text: string): Rgb {
  const [r = 255, g = 255, b = 255] = (text.match(/\d+(\.\d+)?/g) ?? []).map(Number);
  return [r, g, b];
}

// Kinds of regions on the timeline, in the order of expert/page/trace_view.h.
export const regionKinds = [
  "program",
  "point-to-point",
  "collective",
  "barrier",
  "one-sided transfer",
  "fence",
  "window",
  "start/post/complete/wait",
  "lock/flush/unlock",
  "I/O",
  "init/exit",
  "management",
  "measurement",
] as const;

// Chosen by simulation, so that no two kinds look alike without red or green cones either, and none looks like
// waiting, which stands out (a test computes it).
const kindLight: Rgb[] = [
  [226, 232, 240],
  [105, 193, 255],
  [15, 149, 206],
  [194, 186, 114],
  [10, 181, 205],
  [160, 236, 195],
  [198, 129, 102],
  [191, 115, 163],
  [142, 188, 145],
  [179, 235, 165],
  [147, 138, 129],
  [170, 189, 191],
  [216, 214, 255],
];
const kindDark: Rgb[] = [
  [38, 48, 63],
  [94, 165, 235],
  [8, 81, 146],
  [53, 125, 171],
  [96, 170, 198],
  [78, 176, 161],
  [167, 117, 105],
  [213, 144, 108],
  [38, 132, 138],
  [116, 71, 16],
  [79, 84, 52],
  [64, 88, 84],
  [6, 88, 114],
];
const waitingLight: Rgb = [214, 48, 0];
const waitingDark: Rgb = [255, 122, 26];

export function kindColours(darkTheme = isDark()): Rgb[] {
  return darkTheme ? kindDark : kindLight;
}

export function waitingColour(darkTheme = isDark()): Rgb {
  return darkTheme ? waitingDark : waitingLight;
}
// Of time without a processor.
export function idleColour(darkTheme = isDark()): Rgb {
  return darkTheme ? [191, 156, 245] : [125, 67, 196];
}

export function mixed(a: Rgb, b: Rgb, part: number): Rgb {
  return [0, 1, 2].map((i) => Math.round(a[i] * (1 - part) + b[i] * part)) as Rgb;
}

// Black or white, whichever can be read on the colour.
export function inkOn([r, g, b]: Rgb): string {
  return 0.299 * r + 0.587 * g + 0.114 * b > 150 ? "#0f172a" : "#ffffff";
}
