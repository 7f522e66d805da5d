// How long the calls of one call site took: a histogram over logarithmic times; a bar leads to its calls.
import { h } from "./dom";
import { duration, grouped, plural } from "./format";
import type { TraceData } from "./trace";

export interface CallPlace {
  row: number;
  box: number;
}
interface Bar {
  count: number;
  longest: CallPlace[]; // the first is the longest
}

const mostBars = 24;
const listed = 8; // calls of a bar

// All calls of one call path that the timeline has.
export function callsOf(trace: TraceData, path: number): CallPlace[] {
  const found: CallPlace[] = [];
  trace.rows.forEach((boxes, row) => {
    for (let box = 0; box < boxes.length; box++) if (boxes.path[box] === path) found.push({ row, box });
  });
  return found;
}

export function histogram(
  trace: TraceData,
  path: number,
  rowNames: string[],
  chosen: CallPlace,
  go: (place: CallPlace) => void,
): HTMLElement | null {
  const calls = callsOf(trace, path);
  const length = ({ row, box }: CallPlace) => Math.max(1, trace.rows[row].end[box] - trace.rows[row].begin[box]);
  let merged = 0;
  const single = calls.filter(({ row, box }) => {
    const one = trace.rows[row].calls[box] === 1;
    if (!one) merged += trace.rows[row].calls[box];
    return one;
  });
  if (single.length < 2) return null;
  let least = Infinity;
  let most = 0;
  for (const call of single) {
    least = Math.min(least, length(call));
    most = Math.max(most, length(call));
  }
  // Bars are the same number of times longer than the one before, at least by a fifth.
  const factor = Math.max(1.2, Math.pow(most / least, 1 / mostBars));
  const barOf = (time: number) => Math.floor(Math.log(time / least) / Math.log(factor) + 1e-9);
  const bars: Bar[] = Array.from({ length: barOf(most) + 1 }, () => ({ count: 0, longest: [] }));
  for (const call of single.sort((a, b) => length(b) - length(a))) {
    const bar = bars[barOf(length(call))];
    bar.count++;
    if (bar.longest.length < listed) bar.longest.push(call);
  }
  const highest = bars.reduce((high, bar) => Math.max(high, bar.count), 0);
  const list = h("ol", { class: "instances" });
  const show = (at: number) => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === at)));
    const { count, longest } = bars[at];
    list.replaceChildren(
      ...longest.map((call) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", click: () => go(call) },
            h("b", {}, duration(length(call) / 1e9)),
            h("span", { class: "dim" }, ` ${rowNames[call.row]}`),
          ),
        ),
      ),
      count > longest.length ? h("li", { class: "dim" }, `and ${plural(count - longest.length, "shorter one")}`) : "",
    );
  };
  const own = barOf(length(chosen));
  const buttons = bars.map((bar, i) => {
    const from = least * Math.pow(factor, i);
    const text = `${plural(bar.count, "call")} of ${duration(from / 1e9)} to ${duration((from * factor) / 1e9)}`;
    const fill = h("i", {});
    fill.style.height = bar.count === 0 ? "0" : `${Math.max(4, (bar.count / highest) * 100)}%`;
    return h(
      "button",
      {
        type: "button",
        title: text,
        "aria-label": text,
        class: i === own ? "own" : null,
        disabled: bar.count === 0,
        click: () => show(i),
      },
      fill,
    );
  });
  const left = merged > 0 ? `, without ${plural(merged, "short call")} drawn together` : "";
  return h(
    "section",
    { class: "histogram", "aria-label": "Durations of this call site" },
    h("h2", {}, "Durations of this call site"),
    h("p", { class: "dim" }, `${grouped(single.length)} calls${left}; this one's bar is dark. A bar lists its calls.`),
    h("div", { class: "bars" }, ...buttons),
    h("div", { class: "ends dim" }, h("span", {}, duration(least / 1e9)), h("span", {}, duration(most / 1e9))),
    list,
  );
}
