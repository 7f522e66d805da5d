// What the timeline says in words of calls, epochs, arrows and those who let others wait.
import { Style } from "./arrows";
import type { Data } from "./data";
import { h } from "./dom";
import { bytes, duration, grouped, moment, shortened } from "./format";
import { type Segment, waitNumbers } from "./timeline-canvas";
import { bandName, type TraceData } from "./trace";
import type { Instance } from "./types";

function shortFile(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

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
      calls > 1 ? `${grouped(calls)} calls, longest ${name}` : `${name}${this.polls(row, box)}`,
      `${this.rowNames[row]}: ${duration(length)}, from ${moment(boxes.begin[box])} to ${moment(boxes.end[box])}`,
    ];
    if (boxes.parent[box] >= 0) lines.push(`in ${this.trace.info.regions.name[boxes.region[boxes.parent[box]]]}`);
    if (calls === 1) {
      const site = this.place(boxes.path[box]) || this.site(this.names(row, box));
      if (site !== "") lines.push(`at ${site}`);
    }
    lines.push(...this.waited(row, boxes.begin[box], boxes.end[box], boxes.depth[box]));
    lines.push(...this.unserved(row, boxes.begin[box], boxes.end[box]));
    lines.push(...this.moved(row, boxes.begin[box], boxes.end[box]));
    return lines;
  }

  // Of calls in turn that asked for what was not there.
  private polls(row: number, box: number): string {
    const { polls, sleeping } = this.trace.rows[row];
    return polls[box] > 0 ? `, ${grouped(polls[box])} times in turn${sleeping[box] ? ", asleep in between" : ""}` : "";
  }

  // Where a call path's last call stands.
  private place(path: number): string {
    const { calls, files } = this.data.info;
    const c = this.trace.info.paths.call[path] ?? -1;
    const known = c >= 0 && calls.line[c] > 0 && calls.file[c] >= 0;
    return known ? `${shortFile(files[calls.file[c]])}:${calls.line[c]}` : "";
  }

  // How long a call waited, why, and for whom.
  private waited(row: number, begin: number, end: number, depth: number): string[] {
    const waits = this.trace.waits[row];
    const amounts = new Map<string, { time: number; count: number }>();
    for (const i of waits.within(begin, end)) {
      if (waits.depth[i] < depth) continue;
      const what = `${this.metric(waits.metric[i])}${this.forWhom(waits.awaited[i])}`;
      const amount = amounts.get(what) ?? { time: 0, count: 0 };
      amount.time += waits.waited[i];
      amount.count += waits.waits[i];
      amounts.set(what, amount);
    }
    const most = [...amounts].sort((a, b) => b[1].time - a[1].time);
    const lines = most.slice(0, 3).map(([what, { time, count }]) => {
      const often = count > 1 ? ` in ${grouped(count)} waits` : "";
      return `waits ${duration(time / 1e9)}${often}: ${what}`;
    });
    if (most.length > 3) lines.push(`and ${most.length - 3} more kinds of waits`);
    return lines;
  }
  metric(number: number): string {
    const name = this.trace.info.metrics[number] ?? "";
    const found = this.data.metricByName(name);
    return found < 0 ? name : this.data.metricWords(found);
  }
  private forWhom(row: number): string {
    return row < 0 ? "" : `, for ${this.rowNames[row] ?? `row ${row}`}`;
  }
  // Without a processor; the counts are of stretches between two readings.
  private unserved(row: number, from: number, to: number): string[] {
    const { begin, end, without } = this.trace.stripes[row];
    let most = -1;
    for (let i = 0; i < begin.length && begin[i] < to; i++)
      if (end[i] > from && (most < 0 || without[i] > without[most])) most = i;
    if (most < 0) return [];
    return [
      `no processor for ${duration(without[most] / 1e9)} between ${moment(begin[most])} and ${moment(end[most])}`,
    ];
  }
  wait(row: number, i: number): string[] {
    const waits = this.trace.waits[row];
    return [
      this.metric(waits.metric[i]),
      `${this.rowNames[row]} waits ${duration(waits.waited[i] / 1e9)}${this.forWhom(waits.awaited[i])}`,
      `until ${moment(waits.end[i])}`,
    ];
  }

  // The functions that enclose a box, outermost first, and its own.
  names(row: number, box: number): string[] {
    const boxes = this.trace.rows[row];
    const names: string[] = [];
    for (let b = box; b >= 0; b = boxes.parent[b]) names.unshift(this.trace.info.regions.name[boxes.region[b]]);
    return names;
  }

  // Where these functions call each other: file and line of the last call, where the report tells; of up to three
  // places that it may be, all.
  private site(names: string[]): string {
    const { calls, regions, files } = this.data.info;
    let level = this.data.calls.roots;
    let found: number[] = [];
    // Functions that were not recorded stand between in the report, and not here.
    const named = (from: number[], name: string): number[] =>
      from.flatMap((c) => (regions.name[calls.region[c]] === name ? [c] : named(this.data.calls.children[c], name)));
    for (const name of names) {
      found = named(level, name);
      level = found.flatMap((c) => this.data.calls.children[c]);
    }
    const places = new Set<string>();
    for (const c of found)
      if (calls.line[c] > 0 && calls.file[c] >= 0) places.add(`${shortFile(files[calls.file[c]])}:${calls.line[c]}`);
    return places.size > 3 ? "" : [...places].join(" or ");
  }

  // With whom data moved in a call, how much, and on which window.
  private moved(row: number, begin: number, end: number): string[] {
    const { messages, transfers } = this.trace;
    const amounts = new Map<string, { count: number; bytes: number }>();
    const add = (what: string, size: number) => {
      const amount = amounts.get(what) ?? { count: 0, bytes: 0 };
      amount.count++;
      amount.bytes += size;
      amounts.set(what, amount);
    };
    for (let i = 0; i < messages.sent.length; i++) {
      if (messages.from[i] === row && messages.sent[i] >= begin && messages.sent[i] <= end)
        add(`sent to ${this.rowNames[messages.to[i]]}`, messages.bytes[i]);
      if (messages.to[i] === row && messages.received[i] >= begin && messages.received[i] <= end)
        add(`received from ${this.rowNames[messages.from[i]]}`, messages.bytes[i]);
    }
    for (let i = 0; i < transfers.request.length; i++) {
      if (transfers.origin[i] !== row || transfers.request[i] < begin || transfers.request[i] > end) continue;
      const way = transfers.get[i] ? "from" : "to";
      const window = this.trace.info.windows[transfers.window[i]];
      const on = window === undefined ? "" : `, ${window}`;
      add(`${way} ${this.rowNames[transfers.target[i]]}${on}`, transfers.bytes[i]);
    }
    const lines = [...amounts].map(
      ([what, a]) => `${a.count > 1 ? `${grouped(a.count)} x, ` : ""}${bytes(a.bytes)} ${what}`,
    );
    return lines.length > 3 ? [...lines.slice(0, 3), `and ${lines.length - 3} more ${lines.length === 4 ? "partner" : "partners"}`] : lines;
  }

  band(row: number, band: number): string[] {
    const { begin, end, window, kind } = this.trace.bands[row];
    return [
      `${bandName(kind[band])} on ${this.trace.info.windows[window[band]] ?? "a window"}`,
      `${this.rowNames[row]}: ${duration((end[band] - begin[band]) / 1e9)}, ` +
        `from ${moment(begin[band])} to ${moment(end[band])}`,
    ];
  }

  arrow(s: Segment): string[] {
    const { messages, transfers } = this.trace;
    const i = s.index;
    if (s.style === Style.Wait) return this.wait(Math.floor(i / waitNumbers), i % waitNumbers);
    if (s.style === Style.Message)
      return [
        `message of ${bytes(messages.bytes[i])}`,
        `${this.rowNames[messages.from[i]]} \u2192 ${this.rowNames[messages.to[i]]}`,
        `sent at ${moment(messages.sent[i])}, ` +
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
      `asked for at ${moment(transfers.request[i])}, ` +
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
