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

// Kinds of regions on the timeline, in the order of expert/html/trace_view.h.
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

// Chosen by simulation, so that no two kinds look alike without red or green cones either (a test computes it).
const kindLight: Rgb[] = [
  [203, 213, 225],
  [11, 14, 235],
  [18, 117, 255],
  [190, 210, 117],
  [13, 181, 134],
  [254, 187, 0],
  [221, 87, 19],
  [221, 13, 72],
  [107, 9, 123],
  [60, 61, 0],
  [137, 111, 151],
  [189, 171, 255],
  [114, 0, 65],
];
const kindDark: Rgb[] = [
  [51, 65, 85],
  [47, 87, 250],
  [56, 149, 255],
  [202, 230, 111],
  [56, 234, 215],
  [255, 129, 0],
  [217, 0, 0],
  [138, 116, 112],
  [124, 66, 170],
  [150, 149, 87],
  [18, 210, 255],
  [128, 120, 163],
  [182, 232, 165],
];

export function kindColours(darkTheme = isDark()): Rgb[] {
  return darkTheme ? kindDark : kindLight;
}

// Black or white, whichever can be read on the colour.
export function inkOn([r, g, b]: Rgb): string {
  return 0.299 * r + 0.587 * g + 0.114 * b > 150 ? "#0f172a" : "#ffffff";
}
