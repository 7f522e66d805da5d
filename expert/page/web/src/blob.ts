// Reads the columns that expert/page/blob.cc wrote: base64, gzip, then one encoding a column.
import type { ColumnPlace } from "./types";

function fromBase64(text: string): Uint8Array {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (native !== undefined) return native.call(Uint8Array, text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

export class Blob64 {
  private constructor(
    private readonly bytes: Uint8Array,
    private readonly places: Record<string, ColumnPlace>,
  ) {}

  // Takes the data of the element and empties it, so that the text needs no memory any more.
  static async read(id: string, places: Record<string, ColumnPlace>): Promise<Blob64> {
    const element = document.getElementById(id);
    if (element === null) throw new Error(`the page has no part "${id}": the file is not complete`);
    const packed = fromBase64(element.textContent ?? "");
    element.textContent = "";
    const stream = new Response(packed as BlobPart).body!.pipeThrough(new DecompressionStream("gzip"));
    return new Blob64(new Uint8Array(await new Response(stream).arrayBuffer()), places);
  }

  has(name: string): boolean {
    return name in this.places;
  }

  private place(name: string, encoding: string): [number, number] {
    const place = this.places[name];
    if (place === undefined || place[0] !== encoding) throw new Error(`no column ${name} in ${encoding}`);
    return [place[1], place[2]];
  }

  u8(name: string): Uint8Array {
    const [at, count] = this.place(name, "u8");
    return this.bytes.subarray(at, at + count);
  }

  u16(name: string): Uint16Array {
    return new Uint16Array(this.fromPlanes(name, "u16", 2));
  }

  u32(name: string): Uint32Array {
    return new Uint32Array(this.fromPlanes(name, "u32", 4));
  }

  f64(name: string): Float64Array {
    return new Float64Array(this.fromPlanes(name, "f64", 8));
  }

  // Numbers up to 2^53, so doubles: bit operations would cut at 32 bits.
  varints(name: string): Float64Array {
    const [start, count] = this.place(name, "varint");
    return this.decode(start, count);
  }

  deltas(name: string): Float64Array {
    const [start, count] = this.place(name, "delta");
    const values = this.decode(start, count);
    let last = 0;
    for (let i = 0; i < count; i++) {
      const coded = values[i];
      last += coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
      values[i] = last;
    }
    return values;
  }

  private decode(start: number, count: number): Float64Array {
    const values = new Float64Array(count);
    const bytes = this.bytes;
    let at = start;
    for (let i = 0; i < count; i++) {
      let byte = bytes[at++];
      let value = byte & 127;
      let scale = 128;
      while (byte >= 128) {
        byte = bytes[at++];
        value += (byte & 127) * scale;
        scale *= 128;
      }
      values[i] = value;
    }
    return values;
  }

  private fromPlanes(name: string, encoding: string, size: number): ArrayBuffer {
    const [at, count] = this.place(name, encoding);
    const out = new Uint8Array(count * size);
    for (let plane = 0; plane < size; plane++) {
      const from = at + plane * count;
      for (let i = 0, to = plane; i < count; i++, to += size) out[to] = this.bytes[from + i];
    }
    return out.buffer;
  }
}
