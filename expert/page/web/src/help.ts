// The list of keys.
import { h } from "./dom";

const keys: [string, string][] = [
  ["1 2 3 \u2026", "views"],
  ["m  c  s", "go to metrics, call paths, system"],
  ["\u2191 \u2193 Page Home End", "choose in a tree"],
  ["\u2192 \u2190", "expand, collapse, go to the parent"],
  ["*", "expand all"],
  ["/", "search; Enter goes to the next, Esc leaves"],
  ["p", "absolute, percent of root, percent of selection"],
  ["+  \u2212  \u2190 \u2192  0", "on the timeline: zoom, move, show all"],
  ["]  [", "on the timeline: higher, lower rows; all processes at once become a heat map of waiting"],
  ["n  N", "on the timeline: next, previous instance"],
  ["c  C", "verdict, timeline: next, previous step on the way to the cause"],
  ["s  S", "on the timeline: save what is seen as a picture, as a drawing (SVG)"],
  ["Shift \u2190 \u2192 \u2191 \u2193", "on the timeline: choose a call; Enter zooms to it"],
  ["\u2190 \u2192 \u2191 \u2193", "in matrix and topology: from cell to cell"],
  ["?", "this list"],
];

let dialog: HTMLDialogElement | undefined;

export function showHelp(): void {
  if (dialog === undefined) {
    const box: HTMLDialogElement = h(
      "dialog",
      { class: "help", "aria-label": "Keys" },
      h("h2", {}, "Keys"),
      h(
        "table",
        {},
        ...keys.map(([key, text]) => h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, key)), h("td", {}, text))),
      ),
      h("button", { type: "button", click: () => box.close() }, "Close"),
    );
    document.body.append(box);
    dialog = box;
  }
  if (!dialog.open) dialog.showModal();
}
