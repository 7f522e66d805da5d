// The first screen: what is wrong, worst first, in plain words.
// Long because every part of the screen is laid out here, an element a line.
import type { Data } from "./data";
import { h } from "./dom";
import { duration, grouped, percent, plural, shortened } from "./format";
import { sourceOfCall } from "./source";
import { type StepJumps, Steps } from "./steps";
import type { Bottleneck, Consumer, FailedCalls, Instance, LastCall, Step } from "./types";
import { efficiency, groupCards, verdictCard } from "./verdict";

export interface Jumps {
  trees(metric: number, call: number): void;
  // Absent without a timeline.
  timeline?: (instance: Instance) => void;
  chain?: (chain: Step[], leftOut: number, at: number) => void;
  step?: (chain: Step[], leftOut: number, at: number) => void;
}

const shareNames: Record<string, string> = {
  computation: "Computation",
  mpi: "MPI, no wait found",
  shmem: "SHMEM, no wait found",
  mpi_shmem: "MPI and SHMEM, no wait found",
  waiting: "Waiting",
  overhead: "Measurement",
};
const atFirst = 8;

export class Findings {
  readonly element: HTMLElement;
  // Of the run, filled when the trace has been read.
  readonly timeline = h("div", { class: "small-timeline", hidden: true });
  private readonly explained = new Set<number>();
  private readonly steps: Steps;

  constructor(
    private readonly data: Data,
    private readonly jumps: Jumps,
  ) {
    const overview = data.info.overview!;
    const { bottlenecks } = overview;
    this.steps = new Steps(data, jumps.chain === undefined ? undefined : (jumps as StepJumps));
    const list = h("ol", { class: "findings" });
    const show = (from: number, to: number) =>
      bottlenecks.slice(from, to).forEach((b, i) => list.append(this.card(b, from + i)));
    show(0, atFirst);
    const more = h(
      "button",
      {
        type: "button",
        class: "more",
        hidden: bottlenecks.length <= atFirst,
        click: () => {
          show(atFirst, bottlenecks.length);
          more.hidden = true;
        },
      },
      `Show ${grouped(bottlenecks.length - atFirst)} more`,
    );
    addEventListener("beforeprint", () => {
      if (!more.hidden) more.click();
    });
    this.element = h(
      "div",
      { class: "findings-view" },
      ...(data.info.verdict !== undefined ? this.verdict() : [this.head()]),
      ...(bottlenecks.length === 0 ? [this.nothing()] : data.info.verdict !== undefined ? [this.victims()] : [
        h("h2", {}, "What is wrong, worst first"), list, more]),
      this.rest(),
      this.consumers(),
      this.failedCalls(),
      this.notes(),
      this.run(),
    );
  }

  private verdict(): (HTMLElement | null)[] {
    return [
      verdictCard(this.data, this.timeline),
      this.lastCalls(),
      ...groupCards(this.data, this.jumps),
      this.steps.element,
      efficiency(this.data),
    ];
  }

  key(event: KeyboardEvent): boolean {
    return this.steps.key(event);
  }

  // Who waits where: a row each, which opens.
  private victims(): HTMLElement {
    const { bottlenecks } = this.data.info.overview!;
    const body = h("tbody", {});
    const show = (from: number, to: number) =>
      bottlenecks.slice(from, to).forEach((b, i) => body.append(...this.victim(b, from + i)));
    show(0, atFirst);
    const left = bottlenecks.length - atFirst;
    const more: HTMLElement = h("button", { type: "button", class: "more", hidden: left <= 0, click: () => {
      show(atFirst, bottlenecks.length);
      more.hidden = true;
    } }, `Show ${grouped(left)} more`);
    const column = (text: string, name = "") => h("th", { scope: "col", class: name }, text);
    const known = this.data.info.groups !== undefined;
    return h(
      "section",
      { class: "victims", "aria-label": "Where they wait" },
      h("h2", {}, "Where they wait"),
      h(
        "div",
        { class: "card" },
        h(
          "table",
          { class: "rows" },
          h("thead", {}, h("tr", {}, column("pattern"), column("call"), column("waiting", "n"),
            known ? column("for") : null, column("waits most", "last"))),
          body,
        ),
      ),
      more,
    );
  }

  private victim(found: Bottleneck, index: number): HTMLElement[] {
    const { data } = this;
    const known = data.info.groups !== undefined;
    const opened = h("tr", { hidden: true }, h("td", { colspan: known ? 5 : 4 }));
    const toggle = h(
      "button",
      { type: "button", class: "plain", "aria-expanded": "false", click: () => {
        if (opened.firstElementChild!.childElementCount === 0)
          opened.firstElementChild!.append(this.card(found, index, "div"));
        opened.hidden = !opened.hidden;
        toggle.setAttribute("aria-expanded", String(!opened.hidden));
      } },
      h("bdi", {}, shortened(data.metricWords(found.metric), 120)),
    );
    const site = data.callSite(found.call);
    const row = h(
      "tr",
      { class: "victim" },
      h("th", { scope: "row" }, toggle),
      h("td", { class: "call-cell" }, h("bdi", { class: "call" }, shortened(data.callName(found.call), 200)), " ",
        site === "" ? null : h("bdi", { class: "site" }, shortened(site, 120))),
      h("td", { class: "n" }, duration(found.seconds)),
      known ? h("td", {}, this.groupsOf(found)) : null,
      h("td", { class: "last" }, found.worst[0]?.[0] ?? ""),
    );
    return [row, opened];
  }

  // For which groups. What is known of no call path belongs to the one place of a pattern, or to none.
  private groupsOf(found: Bottleneck): string {
    const { overview, groups } = this.data.info;
    const only = !overview!.bottlenecks.some((b) => b !== found && b.metric === found.metric);
    const { name } = this.data.metric(found.metric);
    const shares: string[] = [];
    for (const { number, patterns } of groups ?? []) {
      const there = patterns.filter(([pattern, call]) => pattern === name && (call === found.call || (only && call < 0)));
      const seconds = there.reduce((sum, [, , s]) => sum + s, 0);
      if (seconds >= 0.01 * found.seconds) shares.push(`group ${number} ${Math.round((100 * seconds) / found.seconds)}\u00a0%`);
    }
    return shares.slice(0, 2).join(", ");
  }

  private head(): HTMLElement {
    const { info } = this.data;
    const { seconds, shares, whole, wholeWords } = info.overview!;
    const kinds = info.system.kind;
    const amount = (kind: number) => kinds.filter((k) => k === kind).length;
    const processes = amount(2);
    const threads = amount(3);
    const facts = [
      plural(processes, "process", "processes") +
        (threads > processes ? ` with ${plural(threads, "thread")}` : "") +
        ` on ${plural(amount(1), "node")}`,
      plural(info.calls.parent.length, "call path"),
    ];
    facts.unshift(
      `${duration(seconds / Math.max(1, info.locations))} a ${threads > processes ? "thread" : "process"}, ` +
        `${duration(seconds)} in all`,
    );
    return h(
      "div",
      { class: "overview" },
      h("p", { class: "facts" }, facts.join(" \u00b7 ")),
      shares.length > 0 ? this.shares(shares, whole) : null,
      wholeWords === "" ? null : h("p", { class: "dim" }, wholeWords),
    );
  }

  private shares(shares: { kind: string; seconds: number }[], whole: number): HTMLElement {
    const bar = h("div", {
      class: "shares",
      role: "img",
      "aria-label": shares.map((s) => `${shareNames[s.kind]} ${percent(s.seconds, whole)} percent`).join(", "),
    });
    const legend = h("ul", { class: "share-legend" });
    for (const share of shares) {
      if (share.seconds <= 0) continue;
      const part = h("i", {
        class: `share-${share.kind}`,
        title: `${shareNames[share.kind]}: ${duration(share.seconds)}`,
      });
      part.style.flexGrow = String(share.seconds);
      bar.append(part);
      legend.append(
        h(
          "li",
          {},
          h("i", { class: `share-${share.kind}` }),
          h("b", {}, `${percent(share.seconds, whole)} %`),
          ` ${shareNames[share.kind]}`,
          h("span", { class: "dim" }, ` ${duration(share.seconds)}`),
        ),
      );
    }
    return h("div", {}, bar, legend);
  }

  // A run that was ended from outside: where its processes stood comes before everything else.
  private lastCalls(): HTMLElement | null {
    const { lastCalls, furtherLastCalls, deadlocks } = this.data.info;
    if (lastCalls === undefined) return null;
    // What the verdict says is not said twice.
    const ended = this.data.info.verdict?.sentences.find((s) => s.is === "ended")?.pieces.map(([text]) => text).join("");
    const plain = (words: string) => words.replaceAll("\u00a0", " ");
    const others = (deadlocks ?? []).filter((words) => plain(words) !== plain(ended ?? ""));
    const circles = others.map((words) => h("p", { class: "deadlock", role: "alert" }, h("bdi", {}, words)));
    const item = (last: LastCall) => {
      const line = h(
        "li",
        {},
        h("b", {}, h("bdi", {}, shortened(last.who, 200))),
        ` ${last.does} `,
        h("bdi", { class: "call" }, shortened(last.name, 200)),
        ` ${last.times}`,
      );
      if (last.awaits !== "")
        line.append(", and ", h("b", { class: "awaits" }, h("bdi", {}, shortened(last.awaits, 300))));
      line.append(".");
      if (last.call >= 0)
        line.append(
          " ",
          h(
            "button",
            {
              type: "button",
              "data-action": "trees",
              click: () => this.jumps.trees(Math.max(0, this.data.metricByName("time")), last.call),
            },
            "Show in the trees",
          ),
        );
      return line;
    };
    const more = furtherLastCalls
      ? h("p", { class: "dim" }, `and ${plural(furtherLastCalls, "more place")} (expert --json lists all)`)
      : null;
    return h(
      "section",
      { class: "last-calls" },
      h("h2", {}, "Where the processes stood when the run was ended"),
      ...circles,
      h("ul", {}, ...lastCalls.map(item)),
      more,
    );
  }

  // A program may ask by failing, so this is no fault of its own.
  private failedCalls(): HTMLElement | null {
    const { failedCalls, furtherFailedCalls } = this.data.info;
    if (failedCalls === undefined) return null;
    const item = (failed: FailedCalls) => {
      const line = h("li", {}, h("bdi", {}, shortened(failed.words, 400)));
      if (failed.call >= 0)
        line.append(
          " ",
          h(
            "button",
            {
              type: "button",
              "data-action": "trees",
              click: () => this.jumps.trees(Math.max(0, this.data.metricByName("visits")), failed.call),
            },
            "Show in the trees",
          ),
        );
      return line;
    };
    const more = furtherFailedCalls
      ? h("p", { class: "dim" }, `and ${plural(furtherFailedCalls, "more place")} (expert --json lists all)`)
      : null;
    return h(
      "section",
      { class: "failed-calls" },
      h("h2", {}, "Calls that failed"),
      h("ul", {}, ...failedCalls.map(item)),
      more,
    );
  }

  private nothing(): HTMLElement {
    if (this.data.info.lastCalls !== undefined)
      return h(
        "div",
        { class: "nothing" },
        h("h2", {}, "No other waits"),
        h(
          "p",
          {},
          "Apart from the calls that did not return, no pattern of waiting takes 0.1 % of the run or more. " +
            "The trees show where the time goes.",
        ),
      );
    return h(
      "div",
      { class: "nothing" },
      h("h2", {}, "No process waits for another"),
      h("p", {}, "No pattern of waiting takes 0.1 % of the run or more. The trees show where the time goes."),
    );
  }

  private card(found: Bottleneck, index: number, tag: "li" | "div" = "li"): HTMLElement {
    const { data } = this;
    const metric = data.metric(found.metric);
    const path = data.callPath(found.call);
    const caller = path.length > 1 ? path[path.length - 2] : -1;
    const site = data.callSite(found.call);
    const where = h(
      "p",
      { class: "where" },
      "in ",
      h("bdi", { class: "call" }, shortened(data.callName(found.call), 200)),
    );
    const callerName = data.caller(found.call) || (caller >= 0 ? data.callName(caller) : "");
    if (callerName !== "") where.append(", called by ", h("bdi", { class: "call" }, shortened(callerName, 200)));
    if (site !== "") where.append(" at ", h("bdi", { class: "site" }, shortened(site, 120)));
    else if (caller >= 0 && data.definition(caller) !== "")
      where.append(", which begins at ", h("bdi", { class: "site" }, shortened(data.definition(caller), 120)));
    const parts = found.parts.map(([m, seconds]) => `${data.metricWords(m)} ${duration(seconds)}`);
    const size = h(
      "div",
      { class: "size" },
      h("b", {}, duration(found.seconds)),
      h("span", {}, `${percent(found.seconds, data.info.overview!.whole)} % of the run`),
      meter(found.share),
    );
    const actions = h(
      "div",
      { class: "actions" },
      h(
        "button",
        { type: "button", "data-action": "trees", click: () => this.jumps.trees(found.metric, found.call) },
        "Show in the trees",
      ),
    );
    const instances = this.instancesOf(found);
    const instance = instances[0] as Instance | undefined;
    let worst: HTMLElement | null = null;
    if (instance !== undefined) {
      worst = h(
        "p",
        {},
        h("b", {}, "Worst instance: "),
        (instance.object ? `${instance.object}, ` : "") +
          `${duration(instance.seconds)} at ${duration(instance.begin)} of the run`,
        data.info.trace?.rows[instance.rows[0]]
          ? `, ${data.info.trace.rows[instance.rows[0]].name}` +
              (waiting(instance) > 1 ? ` and ${grouped(waiting(instance) - 1)} more` : "")
          : "",
      );
      if (this.jumps.timeline)
        actions.append(
          h(
            "button",
            { type: "button", "data-action": "timeline", click: () => this.jumps.timeline!(instance) },
            "Look at it on the timeline",
          ),
        );
    }
    return h(
      tag,
      { class: "finding", "data-at": index, "data-metric": metric.name, "data-call": found.call },
      size,
      h(
        "div",
        { class: "what" },
        h("h3", {}, h("span", { class: "number" }, `${index + 1}`),
          h("bdi", {}, shortened(data.metricWords(found.metric), 120))),
        where,
        sourceOfCall(data, found.call),
        path.length > 2 ? this.crumbs(path) : null,
        parts.length > 0 ? h("p", { class: "dim" }, `Of this: ${parts.join(", ")}.`) : null,
        this.advice(found.metric),
        worst,
        actions,
      ),
      this.who(found),
    );
  }

  private crumbs(path: number[]): HTMLElement {
    const { data } = this;
    // Of very long paths the outermost and the innermost calls.
    const shown = path.length <= 12 ? path : [...path.slice(0, 3), -1, ...path.slice(-8)];
    const crumb = (c: number) =>
      c < 0 ? "\u2026" : h("bdi", { title: shortened(data.callName(c), 500) }, shortened(data.callName(c), 60));
    return h(
      "p",
      { class: "crumbs" },
      ...shown.flatMap((c, i) => [
        i > 0 ? " \u203a " : "",
        crumb(c),
        c >= 0 && data.callSite(c) !== "" ? h("bdi", { class: "hint" }, ` ${shortened(data.source(c), 100)}`) : null,
      ]),
    );
  }

  // Once in full for each pattern; further down it is folded.
  private advice(metric: number): HTMLElement {
    const { meaning, description, advice } = this.data.metric(metric);
    const text = h(
      "div",
      { class: "advice" },
      meaning || description ? h("p", {}, h("b", {}, "What it means. "), meaning || description || "") : null,
      advice ? h("p", {}, h("b", {}, "What to try. "), advice) : null,
    );
    if (!this.explained.has(metric)) {
      this.explained.add(metric);
      return text;
    }
    return h("details", {}, h("summary", {}, "What it means, what to try"), text);
  }

  // Worst first.
  private instancesOf(found: Bottleneck): Instance[] {
    const name = this.data.metric(found.metric).name;
    const mine = (this.data.info.instances ?? []).filter((i) => i.metric === name && i.call === found.call);
    return mine.sort((a, b) => b.seconds - a.seconds);
  }

  // Who lets the others wait: over the whole run by the trace, else by who hardly waits.
  private cause(found: Bottleneck): HTMLElement | null {
    const name = this.data.metric(found.metric).name;
    const partners = (this.data.info.partners ?? []).filter((p) => p.metric === name && p.call === found.call);
    if (partners.length === 0)
      return found.waitedFor === undefined
        ? null
        : h("p", { class: "cause" }, h("b", {}, found.waitedFor), " hardly waits: the others wait for it");
    const most = partners[0];
    const rank = this.data.info.trace?.rows[most.row]?.name ?? `location ${most.row}`;
    const all = most.seconds > 0.995 * found.seconds;
    return h(
      "p",
      { class: "cause" },
      `${all ? "all" : `${percent(most.seconds, found.seconds)} %`} of it until `,
      h("b", {}, rank),
      most.exit ? " leaves " : " enters ",
      h("bdi", {}, shortened(most.by, 120)),
    );
  }

  private who(found: Bottleneck): HTMLElement {
    const { locations } = this.data.info;
    const [first, ...others] = found.worst;
    const box = h("div", { class: "who" }, profile(found.profile, locations, this.data.info.processWord));
    if (first === undefined) return box;
    box.append(h("p", {}, h("b", {}, first[0]), ` waits ${duration(first[1])}`));
    if (others.length > 0)
      box.append(
        h(
          "p",
          { class: "dim" },
          `then ${others
            .slice(0, 3)
            .map(([who, seconds]) => `${who} ${duration(seconds)}`)
            .join(", ")}`,
        ),
      );
    const cause = this.cause(found);
    if (cause !== null) box.append(cause);
    box.append(
      h(
        "p",
        { class: "dim" },
        found.waiting === locations
          ? `all ${grouped(locations)} wait`
          : `${grouped(found.waiting)} of ${grouped(locations)} wait`,
      ),
    );
    return box;
  }

  private rest(): HTMLElement | null {
    const { below, belowSeconds, whole } = this.data.info.overview!;
    if (below === 0) return null;
    return h(
      "p",
      { class: "dim rest" },
      `${plural(below, "more place")} below 0.1 % of the run each, ` +
        `${duration(belowSeconds)} (${percent(belowSeconds, whole)} %) together.`,
    );
  }

  // MPI calls that take much time which no wait explains.
  private consumers(): HTMLElement | null {
    const { consumers, whole } = this.data.info.overview!;
    if (consumers.length === 0) return null;
    const title = (m: number) => {
      const { title: own, parent } = this.data.metric(m);
      return parent >= 0 ? `${own} (${this.data.metric(parent).title})` : own;
    };
    const item = (c: Consumer) => {
      const call = this.data.callName(c.call);
      const site = this.data.callSite(c.call);
      const where =
        c.part > 0.995 ? "all in" : `${c.part > 0.5 ? "most" : "the largest part"}, ${percent(c.part, 1)} %, in`;
      const go = h(
        "button",
        { type: "button", "data-action": "trees", click: () => this.jumps.trees(c.metric, c.call) },
        "Show in the trees",
      );
      return h(
        "li",
        {},
        h("b", {}, `${title(c.metric)} ${duration(c.seconds)}`),
        `, ${percent(c.seconds, whole)} % of the run; ${where} `,
        h("bdi", { class: "call" }, shortened(call, 120)),
        site === "" ? "" : " at ",
        site === "" ? null : h("bdi", { class: "site" }, shortened(site, 120)),
        " ",
        go,
      );
    };
    return h(
      "section",
      { class: "consumers" },
      h("h2", {}, "MPI time that no wait explains"),
      h("ul", {}, ...consumers.map(item)),
    );
  }

  // What the trace tells of the run itself.
  private run(): HTMLElement | null {
    const { run } = this.data.info;
    if (run.length === 0) return null;
    const names: Record<string, string> = { command: "Command", start: "Start", mpi: "MPI", hosts: "Hosts" };
    const list = h("dl", { class: "run" });
    for (const [name, value] of run) {
      const shown = name.startsWith("env.") ? name.slice(4) : (names[name] ?? name);
      list.append(h("dt", {}, h("bdi", {}, shown)), h("dd", {}, h("bdi", {}, shortened(value, 2000))));
    }
    return h("details", { class: "notes", id: "run" }, h("summary", {}, "About this run"), list);
  }

  private notes(): HTMLElement | null {
    const { notes } = this.data.info;
    if (notes.length === 0) return null;
    return h(
      "details",
      { class: "notes", open: true },
      h("summary", {}, "Notes on this report"),
      h("ul", {}, ...notes.map((n) => h("li", {}, shortened(n, 2000)))),
    );
  }
}

function waiting(instance: Instance): number {
  return instance.rows.length + (instance.further ?? 0);
}

function meter(part: number): HTMLElement {
  const fill = h("i", {});
  fill.style.width = `${Math.min(100, part * 100)}%`;
  return h("div", { class: "meter", "aria-hidden": "true" }, fill);
}

// Bars in order of processes.
function profile(values: number[], locations: number, word: string): HTMLElement {
  const most = values.reduce((m, v) => Math.max(m, v), 0);
  const bars = values.map((v) => {
    const bar = h("i", {});
    bar.style.height = `${most > 0 ? Math.max(v > 0 ? 6 : 0, (v / most) * 100) : 0}%`;
    return bar;
  });
  const figure = h(
    "figure",
    { class: "profile" },
    h("div", { role: "img", "aria-label": `Waiting time by ${word}` }, ...bars),
    h("figcaption", {}, h("span", {}, `${word} 0`), h("span", {}, String(locations - 1))),
  );
  figure.style.maxWidth = `${Math.max(90, values.length * 30)}px`;
  return figure;
}
