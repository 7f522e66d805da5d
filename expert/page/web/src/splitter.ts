// Bars between panes that can be dragged, or moved with the arrow keys, to share the width.
import { h } from "./dom";

export function splitter(panes: HTMLElement[]): void {
  const shares = panes.map(() => 1);
  const apply = () => panes.forEach((pane, i) => (pane.style.flexGrow = String(shares[i])));
  panes.slice(0, -1).forEach((pane, i) => {
    const move = (dx: number) => {
      const both = shares[i] + shares[i + 1];
      const width = panes[i].clientWidth + panes[i + 1].clientWidth;
      if (width === 0) return;
      shares[i] = Math.min(both * 0.9, Math.max(both * 0.1, shares[i] + (dx / width) * both));
      shares[i + 1] = both - shares[i];
      bar.setAttribute("aria-valuenow", String(Math.round((100 * shares[i]) / both)));
      apply();
    };
    const bar = h("div", {
      class: "splitter",
      role: "separator",
      tabindex: 0,
      "aria-orientation": "vertical",
      "aria-valuenow": 50,
      "aria-label": "Width of the panes",
      keydown: (e: KeyboardEvent) => {
        if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
        move(e.key === "ArrowLeft" ? -20 : 20);
        e.preventDefault();
      },
      pointerdown: (e: PointerEvent) => bar.setPointerCapture(e.pointerId),
      pointermove: (e: PointerEvent) => {
        if (bar.hasPointerCapture(e.pointerId)) move(e.movementX);
      },
    });
    pane.after(bar);
  });
  apply();
}
