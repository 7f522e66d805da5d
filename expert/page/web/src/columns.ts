// Tables of the page's trace, as tables.ts lists them and expert/page/tables.cc has packed them.
import type { Blob64 } from "./blob";

type Column = Float64Array | Uint8Array;
type Packed = "varint" | "delta" | "byte" | "or_none" | "since" | "since_known" | "short_of";
export interface Table<T> {
  name: string;
  columns: [name: keyof T & string, packed: Packed, base?: string][];
}

// Distances may be negative: zigzag.
function signed(coded: number): number {
  return coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
}

function unpacked(blob: Blob64, name: string, packed: Packed, base: Column | undefined): Column {
  if (packed === "byte") return blob.u8(name);
  if (packed === "delta") return blob.deltas(name);
  const coded = blob.varints(name);
  switch (packed) {
    case "or_none":
      return coded.map((number) => number - 1);
    case "since":
      return coded.map((number, i) => base![i] + signed(number));
    case "since_known":
      return coded.map((number, i) => (number === 0 ? NaN : base![i] + signed(number - 1)));
    case "short_of":
      return coded.map((number, i) => base![i] - number);
    default:
      return coded;
  }
}

function addColumns<T>(blob: Blob64, table: Table<T>, columns: Record<string, Column>): T {
  for (const [name, packed, base] of table.columns)
    columns[name] = unpacked(blob, `${table.name}.${name}`, packed, base === undefined ? undefined : columns[base]);
  return columns as T;
}

export function readTable<T>(blob: Blob64, table: Table<T>): T {
  return addColumns(blob, table, {});
}

// A table of things with begin and end: the part of each row of the timeline.
export function readRows<T>(blob: Blob64, table: Table<T>): T[] {
  const begin = blob.varints(`${table.name}.begin`);
  const length = blob.varints(`${table.name}.length`);
  const counts = blob.varints(`${table.name}.counts`);
  const end = new Float64Array(begin.length);
  let at = 0;
  for (const count of counts) {
    let last = 0;
    for (const to = at + count; at < to; at++) {
      last += begin[at];
      begin[at] = last;
      end[at] = last + length[at];
    }
  }
  const columns: Record<string, Column> = { begin, end, length };
  addColumns(blob, table, columns);
  delete columns.length;
  at = 0;
  return Array.from(counts, (count) => {
    const part = Object.fromEntries(Object.entries(columns).map(([name, all]) => [name, all.subarray(at, at + count)]));
    at += count;
    return part as T;
  });
}
