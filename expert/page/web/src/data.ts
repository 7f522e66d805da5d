// The report with CUBE's semantics: severities inclusive along metrics, exclusive along call paths,
// and what a node shows: collapsed all below it, expanded only its own.
import { Blob64 } from "./blob";
import type { MetricInfo, Packed, ReportInfo } from "./types";

// A forest as arrays; a parent stands before its children.
export class Tree {
  readonly children: number[][];
  readonly roots: number[] = [];
  readonly depth: Int32Array;
  constructor(readonly parent: ArrayLike<number>) {
    const size = parent.length;
    this.children = Array.from({ length: size }, () => []);
    this.depth = new Int32Array(size);
    for (let i = 0; i < size; i++) {
      const above = parent[i];
      if (above < 0) this.roots.push(i);
      else {
        this.children[above].push(i);
        this.depth[i] = this.depth[above] + 1;
      }
    }
  }
  get size(): number {
    return this.parent.length;
  }
  root(node: number): number {
    while (this.parent[node] >= 0) node = this.parent[node];
    return node;
  }
  // The node and all below it, in document order.
  below(node: number): number[] {
    const found: number[] = [];
    const open = [node];
    while (open.length > 0) {
      const next = open.pop()!;
      found.push(next);
      open.push(...this.children[next]);
    }
    return found.sort((a, b) => a - b);
  }
  // Sums subtrees up, in place.
  addUp(values: Float64Array): Float64Array {
    for (let i = this.size - 1; i >= 0; i--) if (this.parent[i] >= 0) values[this.parent[i]] += values[i];
    return values;
  }
}

export interface Selected {
  node: number;
  expanded: boolean; // then only its own value counts
}

const enum Kind {
  None,
  Constant,
  Double,
  Sixteen,
  Eight,
}

// Values of single locations: rows of (metric, call path), exclusive along both trees.
class Rows {
  private readonly byMetric = new Map<number, Map<number, number>>();
  private constructor(
    private readonly kinds: Uint8Array,
    private readonly scales: Float64Array,
    private readonly starts: Float64Array,
    private readonly exact: Float64Array,
    private readonly sixteen: Uint16Array,
    private readonly eight: Uint8Array,
    private readonly locations: number,
    metrics: Uint32Array,
    calls: Uint32Array,
  ) {
    for (let r = 0; r < metrics.length; r++) {
      let rows = this.byMetric.get(metrics[r]);
      if (rows === undefined) this.byMetric.set(metrics[r], (rows = new Map()));
      rows.set(calls[r], r);
    }
  }

  static async read(packed: Packed, locations: number): Promise<Rows> {
    const blob = await Blob64.read("kojak-values", packed.columns);
    const kinds = blob.u8("kinds");
    const starts = new Float64Array(kinds.length);
    const next = [0, 0, 0, 0, 0];
    for (let r = 0; r < kinds.length; r++) {
      const kind = kinds[r] & 0x7f;
      starts[r] = next[kind];
      next[kind] += locations;
    }
    return new Rows(
      kinds,
      blob.f64("scales"),
      starts,
      blob.f64("exact"),
      blob.u16("sixteen"),
      blob.u8("eight"),
      locations,
      blob.u32("metrics"),
      blob.u32("calls"),
    );
  }

  // False if the row's values were left out of the page.
  add(metric: number, call: number, out: Float64Array): boolean {
    const row = this.byMetric.get(metric)?.get(call);
    if (row === undefined) return true;
    const kind = this.kinds[row] & 0x7f;
    const negative = this.kinds[row] >= 0x80;
    const scale = this.scales[row];
    const start = this.starts[row];
    const count = this.locations;
    if (kind === Kind.Constant) for (let i = 0; i < count; i++) out[i] += scale;
    else if (kind === Kind.Double) for (let i = 0; i < count; i++) out[i] += this.exact[start + i];
    else if (kind === Kind.Sixteen && negative)
      for (let i = 0; i < count; i++) out[i] += scale * ((this.sixteen[start + i] << 16) >> 16);
    else if (kind === Kind.Sixteen) for (let i = 0; i < count; i++) out[i] += scale * this.sixteen[start + i];
    else if (kind === Kind.Eight && negative)
      for (let i = 0; i < count; i++) out[i] += scale * ((this.eight[start + i] << 24) >> 24);
    else if (kind === Kind.Eight) for (let i = 0; i < count; i++) out[i] += scale * this.eight[start + i];
    return kind !== Kind.None;
  }
}

export interface LocationValues {
  values: Float64Array;
  complete: boolean;
}

type Sums = (Float64Array | undefined)[];

export class Data {
  readonly metrics: Tree;
  readonly calls: Tree;
  readonly system: Tree;
  readonly difference: boolean;
  private readonly sums: Sums = [];
  private readonly before: Sums = [];
  private rows: Rows | undefined;

  private constructor(readonly info: ReportInfo) {
    this.metrics = new Tree(info.metrics.map((m) => m.parent));
    this.calls = new Tree(info.calls.parent);
    this.system = new Tree(info.system.parent);
    this.difference = info.sumsBefore !== undefined;
  }

  static async read(info: ReportInfo): Promise<Data> {
    const data = new Data(info);
    await data.readSums("kojak-sums", info.sums, data.sums);
    if (info.sumsBefore !== undefined) await data.readSums("kojak-sumsBefore", info.sumsBefore, data.before);
    return data;
  }

  private async readSums(id: string, packed: Packed, out: Sums): Promise<void> {
    const blob = await Blob64.read(id, packed.columns);
    const metrics = blob.u32("metrics");
    const calls = blob.u32("calls");
    const values = blob.f64("values");
    for (let i = 0; i < values.length; i++) {
      const sums = (out[metrics[i]] ??= new Float64Array(this.calls.size));
      sums[calls[i]] = values[i];
    }
  }

  async readRows(): Promise<void> {
    this.rows ??= await Rows.read(this.info.values, this.info.locations);
  }
  get rowsReady(): boolean {
    return this.rows !== undefined;
  }

  metric(m: number): MetricInfo {
    return this.info.metrics[m];
  }
  // The title, with where it stands in its tree if others there have the same one: the parent, and as far up as needed.
  metricWords(m: number): string {
    const { title } = this.metric(m);
    const above = (at: number): number[] => {
      const { parent } = this.metric(at);
      return parent < 0 ? [] : [...above(parent), parent];
    };
    const path = above(m);
    const others = this.info.metrics.flatMap((other, o) => {
      const way = o !== m && other.title === title ? above(o) : [];
      return way[0] === path[0] && way.length > 0 ? [way.map((at) => this.metric(at).title)] : [];
    });
    if (others.length === 0) return title;
    const titles = path.map((at) => this.metric(at).title);
    const near = titles[titles.length - 1];
    const alike = others.filter((other) => other[other.length - 1] === near);
    const far = titles.find((above) => alike.every((other) => !other.includes(above)));
    return `${title} (${alike.length === 0 || far === undefined ? near : `${far}, ${near}`})`;
  }
  metricByName(name: string): number {
    return this.info.metrics.findIndex((m) => m.name === name);
  }

  private combine(sums: Sums, metric: Selected): Float64Array {
    const out = new Float64Array(this.calls.size);
    const add = (m: number, sign: number) => {
      const from = sums[m];
      if (from !== undefined) for (let c = 0; c < out.length; c++) out[c] += sign * from[c];
    };
    add(metric.node, 1);
    if (metric.expanded) {
      for (const child of this.metrics.children[metric.node]) add(child, -1);
      // What subtraction leaves of equal numbers in decimal digits is nothing.
      const all = sums[metric.node];
      if (all !== undefined)
        for (let c = 0; c < out.length; c++) if (Math.abs(out[c]) <= 1e-10 * Math.abs(all[c])) out[c] = 0;
    }
    return out;
  }

  // Of each call path without its callees; in a comparison the change.
  callValues(metric: Selected): Float64Array {
    const values = this.combine(this.sums, metric);
    if (this.difference) {
      const before = this.combine(this.before, metric);
      for (let c = 0; c < values.length; c++) values[c] -= before[c];
    }
    return values;
  }
  callValuesBefore(metric: Selected): Float64Array {
    return this.combine(this.before, metric);
  }
  callValuesAfter(metric: Selected): Float64Array {
    return this.combine(this.sums, metric);
  }

  total(metric: Selected): number {
    return sum(this.callValues(metric));
  }
  // What percentages refer to: the whole tree's value, of the first report in a comparison (of the
  // second if there was none).
  whole(metric: number): number {
    const root = { node: this.metrics.root(metric), expanded: false };
    if (!this.difference) return this.total(root);
    return sum(this.callValuesBefore(root)) || sum(this.callValuesAfter(root));
  }

  // Of each location, for a metric and a call path as they are selected.
  locationValues(metric: Selected, call: Selected): LocationValues {
    const values = new Float64Array(this.info.locations);
    if (this.rows === undefined) return { values, complete: false };
    // A row holds what a metric has beyond its children.
    const metrics = metric.expanded ? [metric.node] : this.metrics.below(metric.node);
    const calls = call.expanded ? [call.node] : this.calls.below(call.node);
    let complete = true;
    for (const m of metrics) for (const c of calls) complete = this.rows.add(m, c, values) && complete;
    if (this.info.values.precision !== "exact" && complete && !this.difference) {
      // Rounded values must still add up to the sum that the call tree shows.
      const exact = call.expanded
        ? this.callValues(metric)[call.node]
        : this.calls.addUp(this.callValues(metric))[call.node];
      const rounded = sum(values);
      if (rounded > 0 && exact > 0) for (let i = 0; i < values.length; i++) values[i] *= exact / rounded;
    }
    return { values, complete };
  }

  regionName(region: number): string {
    return this.info.regions.name[region] || "(no name)";
  }
  callName(call: number): string {
    return this.regionName(this.info.calls.region[call]);
  }
  // Where the call stands: "halo.c:118", without folders.
  callSite(call: number): string {
    const file = this.info.files[this.info.calls.file[call]] ?? "";
    return file === "" ? "" : place(file, this.info.calls.line[call]);
  }
  // The lines around some of a file, three more on each side as far as the page has them; null if it does not have all
  // that lie between.
  sourceAround(file: number, at: number[], around = 3): { first: number; lines: string[]; changed: boolean } | null {
    const least = Math.min(...at);
    const most = Math.max(...at);
    const part = this.info.source?.find(
      (s) => s.file === file && s.first <= least && most < s.first + s.lines.length,
    );
    if (part === undefined) return null;
    const first = Math.max(part.first, least - around);
    const lines = part.lines.slice(first - part.first, most + around + 1 - part.first);
    return { first, lines, changed: part.changed === true };
  }
  // Where the function that is called begins, if that is in the program's own source.
  definition(call: number): string {
    const { file, begin } = this.info.regions;
    const region = this.info.calls.region[call];
    const source = this.info.files[file[region]] ?? "";
    return source === "" || begin[region] < 1 ? "" : place(source, begin[region]);
  }
  // The function that the call stands in, if that is not the one above it in the call tree.
  caller(call: number): string {
    const name = this.info.callers?.[call] ?? "";
    const parent = this.calls.parent[call];
    return parent >= 0 && this.callName(parent) === name ? "" : name;
  }
  // What is known of where a call is, for a place beside its name.
  source(call: number): string {
    const site = this.callSite(call);
    const caller = this.caller(call);
    if (site !== "") return caller === "" ? site : `${site} in ${caller}`;
    const definition = this.definition(call);
    return definition === "" ? "" : `begins at ${definition}`;
  }
  callPath(call: number): number[] {
    const path: number[] = [];
    for (let c = call; c >= 0; c = this.calls.parent[c]) path.unshift(c);
    return path;
  }
  locationName(location: number): string {
    const node = this.info.system.location.indexOf(location);
    return node < 0 ? `location ${location}` : this.systemName(node);
  }
  systemName(node: number): string {
    const { kind, name, rank, parent } = this.info.system;
    if (kind[node] === 0) return name[node] || "machine";
    if (kind[node] === 1) return name[node] || "node";
    if (!this.info.byLocation) return "all processes";
    // Names that only say the number again are left out.
    const own = name[node] && !/^(mpi )?(process|rank|thread) \d+$/i.test(name[node]) ? ` (${name[node]})` : "";
    if (kind[node] === 2) return `${this.info.processWord} ${rank[node]}${own}`;
    const process = parent[node];
    const alone = process < 0 || this.system.children[process].length === 1;
    return alone && process >= 0 ? this.systemName(process) : `thread ${rank[node]}${own}`;
  }
}

function place(file: string, line: number): string {
  const name = file.slice(file.lastIndexOf("/") + 1);
  return line >= 1 ? `${name}:${line}` : name;
}

export function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}
