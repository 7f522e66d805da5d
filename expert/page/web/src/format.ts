// Numbers as people read them. Tables use a fixed number of decimals, so that digits line up.

const thin = "\u202f"; // narrow no-break space

export function grouped(value: number): string {
  const text = Math.abs(Math.round(value)).toString();
  const parts: string[] = [];
  for (let end = text.length; end > 0; end -= 3) parts.unshift(text.slice(Math.max(0, end - 3), end));
  return (value < 0 ? "\u2212" : "") + parts.join(thin);
}

function fixed(value: number, digits: number): string {
  return (value < 0 ? "\u2212" : "") + Math.abs(value).toFixed(digits);
}

// Four significant digits, but no more than microseconds deserve.
export function seconds(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1000) return grouped(value);
  if (size >= 100) return fixed(value, 1);
  if (size >= 10) return fixed(value, 2);
  if (size >= 1) return fixed(value, 3);
  if (size >= 0.01) return fixed(value, 4);
  if (size >= 1e-6) return fixed(value, 6);
  return value < 0 ? "\u2212<1e-6" : "<1e-6";
}

// With its unit, as short as it can be: "1.64 s", "31.2 ms", "480 ns".
export function duration(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  const [factor, unit] =
    size >= 1 ? [1, "s"] : size >= 1e-3 ? [1e3, "ms"] : size >= 1e-6 ? [1e6, "\u00b5s"] : [1e9, "ns"];
  const scaled = value * factor;
  const digits = Math.abs(scaled) >= 100 ? 0 : Math.abs(scaled) >= 10 ? 1 : 2;
  return `${Math.abs(scaled) >= 10000 ? grouped(scaled) : fixed(scaled, digits)}${thin}${unit}`;
}

// A moment of a run, to the nanosecond, as the axis of the timeline shows it: "7.44171794 s".
export function moment(nanoseconds: number): string {
  return `${(Math.round(nanoseconds) / 1e9).toFixed(9).replace(/0{1,6}$/, "")}${thin}s`;
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let size = Math.abs(value);
  let unit = 0;
  while (size >= 1024 && unit + 1 < units.length) {
    size /= 1024;
    unit++;
  }
  const digits = unit === 0 ? 0 : size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return `${value < 0 ? "\u2212" : ""}${size.toFixed(digits)}${thin}${units[unit]}`;
}

export function count(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e12) return value.toExponential(3);
  if (Number.isInteger(value)) return grouped(value);
  return fixed(value, size >= 100 ? 1 : 3);
}

// A value in a tree, in its metric's unit, which the pane's header names.
export function inUnit(value: number, unit: string): string {
  if (unit === "sec") return seconds(value);
  if (unit === "bytes") return bytes(value);
  return count(value);
}

// With its unit, for sentences.
export function withUnit(value: number, unit: string): string {
  if (unit === "sec") return duration(value);
  if (unit === "bytes") return bytes(value);
  return count(value);
}

export function percent(part: number, whole: number): string {
  if (whole === 0) return part === 0 ? "0" : "\u2013";
  const value = (100 * part) / whole;
  const size = Math.abs(value);
  if (size === 0) return "0.0";
  if (size < 0.05) return value < 0 ? "\u2212<0.1" : "<0.1";
  return size >= 10000 ? grouped(value) : fixed(value, 1);
}

export function signed(text: string, value: number): string {
  return value > 0 ? `+${text}` : text;
}

export function unitName(unit: string): string {
  if (unit === "sec") return "s";
  if (unit === "occ" || unit === "") return "count";
  return unit;
}

export function plural(amount: number, one: string, many = `${one}s`): string {
  return `${grouped(amount)} ${amount === 1 ? one : many}`;
}

// Names can be 10 kB long; what is drawn or put into a tooltip is not.
export function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}\u2026`;
}
