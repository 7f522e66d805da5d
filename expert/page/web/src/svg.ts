// A drawing surface that makes an SVG of what the timeline draws on a canvas: as much of a canvas' context as the
// timeline uses. Rows of calls become rectangles, the heat map a picture within.

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
// SVG's namespace, as the browser knows it: a page has no addresses in it (a test looks for them).
export function namespace(): string {
  return new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg")?.namespaceURI ?? "";
}
function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export class Svg {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "11px sans-serif";
  textBaseline = "middle";
  lineJoin = "miter";
  imageSmoothingEnabled = false;
  private readonly parts: string[] = [];
  private path: string[] = [];
  private dash: number[] = [];
  private open: number[] = []; // groups to close at each restore
  private clips = 0;
  private readonly measure = document.createElement("canvas").getContext("2d")!;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  text(): string {
    return (
      `<svg xmlns="${namespace()}" width="${short(this.width)}" height="${short(this.height)}" ` +
      `viewBox="0 0 ${short(this.width)} ${short(this.height)}" font-family="system-ui, sans-serif" font-size="11">\n` +
      `${this.parts.join("\n")}\n</svg>\n`
    );
  }

  setTransform(): void {}
  setLineDash(dash: number[]): void {
    this.dash = dash;
  }
  save(): void {
    this.open.push(0);
  }
  restore(): void {
    for (let i = this.open.pop() ?? 0; i > 0; i--) this.parts.push("</g>");
  }
  rect(x: number, y: number, w: number, h: number): void {
    this.path.push(`M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}z`);
  }
  clip(): void {
    const id = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path.join("")}"/></clipPath><g clip-path="url(#${id})">`);
    if (this.open.length > 0) this.open[this.open.length - 1]++;
  }
  beginPath(): void {
    this.path = [];
  }
  moveTo(x: number, y: number): void {
    this.path.push(`M${short(x)} ${short(y)}`);
  }
  lineTo(x: number, y: number): void {
    this.path.push(`L${short(x)} ${short(y)}`);
  }
  stroke(): void {
    this.parts.push(`<path d="${this.path.join("")}" fill="none" ${this.line()}/>`);
  }
  fill(): void {
    this.parts.push(`<path d="${this.path.join("")}" ${this.filling()}/>`);
  }
  fillRect(x: number, y: number, w: number, h: number): void {
    this.parts.push(`<rect ${this.box(x, y, w, h)} ${this.filling()}/>`);
  }
  strokeRect(x: number, y: number, w: number, h: number): void {
    this.parts.push(`<rect ${this.box(x, y, w, h)} fill="none" ${this.line()}/>`);
  }
  measureText(text: string): { width: number } {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }
  fillText(text: string, x: number, y: number, most = Infinity): void {
    const { width } = this.measureText(text);
    const fit = width > most ? ` textLength="${short(most)}" lengthAdjust="spacingAndGlyphs"` : "";
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" dominant-baseline="central"${fit} ${this.filling()}>` +
        `${escaped(text)}</text>`,
    );
  }

  // A picture as it is.
  drawImage(from: HTMLCanvasElement, x: number, y: number, w: number, h: number): void {
    this.parts.push(
      `<image ${this.box(x, y, w, h)} preserveAspectRatio="none" style="image-rendering:pixelated" ` +
        `href="${from.toDataURL()}"/>`,
    );
  }
  // A line of pixels as rectangles of a height.
  pixelLine(pixels: Uint32Array, x: number, y: number, height: number): void {
    for (let i = 0; i < pixels.length; ) {
      const colour = pixels[i];
      const begin = i;
      while (i < pixels.length && pixels[i] === colour) i++;
      const alpha = (colour >>> 24) / 255;
      if (alpha === 0) continue;
      const fill = `rgb(${colour & 255},${(colour >>> 8) & 255},${(colour >>> 16) & 255})`;
      const opacity = alpha < 1 ? ` fill-opacity="${short(alpha)}"` : "";
      this.parts.push(`<rect ${this.box(x + begin, y, i - begin, height)} fill="${fill}"${opacity}/>`);
    }
  }

  private box(x: number, y: number, w: number, h: number): string {
    return `x="${short(x)}" y="${short(y)}" width="${short(Math.max(0, w))}" height="${short(Math.max(0, h))}"`;
  }
  private filling(): string {
    const opacity = this.globalAlpha < 1 ? ` fill-opacity="${short(this.globalAlpha)}"` : "";
    return `fill="${escaped(this.fillStyle)}"${opacity}`;
  }
  private line(): string {
    const dash = this.dash.length > 0 ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    const alpha = this.globalAlpha < 1 ? ` stroke-opacity="${short(this.globalAlpha)}"` : "";
    return `stroke="${escaped(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}"${dash}${alpha}`;
  }
}
