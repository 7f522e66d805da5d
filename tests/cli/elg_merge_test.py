"""elg_merge as a process: what is left of it when a signal ends it."""
import os
import pathlib
import signal
import struct
import subprocess
import time
import unittest

from cli import BIN, CommandTest

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def record(kind, body):
    return bytes([len(body), kind]) + body


def local_trace(rank, size, pairs):
    """A local trace: a region that is entered and left so many times, all at once."""
    head = b"EPILOG\0\2\0\1" + record(40, struct.pack("<QQIII", 1, 7, size, rank, 0))
    name = record(1, struct.pack("<IB", 0, 0) + b"work\0")
    region = record(9, struct.pack("<IIIIIIB", 0, 0, *[0xFFFFFFFF] * 4, 1))
    enter = record(101, struct.pack("<IdI", rank, 1.0, 0))
    return head + name + region + (enter + record(102, struct.pack("<Id", rank, 1.0))) * pairs


class Interrupted(CommandTest):
    def setUp(self):
        super().setUp()
        for name in ("local", "out", "temporary"):
            (self.dir / name).mkdir()

    def start(self, *inputs, output="out/a.elg"):
        return subprocess.Popen([str(BIN / "elg_merge"), "--quiet", "-o", output, *inputs],
                                cwd=self.dir, stderr=subprocess.PIPE,
                                env=dict(os.environ, TMPDIR=str(self.dir / "temporary")))

    def left(self):
        return sorted(os.listdir(self.dir / "out") + os.listdir(self.dir / "temporary"))

    def finish(self, running):
        _, err = running.communicate(timeout=60)
        return running.returncode, err.decode()

    def writes(self, running):
        """Whether it has a file open in the directory of the output."""
        for link in pathlib.Path(f"/proc/{running.pid}/fd").iterdir():
            try:
                if os.readlink(link).startswith(str(self.dir / "out") + "/"):
                    return True
            except FileNotFoundError:
                pass
        return False

    def test_while_it_writes(self):
        """Neither output nor temporary file, and an older output is what it was."""
        pairs = 1_000_000  # 32 MB a trace
        for number in SIGNALS:
            with self.subTest(number.name):
                caught = False
                while not caught:
                    for rank in (0, 1):
                        (self.dir / f"local/{rank}.elg").write_bytes(local_trace(rank, 2, pairs))
                    (self.dir / "out/a.elg").write_bytes(b"older")
                    running = self.start("local")
                    while running.poll() is None and not caught:
                        caught = self.writes(running)
                    running.send_signal(number)
                    status, err = self.finish(running)
                    caught = caught and status != 0
                    # A machine so busy that the merge was over first: with more to do.
                    pairs *= 1 if caught else 2
                    self.assertLessEqual(pairs, 16_000_000, "it was never seen writing")
                self.assertEqual((status, err), (-number, ""))
                self.assertEqual(self.left(), ["a.elg"])
                self.assertEqual((self.dir / "out/a.elg").read_bytes(), b"older")

    def test_while_it_waits_for_a_pipe(self):
        """An input that cannot be read twice is in a temporary file; half of it has come."""
        data = local_trace(0, 1, 100_000)
        for number in SIGNALS:
            with self.subTest(number.name):
                fifo = self.dir / f"{number.name}.elg"
                os.mkfifo(fifo)
                running = self.start(str(fifo))
                with open(fifo, "wb") as pipe:
                    pipe.write(data[:len(data) // 2])
                    pipe.flush()
                    while not self.asleep(running):
                        time.sleep(0.01)
                    running.send_signal(number)
                    self.assertEqual(self.finish(running), (-number, ""))
                self.assertEqual(self.left(), [])

    def asleep(self, running):
        """It waits, with its temporary file open."""
        temporary = str(self.dir / "temporary") + "/"
        links = [os.readlink(link) for link in pathlib.Path(f"/proc/{running.pid}/fd").iterdir()]
        state = pathlib.Path(f"/proc/{running.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        return state == "S" and any(link.startswith(temporary) for link in links)

    def test_a_signal_that_is_ignored_stops_nothing(self):
        """As under nohup."""
        fifo = self.dir / "in.elg"
        os.mkfifo(fifo)
        data = local_trace(0, 1, 1000)
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            running = self.start(str(fifo))
        finally:
            signal.signal(signal.SIGHUP, before)
        with open(fifo, "wb") as pipe:
            pipe.write(data[:100])
            pipe.flush()
            running.send_signal(signal.SIGHUP)
            pipe.write(data[100:])
        self.assertEqual(self.finish(running), (0, ""))
        self.assertEqual(self.left(), ["a.elg"])


if __name__ == "__main__":
    unittest.main()
