// What the colours and lines of the timeline mean: of those that it shows.
import { Style } from "./arrows";
import { css, regionKinds } from "./colour";
import { h } from "./dom";
import { duration } from "./format";
import { heatColour } from "./heat";
import {
  arrowColour, bandColour, failedColour, kindColour, pathColour, stripeColour, type ViewState, waitColour,
} from "./timeline-canvas";
import { bandName, type TraceData } from "./trace";
import type { ReportInfo } from "./types";

export function heatLegend(trace: TraceData): HTMLElement[] {
  const strip = h("i", { class: "ramp" });
  const stops = [0, 0.1, 0.25, 0.5, 0.75, 1].map((part) => `${css(heatColour(part, 0))} ${part * 100}%`);
  strip.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const calls = h("i", {});
  calls.style.background = css(heatColour(0, 1));
  const computes = h("i", {});
  computes.style.background = css(heatColour(0, 0));
  return [
    h("li", {}, computes, "computing"),
    h("li", {}, calls, `in ${trace.libraries}, not waiting`),
    h("li", {}, "waiting: 0 %", strip, "100 % of the time"),
  ];
}

export function callsLegend(trace: TraceData, state: ViewState, info: ReportInfo): HTMLElement[] {
  const { path, failedCalls } = info;
  const used = new Set<number>();
  for (const boxes of trace.rows)
    for (const region of new Set(boxes.region)) used.add(trace.info.regions.kind[region]);
  const item = (colour: string, text: string, className = "") => {
    const mark = h("i", { class: className });
    mark.style.background = colour;
    return h("li", {}, mark, text);
  };
  const items = regionKinds.map((kind, k) => (used.has(k) ? item(kindColour(k), kind) : null));
  if (trace.waitCount > 0) items.unshift(item(waitColour(), "waiting"));
  if (trace.stripes.some((row) => row.begin.length > 0)) items.push(item(stripeColour(), "no processor", "thin"));
  if (state.epochs)
    for (const kind of new Set(trace.bands.flatMap((b) => [...new Set(b.kind)])))
      items.push(item(bandColour(kind), bandName(kind), "thin"));
  if (state.messages && trace.messages.sent.length > 0)
    items.push(item(arrowColour(Style.Message), "message", "line"));
  if (state.transfers !== "off" && trace.transfers.request.length > 0) {
    if (trace.transfers.get.includes(0)) items.push(item(arrowColour(Style.Put), "put", "line"));
    if (trace.transfers.get.includes(1)) items.push(item(arrowColour(Style.Get), "get", "line"));
    if (state.transfers === "closed" && trace.transfers.get.includes(1))
      items.push(item(arrowColour(Style.Request), "request", "line"));
    if (state.transfers === "dependencies") items.push(item(arrowColour(Style.Link), "link", "line"));
  }
  if (state.waits && trace.waits.some((row) => row.awaited.some((by) => by >= 0)))
    items.push(item(arrowColour(Style.Wait), "ended a wait", "line"));
  if (failedCalls !== undefined) items.push(item(failedColour(), "a call failed (the first of its place)", "line"));
  if (state.path && path !== undefined) {
    // Of a path with very many parts the page has the last ones.
    const cut = (path.begin[0] ?? 0) > 1e-6 ? `, from ${duration(path.begin[0])} on` : "";
    items.push(item(pathColour(), `critical path${cut}`, "thick"));
  }
  return items.filter((i): i is HTMLLIElement => i !== null);
}
