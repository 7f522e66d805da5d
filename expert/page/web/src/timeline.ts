// The timeline view: the canvas with its controls, zooming and moving, and what is said of a call,
// an arrow or an instance.
// Long because pointer, keys and words act on one state.
import type { TransferView } from "./arrows";
import { type Chain, chainPart, chainWith } from "./chain";
import type { Data } from "./data";
import { choice, h } from "./dom";
import { duration, grouped, moment, plural, shortened } from "./format";
import { type CallPlace, histogram } from "./histogram";
import { Minimap } from "./minimap";
import { Rows } from "./rows";
import { sourceOfCall } from "./source";
import { axis, gutter, TimelineCanvas, type ViewState } from "./timeline-canvas";
import { callsLegend, heatLegend } from "./timeline-legend";
import { RowControls } from "./timeline-rows";
import { Search } from "./timeline-search";
import { Words } from "./timeline-words";
import { type TraceData, windowWords } from "./trace";
import type { Instance, Step } from "./types";

const shortest = 50; // nanoseconds that are seen at least
const restAfter = 150; // milliseconds without a movement

export class Timeline {
  readonly element: HTMLElement;
  private readonly state: ViewState;
  private readonly rows: Rows;
  private readonly rowControls: RowControls;
  private readonly drawing: TimelineCanvas;
  private readonly minimap: Minimap;
  private readonly area: HTMLElement;
  private readonly about = h("div", { class: "about", "aria-live": "polite" });
  private readonly tip = h("div", { class: "timeline-tip", hidden: true });
  private readonly legend = h("ul", { class: "timeline-legend" });
  private readonly rowNames: string[];
  private readonly words: Words;
  private readonly search: Search;
  private readonly instances: Instance[];
  private readonly arrowNote = h("b", { class: "arrow-note", role: "status" });
  private readonly bandNote = h("span", { class: "dim" });
  private listed: Instance[] = [];
  private pending = false;
  private rest = 0; // timer
  private transfersShown: ((view: TransferView) => void) | undefined;

  constructor(
    private readonly data: Data,
    private readonly trace: TraceData,
    private readonly toTrees: (call: number) => void,
    private readonly changed: () => void,
  ) {
    this.state = {
      from: 0,
      to: trace.span,
      top: 0,
      transfers: "closed",
      messages: true,
      waits: true,
      heat: false,
      moving: false,
      epochs: true,
      window: -1,
      path: data.info.path !== undefined,
      instance: undefined,
      chain: undefined,
      box: undefined,
    };
    this.rowNames = trace.info.rows.map((row) => row.name);
    this.words = new Words(data, trace, this.rowNames);
    this.rows = new Rows(trace, data);
    this.drawing = new TimelineCanvas(trace, this.rowNames, data.info.path, data.info.failedCalls ?? [], this.rows);
    this.rowControls = new RowControls(this.rows, () => {
      this.state.top = 0;
      this.drawing.fitRows();
      this.showLegend();
      this.redraw();
    });
    this.search = new Search(trace, {
      found: (regions) => {
        this.drawing.highlight(regions);
        this.redraw();
      },
      call: (place) => this.showCall(place),
      row: (row) => this.chooseRow(row),
      window: (window) => this.chooseWindow(window),
      from: () => {
        const { box } = this.state;
        return box === undefined ? this.state.from : trace.rows[box.row].begin[box.box];
      },
    });
    this.minimap = new Minimap(trace, (from, to) => this.go(from, to));
    this.instances = [...(data.info.instances ?? [])].sort((a, b) => b.seconds - a.seconds);
    const { canvas } = this.drawing;
    canvas.className = "timeline-canvas";
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-roledescription", "timeline");
    canvas.setAttribute(
      "aria-label",
      `Timeline of ${plural(trace.rows.length, "location")}, ${duration(trace.span / 1e9)}. Arrow keys move, ` +
        "plus and minus zoom, shift and arrow keys choose calls, n goes to the next instance, " +
        "c along the waits to their cause.",
    );
    this.area = h("div", { class: "timeline-area" }, canvas, this.tip);
    this.listen(canvas);
    this.element = h(
      "div",
      { class: "timeline" },
      this.toolbar(),
      this.legend,
      h(
        "div",
        { class: "timeline-body" },
        h("div", { class: "timeline-main" }, this.minimap.element, this.area),
        h("aside", { class: "timeline-side" }, this.about, this.instanceList(), this.omissions()),
      ),
    );
    new ResizeObserver(() => this.resize()).observe(this.area);
    addEventListener("kojak-theme", () => {
      this.showLegend();
      this.resize();
    });
    this.showLegend();
    this.describe();
  }

  private toolbar(): HTMLElement {
    const { trace } = this;
    const button = (text: string, title: string, action: () => void) =>
      h(
        "button",
        // Signs need a name; a word is its own.
        { type: "button", class: "small", title, "aria-label": /\w/.test(text) ? null : title, click: action },
        text,
      );
    const box = (label: string, key: "messages" | "waits" | "epochs" | "path" | "heat") => {
      const input = h("input", {
        type: "checkbox",
        checked: this.state[key],
        "data-show": key,
        change: () => {
          this.state[key] = input.checked;
          this.showLegend();
          this.redraw();
        },
      });
      return h("label", { class: "check" }, input, label);
    };
    const views: [TransferView, string, string][] = [
      ["off", "none", "No transfers"],
      ["closed", "closed", "What was recorded: a get is a request and then its data"],
      ["logical", "logical",
        "The data of a get moves as late as possible, so that puts and gets are in their right order"],
      ["dependencies", "dependencies",
        "As closed, with dashed lines that take no time, and fences as lines through all members"],
    ];
    this.transfersShown = (view) => transfers.show(view);
    const transfers = choice<TransferView>("Transfers", views, this.state.transfers, (view) => {
      transfers.show(view);
      this.state.transfers = view;
      this.showLegend();
      this.redraw();
    });
    return h(
      "div",
      { class: "toolbar" },
      trace.transfers.request.length > 0
        ? h("span", { class: "labelled" }, h("span", { class: "dim" }, "Transfers "), transfers.element)
        : null,
      trace.messages.sent.length > 0 ? box("messages", "messages") : null,
      trace.windowCount > 0 ? box("epochs", "epochs") : null,
      this.data.info.path !== undefined ? box("critical path", "path") : null,
      trace.waitCount > 0 ? box("who ended waits", "waits") : null,
      box("heat map", "heat"),
      this.windowChoice(),
      this.search.element,
      this.rowControls.element,
      h(
        "span",
        { class: "buttons" },
        button("+", "Zoom in (+)", () => this.zoom(0.5)),
        button("\u2212", "Zoom out (\u2212)", () => this.zoom(2)),
        button("all", "Show the whole run and all processes (0)", () => this.showAll()),
        button("\u2195", "Higher rows (])", () => this.scaleRows(1.5)),
        button("\u2014", "Lower rows ([)", () => this.scaleRows(1 / 1.5)),
        button("PNG", "Save what is seen as a picture (s)", () => this.save()),
        button("SVG", "Save what is seen as a drawing (S)", () => this.saveDrawing()),
      ),
      h(
        "span",
        { class: "legend" },
        this.arrowNote,
        `${grouped(trace.boxCount)} calls \u00b7 drag to move, wheel to zoom, shift and drag to choose a range`,
      ),
    );
  }

  // Where a program has several windows: all together, or one.
  private windowChoice(): HTMLElement | null {
    const { windows } = this.drawing;
    if (windows.length < 2) return null;
    const select: HTMLSelectElement = h(
      "select",
      {
        "aria-label": "Windows",
        change: () => {
          this.state.window = Number(select.value);
          this.redraw();
        },
      },
      h("option", { value: -1 }, "all windows"),
      ...windows.map((w) => h("option", { value: w }, windowWords(this.trace, w))),
    );
    return h("span", { class: "labelled" }, select, this.bandNote);
  }

  private showAll(): void {
    this.drawing.fitRows();
    this.state.top = 0;
    this.showLegend();
    this.go(0, this.trace.span);
  }
  // About the middle of what is seen, or a place in it.
  private scaleRows(factor: number, y = axis + this.visibleHeight() / 2): void {
    const before = this.drawing.rowHeight;
    const heat = this.drawing.showsHeat(this.state);
    const place = (this.state.top + y - axis) / before;
    this.drawing.setRowHeight(before * factor);
    // From one whole number of pixels to the next at least.
    if (factor > 1 && this.drawing.rowHeight === before) this.drawing.setRowHeight(before + 1);
    if (heat !== this.drawing.showsHeat(this.state)) this.showLegend();
    this.scrollTo(place * this.drawing.rowHeight - (y - axis));
  }

  private showLegend(): void {
    const { trace, state, drawing } = this;
    this.legend.replaceChildren(
      ...(drawing.showsHeat(state) ? heatLegend(trace) : callsLegend(trace, state, this.data.info)),
    );
  }

  // The most severe instances; choosing one goes there.
  private instanceList(): HTMLElement {
    const names = [...new Set(this.instances.map((i) => i.metric))];
    const list = h("ol", { class: "instances" });
    const fill = (metric: string) => {
      this.listed = this.instances
        .filter((i) => i.beside !== true && (metric === "" ? !this.isPart(i.metric) : i.metric === metric))
        .slice(0, 60);
      list.replaceChildren(
        ...this.listed.map((i) =>
          h(
            "li",
            {},
            h(
              "button",
              { type: "button", click: () => this.showInstance(i) },
              h("b", {}, duration(i.seconds)),
              ` ${this.metricTitle(i.metric)}`,
              h(
                "span",
                { class: "dim" },
                ` ${i.object ? `${i.object}, ` : ""}${this.rowsOf(i)} at ${moment(i.begin * 1e9)}`,
              ),
            ),
          ),
        ),
      );
    };
    fill("");
    const select: HTMLSelectElement = h(
      "select",
      { "aria-label": "Pattern", change: () => fill(select.value) },
      h("option", { value: "" }, "all patterns"),
      ...names.map((n) => h("option", { value: n }, this.metricTitle(n))),
    );
    return h(
      "section",
      { "aria-label": "Worst instances" },
      h("header", {}, h("h2", {}, "Worst instances"), names.length > 1 ? select : null),
      this.instances.length > 0 ? list : h("p", { class: "dim" }, "No waiting was found in this trace."),
    );
  }

  // Of another pattern, which lists the same calls.
  private isPart(name: string): boolean {
    const parent = this.data.info.metrics[this.data.metricByName(name)]?.parent ?? -1;
    return (
      parent >= 0 &&
      this.data.metric(parent).pattern === true &&
      this.instances.some((i) => i.metric === this.data.metric(parent).name)
    );
  }

  private rowsOf(instance: Instance): string {
    const [first, ...others] = instance.rows.map((row) => this.rowNames[row] ?? `row ${row}`);
    const more = others.length + (instance.further ?? 0);
    return more === 0 ? first : `${first} and ${grouped(more)} more`;
  }

  private metricTitle(name: string): string {
    const metric = this.data.metricByName(name);
    return metric < 0 ? name : shortened(this.data.metricWords(metric), 80);
  }

  private omissions(): HTMLElement | null {
    const { omitted } = this.trace.info;
    return omitted.length === 0
      ? null
      : h(
          "section",
          { class: "omitted" },
          h("h2", {}, "Left out"),
          h("ul", {}, ...omitted.map((text) => h("li", {}, shortened(text, 1000)))),
        );
  }

  // From a wait to its cause, from the first step on.
  showChain(steps: Step[], leftOut: number, at = 0): void {
    this.state.instance = undefined;
    this.state.chain = { steps, leftOut, at };
    this.showStep(at);
  }
  private showStep(at: number): void {
    const { chain } = this.state;
    const step = chain?.steps[at];
    if (chain === undefined || step === undefined) return;
    chain.at = at;
    const begin = step.begin * 1e9;
    const end = Math.max(step.end * 1e9, begin + shortest);
    const box = this.trace.rows[step.row]?.at((begin + end) / 2) ?? -1;
    this.state.box = box >= 0 ? { row: step.row, box } : undefined;
    const about = (end - begin) * 0.6;
    this.go(begin - about, end + about);
    this.showRow(step.row);
    this.describe();
    this.redraw();
  }

  showInstance(instance: Instance): void {
    this.state.instance = instance;
    this.state.chain = undefined;
    this.state.box = undefined;
    const row = instance.rows[0];
    const boxes = this.trace.rows[row];
    if (boxes !== undefined) {
      // The call itself: it begins where the instance does.
      const box = boxes.at((instance.begin + instance.end) * 0.5e9);
      if (box >= 0) this.state.box = { row, box };
    }
    const begin = instance.begin * 1e9;
    const end = Math.max(instance.end * 1e9, begin + shortest);
    const about = (end - begin) * 0.6;
    this.go(begin - about, end + about);
    if (row !== undefined) this.showRow(row);
    this.describe();
  }

  // What is seen, for the page's address: times in nanoseconds.
  place(): string {
    const { from, to, instance, box, top, window, transfers } = this.state;
    let text = this.rowControls.place();
    if (from > 0 || to < this.trace.span) text += `&zoom=${Math.round(from)}-${Math.round(to)}`;
    const height = this.drawing.chosenHeight;
    if (height !== undefined) text += `&rows=${Number(height.toPrecision(4))}`;
    if (top > 0) text += `&top=${Math.round(top / this.drawing.rowHeight)}`;
    if (window >= 0) text += `&window=${window}`;
    if (transfers !== "closed") text += `&transfers=${transfers}`;
    if (instance !== undefined) text += `&instance=${this.instances.indexOf(instance)}`;
    else if (box !== undefined) text += `&call=${box.row}.${box.box}`;
    return text;
  }
  // The same again; what the page does not have is left as it is.
  goTo(wanted: URLSearchParams): void {
    this.rowControls.goTo(wanted);
    const instance = this.instances[Number(wanted.get("instance") ?? "-1")];
    if (instance !== undefined) this.showInstance(instance);
    const [row, box] = (wanted.get("call") ?? "").split(".").map(Number);
    if (instance === undefined && box >= 0 && box < (this.trace.rows[row]?.length ?? 0)) {
      this.state.box = { row, box };
      this.state.instance = this.state.chain = undefined;
      this.describe();
    }
    this.chooseWindow(Number(wanted.get("window") ?? "-1"));
    const view = wanted.get("transfers");
    if (view === "off" || view === "logical" || view === "dependencies") {
      this.state.transfers = view;
      this.transfersShown?.(view);
      this.showLegend();
    }
    const [from, to] = (wanted.get("zoom") ?? "").split("-").map(Number);
    if (from >= 0 && to > from) this.go(from, to);
    const height = Number(wanted.get("rows") ?? "0");
    if (height > 0) {
      this.drawing.setRowHeight(height);
      this.showLegend();
    }
    const top = Number(wanted.get("top") ?? "0");
    if (top > 0) this.scrollTo(top * this.drawing.rowHeight);
    this.redraw();
  }

  private chooseWindow(window: number): void {
    if (!this.drawing.windows.includes(window)) return;
    this.state.window = window;
    const select = this.element.querySelector<HTMLSelectElement>("select[aria-label=Windows]");
    if (select !== null) select.value = String(window);
    this.redraw();
  }

  // The drawing as a file; under the name of the page.
  private save(): void {
    this.state.moving = false;
    this.draw();
    this.drawing.canvas.toBlob((blob) => {
      if (blob !== null) this.offer(blob, "png");
    }, "image/png");
  }
  private saveDrawing(): void {
    this.state.moving = false;
    this.offer(new Blob([this.drawing.svg(this.state)], { type: "image/svg+xml" }), "svg");
    this.redraw();
  }
  private offer(blob: Blob, kind: string): void {
    const link = h("a", {
      href: URL.createObjectURL(blob),
      download: `${shortened(this.data.info.title, 60)}.${kind}`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  private visibleHeight(): number {
    return this.drawing.height - axis;
  }

  // The range that is seen, within the run.
  go(from: number, to: number): void {
    const { span } = this.trace;
    const length = Math.min(span, Math.max(shortest, to - from));
    const centre = (from + to) / 2;
    this.state.from = Math.max(0, Math.min(span - length, centre - length / 2));
    this.state.to = this.state.from + length;
    this.moved();
    this.redraw();
  }
  // What takes long to draw waits until the view rests.
  private moved(): void {
    this.state.moving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.rested(), restAfter);
  }
  private rested(): void {
    this.state.moving = false;
    if (this.drawing.coarse) this.redraw();
  }
  zoom(factor: number, around = (this.state.from + this.state.to) / 2): void {
    const { from, to } = this.state;
    const length = Math.min(this.trace.span, Math.max(shortest, (to - from) * factor));
    const part = (around - from) / (to - from);
    this.go(around - part * length, around - part * length + length);
  }
  private move(part: number): void {
    const length = this.state.to - this.state.from;
    this.go(this.state.from + part * length, this.state.to + part * length);
  }
  private scrollTo(top: number): void {
    this.state.top = Math.round(Math.max(0, Math.min(this.drawing.contentHeight - this.visibleHeight() + 6, top)));
    this.moved();
    this.redraw();
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.area;
    if (clientWidth < 60 || clientHeight < 40) return;
    const heat = this.drawing.showsHeat(this.state);
    // On paper no room below the rows.
    const printing = document.documentElement.dataset.printing !== undefined;
    this.drawing.resize(
      clientWidth,
      printing ? Math.min(clientHeight, axis + this.drawing.contentHeight + 4) : clientHeight,
    );
    if (heat !== this.drawing.showsHeat(this.state)) this.showLegend();
    this.scrollTo(this.state.top);
    this.minimap.draw();
    this.redraw();
  }
  show(): void {
    this.resize();
  }
  focus(): void {
    this.drawing.canvas.focus();
  }

  private redraw(): void {
    // Before printing there is no further frame.
    if (document.documentElement.dataset.printing !== undefined) {
      this.state.moving = false;
      return this.draw();
    }
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }
  private draw(): void {
    if (this.area.clientWidth < 60) return;
    const begin = performance.now();
    const { boxes, arrows } = this.drawing.draw(this.state);
    this.minimap.show(this.state.from, this.state.to);
    this.changed();
    this.arrowNote.textContent = this.drawing.tooMany
      ? "Messages and transfers are too close together for arrows: zoom in to see them. "
      : "";
    const shown = this.drawing.windowsShown(this.state).length;
    const all = this.drawing.windows.length;
    this.bandNote.textContent =
      this.state.epochs && this.state.window < 0 && shown < all ? `epochs of the first ${shown} of ${all}` : "";
    // For tests and for the curious.
    Object.assign(this.drawing.canvas.dataset, {
      from: Math.round(this.state.from),
      to: Math.round(this.state.to),
      boxes,
      arrows,
      rows: this.rows.length,
      height: this.drawing.rowHeight,
      coarse: Number(this.drawing.coarse),
      milliseconds: (performance.now() - begin).toFixed(1),
    });
  }

  private listen(canvas: HTMLCanvasElement): void {
    let drag:
      { x: number; y: number; from: number; to: number; top: number; range: boolean; moved: boolean } | undefined;
    const range = h("div", { class: "range", hidden: true });
    this.area.append(range);
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      drag = {
        x: e.offsetX,
        y: e.offsetY,
        from: this.state.from,
        to: this.state.to,
        top: this.state.top,
        range: e.shiftKey,
        moved: false,
      };
    });
    canvas.addEventListener("pointermove", (e) => {
      if (drag === undefined) {
        this.hover(e);
        return;
      }
      drag.moved ||= Math.hypot(e.offsetX - drag.x, e.offsetY - drag.y) > 3;
      if (!drag.moved) return;
      this.tip.hidden = true;
      if (drag.range) {
        range.hidden = false;
        range.style.left = `${Math.min(e.offsetX, drag.x)}px`;
        range.style.width = `${Math.abs(e.offsetX - drag.x)}px`;
      } else {
        const time = ((e.offsetX - drag.x) / this.drawing.width) * (drag.to - drag.from);
        this.go(drag.from - time, drag.to - time);
        this.scrollTo(drag.top - (e.offsetY - drag.y));
      }
    });
    canvas.addEventListener("pointerup", (e) => {
      range.hidden = true;
      if (drag?.range && drag.moved)
        this.go(
          this.drawing.timeAt(Math.min(e.offsetX, drag.x), this.state),
          this.drawing.timeAt(Math.max(e.offsetX, drag.x), this.state),
        );
      else if (drag !== undefined && !drag.moved) this.choose(e);
      drag = undefined;
    });
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("dblclick", (e) => {
      if (this.drawing.showsHeat(this.state)) return this.lookCloser(e);
      const hit = this.hit(e);
      if (hit === undefined) return;
      this.state.box = hit;
      this.zoomToCall();
    });
    canvas.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const dy = event.deltaY * lines;
    const dx = (event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX) * lines;
    const overflow = this.drawing.contentHeight > this.visibleHeight() + 8;
    if (event.altKey) this.scaleRows(Math.exp(-Math.max(-60, Math.min(60, dy)) * 0.008), event.offsetY);
    else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) this.move(dx / this.drawing.width);
    else if (overflow && !event.ctrlKey && event.offsetX < gutter) this.scrollTo(this.state.top + dy);
    else
      this.zoom(
        Math.exp(Math.max(-60, Math.min(60, dy)) * 0.008),
        this.drawing.timeAt(Math.max(gutter, event.offsetX), this.state),
      );
  }

  key(event: KeyboardEvent): boolean {
    if (event.shiftKey && event.key.startsWith("Arrow")) {
      this.walk(event.key);
      return true;
    }
    switch (event.key) {
      case "Enter":
        // Elsewhere it is the button's that has the focus.
        if (event.target !== this.drawing.canvas) return false;
        this.zoomToCall();
        break;
      case "+":
      case "=":
        this.zoom(0.5);
        break;
      case "-":
        this.zoom(2);
        break;
      case "0":
      case "Home":
        this.showAll();
        break;
      case "]":
      case "[":
        this.scaleRows(event.key === "]" ? 1.5 : 1 / 1.5);
        break;
      case "ArrowLeft":
        this.move(-0.15);
        break;
      case "ArrowRight":
        this.move(0.15);
        break;
      case "ArrowUp":
        this.scrollTo(this.state.top - this.drawing.rowHeight);
        break;
      case "ArrowDown":
        this.scrollTo(this.state.top + this.drawing.rowHeight);
        break;
      case "PageUp":
        this.scrollTo(this.state.top - this.visibleHeight());
        break;
      case "PageDown":
        this.scrollTo(this.state.top + this.visibleHeight());
        break;
      case "s":
        this.save();
        break;
      case "S":
        this.saveDrawing();
        break;
      case "/":
        this.search.focus();
        break;
      case "n":
      case "N":
        this.next(event.key === "n" ? 1 : -1);
        break;
      case "c":
      case "C":
        if (!this.step(event.key === "c" ? 1 : -1)) return false;
        break;
      default:
        return false;
    }
    return true;
  }
  // Along the chain; from a wait that is chosen into its chain.
  private step(by: number): boolean {
    const { chain } = this.state;
    if (chain !== undefined) {
      this.showStep(Math.max(0, Math.min(chain.steps.length - 1, chain.at + by)));
      return true;
    }
    const found = this.chainHere();
    if (found !== undefined) this.showChain(found.steps, found.leftOut, found.at);
    return found !== undefined;
  }
  // The chain in which what is chosen waits.
  private chainHere(): Chain | undefined {
    const { box, instance } = this.state;
    if (instance?.chain !== undefined) return { steps: instance.chain, leftOut: instance.leftOut ?? 0, at: 0 };
    if (box === undefined) return undefined;
    const boxes = this.trace.rows[box.row];
    const isIt = (wait: Step) => wait.row === box.row && boxes.at((wait.begin + wait.end) * 0.5e9) === box.box;
    return chainWith(this.data, isIt);
  }

  private next(step: number): void {
    const { listed } = this;
    if (listed.length === 0) return;
    const at = this.state.instance === undefined ? -1 : listed.indexOf(this.state.instance);
    this.showInstance(listed[(at + step + listed.length) % listed.length]);
  }

  // Chooses a call from the one that is chosen: the next or the one before in its row, or the one at
  // the same time in the row beside it.
  private walk(key: string): void {
    const { rows } = this.trace;
    const now = this.state.box;
    const centre = (this.state.from + this.state.to) / 2;
    const { order } = this.rows;
    let row = now?.row ?? order[Math.min(order.length - 1, Math.floor(this.state.top / this.drawing.rowHeight))];
    let box = now?.box ?? Math.max(0, rows[row]?.at(centre) ?? 0);
    if (now !== undefined && (key === "ArrowLeft" || key === "ArrowRight"))
      box = Math.min(rows[row].length - 1, Math.max(0, box + (key === "ArrowRight" ? 1 : -1)));
    else if (now !== undefined) {
      const time = (Math.max(this.state.from, rows[row].begin[box]) + Math.min(this.state.to, rows[row].end[box])) / 2;
      const at = this.rows.place(row) + (key === "ArrowDown" ? 1 : -1);
      row = order[Math.min(order.length - 1, Math.max(0, at))];
      box = Math.max(0, rows[row].at(time));
    }
    const boxes = rows[row];
    if (boxes === undefined || boxes.length === 0) return;
    this.state.box = { row, box };
    this.state.instance = undefined;
    this.state.chain = undefined;
    const length = this.state.to - this.state.from;
    if (boxes.begin[box] > this.state.to || boxes.end[box] < this.state.from)
      this.go(boxes.begin[box] - length / 4, boxes.begin[box] + (length * 3) / 4);
    this.showRow(row);
    this.describe();
    this.redraw();
  }
  private chooseRow(row: number): void {
    const box = this.trace.rows[row].at((this.state.from + this.state.to) / 2);
    this.state.box = box < 0 ? undefined : { row, box };
    this.state.instance = this.state.chain = undefined;
    this.showRow(row);
    this.describe();
    this.redraw();
  }
  // Chooses a call and goes there.
  private showCall(place: CallPlace): void {
    this.state.box = place;
    this.state.instance = this.state.chain = undefined;
    const { begin, end } = this.trace.rows[place.row];
    const around = Math.max(shortest, end[place.box] - begin[place.box]) * 2;
    this.go(begin[place.box] - around, end[place.box] + around);
    this.showRow(place.row);
    this.describe();
    this.redraw();
  }
  private zoomToCall(): void {
    const { box } = this.state;
    if (box === undefined) return;
    const boxes = this.trace.rows[box.row];
    const around = (boxes.end[box.box] - boxes.begin[box.box]) * 0.1;
    this.go(boxes.begin[box.box] - around, boxes.end[box.box] + around);
  }
  private showRow(row: number): void {
    // Rows that are too low for calls become high enough.
    if (this.drawing.showsHeat(this.state) && !this.state.heat) {
      this.drawing.setRowHeight(24);
      this.showLegend();
    }
    const y = Math.max(0, this.rows.place(row)) * this.drawing.rowHeight;
    if (y < this.state.top || y + this.drawing.rowHeight > this.state.top + this.visibleHeight())
      this.scrollTo(y - this.visibleHeight() / 2);
  }

  private hit(event: MouseEvent): { row: number; box: number } | undefined {
    const row = this.drawing.rowAt(event.offsetY, this.state.top);
    if (row < 0 || event.offsetX < gutter || this.drawing.showsHeat(this.state)) return undefined;
    const time = this.drawing.timeAt(event.offsetX, this.state);
    const boxes = this.trace.rows[row];
    const pixel = (this.state.to - this.state.from) / this.drawing.width;
    // The innermost there; else the nearest within two pixels.
    const inner = boxes.at(time);
    const near = boxes.at(time + pixel);
    const box = near >= 0 && (inner < 0 || boxes.depth[near] > boxes.depth[inner]) ? near : inner;
    return box < 0 ? undefined : { row, box };
  }

  private hover(event: PointerEvent): void {
    if (this.drawing.showsHeat(this.state)) return this.showTip(event, this.heatWords(event));
    const arrow = this.drawing.arrowAt(event.offsetX, event.offsetY);
    const hit = this.hit(event);
    const row = this.drawing.rowAt(event.offsetY, this.state.top);
    const band =
      row >= 0 && event.offsetX >= gutter ? this.drawing.bandAt(row, event.offsetX, event.offsetY, this.state) : -1;
    const lines =
      arrow !== undefined
        ? this.words.arrow(arrow)
        : band >= 0
          ? this.words.band(row, band)
          : hit !== undefined
            ? this.words.box(hit.row, hit.box)
            : [];
    this.showTip(event, lines);
  }
  // What the heat map shows there.
  private heatWords(event: PointerEvent): string[] {
    const row = this.drawing.rowAt(event.offsetY, this.state.top);
    if (row < 0 || event.offsetX < gutter) return [];
    const { columns, waiting, mpi } = this.trace.density;
    const time = this.drawing.timeAt(event.offsetX, this.state);
    const column = Math.min(columns - 1, Math.max(0, Math.floor((time / this.trace.span) * columns)));
    const percent = (shares: Uint8Array) => `${Math.round((shares[row * columns + column] / 255) * 100)} %`;
    const step = this.trace.span / columns;
    return [
      this.rowNames[row],
      `${percent(waiting)} waiting, ${percent(mpi)} in MPI with that`,
      `from ${moment(column * step)} on, for ${duration(step / 1e9)}`,
    ];
  }
  // From the heat map to the calls there.
  private lookCloser(event: MouseEvent): void {
    const row = this.drawing.rowAt(event.offsetY, this.state.top);
    const time = this.drawing.timeAt(event.offsetX, this.state);
    if (row < 0 || event.offsetX < gutter) return;
    this.showRow(row);
    this.zoom(1 / 16, time);
  }
  private showTip(event: PointerEvent, lines: string[]): void {
    this.tip.hidden = lines.length === 0;
    if (lines.length === 0) return;
    this.tip.replaceChildren(
      ...lines.map((line, i) => h(i === 0 ? "b" : "span", {}, h("bdi", {}, shortened(line, 160)))),
    );
    const left = event.offsetX + 14;
    this.tip.style.left = `${left + 280 > this.area.clientWidth ? Math.max(0, event.offsetX - 290) : left}px`;
    this.tip.style.top = `${Math.min(event.offsetY + 14, this.area.clientHeight - 90)}px`;
  }

  private choose(event: MouseEvent): void {
    this.state.box = this.hit(event);
    this.state.instance = undefined;
    this.state.chain = undefined;
    this.describe();
    this.redraw();
  }

  // In words what is chosen: the call with its callers, and the instance.
  private describe(): void {
    const { box, instance, chain } = this.state;
    const parts: HTMLElement[] = [];
    if (chain !== undefined) parts.push(chainPart(chain, this.rowNames, (at) => this.showStep(at)));
    if (instance !== undefined) {
      const metric = this.data.metricByName(instance.metric);
      parts.push(
        h("h2", {}, this.metricTitle(instance.metric)),
        h(
          "p",
          {},
          h("b", {}, duration(instance.seconds)),
          instance.rows.length > 1
            ? ` of waiting in all, at ${this.rowsOf(instance)}`
            : ` waiting at ${this.rowsOf(instance)}`,
        ),
      );
      if (instance.cause !== undefined) parts.push(this.words.cause(instance, instance.cause));
      const meaning = metric < 0 ? "" : this.data.metric(metric).meaning;
      if (meaning) parts.push(h("p", { class: "dim" }, meaning));
    }
    if (box !== undefined) {
      const boxes = this.trace.rows[box.row];
      const names = this.words.names(box.row, box.box);
      if (instance === undefined) parts.push(h("h2", {}, h("bdi", {}, shortened(names[names.length - 1], 200))));
      const [, when, ...more] = this.words.box(box.row, box.box);
      const others = boxes.parent[box.box] >= 0 ? more.slice(1) : more; // the caller stands in the list
      parts.push(
        h("p", {}, when),
        ...others.map((line) => h("p", {}, h("bdi", {}, line))),
        h("ol", { class: "path" }, ...names.map((n) => h("li", {}, h("bdi", {}, shortened(n, 300))))),
      );
      const known = this.trace.info.paths.call[boxes.path[box.box]] ?? -1;
      const call = instance?.call ?? (known >= 0 ? known : this.words.call(names));
      const code = call >= 0 ? sourceOfCall(this.data, call) : null;
      if (code !== null) parts.push(code);
      if (call >= 0) parts.push(h("button", { type: "button", click: () => this.toTrees(call) }, "Show in the trees"));
    }
    if (box !== undefined && this.trace.info.regions.kind[this.trace.rows[box.row].region[box.box]] !== 0) {
      const path = this.trace.rows[box.row].path[box.box];
      const durations = histogram(this.trace, path, this.rowNames, box, (place) => this.showCall(place));
      if (durations !== null) parts.push(durations);
    }
    const found = chain === undefined ? this.chainHere() : undefined;
    if (found !== undefined) {
      const follow = () => this.showChain(found.steps, found.leftOut, found.at);
      parts.push(h("button", { type: "button", "data-action": "chain", click: follow }, "Follow it to the cause"));
    }
    if (parts.length === 0)
      parts.push(h("p", { class: "dim" }, "Click a call to see what it is; choose an instance to go there (n: next)."));
    this.about.replaceChildren(...parts);
  }
}
