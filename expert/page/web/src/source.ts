// The lines of the program around a call, or from one call to another.
import type { Data } from "./data";
import { h } from "./dom";
import type { Cause } from "./types";

// Null if the page has no source of it.
export function sourceOfCall(data: Data, call: number): HTMLElement | null {
  const { file, line } = data.info.calls;
  return around(data, file[call], [line[call]]);
}

// What a cause did: the line where most of its samples are, else what lies between its calls. That is one piece of
// code if they are near each other, be it from one turn of a loop to the next.
export function sourceOfCause(data: Data, cause: Cause): (HTMLElement | null)[] {
  if (cause.file !== undefined && cause.line !== undefined) {
    const sampled = around(data, data.info.files.indexOf(cause.file), [cause.line]);
    if (sampled !== null) return [sampled];
  }
  const { before, after } = cause;
  const { file, line } = data.info.calls;
  if (before >= 0 && after >= 0 && file[before] === file[after]) {
    const together = around(data, file[before], [line[before], line[after]]);
    if (together !== null) return [together];
  }
  return [before, after].map((call) => (call >= 0 ? sourceOfCall(data, call) : null));
}

// The lines `at` are marked; indentation that all lines share is left out.
function around(data: Data, file: number, at: number[]): HTMLElement | null {
  const source = data.sourceAround(file, at);
  if (source === null) return null;
  const { first } = source;
  const lines = source.lines.map((line) => line.replaceAll("\t", "        "));
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  const indent = indents.length === 0 ? 0 : Math.min(...indents);
  const code = h("pre", { class: "source", tabindex: 0, "aria-label": "source" });
  lines.forEach((line, i) => {
    const number = h("span", { class: "line-number" }, String(first + i));
    const text = h("code", {}, line.slice(indent) || " ");
    code.append(h("span", { class: at.includes(first + i) ? "line at" : "line" }, number, text));
  });
  if (!source.changed) return code;
  const warning = "This file was changed after the run: its lines may have moved.";
  return h("div", {}, code, h("p", { class: "dim" }, warning));
}
