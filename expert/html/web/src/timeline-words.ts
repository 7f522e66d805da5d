// What the timeline says in words of calls, epochs, arrows and those who let others wait.
import { Style } from "./arrows";
import type { Data } from "./data";
import { h } from "./dom";
import { bytes, duration, grouped, shortened } from "./format";
import type { Segment } from "./timeline-canvas";
import { bandName, type TraceData } from "./trace";
import type { Instance } from "./types";

export class Words {
  constructor(
    private readonly data: Data,
    private readonly trace: TraceData,
    private readonly rowNames: string[],
  ) {}

  box(row: number, box: number): string[] {
    const boxes = this.trace.rows[row];
    const name = this.trace.info.regions.name[boxes.region[box]];
    const calls = boxes.calls[box];
    const length = (boxes.end[box] - boxes.begin[box]) / 1e9;
    const lines = [
      calls > 1 ? `${grouped(calls)} calls, longest ${name}` : name,
      `${this.rowNames[row]}: ${duration(length)} from ${duration(boxes.begin[box] / 1e9)}`,
    ];
    if (boxes.parent[box] >= 0) lines.push(`in ${this.trace.info.regions.name[boxes.region[boxes.parent[box]]]}`);
    return lines;
  }

  band(row: number, band: number): string[] {
    const { begin, end, window, kind } = this.trace.bands[row];
    return [
      `${bandName(kind[band])} on ${this.trace.info.windows[window[band]] ?? "a window"}`,
      `${this.rowNames[row]}: ${duration((end[band] - begin[band]) / 1e9)} from ${duration(begin[band] / 1e9)}`,
    ];
  }

  arrow(s: Segment): string[] {
    const { messages, transfers } = this.trace;
    const i = s.index;
    if (s.style === Style.Message)
      return [
        `message of ${bytes(messages.bytes[i])}`,
        `${this.rowNames[messages.from[i]]} \u2192 ${this.rowNames[messages.to[i]]}`,
        `sent at ${duration(messages.sent[i] / 1e9)}, ` +
          `received ${duration((messages.received[i] - messages.sent[i]) / 1e9)} later`,
      ];
    const window = this.trace.info.windows[transfers.window[i]] ?? "";
    const names: Record<number, string> = {
      [Style.Put]: "put of",
      [Style.Get]: "get of",
      [Style.Request]: "request of a get of",
      [Style.Link]: "link of a transfer of",
    };
    // Data of a get flow back; its request and the links go to the target.
    const [from, to] =
      s.style === Style.Get ? [transfers.target[i], transfers.origin[i]] : [transfers.origin[i], transfers.target[i]];
    return [
      `${names[s.style]} ${bytes(transfers.bytes[i])}`,
      `${this.rowNames[from]} \u2192 ${this.rowNames[to]}, ${window}`,
      `asked for at ${duration(transfers.request[i] / 1e9)}, ` +
        `complete ${duration((transfers.end[i] - transfers.request[i]) / 1e9)} later`,
    ];
  }

  // Who ended the waiting, and what it did while the others waited.
  cause(instance: Instance, cause: number): HTMLElement {
    const boxes = this.trace.rows[cause];
    const from = instance.begin * 1e9;
    const to = instance.end * 1e9;
    const spent = new Map<number, number>();
    const within = (i: number) => Math.min(boxes.end[i], to) - Math.max(boxes.begin[i], from);
    const add = (i: number, time: number) => spent.set(boxes.region[i], (spent.get(boxes.region[i]) ?? 0) + time);
    for (let i = 0; boxes !== undefined && i < boxes.length && boxes.begin[i] < to; i++) {
      if (boxes.end[i] <= from) continue;
      add(i, within(i));
      if (boxes.parent[i] >= 0) add(boxes.parent[i], -within(i));
    }
    const [region, time] = [...spent].sort((a, b) => b[1] - a[1])[0] ?? [-1, 0];
    const text = h(
      "p",
      {},
      "until ",
      h("b", {}, this.rowNames[cause] ?? `row ${cause}`),
      instance.causeCall
        ? ` ${instance.causeExit ? "leaves" : "enters"} ${shortened(instance.causeCall, 120)}`
        : " comes",
    );
    if (instance.furtherCauses) text.append(` (and ${instance.furtherCauses} more)`);
    if (time > 0)
      text.append(
        ", which meanwhile is in ",
        h("bdi", {}, shortened(this.trace.info.regions.name[region], 120)),
        ` for ${duration(time / 1e9)}`,
      );
    return text;
  }

  // The call path of these functions in the report.
  call(names: string[]): number {
    let level = this.data.calls.roots;
    let found = -1;
    for (const name of names) {
      found = level.find((c) => this.data.info.regions.name[this.data.info.calls.region[c]] === name) ?? -1;
      if (found < 0) return -1;
      level = this.data.calls.children[found];
    }
    return found;
  }
}
