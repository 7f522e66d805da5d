// Puts the page together: views, their tabs, the theme, keys, and the address's fragment.
import { Changes } from "./changes";
import { Data } from "./data";
import { h, isTyping, must } from "./dom";
import { Findings } from "./findings";
import { shortened } from "./format";
import { showHelp } from "./help";
import { themeButton } from "./theme";
import { Matrix } from "./matrix";
import { SmallTimeline } from "./small-timeline";
import { Timeline } from "./timeline";
import { TraceData } from "./trace";
import { Trees } from "./trees";
import type { Instance, ReportInfo, Step, TraceInfo } from "./types";

interface View {
  id: string;
  title: string;
  element: HTMLElement;
  // Called when the view comes into sight.
  show?: () => void;
  // Where keys go then, unless the reader walks over the tabs.
  focus?: () => void;
  // False if it makes nothing of the key.
  key?: (event: KeyboardEvent) => boolean;
}

class Page {
  private readonly views: View[] = [];
  private readonly tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Views" });
  private readonly body = h("main", {});
  private current = "";
  private trees!: Trees;
  private timeline: Timeline | undefined;
  private matrix: Matrix | undefined;
  private wantedInstance: Instance | undefined;
  private wantedChain: [steps: Step[], leftOut: number, at: number] | undefined;
  private chosenStep: [steps: Step[], leftOut: number, at: number] | undefined; // to be seen on the timeline
  private smallTimeline: HTMLElement | undefined; // its place
  private atAGlance: SmallTimeline | undefined;
  private ready = false;
  private wantedPlace: URLSearchParams | undefined; // on the timeline, until the trace has been read
  private addressTimer = 0;

  constructor(private readonly data: Data) {}

  async start(): Promise<void> {
    const { data } = this;
    const { info } = data;
    const app = must<HTMLElement>(document, "#app");
    const files = data.difference ? `${info.beforeFile} \u2192 ${info.file}` : info.file;
    app.append(
      h(
        "header",
        { class: "page" },
        h(
          "div",
          { class: "brand" },
          // The verdict is the heading where there is one.
          h(info.verdict ? "b" : "h1", { class: "program" },
            h("bdi", { title: shortened(files, 500) }, shortened(info.title, 120))),
          h("span", { class: "dim" }, info.ran ?? "comparison of two reports"),
        ),
        this.tabs,
        h(
          "div",
          { class: "buttons" },
          h(
            "button",
            { type: "button", class: "small", title: "Keys (?)", "aria-label": "Keys", click: showHelp },
            "?",
          ),
          themeButton(),
        ),
      ),
      this.body,
      h("footer", {}, `Made by ${info.tool}. Nothing is loaded: all data is in this file.`),
    );

    this.trees = new Trees(data, () => this.remember());
    const first: Changes | Findings = data.difference
      ? new Changes(data, (m, c) => this.jumpToTrees(m, c))
      : new Findings(data, {
          trees: (m, c) => this.jumpToTrees(m, c),
          timeline: info.trace ? (i) => this.jumpToInstance(i) : undefined,
          chain: info.trace ? (c, l, at) => this.jumpToChain(c, l, at) : undefined,
          step: (c, l, at) => {
            this.chosenStep = [c, l, at];
            this.atAGlance?.mark(c[at]);
          },
        });
    if (first instanceof Findings) this.smallTimeline = first.timeline;
    this.add({
      id: info.verdict ? "verdict" : "findings",
      title: data.difference ? "Changes" : info.verdict ? "Verdict" : "Findings",
      element: first.element,
      key: (e) => first instanceof Findings && first.key(e),
    });
    if (info.trace !== undefined) {
      // Their content comes with the trace, which stands at the end of the file.
      this.add({
        id: "timeline",
        title: "Timeline",
        element: h("p", { class: "waiting" }, "Reading the trace\u2026"),
        show: () => {
          this.timeline?.show();
          if (this.chosenStep !== undefined && this.timeline !== undefined) this.jumpToChain(...this.chosenStep);
        },
        focus: () => this.timeline?.focus(),
        key: (e) => this.timeline?.key(e) ?? false,
      });
    }
    this.add({
      id: "trees",
      title: "Trees",
      element: this.trees.element,
      show: () => this.trees.refresh(),
      focus: () => this.trees.calls.focus(),
      key: (e) => this.treeKey(e),
    });
    if (info.trace !== undefined)
      this.add({
        id: "bytes",
        title: "Matrix",
        element: h("p", { class: "waiting" }, "Reading the trace\u2026"),
        focus: () => this.matrix?.focus(),
      });
    document.addEventListener("keydown", (e) => this.key(e));
    addEventListener("hashchange", () => this.follow());
    addEventListener("kojak-theme", () => this.trees.refresh());
    // Paper is white: everything, canvases too, is drawn for it.
    const printing = (on: boolean) => () => {
      if (on) document.documentElement.dataset.printing = "";
      else delete document.documentElement.dataset.printing;
      this.printTimeline(on);
      dispatchEvent(new Event("kojak-theme"));
    };
    addEventListener("beforeprint", printing(true));
    addEventListener("afterprint", printing(false));
    this.ready = true;
    this.follow();
    // The large parts of the file stand behind this script.
    if (document.readyState === "loading")
      await new Promise((done) => addEventListener("DOMContentLoaded", done, { once: true }));
    await data.readRows();
    this.trees.refresh();
    if (info.trace !== undefined) await this.readTrace(info.trace);
    document.documentElement.dataset.state = "complete";
  }

  // Of a run with a trace the verdict is printed, then the timeline as it was seen last.
  private printTimeline(on: boolean): void {
    const both = this.timeline !== undefined && (this.current === "verdict" || this.current === "timeline");
    for (const v of this.views)
      must<HTMLElement>(document, `#view-${v.id}`).hidden =
        v.id !== this.current && !(on && both && (v.id === "verdict" || v.id === "timeline"));
  }

  private async readTrace(info: TraceInfo): Promise<void> {
    const trace = await TraceData.read(info);
    const timeline = new Timeline(this.data, trace, (call) => {
      this.show("trees");
      this.trees.selectCall(call);
    }, () => this.rememberSoon());
    const matrix = new Matrix(trace);
    must<HTMLElement>(document, "#view-timeline").replaceChildren(timeline.element);
    must<HTMLElement>(document, "#view-bytes").replaceChildren(matrix.element);
    if (this.smallTimeline !== undefined)
      this.atAGlance = new SmallTimeline(this.data, trace, this.smallTimeline, (from, to) => {
        location.hash = `view=timeline&zoom=${Math.round(from)}-${Math.round(to)}`;
      });
    this.matrix = matrix;
    this.timeline = timeline;
    timeline.show();
    if (this.wantedPlace !== undefined) timeline.goTo(this.wantedPlace);
    this.wantedPlace = undefined;
    if (this.wantedInstance !== undefined) timeline.showInstance(this.wantedInstance);
    if (this.wantedChain !== undefined) timeline.showChain(...this.wantedChain);
  }

  private add(view: View): void {
    const number = this.views.length + 1;
    const panel = h(
      "div",
      { class: "view", id: `view-${view.id}`, role: "tabpanel", "aria-labelledby": `tab-${view.id}`, hidden: true },
      view.element,
    );
    const tab = h(
      "button",
      {
        type: "button",
        id: `tab-${view.id}`,
        role: "tab",
        "aria-selected": "false",
        "aria-controls": panel.id,
        tabindex: -1,
        title: `${view.title} (${number})`,
        click: (e: MouseEvent) => {
          this.show(view.id);
          if (e.detail > 0) view.focus?.();
        },
        keydown: (e: KeyboardEvent) => this.tabKey(e),
      },
      view.title,
    );
    this.views.push(view);
    this.tabs.append(tab);
    this.body.append(panel);
  }

  private tabKey(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const at = this.views.findIndex((v) => v.id === this.current);
    const next = this.views[(at + step + this.views.length) % this.views.length];
    this.show(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
    event.preventDefault();
  }

  show(id: string): void {
    const view = this.views.find((v) => v.id === id) ?? this.views[0];
    this.current = view.id;
    for (const v of this.views) {
      must<HTMLElement>(document, `#view-${v.id}`).hidden = v !== view;
      const tab = must<HTMLElement>(document, `#tab-${v.id}`);
      tab.setAttribute("aria-selected", String(v === view));
      tab.tabIndex = v === view ? 0 : -1;
    }
    document.documentElement.dataset.view = view.id;
    view.show?.();
    this.remember();
  }

  private jumpToTrees(metric: number, call: number): void {
    this.show("trees");
    this.trees.jump(metric, call);
    this.trees.calls.focus();
  }

  private jumpToInstance(instance: Instance): void {
    this.chosenStep = undefined;
    this.show("timeline");
    this.wantedInstance = instance;
    this.wantedChain = undefined;
    this.timeline?.showInstance(instance);
  }

  private jumpToChain(steps: Step[], leftOut: number, at: number): void {
    this.chosenStep = undefined;
    if (this.current !== "timeline") this.show("timeline");
    this.wantedChain = [steps, leftOut, at];
    this.wantedInstance = undefined;
    this.timeline?.showChain(steps, leftOut, at);
  }

  // Browsers allow only some hundred changes of the address a minute, and zooming makes many.
  private rememberSoon(): void {
    if (this.current !== "timeline" || this.addressTimer !== 0) return;
    this.addressTimer = setTimeout(() => {
      this.addressTimer = 0;
      this.remember();
    }, 300);
  }

  // The fragment names what is seen, so that a place in a report can be sent to somebody.
  private remember(): void {
    if (!this.ready || (this.current === "timeline" && this.wantedPlace !== undefined)) return;
    let text = `view=${this.current}`;
    if (this.current === "trees") {
      const { metric, call } = this.trees;
      text += `&metric=${encodeURIComponent(this.data.metric(metric.node).name.slice(0, 200))}&call=${call.node}`;
      if (this.trees.mode !== "absolute") text += `&values=${this.trees.mode}`;
    }
    if (this.current === "timeline") text += this.timeline?.place() ?? "";
    // A page that lies in a file may not be allowed to.
    try {
      history.replaceState(null, "", `#${text}`);
    } catch {
      return;
    }
  }

  private follow(): void {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const metric = this.data.metricByName(wanted.get("metric") ?? "");
    const call = Number(wanted.get("call") ?? "-1");
    const mode = wanted.get("values");
    if (wanted.get("view") === "timeline") {
      this.wantedPlace = wanted; // until it is seen, the address stays as it is
      this.show("timeline");
      if (this.timeline === undefined) return;
      this.timeline.goTo(wanted);
      this.wantedPlace = undefined;
      return;
    }
    this.show(wanted.get("view") ?? "findings");
    if (mode === "root" || mode === "selection") this.trees.setMode(mode);
    if (metric >= 0) this.trees.selectMetric(metric);
    if (Number.isInteger(call) && call >= 0 && call < this.data.calls.size) this.trees.selectCall(call);
  }

  private key(event: KeyboardEvent): void {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      isTyping(event.target) ||
      document.querySelector("dialog[open]") !== null
    )
      return;
    const number = Number(event.key);
    if (event.key === "?") showHelp();
    else if (number >= 1 && number <= this.views.length) {
      this.show(this.views[number - 1].id);
      this.views[number - 1].focus?.();
    } else if (!this.views.find((v) => v.id === this.current)?.key?.(event)) return;
    event.preventDefault();
  }

  private treeKey(event: KeyboardEvent): boolean {
    const panes = [this.trees.metrics, this.trees.calls, this.trees.system.pane];
    if (event.key === "/") {
      const inside = panes.find((p) => p.element.contains(document.activeElement)) ?? this.trees.calls;
      inside.search.focus();
    } else if (event.key === "%" || event.key === "p") {
      const modes = ["absolute", "root", "selection"] as const;
      this.trees.setMode(modes[(modes.indexOf(this.trees.mode) + 1) % modes.length]);
    } else if (event.key === "m" || event.key === "c" || event.key === "s") {
      panes["mcs".indexOf(event.key)].focus();
    } else return false;
    return true;
  }
}

async function start(): Promise<void> {
  try {
    const text = must<HTMLElement>(document, "#kojak-report").textContent ?? "";
    const data = await Data.read(JSON.parse(text) as ReportInfo);
    await new Page(data).start();
  } catch (error) {
    must<HTMLElement>(document, "#app").append(
      h(
        "p",
        { class: "failure", role: "alert" },
        `This report cannot be shown: ${error instanceof Error ? error.message : String(error)}. ` +
          "The file may not be complete, or the browser too old.",
      ),
    );
    throw error;
  }
}

void start();
