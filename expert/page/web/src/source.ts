// The lines of the program around a call, and those that a group of causes is about.
import type { Data } from "./data";
import { h } from "./dom";
import type { GroupSource } from "./types";

// Null if the page has no source of it.
export function sourceOfCall(data: Data, call: number, beside = 3): HTMLElement | null {
  const { file, line } = data.info.calls;
  return call < 0 ? null : around(data, file[call], [line[call]], beside);
}

// The lines `at` are marked; indentation that all lines share is left out.
function around(data: Data, file: number, at: number[], beside: number): HTMLElement | null {
  const source = data.sourceAround(file, at, beside);
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

const called: Record<string, string> = { hot: " hot", inside: " inside", call: " call-line", "": "" };

// Rows of lines with what each is, made by expert/page/verdict/excerpt.h; null if the page has no source of them.
export function excerpt(data: Data, source: GroupSource | undefined): HTMLElement | null {
  if (source === undefined || source.rows.length === 0) return null;
  const parts = (data.info.source ?? []).filter((part) => part.file === source.file);
  const text = (line: number) => {
    const part = parts.find((p) => p.first <= line && line < p.first + p.lines.length);
    return part?.lines[line - part.first]?.replaceAll("\t", "        ");
  };
  const texts = source.rows.map(([line]) => (line > 0 ? text(line) : ""));
  if (texts.includes(undefined)) return null;
  const indents = texts.filter((t) => t!.trim() !== "").map((t) => t!.length - t!.trimStart().length);
  const indent = indents.length === 0 ? 0 : Math.min(...indents);
  const wide = source.rows.some(([line, , note]) => line > 0 && note.length > 6);
  const name = (data.info.files[source.file] ?? "").split("/").pop() || "source";
  const code = h("pre", { class: `source excerpt${wide ? " wide" : ""}`, tabindex: 0, "aria-label": name });
  source.rows.forEach(([line, mark, note], i) =>
    code.append(
      line > 0
        ? h(
            "span",
            { class: `line${called[mark] ?? ""}` },
            h("span", { class: "line-number" }, String(line)),
            h("em", {}, note),
            h("code", {}, texts[i]!.slice(indent) || " "),
          )
        : h("span", { class: "line cut" }, h("span", { class: "line-number" }, ""), h("em", {}, note)),
    ),
  );
  if (!parts.some((part) => part.changed)) return code;
  return h("div", {}, code, h("p", { class: "dim" }, "This file was changed after the run: its lines may have moved."));
}
