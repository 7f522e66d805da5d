// Processes as cells: at their coordinates of a cartesian topology, or in a grid in order of rank.
// Two dimensions at a time; higher ones are cut into slices.
import type { Data } from "./data";
import { h } from "./dom";
import { shortened } from "./format";

interface Layout {
  title: string;
  columns: number;
  rows: number;
  slices: number;
  sliceName(slice: number): string;
  cells: { location: number; slice: number; column: number; row: number; text: string }[];
}

interface Place {
  x: number;
  y: number;
  size: number;
  location: number;
  text: string;
}

export class TopologyView {
  readonly element: HTMLElement;
  private readonly layouts: Layout[];
  private readonly canvas = h("canvas", {
    class: "topology-canvas",
    role: "application",
    tabindex: 0,
    "aria-roledescription": "topology",
  });
  private readonly tip = h("p", { class: "tip", role: "status" });
  private chosen = 0; // of the layouts
  private cell = -1; // chosen with the keys, in places
  private places: Place[] = [];
  private values: Float64Array = new Float64Array(0);
  private colour: (value: number) => string = () => "transparent";
  private text: (value: number) => string = String;

  constructor(private readonly data: Data) {
    this.layouts = [
      ...data.info.topologies.map((_, i) => this.cartesian(i)).filter((l): l is Layout => l !== undefined),
      this.grid(),
    ];
    const select = h(
      "select",
      {
        "aria-label": "Topology",
        change: () => {
          this.chosen = select.selectedIndex;
          this.cell = -1;
          this.draw();
        },
      },
      ...this.layouts.map((l) => h("option", {}, shortened(l.title, 80))),
    );
    this.canvas.addEventListener("pointermove", (e) => this.point(e));
    this.canvas.addEventListener("keydown", (e) => this.key(e));
    this.canvas.addEventListener("blur", () => this.choose(-1));
    this.element = h("div", { class: "topology" }, select, this.canvas, this.tip);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  // The location that stands for a node of the system tree: the first below it.
  private locationOf(node: number): number {
    const { system } = this.data;
    while (this.data.info.system.location[node] < 0 && system.children[node].length > 0)
      node = system.children[node][0];
    return this.data.info.system.location[node];
  }

  private cartesian(index: number): Layout | undefined {
    const info = this.data.info.topologies[index];
    const size = (d: number) => Math.max(1, info.sizes[d] ?? 1);
    if (info.sizes.length === 0 || size(0) * size(1) > 1e6) return undefined;
    const sizes = info.sizes.map((s, d) => `${s}${info.periodic[d] ? " periodic" : ""}`).join(" \u00d7 ");
    const one = info.sizes.length === 1;
    const layout: Layout = {
      title: `${info.name || "Topology"}: ${sizes}`,
      columns: one ? size(0) : size(1),
      rows: one ? 1 : size(0),
      slices: 0,
      sliceName: () => "",
      cells: [],
    };
    const slices = new Map<string, number>();
    for (const [node, ...at] of info.points) {
      const key = at.slice(2).join(", ");
      if (!slices.has(key)) slices.set(key, slices.size);
      const location = this.locationOf(node);
      if (location < 0) continue;
      layout.cells.push({
        location,
        slice: slices.get(key)!,
        column: one ? at[0] : (at[1] ?? 0),
        row: one ? 0 : (at[0] ?? 0),
        text: `(${at.join(", ")})`,
      });
    }
    const names = [...slices.keys()];
    layout.slices = names.length;
    layout.sliceName = (slice) => (names[slice] === "" ? "" : `slice ${names[slice]}`);
    return layout;
  }

  private grid(): Layout {
    const amount = this.data.info.locations;
    const columns = Math.max(1, amount <= 8 ? amount : Math.ceil(Math.sqrt(amount)));
    const cells = Array.from({ length: amount }, (_, i) => ({
      location: i,
      slice: 0,
      column: i % columns,
      row: Math.floor(i / columns),
      text: "",
    }));
    return {
      title: `All locations in order of ${this.data.info.processWord}`,
      columns,
      rows: Math.ceil(amount / columns),
      slices: 1,
      sliceName: () => "",
      cells,
    };
  }

  update(values: Float64Array, colour: (value: number) => string, text: (value: number) => string): void {
    this.values = values;
    this.colour = colour;
    this.text = text;
    this.draw();
  }

  private draw(): void {
    const layout = this.layouts[this.chosen];
    const width = this.element.clientWidth - 24;
    if (width < 20) return;
    const gap = 14;
    const across = Math.max(1, Math.min(layout.slices, Math.floor(width / 120)));
    const cell = Math.max(2, Math.min(48, Math.floor((width - gap * (across - 1)) / across / layout.columns)));
    const border = cell >= 6 ? 1 : 0;
    const head = layout.slices > 1 ? 16 : 0;
    const sliceWidth = layout.columns * cell + gap;
    const sliceHeight = layout.rows * cell + head + gap;
    const height = Math.min(16000, Math.ceil(layout.slices / across) * sliceHeight);
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.max(1, across * sliceWidth * scale);
    this.canvas.height = Math.max(1, height * scale);
    this.canvas.style.width = `${across * sliceWidth}px`;
    this.canvas.style.height = `${height}px`;
    this.canvas.setAttribute("aria-label", `${layout.title}; arrow keys go from cell to cell`);
    const context = this.canvas.getContext("2d")!;
    context.scale(scale, scale);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = getComputedStyle(this.element).color;
    for (let s = 0; s < layout.slices; s++)
      context.fillText(layout.sliceName(s), (s % across) * sliceWidth, Math.floor(s / across) * sliceHeight + 11);
    this.places = layout.cells.map((c) => {
      const x = (c.slice % across) * sliceWidth + c.column * cell;
      const y = Math.floor(c.slice / across) * sliceHeight + head + c.row * cell;
      context.fillStyle = this.colour(this.values[c.location]);
      context.fillRect(x, y, cell - border, cell - border);
      return { x, y, size: cell, location: c.location, text: c.text };
    });
    const chosen = this.places[this.cell];
    if (chosen === undefined) return;
    context.strokeStyle = getComputedStyle(this.canvas).outlineColor;
    context.lineWidth = 2;
    context.strokeRect(chosen.x, chosen.y, Math.max(3, chosen.size - 1), Math.max(3, chosen.size - 1));
  }

  // To the nearest cell in that direction.
  private key(event: KeyboardEvent): void {
    const steps: Record<string, [number, number]> = {
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
    };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const from = this.places[this.cell];
    if (from === undefined) return this.choose(0);
    let best = this.cell;
    let least = Infinity;
    this.places.forEach((p, i) => {
      const along = (p.x - from.x) * step[0] + (p.y - from.y) * step[1];
      const across = Math.abs((p.x - from.x) * step[1]) + Math.abs((p.y - from.y) * step[0]);
      if (along > 0 && along + 4 * across < least) {
        least = along + 4 * across;
        best = i;
      }
    });
    this.choose(best);
  }
  private choose(cell: number): void {
    this.cell = cell;
    this.draw();
    this.say(this.places[cell]);
  }

  private point(event: PointerEvent): void {
    const { left, top } = this.canvas.getBoundingClientRect();
    const x = event.clientX - left;
    const y = event.clientY - top;
    const hit = this.places.find((p) => x >= p.x && x < p.x + p.size && y >= p.y && y < p.y + p.size);
    this.say(hit);
  }

  private say(hit: Place | undefined): void {
    this.tip.textContent =
      hit === undefined
        ? ""
        : `${this.data.locationName(hit.location)} ${hit.text}: ${this.text(this.values[hit.location])}`;
  }
}
