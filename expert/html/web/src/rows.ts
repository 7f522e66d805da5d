// Which rows the timeline shows, in which order: a filter by rank, and groups.
//
// Groups: as the trace has them, by node, or by behaviour, which puts rows together whose waiting is alike at all times.
import type { Data } from "./data";
import type { TraceData } from "./trace";

export type Grouping = "none" | "node" | "behaviour" | "waiting";

export class Rows {
  order: number[] = []; // rows of the trace, from top to bottom
  groupOf: string[] = []; // name of the group that begins at a place, else ""
  private readonly places: Int32Array; // of a row of the trace, -1: not shown
  private readonly nodes: string[];
  private clusters: number[] | undefined;

  constructor(
    private readonly trace: TraceData,
    data: Data,
  ) {
    this.places = new Int32Array(trace.rows.length);
    this.nodes = trace.info.rows.map((row) => nodeOf(data, row.location));
    this.show("", "none");
  }
  get length(): number {
    return this.order.length;
  }
  get severalNodes(): boolean {
    return new Set(this.nodes).size > 1;
  }
  place(row: number): number {
    return this.places[row] ?? -1;
  }

  // False if the filter says nothing: "0-7, 12" and "node3" choose, "" shows all.
  show(filter: string, grouping: Grouping): boolean {
    const { rows } = this.trace.info;
    const wanted = chosen(filter, this.nodes);
    const order = [...rows.keys()].filter((row) => wanted === undefined || wanted(rows[row].rank, row));
    if (order.length === 0) return false;
    const name = this.names(grouping);
    const key = this.keys(grouping);
    order.sort((a, b) => key[a] - key[b] || a - b);
    this.order = order;
    this.groupOf = order.map((row, at) => (at === 0 || name(order[at - 1]) !== name(row) ? name(row) : ""));
    this.places.fill(-1);
    order.forEach((row, at) => (this.places[row] = at));
    return true;
  }

  private names(grouping: Grouping): (row: number) => string {
    if (grouping === "node") return (row) => this.nodes[row];
    if (grouping === "behaviour") return (row) => `alike ${this.behaviour()[row] + 1}`;
    return () => "";
  }
  // Equal for those of one group, ascending from group to group.
  private keys(grouping: Grouping): number[] {
    if (grouping === "node") {
      const names = [...new Set(this.nodes)];
      const numbers = new Map(names.map((name, i) => [name, i]));
      return this.nodes.map((name) => numbers.get(name)!);
    }
    if (grouping === "behaviour") return this.behaviour();
    if (grouping === "waiting") return this.profiles(1).map(([share]) => -share);
    return this.nodes.map(() => 0);
  }

  // Waiting of each row in some equal parts of the run.
  private profiles(parts: number): number[][] {
    const { columns, waiting } = this.trace.density;
    return this.nodes.map((_, row) => {
      const sums = new Array<number>(parts).fill(0);
      for (let c = 0; c < columns; c++)
        sums[Math.floor((c * parts) / columns)] += waiting[row * columns + c] / 255 / (columns / parts);
      return sums;
    });
  }
  // Number of the group of each row, the largest group first: a row belongs to the first group whose first row is
  // near; rows that are near none begin one, 12 at most.
  private behaviour(): number[] {
    if (this.clusters !== undefined) return this.clusters;
    const parts = 16;
    const mostGroups = 12;
    const profiles = this.profiles(parts);
    const distance = (a: number[], b: number[]) => Math.sqrt(a.reduce((sum, v, i) => sum + (v - b[i]) ** 2, 0) / parts);
    let near = 0.05;
    let of: number[] = [];
    for (let first: number[][] = []; ; near *= 1.5, first = []) {
      of = profiles.map((profile) => {
        const at = first.findIndex((other) => distance(profile, other) <= near);
        if (at >= 0 || first.length > mostGroups) return at;
        return first.push(profile) - 1;
      });
      if (first.length <= mostGroups) break;
    }
    const sizes = new Map<number, number>();
    for (const g of of) sizes.set(g, (sizes.get(g) ?? 0) + 1);
    const bySize = [...sizes.keys()].sort((a, b) => sizes.get(b)! - sizes.get(a)! || a - b);
    const rank = new Map(bySize.map((g, i) => [g, i]));
    return (this.clusters = of.map((g) => rank.get(g)!));
  }
}

function nodeOf(data: Data, location: number): string {
  const { system } = data.info;
  let node = system.location.indexOf(location);
  if (location < 0 || node < 0) return "";
  // Threads stand below processes, these below nodes.
  while (node >= 0 && system.kind[node] > 1) node = system.parent[node];
  return node < 0 ? "" : system.name[node];
}

// What a filter chooses, undefined if all.
function chosen(filter: string, nodes: string[]): ((rank: number, row: number) => boolean) | undefined {
  const words = filter.split(/[\s,;]+/).filter((word) => word !== "");
  if (words.length === 0) return undefined;
  const tests = words.map((word): ((rank: number, row: number) => boolean) => {
    const range = /^(\d+)(?:[-:](\d+))?$/.exec(word);
    if (range === null) return (_, row) => nodes[row].toLowerCase().includes(word.toLowerCase());
    const from = Number(range[1]);
    const to = range[2] === undefined ? from : Number(range[2]);
    return (rank) => rank >= from && rank <= to;
  });
  return (rank, row) => tests.some((test) => test(rank, row));
}
