// The first screen of a run whose trace is known: the verdict, where the time went, and who makes the others wait. All
// sentences come from the C++ side.
import type { Data } from "./data";
import { h } from "./dom";
import { duration, grouped, shortened } from "./format";
import { excerpt } from "./source";
import type { Group, SaidPiece, Sentence, Step } from "./types";

export interface GroupJumps {
  trees(metric: number, call: number): void;
  chain?: (chain: Step[], leftOut: number, at: number) => void;
}

function pieces(sentence: Sentence, toPlace: () => void): (HTMLElement | string)[] {
  return sentence.pieces.map(([text, is]: SaidPiece) => {
    const shown = shortened(text, 600);
    if (is === "share") return h("b", { class: "hot" }, shown);
    if (is === "function") return h("b", {}, h("code", {}, h("bdi", {}, shown)));
    if (is === "who" || is === "gain" || is === "lead") return h("b", {}, h("bdi", {}, shown));
    if (is !== "place") return h("bdi", {}, shown);
    const go = (e: Event) => {
      e.preventDefault();
      toPlace();
    };
    return h("a", { href: "#", click: go as (e: never) => void }, h("bdi", {}, shown));
  });
}

// With the bar; `timeline` is filled when the trace has been read.
export function verdictCard(data: Data, timeline: HTMLElement): HTMLElement {
  const { verdict, bar, groups } = data.info;
  const toPlace = () => {
    const place = document.querySelector<HTMLElement>("#group-1 .source") ?? document.querySelector<HTMLElement>("#group-1");
    place?.scrollIntoView({ block: "center" });
    place?.focus();
  };
  const of = (...kinds: string[]) => verdict!.sentences.filter((s) => kinds.includes(s.is));
  const line = (sentence: Sentence, name: string, role: string | null = null) =>
    h("p", { class: name, role }, ...pieces(sentence, toPlace));
  const title = h("h1", {});
  for (const sentence of of("share", "who", "not_attributed"))
    title.append(title.hasChildNodes() ? " " : "", ...pieces(sentence, toPlace));
  return h(
    "section",
    { class: "card verdict", "aria-label": "verdict" },
    ...of("missing").map((s) => line(s, "caution")),
    ...of("ended").map((s) => line(s, "deadlock", "alert")),
    ...of("processors").map((s) => line(s, "caution")),
    title,
    ...of("try").map((s) => line(s, "try")),
    bar !== undefined && bar.parts.length > 0 ? shares(bar) : null,
    groups !== undefined ? timeline : null,
  );
}

function shares({ of, parts }: NonNullable<Data["info"]["bar"]>): HTMLElement {
  const whole = h("div", {
    class: "shares",
    role: "img",
    "aria-label": parts.map((p) => `${p.name} ${p.share}`).join(", "),
  });
  const legend = h("ul", { class: "share-legend" });
  for (const part of parts) {
    const piece = h("i", { class: `share-${part.kind}`, title: `${part.name}: ${duration(part.seconds)}` });
    piece.style.flexGrow = String(part.seconds);
    whole.append(piece);
    legend.append(
      h(
        "li",
        {},
        h("i", { class: `share-${part.kind}` }),
        `${part.name} `,
        h("b", {}, part.share),
        h("span", { class: "dim" }, ` ${part.time}`),
      ),
    );
  }
  legend.append(h("li", { class: "dim" }, of));
  return h("div", {}, whole, legend);
}

export function groupCards(data: Data, jumps: GroupJumps): (HTMLElement | null)[] {
  const { groups, groupsSaid } = data.info;
  if (groups === undefined || groups.length === 0) return [];
  return [
    h("h2", {}, "Who makes the others wait"),
    h("p", { class: "dim said" }, groupsSaid ?? ""),
    ...groups.map((group, i) => (i === 0 ? first(data, group, jumps) : further(data, group, jumps))),
  ];
}

// How well the processes are used; each row is the product of those below it.
export function efficiency(data: Data): HTMLElement | null {
  const rows = data.info.efficiency ?? [];
  if (rows.length === 0) return null;
  const row = ({ depth, name, words, share, value }: (typeof rows)[number]) => {
    const fill = h("i", {});
    fill.style.width = `${100 * Math.min(1, value)}%`;
    const title = h("th", { scope: "row" }, name);
    title.style.paddingLeft = `${1.4 * depth}em`;
    return h("tr", {}, title, h("td", { class: "n" }, h("b", {}, share)),
      h("td", { class: "gauge" }, h("div", { class: "meter", "aria-hidden": "true" }, fill)), h("td", { class: "dim last" }, words));
  };
  return h(
    "section",
    { class: "efficiency", "aria-label": "Efficiency" },
    h("h2", {}, "Efficiency"),
    h("div", { class: "card" }, h("table", { class: "rows" }, h("tbody", {}, ...rows.map(row)))),
  );
}

function heading(group: Group): (HTMLElement | string)[] {
  return [h("span", { class: "no" }, group.number), " ", h("bdi", {}, shortened(group.title, 400))];
}

function first(data: Data, group: Group, jumps: GroupJumps): HTMLElement {
  return h(
    "section",
    { class: "card group", id: `group-${group.number}`, "aria-label": `group ${group.number}` },
    figures(group),
    h("div", { class: "what" }, h("h3", {}, ...heading(group)), ...body(data, group, jumps)),
    profile(group),
  );
}

// Two lines, until it is opened.
function further(data: Data, group: Group, jumps: GroupJumps): HTMLElement {
  const inside = h("div", { class: "group" });
  const card = h(
    "details",
    { class: "card closed", id: `group-${group.number}` },
    h(
      "summary",
      {},
      h("span", { class: "cost" }, group.waits, h("small", { class: "dim" }, ` ${group.share}`)),
      h("span", {}, h("b", {}, ...heading(group)), h("br", {}), h("span", { class: "dim" }, group.gainWords || group.how)),
    ),
    inside,
  );
  card.addEventListener(
    "toggle",
    () => inside.append(figures(group), h("div", { class: "what" }, ...body(data, group, jumps)), profile(group) ?? ""),
    { once: true },
  );
  return card;
}

function figures(group: Group): HTMLElement {
  const figure = (value: string, words: string, hot: string) =>
    h("div", {}, h("div", { class: `big${hot}` }, value), h("div", { class: "dim" }, words));
  return h(
    "div",
    { class: "figures" },
    figure(group.waits, `of waiting, ${group.share}`, " hot"),
    group.gain === ""
      ? h("p", { class: "dim" }, group.gainWords)
      : figure(group.gain, `less without it, ${group.gainShare}`, ""),
  );
}

function body(data: Data, group: Group, jumps: GroupJumps): (HTMLElement | null)[] {
  const { parts, chain, leftOut } = group;
  const button = (text: string, action: string, click: () => void) =>
    h("button", { type: "button", "data-action": action, click }, text);
  const actions = h("div", { class: "actions" });
  if (chain !== undefined && jumps.chain !== undefined) {
    const go = (at: number) => () => jumps.chain!(chain, leftOut ?? 0, at);
    actions.append(button("Worst place on the timeline", "timeline", go(chain.length - 1)));
    if (chain.length > 1) actions.append(button("Follow the chain", "chain", go(0)));
  }
  const metric = Math.max(0, data.metricByName("delay"));
  if (group.call >= 0)
    actions.append(button("Show in the trees", "trees", () => jumps.trees(metric, group.call)));
  const row = (part: Group) =>
    h(
      "tr",
      {},
      h("td", {}, h("span", { class: "no part" }, part.number.slice(group.number.length))),
      h(
        "th",
        { scope: "row" },
        h("bdi", {}, shortened(part.title, 200)),
        part.place === "" ? null : h("code", {}, ` ${part.place}`),
      ),
      h("td", { class: "n" }, part.waits),
      h("td", { class: "n" }, part.gain || "\u2013"),
      h("td", { class: "dim last" }, part.how),
    );
  return [
    excerpt(data, group.source),
    parts === undefined
      ? h("p", { class: "dim how" }, group.how)
      : h(
          "table",
          { class: "rows" },
          h(
            "thead",
            {},
            h("tr", {}, h("td", {}), h("th", { scope: "col" }, "called from"), h("th", { scope: "col", class: "n" }, "waiting"),
              h("th", { scope: "col", class: "n" }, "gain"), h("th", { scope: "col", class: "last" }, "how the others wait")),
          ),
          h("tbody", {}, ...parts.map(row)),
        ),
    actions,
  ];
}

// A column a process, up what it makes others wait, down what it waits for this group: one scale.
function profile({ profile, profileOf, number }: Group): HTMLElement | null {
  if (profile === undefined || profile.length === 0) return null;
  const high = 64;
  const most = profile.reduce((m, [, up, down]) => Math.max(m, up, down), 0) || 1;
  const deepest = profile.reduce((m, [, , down]) => Math.max(m, down), 0);
  const highest = profile.reduce((m, [, up]) => Math.max(m, up), 0);
  const few = profile.length <= 8;
  const bar = (name: string, value: number, room: number) => {
    const fill = h("i", { class: name });
    fill.style.height = `${value > 0 ? Math.max(1, (value / most) * high) : 0}px`;
    const box = h("div", { class: `half ${name}-half` }, fill);
    box.style.height = `${Math.max(2, (room / most) * high)}px`;
    return box;
  };
  const columns = profile.map(([who, up, down]) =>
    h(
      "div",
      { class: "column", title: `${who}: makes others wait ${duration(up)}, waits ${duration(down)}` },
      few ? h("span", { class: "value" }, up > most / 50 ? duration(up) : "\u00a0") : null,
      bar("makes-wait", up, highest),
      bar("waits", down, deepest),
      few ? h("span", { class: "dim" }, down > most / 50 ? duration(down) : "\u00a0") : null,
      few ? h("span", { class: up > most / 2 ? "who" : "dim" }, shortened(who, 14)) : null,
    ),
  );
  const worst = profile.reduce((a, b) => (b[1] > a[1] ? b : a));
  return h(
    "figure",
    { class: "profile-of-group" },
    h("figcaption", { class: "dim" }, "makes others wait"),
    h(
      "div",
      {
        class: "columns",
        role: "img",
        "aria-label": `group ${number} by process: ${worst[0]} makes others wait ${duration(worst[1])}`,
      },
      ...columns,
    ),
    h("p", { class: "dim" }, "and waits itself"),
    few ? null : h("p", { class: "dim" }, profileOf || `${profile[0][0]} to ${profile[profile.length - 1][0]}, ${grouped(profile.length)} in all`),
  );
}
