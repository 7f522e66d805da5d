"""elg2paje: read by a strict reader of the documented format, and by pajeng's tools where they are there."""
import shutil
import subprocess
import unittest

from exported import REFERENCE, TEXT_TRACE, ExportTest


class Paje:
    """A trace in Paje's format. Every line must fit its definition, times must not go back, pops have pushes, links have
    both ends, and everything that is named has been defined."""

    def __init__(self, text):
        self.definitions, lines = {}, iter(text.splitlines())
        self.containers, self.values, self.types = {"0": "0"}, {}, {"0"}
        self.states, self.links, self.depth, self.time = [], {}, {}, 0.0
        current = None
        for line in lines:
            if line.startswith("%EventDef"):
                _, name, number = line.split()
                current = self.definitions[number] = (name, [])
            elif line.startswith("%EndEventDef"):
                current = None
            elif line.startswith("%"):
                current[1].append(line[1:].split())
            else:
                self.event(self.split(line))

    @staticmethod
    def split(line):
        words, rest = [], line
        while rest:
            if rest[0] == '"':
                end = rest.index('"', 1)
                words.append(rest[1:end])
                rest = rest[end + 1:].lstrip()
            else:
                word, _, rest = rest.partition(" ")
                words.append(word)
        return words

    def event(self, words):
        name, fields = self.definitions[words[0]]
        assert len(fields) == len(words) - 1, words
        e = {field: word for (field, _), word in zip(fields, words[1:])}
        if "Time" in e:
            assert float(e["Time"]) >= self.time, words
            self.time = float(e["Time"])
        getattr(self, name)(e)

    def PajeDefineContainerType(self, e):
        assert e["Type"] in self.types
        self.types.add(e["Alias"])

    PajeDefineStateType = PajeDefineLinkType = PajeDefineContainerType

    def PajeDefineEntityValue(self, e):
        assert e["Type"] in self.types and len(e["Color"].split()) == 3
        self.values[e["Alias"]] = e["Name"]

    def PajeCreateContainer(self, e):
        assert e["Container"] in self.containers and e["Type"] in self.types
        self.containers[e["Alias"]] = e["Name"]

    def PajeDestroyContainer(self, e):
        self.containers.pop(e["Name"])

    def PajePushState(self, e):
        self.depth.setdefault(e["Container"], []).append((self.time, self.values[e["Value"]]))
        assert e["Container"] in self.containers

    def PajePopState(self, e):
        begin, value = self.depth[e["Container"]].pop()
        self.states.append((self.containers[e["Container"]], value, begin, self.time))

    def PajeStartLink(self, e):
        assert e["Key"] not in self.links
        self.links[e["Key"]] = [self.values[e["Value"]], self.containers[e["StartContainer"]], self.time]

    def PajeEndLink(self, e):
        link = self.links[e["Key"]]
        assert len(link) == 3 and link[0] == self.values[e["Value"]]
        link += [self.containers[e["EndContainer"]], self.time]

    def whole_links(self):
        assert all(len(link) == 5 for link in self.links.values())
        return sorted(map(tuple, self.links.values()))


class Elg2Paje(ExportTest):
    def convert(self, trace, *options):
        self.run_tool("elg2paje", "-q", "-o", "a.paje", *options, trace)
        return Paje((self.dir / "a.paje").read_text())

    def test_small(self):
        paje = self.convert(self.small())
        self.assertIn(("Rank 1", "MPI_Recv", 2, 3), paje.states)
        self.assertIn(("Rank 0", "main", 0, 9), paje.states)
        self.assertEqual(len(paje.states), 10)
        self.assertEqual(paje.whole_links(), [("get", "Rank 1", 5.5, "Rank 0", 7), ("message", "Rank 0", 1, "Rank 1", 3),
                                              ("put", "Rank 0", 5, "Rank 1", 7)])

    def test_views(self):
        """The request of a get goes from 5.25 s to 5.5 s; the data of a get that start as late as they can start right
        before the origin leaves its fence at 7 s, but when the target left its own at 6.5 s."""
        links = lambda view: self.convert(self.small(), "--rma-view", view).whole_links()  # noqa: E731
        usual = links("transfers")
        self.assertEqual(sorted(links("closed")), sorted([*usual, ("request", "Rank 0", 5.25, "Rank 1", 5.5)]))
        self.assertEqual(links("logical")[0], ("get", "Rank 1", 6.5, "Rank 0", 7))
        self.assertEqual(links("logical")[1:], usual[1:])
        self.assertEqual(links("dependencies"), usual)  # there are no groups that synchronise
        self.run_tool("elg2paje", "--rma-view", "other", "small.elg", status=1)

    def test_dependencies(self):
        """gats.c: each of three origins has a post to wait for and is waited for by the target, once in each round."""
        links = self.convert(REFERENCE / "gats.elg", "--rma-view", "dependencies").whole_links()
        posts = self.records(REFERENCE / "gats.elg")["MPI_WINEXIT"]
        kinds = [link[0] for link in links]
        self.assertGreater(posts, 0)
        self.assertEqual(kinds.count("dependency") % 2, 0)
        self.assertGreaterEqual(kinds.count("dependency"), 6)
        for kind, begin, start, end, stop in links:
            if kind == "dependency":
                self.assertTrue(begin != end and start <= stop)

    def test_reference_traces(self):
        for name in ("fence", "gats"):
            with self.subTest(name):
                trace = REFERENCE / f"{name}.elg"
                paje, records = self.convert(trace), self.records(trace)
                self.assertEqual(len(paje.states), self.entered(trace))
                self.assertEqual(sum(link[0] in ("put", "get") for link in paje.whole_links()),
                                 records["MPI_PUT_1TE"] + records["MPI_GET_1TE"])
                self.assertEqual(list(paje.containers), ["0"])  # all are destroyed

    def test_pajeng_reads_it(self):
        if shutil.which("pj_dump") is None:
            self.fail("pajeng is not installed (tools/install-packages does)")
        self.convert(self.small())
        dump = subprocess.run(["pj_dump", self.dir / "a.paje"], check=True, capture_output=True, text=True, timeout=60)
        states = [line.split(", ") for line in dump.stdout.splitlines() if line.startswith("State")]
        self.assertEqual(len(states), 10)
        self.assertIn(["Rank 1", "MPI_Recv", 2.0], [[s[1], s[7], float(s[3])] for s in states])
        self.assertEqual(sum(line.startswith("Link") for line in dump.stdout.splitlines()), 3)

    def test_more_than_fits_into_memory_is_sorted_all_the_same(self):
        """16 MiB hold about 330,000 lines; these are 800,000. The program takes no more memory for them."""
        (self.dir / "many.txt").write_text("\n".join(
            ["ENTER lid=0 time=0 region=main"] + [f"ENTER lid=0 time={i}e-6 region=f\nEXIT lid=0 time={i}.5e-6" for i in range(400_000)]
            + ["EXIT lid=0 time=1"]) + "\n")
        subprocess.run([TEXT_TRACE, self.dir / "many.txt", self.dir / "many.elg"], check=True, timeout=120)
        peak = self.peak("elg2paje", "-q", "-o", "a.paje", "many.elg")
        self.assertGreater((self.dir / "a.paje").stat().st_size, 15e6)
        self.assertLess(peak, 45)
        last, count = -1.0, 0
        with open(self.dir / "a.paje", encoding="utf8") as file:
            for line in file:
                if line[0] in "67":
                    time = float(line.split(None, 2)[1])
                    self.assertGreaterEqual(time, last)
                    last, count = time, count + 1
        self.assertEqual(count, 2 * 400_001)

    def test_wrong_input(self):
        self.run_tool("elg2paje", status=1)
        self.run_tool("elg2paje", "-", status=1)
        self.run_tool("elg2paje", "absent.elg", status=2)
        self.run_tool("elg2paje", "-o", "absent/a.paje", REFERENCE / "gats.elg", status=4)
        (self.dir / "cut.elg").write_bytes((REFERENCE / "gats.elg").read_bytes()[:12000])
        self.run_tool("elg2paje", "cut.elg", status=3)
        Paje((self.dir / "a.paje").read_text())


if __name__ == "__main__":
    unittest.main()
