// Which rows the timeline shows, in which order: a filter by rank, node and communicator, and groups.
//
// Groups: as the trace has them, by node, by communicators that have no process in common (those of one
// MPI_Comm_split), or by behaviour, which puts rows together whose waiting is alike at all times.
import type { Data } from "./data";
import { grouped, plural, shortened } from "./format";
import type { TraceData } from "./trace";

// "communicators 0": of the first family of them.
export type Grouping = "none" | "node" | "behaviour" | "waiting" | `communicators ${number}`;

export interface RowChoice {
  filter: string;
  communicator: number; // place in the list, -1: any process
  grouping: Grouping;
}
export const allRows: RowChoice = { filter: "", communicator: -1, grouping: "none" };

export interface Communicator {
  name: string; // "communicator halo", "communicator 3"
  words: string; // with how many processes it has, and where it was created
  ranks: Set<number>;
}

export class Rows {
  order: number[] = []; // rows of the trace, from top to bottom
  groupOf: string[] = []; // name of the group that begins at a place, else ""
  readonly communicators: Communicator[]; // of some of the processes
  // Communicators without a common process, by place in the list.
  readonly families: number[][] = [];
  private readonly places: Int32Array; // of a row of the trace, -1: not shown
  private readonly nodes: string[];
  private clusters: number[] | undefined;

  constructor(
    private readonly trace: TraceData,
    data: Data,
  ) {
    this.places = new Int32Array(trace.rows.length);
    this.nodes = trace.info.rows.map((row) => nodeOf(data, row.location));
    this.communicators = trace.info.communicators.map(({ name, site, ranks }) => {
      const members = ranksOf(ranks);
      const created = site === "" ? "" : `, made at ${site}`;
      return { name, words: `${name} (${plural(members.size, "process", "processes")}${created})`, ranks: members };
    });
    this.findFamilies();
    this.show(allRows);
  }
  get processWord(): string {
    return this.trace.info.processWord;
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

  // A communicator belongs to the first family in which nobody is a member of it yet.
  private findFamilies(): void {
    const most = 8;
    const members: Set<number>[] = [];
    this.communicators.forEach(({ ranks }, c) => {
      let at = members.findIndex((of) => [...ranks].every((rank) => !of.has(rank)));
      if (at < 0) {
        if (members.length === most) return;
        at = members.push(new Set()) - 1;
        this.families.push([]);
      }
      this.families[at].push(c);
      for (const rank of ranks) members[at].add(rank);
    });
  }

  // False if nothing is chosen. The filter: "0-7, 12" and "node3" choose, "" shows all.
  show({ filter, communicator, grouping }: RowChoice): boolean {
    const { rows } = this.trace.info;
    const wanted = chosen(filter, this.nodes);
    const members = this.communicators[communicator]?.ranks;
    const order = [...rows.keys()].filter(
      (row) =>
        (wanted === undefined || wanted(rows[row].rank, row)) && (members === undefined || members.has(rows[row].rank)),
    );
    if (order.length === 0) return false;
    const { name, key } = this.groups(grouping);
    order.sort((a, b) => key[a] - key[b] || a - b);
    this.order = order;
    this.groupOf = order.map((row, at) => (at === 0 || name(order[at - 1]) !== name(row) ? name(row) : ""));
    this.places.fill(-1);
    order.forEach((row, at) => (this.places[row] = at));
    return true;
  }

  // Of each row what its group is called, and a number that is equal within a group and ascends from one to the next.
  private groups(grouping: Grouping): { name: (row: number) => string; key: number[] } {
    if (grouping === "node") {
      const names = [...new Set(this.nodes)];
      const numbers = new Map(names.map((name, i) => [name, i]));
      return { name: (row) => this.nodes[row], key: this.nodes.map((name) => numbers.get(name)!) };
    }
    if (grouping === "behaviour") {
      const key = this.behaviour();
      return { name: (row) => `alike ${key[row] + 1}`, key };
    }
    if (grouping === "waiting") return { name: () => "", key: this.profiles(1).map(([share]) => -share) };
    if (grouping.startsWith("communicators ")) {
      const family = this.families[Number(grouping.split(" ")[1])] ?? [];
      const of = new Map<number, number>();
      for (const c of family) for (const rank of this.communicators[c].ranks) of.set(rank, c);
      const key = this.trace.info.rows.map(({ rank }) => of.get(rank) ?? this.communicators.length);
      return { name: (row) => shortened(this.communicators[key[row]]?.name.replace("communicator", "comm") ?? "none", 30), key };
    }
    return { name: () => "", key: this.nodes.map(() => 0) };
  }
  // What a family is called in a list of choices.
  familyWords(family: number): string {
    const numbers = this.families[family].map((c) => shortened(this.communicators[c].name.replace(/^communicator /, ""), 30));
    return numbers.length === 1
      ? `grouped by communicator ${numbers[0]}`
      : numbers.length === 2
        ? `grouped by communicators ${numbers[0]} and ${numbers[1]}`
        : `grouped by communicators ${numbers[0]}, ${numbers[1]} ... (${grouped(numbers.length)})`;
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

// "0-3,8"
function ranksOf(text: string): Set<number> {
  const ranks = new Set<number>();
  for (const part of text.split(",")) {
    const [from, to] = part.split("-").map(Number);
    for (let rank = from; rank <= (to ?? from); rank++) ranks.add(rank);
  }
  return ranks;
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
