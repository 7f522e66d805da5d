// Who sent how many bytes to whom: messages, puts, gets; rows give, columns get. And who waited for whom: rows wait.
// Of all windows and functions, or of one.
import { css, inkOn, ramp } from "./colour";
import { choice, h } from "./dom";
import { bytes, duration, grouped, plural, shortened } from "./format";
import { type TraceData, TrafficKind, windowWords } from "./trace";
import { type Cells, cellsOf, choicesOf } from "./traffic";

type Shown = "all" | "messages" | "onesided" | "puts" | "gets" | "waits";
const names: [Shown, string, string][] = [
  ["all", "all", "Messages and one-sided transfers"],
  ["messages", "messages", "Point-to-point messages"],
  ["onesided", "one-sided", "Puts and gets"],
  ["puts", "puts", "Bytes from the origin to the target"],
  ["gets", "gets", "Bytes from the target to the origin"],
  ["waits", "waits", "Who waits for whom"],
];
const kindsOf: Record<Shown, TrafficKind[]> = {
  all: [TrafficKind.Message, TrafficKind.Put, TrafficKind.Get],
  messages: [TrafficKind.Message],
  onesided: [TrafficKind.Put, TrafficKind.Get],
  puts: [TrafficKind.Put],
  gets: [TrafficKind.Get],
  waits: [TrafficKind.Wait],
};

const head = 34; // pixels for the ranks

export class Matrix {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {
    class: "matrix-canvas",
    role: "application",
    tabindex: 0,
    "aria-roledescription": "matrix",
    "aria-label": "Bytes from row to column; arrow keys go from cell to cell",
  });
  private readonly tip = h("p", { class: "tip", role: "status" });
  private readonly totals = h("p", { class: "dim" });
  private readonly top = h("ol", { class: "pairs" });
  private readonly size: number;
  private shown: Shown = "all";
  private cell = 10;
  private chosen: [from: number, to: number] | undefined;
  private place = new Map<number, number>(); // of a cell in the columns
  private cells: Cells;
  private window = -1; // what is shown of: -1 all
  private region = -1;
  private readonly windows: HTMLSelectElement;
  private readonly regions: HTMLSelectElement;
  private readonly note = h("span", { class: "dim" });

  constructor(private readonly trace: TraceData) {
    this.size = Math.max(1, Math.ceil(trace.info.processes / trace.info.ranksPerBlock));
    const { kind } = trace.traffic;
    const offered = names.filter(([shown]) => shown !== "waits" || kind.includes(TrafficKind.Wait));
    // Where there is nothing but waits, they come first.
    if (!kindsOf.all.some((k) => kind.includes(k)) && kind.length > 0) this.shown = "waits";
    this.windows = h("select", { "aria-label": "Window", change: () => this.take() });
    this.regions = h("select", { "aria-label": "Function", change: () => this.take() });
    this.offer();
    this.cells = this.chosenCells();
    const kinds = choice<Shown>("Traffic", offered, this.shown, (shown) => {
      kinds.show(shown);
      this.shown = shown;
      this.offer();
      this.take();
    });
    this.canvas.addEventListener("pointermove", (e) => this.point(e));
    this.canvas.addEventListener("pointerleave", () => this.say(-1, -1));
    this.canvas.addEventListener("keydown", (e) => this.key(e));
    this.canvas.addEventListener("blur", () => this.choose(undefined));
    const block =
      trace.info.ranksPerBlock > 1
        ? h(
            "p",
            { class: "dim" },
            `Each cell stands for ${trace.info.ranksPerBlock} by ${trace.info.ranksPerBlock} ${trace.info.processWord}s.`,
          )
        : null;
    this.element = h(
      "div",
      { class: "matrix" },
      h(
        "div",
        { class: "toolbar" },
        kinds.element,
        this.windows,
        this.regions,
        this.note,
      ),
      h(
        "div",
        { class: "matrix-body" },
        h("div", { class: "matrix-main" }, this.canvas, this.tip),
        h("aside", {}, h("h2", {}, "Largest"), this.totals, block, this.top),
      ),
    );
    this.take();
    new ResizeObserver(() => this.draw()).observe(this.element);
    addEventListener("kojak-theme", () => this.draw());
  }

  focus(): void {
    this.canvas.focus();
  }

  // What can be chosen of these operations; a choice that is still there stays.
  private offer(): void {
    const { windows, regions } = choicesOf(this.trace, kindsOf[this.shown]);
    const { info } = this.trace;
    const fill = (select: HTMLSelectElement, all: string, texts: [number, string][], useful: boolean) => {
      const before = Number(select.value || "-1");
      const options = texts.map(([value, text]) => h("option", { value }, shortened(text, 60)));
      select.replaceChildren(h("option", { value: -1 }, all), ...options);
      select.value = String(texts.some(([value]) => value === before) ? before : -1);
      select.hidden = !useful;
    };
    const named = windows.filter((w) => w >= 0).map((w): [number, string] => [w, windowWords(this.trace, w)]);
    // Messages have no window: then one is a choice, too.
    fill(this.windows, "all windows", named, named.length > 0 && windows.length > 1);
    fill(
      this.regions,
      "all functions",
      regions.map((r) => [r, info.regions.name[r]]),
      regions.length > 1,
    );
  }
  // Anew, after another choice.
  private take(): void {
    this.window = Number(this.windows.value);
    this.region = Number(this.regions.value);
    this.cells = this.chosenCells();
    const { from, to } = this.cells;
    this.place = new Map(from.map((row, i) => [row * this.size + to[i], i]));
    this.note.textContent =
      this.shown === "waits"
        ? "rows wait, columns are waited for; colours are logarithmic"
        : "rows give, columns get; colours are logarithmic";
    this.draw();
  }
  private chosenCells(): Cells {
    return cellsOf(this.trace, { kinds: kindsOf[this.shown], window: this.window, region: this.region });
  }

  private words(value: number): string {
    return this.shown === "waits" ? duration(value / 1e9) : bytes(value);
  }

  private rank(block: number): string {
    const { ranksPerBlock, processWord } = this.trace.info;
    return ranksPerBlock === 1
      ? `${processWord} ${block}`
      : `${processWord}s ${block * ranksPerBlock} to ${(block + 1) * ranksPerBlock - 1}`;
  }

  private pair(from: number, to: number): string {
    return this.shown === "waits"
      ? `${this.rank(from)} waits for ${this.rank(to)}`
      : `${this.rank(from)} \u2192 ${this.rank(to)}`;
  }

  draw(): void {
    const { cells } = this;
    // The list stands beside it, or below where there is no room for both.
    const beside = this.element.clientWidth - 340;
    const room = Math.min(beside > 260 ? beside : this.element.clientWidth - 40, innerHeight - 190);
    if (room < 80 && this.element.clientWidth < 80) return;
    const side = Math.max(160, Math.min(820, room)) - head;
    this.cell = side / this.size;
    if (this.cell > 96) this.cell = 96;
    const length = Math.round(this.cell * this.size);
    const scale = devicePixelRatio || 1;
    this.canvas.width = (length + head) * scale;
    this.canvas.height = (length + head) * scale;
    this.canvas.style.width = this.canvas.style.height = `${length + head}px`;
    const context = this.canvas.getContext("2d")!;
    const style = getComputedStyle(this.canvas);
    context.scale(scale, scale);
    context.fillStyle = style.backgroundColor;
    context.fillRect(0, 0, length + head, length + head);
    context.strokeStyle = style.borderTopColor;
    context.strokeRect(head - 0.5, head - 0.5, length + 1, length + 1);
    const values = Float64Array.from(cells.values);
    const most = values.reduce((m, v) => Math.max(m, v), 0);
    const least = values.reduce((m, v) => (v > 0 ? Math.min(m, v) : m), Infinity);
    const spread = Math.log(most / least) || 1;
    const border = this.cell >= 5 ? 1 : 0;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    values.forEach((value, i) => {
      if (value <= 0) return;
      const colour = ramp(most === least ? 1 : 0.15 + 0.85 * (Math.log(value / least) / spread));
      const x = head + cells.to[i] * this.cell;
      const y = head + cells.from[i] * this.cell;
      context.fillStyle = css(colour);
      context.fillRect(x, y, Math.max(1, this.cell - border), Math.max(1, this.cell - border));
      if (this.cell >= 44) {
        context.fillStyle = inkOn(colour);
        context.fillText(this.words(value), x + this.cell / 2, y + this.cell / 2, this.cell - 4);
      }
    });
    context.fillStyle = style.color;
    const every = Math.max(1, Math.ceil(24 / this.cell));
    for (let r = 0; r < this.size; r += every) {
      const at = head + (r + 0.5) * this.cell;
      const text = String(r * this.trace.info.ranksPerBlock);
      context.fillText(text, at, head - 9);
      context.textAlign = "right";
      context.fillText(text, head - 5, at);
      context.textAlign = "center";
    }
    if (this.chosen !== undefined) {
      const [from, to] = this.chosen;
      context.strokeStyle = style.outlineColor;
      context.lineWidth = 2;
      context.strokeRect(
        head + to * this.cell - 1,
        head + from * this.cell - 1,
        Math.max(4, this.cell + 1),
        Math.max(4, this.cell + 1),
      );
    }
    this.list(values);
  }

  private list(values: Float64Array): void {
    const { cells } = this;
    let sum = 0;
    let amount = 0;
    values.forEach((value, i) => {
      sum += value;
      amount += cells.counts[i];
    });
    const others = cells.nobody > 0 ? `; besides ${duration(cells.nobody / 1e9)} for no single process` : "";
    this.totals.textContent =
      this.shown === "waits"
        ? `${duration(sum / 1e9)} in ${plural(amount, "wait")}${others}`
        : `${bytes(sum)} in ${grouped(amount)} operations`;
    const order = [...values.keys()].filter((i) => values[i] > 0).sort((a, b) => values[b] - values[a]);
    this.top.replaceChildren(
      ...order
        .slice(0, 12)
        .map((i) =>
          h(
            "li",
            {},
            `${this.pair(cells.from[i], cells.to[i])}: `,
            h("b", {}, this.words(values[i])),
            h("span", { class: "dim" }, ` in ${grouped(cells.counts[i])}`),
          ),
        ),
    );
  }

  private point(event: PointerEvent): void {
    this.say(Math.floor((event.offsetY - head) / this.cell), Math.floor((event.offsetX - head) / this.cell));
  }

  private key(event: KeyboardEvent): void {
    const steps: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    const within = (block: number) => Math.min(this.size - 1, Math.max(0, block));
    const [from, to] = this.chosen ?? [-step[0], -step[1]];
    this.choose([within(from + step[0]), within(to + step[1])]);
    event.preventDefault();
  }
  private choose(cell: [number, number] | undefined): void {
    this.chosen = cell;
    this.draw();
    if (cell === undefined) this.tip.textContent = "";
    else this.say(...cell);
  }

  private say(from: number, to: number): void {
    if (to < 0 || from < 0 || to >= this.size || from >= this.size) {
      this.tip.textContent = "";
      return;
    }
    const i = this.place.get(from * this.size + to);
    const value = i === undefined ? 0 : this.cells.values[i];
    this.tip.textContent =
      `${this.pair(from, to)}: ${this.words(value)}` +
      (i === undefined ? "" : ` in ${grouped(this.cells.counts[i])}`);
  }
}
