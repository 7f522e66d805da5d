"""The page's colours can be told apart, also without red or green cones, what processes do also without blue ones and on
paper without colours: computed by simulation.

Machado, Oliveira, Fernandes: A physiologically-based model for simulation of color vision deficiency (2009), severity 1;
distances are those of CIE 1976 L*a*b*, in which 2.3 is just noticeable.
Usage: colours_test.py SOURCE_DIR
"""
import itertools
import math
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1]) / "expert/page/web/src"
LEAST = 15
EYES = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red cones": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green cones": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no blue cones": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def multiplied(matrix, vector):
    return [sum(m * v for m, v in zip(row, vector)) for row in matrix]


def lab(rgb, eye):
    linear = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    linear = [min(1, max(0, c)) for c in multiplied(EYES[eye], linear)]
    xyz = multiplied(((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750),
                      (0.0193339, 0.1191920, 0.9503041)), linear)
    f = [t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
         for t in (v / white for v, white in zip(xyz, (0.95047, 1, 1.08883)))]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


# Thirteen kinds of calls are too many for eyes without blue cones.
MOST_EYES = [eye for eye in EYES if eye != "no blue cones"]


def closest(colours, eyes=MOST_EYES):
    """The smallest distance of two of them for any eye, with the eye and the two."""
    return min((math.dist(lab(a, eye), lab(b, eye)), eye, a, b)
               for eye in eyes for a, b in itertools.combinations(colours, 2))


def hexadecimal(text):
    return tuple(int(text[i:i + 2], 16) for i in (1, 3, 5))


class Colours(unittest.TestCase):
    def test_the_measure(self):
        red, green = (200, 60, 60), (110, 130, 60)
        self.assertGreater(math.dist(lab(red, "all cones"), lab(green, "all cones")), 50)
        self.assertLess(math.dist(lab(red, "no green cones"), lab(green, "no green cones")), 20)
        self.assertAlmostEqual(lab((255, 255, 255), "all cones")[0], 100, 1)

    def test_what_a_process_does(self):
        """Of any two, and the card behind them."""
        style = (SOURCE / "style.css").read_text()
        names = ("makes-wait", "waits", "computes", "mpi", "no-processor", "blocked", "critical", "card")
        pairs = {name: re.search(rf"--{name}: light-dark\((#\w{{6}}), (#\w{{6}})\);", style).groups() for name in names}
        for theme, least, (strong, calls) in ((0, 15.9, (34, 13)), (1, 18.9, (22, 0))):
            colours = {name: hexadecimal(pair[theme]) for name, pair in pairs.items()}
            self.assertGreater(closest(colours.values(), EYES)[0], least, closest(colours.values(), EYES))
            grey = {name: lab(colour, "all cones")[0] for name, colour in colours.items()}
            self.assertGreater(abs(grey["makes-wait"] - grey["waits"]), strong - 0.5)
            self.assertGreater(abs(grey["waits"] - grey["mpi"]), calls - 0.5)

    def test_the_timeline_has_them_too(self):
        style, drawn = (SOURCE / "style.css").read_text(), (SOURCE / "timeline-canvas.ts").read_text()
        dark, light = re.search(r'function pathColour.*?"(#\w{6})" : "(#\w{6})"', drawn, re.S).groups()
        self.assertIn(f"--critical: light-dark({light}, {dark});", style)
        rows = re.search(r"idleColour.*?\[([\d, ]+)\] : \[([\d, ]+)\]", (SOURCE / "colour.ts").read_text(), re.S).groups()
        dark, light = ("#%02x%02x%02x" % tuple(map(int, row.split(","))) for row in rows)
        self.assertIn(f"--no-processor: light-dark({light}, {dark});", style)

    def test_kinds_of_calls(self):
        text = (SOURCE / "colour.ts").read_text()
        names = re.search(r"regionKinds = \[(.*?)\]", text, re.S).group(1).count('"') // 2
        for theme in ("kindLight", "kindDark"):
            block = re.search(rf"const {theme}: Rgb\[\] = \[(.*?)\n\];", text, re.S).group(1)
            colours = [tuple(map(int, row)) for row in re.findall(r"\[(\d+), (\d+), (\d+)\]", block)]
            self.assertEqual(len(colours), names)
            # Waiting stands out of all kinds.
            waiting = re.search(rf"waiting{theme[4:]}: Rgb = \[(\d+), (\d+), (\d+)\]", text).groups()
            colours_and_waiting = [(math.dist(lab(c, eye), lab(tuple(map(int, waiting)), eye)), eye, c)
                                   for eye in MOST_EYES for c in colours]
            self.assertGreater(min(colours_and_waiting)[0], 2 * LEAST, min(colours_and_waiting))
            self.assertGreater(closest(colours)[0], LEAST, f"{theme}: {closest(colours)}")

    def test_epochs_and_arrows(self):
        text = (SOURCE / "timeline-canvas.ts").read_text()
        bands = re.findall(r'\["(#\w{6})", "(#\w{6})"\]', re.search(r"bandColours.*?\n\];", text, re.S).group(0))
        arrows = re.findall(r'Style\.(?:Message|Put|Get|Request|Wait)\]: \["(#\w{6})", "(#\w{6})"\]', text)
        self.assertEqual((len(bands), len(arrows)), (6, 5))
        for rows in (bands, arrows):
            for theme in (0, 1):
                colours = [hexadecimal(row[theme]) for row in rows]
                self.assertGreater(closest(colours)[0], LEAST, closest(colours))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
