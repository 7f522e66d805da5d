"""Merged traces as elg_merge writes them: compact, with checksums, maybe compressed; all tools say the same of each form."""
import json
import struct
import subprocess
import unittest

from cli import BIN, CommandTest

MAKE_TRACES = BIN.parent / "tests" / "make_traces"
KINDS = ("fence", "lock", "p2p", "one")


class MergedTest(CommandTest):
    compared = False  # the same reports, again and again
    not_compared_because = "made-up traces, whose reports are compared with one another"

    def merge(self, kind, name, *options, events=20_000):
        """The trace <name>/a.elg: so that a name that stands in an output is the same."""
        local = self.dir / f"local-{kind}"
        if not local.exists():
            subprocess.run([MAKE_TRACES, kind, local, "--ranks", "4", "--events", str(events)], check=True)
        (self.dir / name).mkdir(exist_ok=True)
        ran = self.run_command("elg_merge", "-q", *options, "-o", f"{name}/a.elg", f"local-{kind}")
        self.assertEqual((ran.status, ran.err), (0, ""))
        return self.dir / name / "a.elg"


class Forms(MergedTest):
    def outputs(self, name, kind):
        """What each tool makes of a trace."""
        folder = self.dir / name
        trace = f"{name}/a.elg"
        results = {"print": self.run_command("elg_print", trace).lines[1:],
                   "verify": self.run_command("elg_print", "--verify", trace).out.split(":", 1)[1],
                   "stat": self.run_command("elg_stat", trace).out.replace(trace, "a.elg")}
        for part in ("part", "part.zst"):
            options = ["--zstd"] if part.endswith("zst") else []
            ran = self.run_command("elg_filter", "-q", *options, "--rank", "1-2", "-o", f"{name}/{part}", trace)
            self.assertEqual((ran.status, ran.err), (0, ""))
            results[part] = self.run_command("elg_print", f"{name}/{part}").lines[1:]
        self.assertEqual(results["part"], results["part.zst"])
        commands = {"cube": ["expert", "-q", "-o", "a.cube", "--html", "a.html", "a.elg"],
                    "perfetto": ["elg2perfetto", "-q", "-o", "a.perfetto", "a.elg"],
                    "paje": ["elg2paje", "-q", "-o", "a.paje", "a.elg"],
                    "prv": ["elg2prv", "-q", "-o", "a.prv", "a.elg"]}
        for result, command in commands.items():
            done = subprocess.run([BIN / command[0], *command[1:]], cwd=folder, capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b""), (name, kind, command))
            results[result] = (folder / f"a.{result}").read_bytes()
        results["html"] = (folder / "a.html").read_bytes()
        stream = self.run_bytes("expert", "-q", "-o", "-", "-", stdin=(folder / "a.elg").read_bytes())
        self.assertEqual((stream.returncode, stream.stderr), (0, b""))
        results["stream"] = stream.stdout
        return results

    def test_every_tool_says_the_same(self):
        for kind in KINDS:
            compact = self.merge(kind, "compact").read_bytes()
            self.assertEqual(compact[:10], b"EPILOG\0\3\0\1")
            native = self.merge(kind, "native", "--format", "native").read_bytes()
            self.assertEqual(native[:10], b"EPILOG\0\2\0\1")
            events = json.loads(self.run_command("elg_stat", "--json", "compact/a.elg").out)["events"]
            self.assertLessEqual(len(compact) / events, 10)
            self.assertEqual(self.merge(kind, "zstd", "--zstd").read_bytes()[:4], b"\x28\xb5\x2f\xfd")
            self.assertEqual(self.merge(kind, "gzip", "--gzip").read_bytes()[:2], b"\x1f\x8b")
            self.merge(kind, "native-zstd", "--zstd", "--format", "native")
            expected = self.outputs("native", kind)
            self.assertEqual(expected["cube"], expected["stream"])
            for name in ("compact", "zstd", "gzip", "native-zstd"):
                for result, content in self.outputs(name, kind).items():
                    self.assertTrue(content == expected[result], (kind, name, result))

    def test_a_pipe_gets_the_same_bytes(self):
        for options in ([], ["--zstd"], ["--gzip"], ["--format", "native"]):
            whole = self.merge("fence", "file", *options).read_bytes()
            run = self.run_bytes("elg_merge", "-q", *options, "-o", "-", "local-fence")
            self.assertEqual((run.returncode, run.stderr), (0, b""))
            self.assertTrue(run.stdout == whole, options)

    def test_any_number_of_threads_writes_the_same_bytes(self):
        for options in ([], ["--zstd"], ["--format", "native"]):
            one = self.merge("fence", "one", "--threads", "1", *options, events=200_000).read_bytes()
            for threads in ("2", "16"):
                self.assertTrue(self.merge("fence", "more", "--threads", threads, *options).read_bytes() == one, threads)

    def test_one_compression_at_a_time(self):
        self.assert_fails(self.run_command("elg_merge", "--zstd", "--gzip", "x"), 1, "--zstd or --gzip, not both")
        self.assert_fails(self.run_command("elg_filter", "--zstd", "--gzip", "x"), 1, "--zstd or --gzip, not both")


def blocks_of(trace):
    """Where the blocks begin: 0xFF, 0x5A, length and checksum."""
    places, at = [], 10
    while at < len(trace):
        places.append(at)
        at += 10 + struct.unpack_from("<I", trace, at + 2)[0]
    return places


class Damage(MergedTest):
    COMMANDS = (["elg_print"], ["elg_print", "--verify"], ["elg_stat"], ["elg_filter", "-o", "x.elg"],
                ["expert", "-o", "x.cube"], ["elg2perfetto", "-o", "x.perfetto"], ["elg2paje", "-o", "x.paje"],
                ["elg2prv", "-o", "x.prv"])

    def everywhere(self, name, *words):
        for command in self.COMMANDS:
            with self.subTest(command):
                ran = self.run_command(*command, name)
                # What checks a file finds an error in it.
                self.assertEqual(ran.status, 2 if "--verify" in command else 3, ran.err)
                for text in words:
                    self.assertIn(text, " ".join((ran.err + ran.out).split()))

    def test_a_wrong_checksum(self):
        trace = self.merge("fence", "whole").read_bytes()
        whole = self.run_command("elg_print", "whole/a.elg").lines
        blocks = blocks_of(trace)
        self.assertGreater(len(blocks), 10)
        block = blocks[len(blocks) // 2]
        bad = bytearray(trace)
        bad[block + 100] ^= 1
        self.file("bad.elg", bytes(bad))
        self.everywhere("bad.elg", "a block's checksum is wrong", f"offset {block}")
        kept = self.run_command("elg_print", "bad.elg").lines
        self.assertEqual(kept, whole[:len(kept)])
        # A block is 4 KiB of records, of 14 bytes at least: 293. In the middle of the blocks is the middle of the events,
        # but for a few.
        self.assertLess(len(whole) // 2 - len(kept), 2 * 293)
        # What was cut out of it says that something was lost.
        self.assertIn("LOST", self.run_command("elg_print", "x.elg").out)

    def test_a_compressed_file_that_is_cut_off(self):
        for option in ("--zstd", "--gzip"):
            trace = self.merge("fence", "whole", option, events=600_000).read_bytes()  # many blocks of the compressor
            self.file("cut.elg", trace[:len(trace) // 2])
            self.everywhere("cut.elg", "the compressed file is truncated")

    def test_a_compressed_file_that_is_damaged(self):
        for option in ("--zstd", "--gzip"):
            trace = bytearray(self.merge("fence", "whole", option, events=600_000).read_bytes())
            for place in range(len(trace) // 2, len(trace) // 2 + 64):
                trace[place] ^= 0xFF
            self.file("bad.elg", bytes(trace))
            ran = self.run_command("elg_stat", "bad.elg")
            self.assertEqual(ran.status, 3, ran.err)
            self.assertRegex(ran.err, r"the compressed data are damaged|a block's checksum is wrong|truncated")

    def test_a_local_trace_that_is_compressed(self):
        self.merge("fence", "whole")
        local = self.dir / "local-fence"
        packed = self.dir / "packed"
        packed.mkdir()
        for path in local.iterdir():
            subprocess.run(["zstd", "-q", path, "-o", packed / (path.name + ".zst")], check=True)
        ran = self.run_command("elg_merge", "-q", "-o", "again.elg", "packed")
        self.assertEqual((ran.status, ran.err), (0, ""))
        self.assertTrue((self.dir / "again.elg").read_bytes() == (self.dir / "whole/a.elg").read_bytes())


if __name__ == "__main__":
    unittest.main()
