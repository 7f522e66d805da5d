#!/usr/bin/env python3
"""Everybody can read the page: contrast of all text in both themes, names of controls, and what is printed.

Usage: access_test.py BINARY_DIR REFERENCE_DIR [unittest arguments]
Needs Chromium.
"""
import base64
import re
import zlib

from pages import FRAME, main
from program_test import Recorded, program

# Every text that is seen, with its contrast to what lies behind it (WCAG 2.2, 1.4.3): the backgrounds of all elements
# around it, laid over each other. Text on pictures is not in it.
CONTRASTS = """(() => {
  const context = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const over = (colours) => {
    context.clearRect(0, 0, 1, 1);
    for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = new Map(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode, element = text.parentElement;
    if (text.data.trim() === '' || !element.checkVisibility({visibilityProperty: true, opacityProperty: true}) ||
        element.closest('option, noscript, script, style') !== null || element.matches(':disabled')) continue;
    const behind = [];
    for (let e = element; e !== null; e = e.parentElement) behind.unshift(getComputedStyle(e).backgroundColor);
    const style = getComputedStyle(element), ground = over(['#fff', ...behind]);
    const ink = over(['#fff', ...behind, element.closest('svg') ? style.fill : style.color]);
    const [a, b] = [light(ground), light(ink)].sort((x, y) => x - y);
    const contrast = (b + 0.05) / (a + 0.05), key = `${ink} on ${ground}`;
    if (!found.has(key)) found.set(key, [contrast, key, element.className + ': ' + text.data.trim().slice(0, 40)]);
  }
  return [...found.values()].sort((x, y) => x[0] - y[0]);
})()"""
# Of each control that is seen: what is written on it, its name, and the card it stands in.
NAMES = """[...document.querySelectorAll('button, summary, select, input, a')]
  .filter((e) => e.checkVisibility())
  .map((e) => ({seen: e.matches('select, input') ? '' : e.innerText.trim(), title: e.title,
                name: (e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.innerText).trim(),
                inside: e.closest('section, li, [role=group]')?.getAttribute('aria-label') ?? ''}))"""


def printed(page):
    """Of each page of paper how many times text is put on it."""
    data = base64.b64decode(page.send("Page.printToPDF", printBackground=True, paperHeight=6)["data"])
    objects = dict(re.findall(rb"(?s)(\d+) 0 obj\n(.*?)\nendobj", data))
    pages = [body for body in objects.values() if re.search(rb"/Type /Page\b", body)]
    contents = (objects[re.search(rb"/Contents (\d+) 0 R", body).group(1)] for body in pages)
    streams = [zlib.decompress(re.search(rb"(?s)stream\n(.*?)\nendstream", text).group(1)) for text in contents]
    return [len(re.findall(rb"T[jJ]\b", stream)) for stream in streams]


class Access(Recorded):
    """A run with causes, an open list of them, and source of its calls."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.html = cls.record_with_source("run", "--causes")[2]
        cls.plain = cls.record("plain", program())[2]

    def views(self, page):
        for view in page.evaluate("[...document.querySelectorAll('[role=tab]')].map(e => e.id)"):
            page.click("#" + view)
            page.evaluate(FRAME)
            yield view

    def test_contrast_of_all_text(self):
        for html in (self.html, self.plain):
            for dark in (False, True):
                page = self.open(html, dark=dark)
                for view in self.views(page):
                    contrasts = page.evaluate(CONTRASTS)
                    self.assertGreater(len(contrasts), 2, view)
                    self.assertGreaterEqual(contrasts[0][0], 4.5, (view, dark, contrasts[0]))
        self.assertGreater(page.evaluate(CONTRASTS)[-1][0], 12)

    def test_names_of_controls_are_what_is_seen(self):
        page = self.open(self.html)
        for view in self.views(page):
            for control in page.evaluate(NAMES):
                self.assertNotEqual(control["name"], "", (view, control))
                if re.search("[A-Za-z]", control["seen"]):  # not a sign
                    self.assertEqual(control["name"], control["seen"], (view, control))

    def test_no_printed_page_is_blank(self):
        """Many causes and findings, on paper that is lower than all causes together."""
        for html in (self.html, self.plain):
            page = self.open(html, dark=True)
            for view in self.views(page):
                texts = printed(page)
                self.assertGreater(texts[0], 12, (view, texts))  # more than the header
                self.assertGreater(min(texts), 2, (view, texts))

    def test_a_run_of_threads_has_its_program_s_name(self):
        """The threads begin in another region than the processes do, so no root is the program's."""
        events = ('RUN_PROPERTY key="run.command" value="/home/me/bin/wave -n 3"\n'
                  "LOCATION lid=0 mid=0 nid=0 pid=0 tid=0\nLOCATION lid=1 mid=0 nid=0 pid=0 tid=1\n"
                  "ENTER lid=0 time=0 region=wave\nENTER lid=1 time=1 region=work\n"
                  "EXIT lid=1 time=2\nEXIT lid=0 time=2.5\n")
        page = self.open(self.record("threads", events)[2])
        self.assertEqual(page.evaluate("document.title"), "wave: 1 process, 2 threads")
        self.assertEqual(page.text("header.page .brand").replace("\u00a0", " "), "wave1 process, 2 threads on node0, 2.50 s")

    def test_paper_is_light(self):
        page = self.open(self.html, dark=True)
        page.send("Emulation.setEmulatedMedia", media="print",
                  features=[{"name": "prefers-color-scheme", "value": "dark"}])
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertEqual(page.evaluate("getComputedStyle(document.querySelector('header.page')).position"), "static")
        contrasts = page.evaluate(CONTRASTS)
        self.assertGreaterEqual(contrasts[0][0], 4.5, contrasts[0])


if __name__ == "__main__":
    main()
