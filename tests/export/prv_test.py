"""elg2prv: read by a strict reader of Paraver's documented format."""
import re
import unittest

from exported import NS, REFERENCE, ExportTest

REGION, WINDOW, BYTES = 60000019, 60000201, 60000202
RECEIVING, SYNCHRONISING, RUNNING, SENDING, ONE_SIDED, COLLECTIVE, IDLE = 3, 5, 1, 4, 9, 13, 0


class Prv:
    """Times must not go back or behind the end, objects must be in the header, and states of a thread must follow each
    other from 0 to the end without gap and overlap."""

    def __init__(self, text):
        header, *lines = text.splitlines()
        match = re.fullmatch(r"#Paraver \(\d\d/\d\d/\d\d at \d\d:\d\d\):(\d+)_ns:(\d+)\(([\d,]+)\):1:(\d+)\(([\d:,]+)\)",
                             header)
        self.end, nodes, cpus, tasks, threads = match.groups()
        self.end = int(self.end)
        cpus = [int(cpu) for cpu in cpus.split(",")]
        threads = [int(thread.split(":")[0]) for thread in threads.split(",")]
        assert len(cpus) == int(nodes) and len(threads) == int(tasks)
        self.cpus, self.threads = sum(cpus), threads
        self.states, self.events, self.communications, last = {}, [], [], 0
        for line in lines:
            kind, *values = [int(word) for word in line.split(":")]
            where, values = tuple(values[:4]), values[4:]
            self.check(where)
            assert last <= values[0] <= self.end, line
            last = values[0]
            if kind == 1:
                begin, end, state = values
                assert end <= self.end
                self.states.setdefault(where[2] - 1, []).append((begin, end, state))
            elif kind == 2:
                time, *pairs = values
                assert len(pairs) % 2 == 0 and pairs
                self.events.append((where[2] - 1, time, dict(zip(pairs[::2], pairs[1::2]))))
            else:
                assert kind == 3 and len(values) == 10
                self.check(tuple(values[2:6]))
                sent, also, received, same = values[0], values[1], values[6], values[7]
                assert sent == also and received == same and sent <= received <= self.end
                self.communications.append((where[2] - 1, sent, values[4] - 1, received, values[8], values[9]))
        for states in self.states.values():
            assert states[0][0] == 0 and states[-1][1] == self.end
            assert all(one[1] == next_[0] and one[0] < one[1] for one, next_ in zip(states, states[1:]))

    def check(self, where):
        cpu, application, task, thread = where
        assert 1 <= cpu <= self.cpus and application == 1 and 1 <= thread <= self.threads[task - 1], where


def values_of(pcf, event_type):
    """The names of the values of an event type."""
    block = next(block for block in pcf.split("EVENT_TYPE") if re.search(rf"^0 +{event_type} ", block, re.M))
    return {int(number): name for number, name in re.findall(r"^(\d+) {6}(.*)$", block, re.M)}


class Elg2Prv(ExportTest):
    def convert(self, trace, *options):
        self.run_tool("elg2prv", "-q", "-o", "a.prv", *options, trace)
        return Prv((self.dir / "a.prv").read_text())

    def test_small(self):
        prv = self.convert(self.small())
        self.assertEqual(prv.end, 9 * NS)
        tenths = lambda *states: [(begin * NS // 10, end * NS // 10, state) for begin, end, state in states]  # noqa: E731
        self.assertEqual(prv.states[1], tenths((0, 20, RUNNING), (20, 30, RECEIVING), (30, 35, RUNNING),
                                               (35, 40, SYNCHRONISING), (40, 60, RUNNING), (60, 65, SYNCHRONISING),
                                               (65, 90, RUNNING)))
        self.assertEqual([state for _, _, state in prv.states[0]],
                         [RUNNING, SENDING, RUNNING, SYNCHRONISING, RUNNING, ONE_SIDED, RUNNING, ONE_SIDED, RUNNING,
                          SYNCHRONISING, RUNNING])
        # Messages with their tag; puts and gets with tags of their own.
        self.assertEqual(sorted(prv.communications),
                         [(0, 1 * NS, 1, 3 * NS, 100, 7), (0, 5 * NS, 1, 7 * NS, 8, 1000000001),
                          (1, 55 * NS // 10, 0, 7 * NS, 16, 1000000002)])
        self.assertEqual([(rank, time, pairs[BYTES]) for rank, time, pairs in prv.events if WINDOW in pairs],
                         [(0, 5 * NS, 8), (0, 55 * NS // 10, 16)])

    def test_shmem_and_its_kin(self):
        """A call of SHMEM or ARMCI has the state of one of MPI that does the same, and is no computing."""
        calls = {"shmem_quiet": SYNCHRONISING, "shmem_barrier_all": SYNCHRONISING, "shmem_putmem": ONE_SIDED,
                 "shmem_wait": RECEIVING, "shmem_sum_reduce": COLLECTIVE, "ARMCI_Get": ONE_SIDED, "user": RUNNING,
                 "ARMCI_Lock": SYNCHRONISING}
        text = ["ENTER lid=0 time=0 region=main"]
        for n, name in enumerate(calls):
            text += [f"ENTER lid=0 time={2 * n + 1} region={name}", f"EXIT lid=0 time={2 * n + 2}"]
        prv = self.convert(self.small("\n".join([*text, "EXIT lid=0 time=20", ""])))
        state = lambda at: next(state for begin, end, state in prv.states[0] if begin <= at * NS < end)  # noqa: E731
        for n, (name, expected) in enumerate(calls.items()):
            with self.subTest(name):
                self.assertEqual(state(2 * n + 1.5), expected)
                self.assertEqual(state(2 * n + 0.5), RUNNING)

    def test_names(self):
        prv = self.convert(self.small())
        pcf, row = (self.dir / "a.pcf").read_text(), (self.dir / "a.row").read_text()
        names = values_of(pcf, REGION)
        entered = [names[pairs[REGION]] for rank, _, pairs in prv.events if rank == 1 and REGION in pairs]
        self.assertEqual(entered, ["main", "MPI_Recv", "main", "MPI_Win_fence", "main", "MPI_Win_fence", "main", "End"])
        for level, names in re.findall(r"LEVEL \w+ SIZE (\d+)\n((?:.+\n)*)", row):
            self.assertEqual(len(names.splitlines()), int(level))
        states = re.search(r"^STATES\n((?:\d+ .*\n)+)", pcf, re.M)[1]
        colours = re.search(r"^STATES_COLOR\n((?:\d+ .*\n)+)", pcf, re.M)[1]
        self.assertEqual([line.split()[0] for line in states.splitlines()],
                         [line.split()[0] for line in colours.splitlines()])

    def test_views(self):
        usual = self.convert(self.small()).communications
        closed = self.convert(self.small(), "--rma-view", "closed").communications
        self.assertEqual(sorted(closed),
                         sorted([*usual, (0, 525 * NS // 100, 1, 55 * NS // 10, 0, 1000000003)]))

    def test_reference_traces(self):
        for name in ("fence", "gats"):
            with self.subTest(name):
                trace = REFERENCE / f"{name}.elg"
                prv, records = self.convert(trace), self.records(trace)
                self.assertEqual(sum(REGION in pairs for _, _, pairs in prv.events), 2 * self.entered(trace))
                self.assertEqual(len(prv.communications), records["MPI_PUT_1TE"] + records["MPI_GET_1TE"])

    def test_wrong_input(self):
        self.run_tool("elg2prv", status=1)
        self.run_tool("elg2prv", "-", status=1)
        self.run_tool("elg2prv", "-o", "-", REFERENCE / "gats.elg", status=1)
        self.run_tool("elg2prv", "absent.elg", status=2)
        self.run_tool("elg2prv", "-o", "absent/a.prv", REFERENCE / "gats.elg", status=4)
        (self.dir / "cut.elg").write_bytes((REFERENCE / "gats.elg").read_bytes()[:12000])
        self.run_tool("elg2prv", "cut.elg", status=3)
        Prv((self.dir / "a.prv").read_text())


if __name__ == "__main__":
    unittest.main()
