#!/usr/bin/env python3
"""Plays scripts of GASP's events and compares the merged trace with what each event is to become.

Usage: check_records.py BUILD SCRIPT...       in all numberings that have the script's events; as processes, and as
                                              threads of one process
       check_records.py BUILD --random COUNT  (from the seed KOJAK_TEST_SEED on)
       check_records.py BUILD --waits COUNT   the waits of random scripts, as expert and tests/independent find them

What is expected is made from the script alone: a region for each event, at its times and line, with records that stand
for its arguments. Times are exact to a microsecond, for the driver sets the measurement's clock.
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from independent import compare  # noqa: E402

SECONDS_LATER = 100
MODES = ((), ("--threads",))
REGIONS = {
    "UPC_COLLECTIVE_EXIT": "upc_exit", "UPC_NONCOLLECTIVE_EXIT": "upc_global_exit", "UPC_NB_GET_INIT": "upc_get_nb",
    "UPC_NB_PUT_INIT": "upc_put_nb", "UPC_NB_SYNC": "upc_sync_nb", "BUPC_NB_TRYSYNC": "upc_sync_nb",
    "BUPC_NB_MEMGET_INIT": "upc_memget_nb", "BUPC_NB_MEMPUT_INIT": "upc_memput_nb", "BUPC_NB_MEMCPY_INIT": "upc_memcpy_nb",
}
NONE = {"C_MALLOC", "C_REALLOC", "C_FREE", "UPC_NB_GET_DATA", "UPC_NB_PUT_DATA", "BUPC_STATIC_SHARED", "UPC_CACHE_MISS",
        "UPC_CACHE_HIT", "UPC_CACHE_INVALIDATE"}
FLAGS = {"IN_NOSYNC": 1, "IN_MYSYNC": 2, "IN_ALLSYNC": 4, "OUT_NOSYNC": 8, "OUT_MYSYNC": 16, "OUT_ALLSYNC": 32}
SIZES = {"C": 1, "UC": 1, "S": 2, "US": 2, "I": 4, "UI": 4, "L": 8, "UL": 8, "F": 4, "D": 8, "LD": 16}


class Event:
    def __init__(self, words):
        self.start, self.end = (None if w in "-=" else float(w) for w in words[:2])
        self.atomic = words[1] == "="
        self.thread, self.name = int(words[2]), words[3]
        self.line = int(words[4]) if len(words) > 4 else 0
        self.words = words[5:]


def read_script(path):
    settings, events = {"threads": "1", "ids": "gupc"}, []
    for line in path.read_text().splitlines():
        words = re.sub(r"(^| )#( |$).*", "", line).split()
        if not words:
            continue
        if words[0] in ("threads", "ids", "leave"):
            settings[words[0]] = words[1]
        elif re.match(r"[-0-9]", words[0]):
            events.append(Event(words))
    return settings, events


def flags_of(word):
    value = 0
    for part in word.split("|"):
        for name, bit in FLAGS.items():
            if name == part or name.split("_")[1] == part:
                value |= bit
    return (value if value & 7 else value | 4) if value & 56 else (value if value & 7 else value | 4) | 32


def place(word):
    thread, address = word.split(":")
    return int(thread), int(address)


class Expected:
    """What a thread's events become: [region, line, enter, exit, records]."""

    def __init__(self, threads):
        self.threads = threads
        self.handles = {}

    def context(self, thread, handle):
        if handle in ("0", "-1"):
            return 0
        known = self.handles.setdefault(thread, {})
        return known.setdefault(handle, len(known) + 1)

    def transfer(self, event, other, size, put, context=0, flags=0):
        peer, address = other
        if peer == event.thread:
            return []
        ends = [f"PUT_1TS dlid={peer} bytes={size}"] if put else [f"GET dlid={peer} bytes={size}"]
        return [f"SHMEM_PLACE dlid={peer} offset={address} ctx={context} flags={flags}"] + ends

    def copy(self, e, size, *how):
        """Both starts, then the end of the get (that of a put is not looked at)."""
        got, put = (self.transfer(e, place(e.words[1 - i]), size, bool(i), *how) for i in range(2))
        return got[:1] + put + got[1:]

    def records(self, e):
        name, w, quiet = e.name, e.words, ["SHMEM_QUIET ctx=absent"]
        if name in ("UPC_BARRIER", "UPC_COLLECTIVE_EXIT"):
            return quiet + ["COLLEXIT root=absent sent=0 recvd=0"]
        if name == "UPC_NOTIFY":
            return quiet + ["MPI_COLL_BEGIN op=1"]
        if name == "UPC_WAIT":
            return ["MPI_REQUEST_COMPLETE kind=1"]
        if name == "UPC_FENCE":
            return quiet
        if name in ("UPC_GET", "UPC_PUT"):
            return self.transfer(e, place(w[1]), w[2], name == "UPC_PUT") + (quiet if w[0] == "0" else [])
        if name in ("UPC_MEMGET", "UPC_MEMPUT"):
            return self.transfer(e, place(w[0]), w[1], name == "UPC_MEMPUT")
        if name == "UPC_MEMSET":
            return self.transfer(e, place(w[0]), w[2], True)
        if name == "UPC_MEMCPY":
            return self.copy(e, w[2])
        if name.endswith("_INIT"):
            relaxed = 1 if name.startswith("UPC") else 0
            both = name == "BUPC_NB_MEMCPY_INIT"
            handle = w[-1]
            how = (self.context(e.thread, handle), 0 if handle == "0" else 1)
            size = w[-2]
            if both:
                return self.copy(e, size, *how)
            strict = quiet if relaxed and w[0] == "0" else []
            return self.transfer(e, place(w[relaxed]), size, "PUT" in name, *how) + strict
        if name in ("UPC_NB_SYNC", "BUPC_NB_TRYSYNC"):
            done = name == "UPC_NB_SYNC" or w[1] != "0"
            return [f"SHMEM_QUIET ctx={self.context(e.thread, w[0])}"] if done and w[0] != "0" else []
        if name in ("UPC_LOCK", "UPC_LOCK_ATTEMPT"):
            got = name == "UPC_LOCK" or w[1] != "0"
            return quiet + [f"ALOCK glid={place(w[0])[0]}"] if got else []
        if name == "UPC_UNLOCK":
            return quiet + [f"RLOCK glid={place(w[0])[0]}"]
        if name in ("UPC_ALL_ALLOC", "UPC_ALL_LOCK_ALLOC"):
            return ["COLLEXIT root=absent sent=0 recvd=0"]
        if name.startswith("UPC_ALL_"):
            return self.collective(e)
        return []

    def collective(self, e):
        kind, w = e.name[8:], e.words
        to, source = place(w[0])[0], place(w[1])[0]
        if "REDUCE" in kind:
            size, flags, root = int(w[3]) * SIZES[w[6]], w[5], to
            moved = (size, size if kind == "PREFIX_REDUCE" or root == e.thread else 0)
        else:
            size, flags = int(w[-2]), w[-1]
            root = {"BROADCAST": source, "SCATTER": source, "GATHER": to}.get(kind, "absent")
            everything, own = size * self.threads, root == e.thread
            moved = {"BROADCAST": (size, 0) if own else (0, size), "SCATTER": (everything if own else 0, size),
                     "GATHER": (size, everything if own else 0), "GATHER_ALL": (size, everything),
                     "EXCHANGE": (everything, everything), "PERMUTE": (size, size)}[kind]
        return [f"ATTR_UI1 kind=8 value={flags_of(flags)}", f"COLLEXIT root={root} sent={moved[0]} recvd={moved[1]}"]

    def calls(self, events, leave):
        """As lines, by thread: those that fold into a barrier are one; inner ones are left out, but for functions."""
        result, waiting = {}, {}
        for thread in {e.thread for e in events}:
            mine = [e for e in events if e.thread == thread]
            lines, inside = result.setdefault(thread, []), []
            for i, e in enumerate(mine):
                begin = e.start if e.start is not None else e.end
                inside = [o for o in inside if o > begin + 1e-9]
                name, region = e.name, REGIONS.get(e.name, e.name.lower())
                user = name == "C_FUNC" or name.startswith("USER:") or name == "UPC_FORALL"
                if name in NONE or name.startswith("#") or e.start is None or name == "CONTROL":
                    continue
                if user:
                    region = e.words[0] if name == "C_FUNC" else name[5:] if name.startswith("USER:") else "upc_forall"
                elif inside:
                    continue
                end = e.end if e.end is not None else leave if not e.atomic or not user else e.start
                records = self.records(e) if not user else []
                line = e.line if not user else 0
                if name == "UPC_NOTIFY" and i + 1 < len(mine):
                    follows = mine[i + 1]
                    if (follows.name, follows.line, follows.words) == ("UPC_WAIT", e.line, e.words):
                        waiting[id(follows)] = True
                        region, end = "upc_barrier", follows.end
                        records = ["SHMEM_QUIET ctx=absent", "COLLEXIT root=absent sent=0 recvd=0"]
                if name == "UPC_WAIT" and waiting.get(id(e)):
                    continue
                if name == "UPC_COLLECTIVE_EXIT":
                    end = leave
                lines.append((region, line, begin, end, records))
                if not user:
                    inside.append(end)
        return result


def fields(text):
    return dict(part.split("=", 1) for part in text.split()[1:] if "=" in part)


def seen_calls(trace, print_tool):
    strings, regions, sites, calls, open_calls = {}, {}, {}, {}, {}
    text = subprocess.run([print_tool, trace], check=True, capture_output=True, text=True).stdout
    flags = None
    for line in text.splitlines():
        name, f = line.split()[0], fields(line)
        if name == "STRING":
            strings[f["strid"]] = line.split('str="', 1)[1].rstrip('"')
        elif name == "REGION":
            regions[f["rid"]] = strings[f["rnid"]]
        elif name == "CALL_SITE":
            sites[f["csid"]] = (f["erid"], int(f["lno"]))
        elif name == "ATTR_UI1":
            flags = f"ATTR_UI1 kind={f['kind']} value={f['value']}"
        elif name in ("ENTER", "ENTER_CS"):
            rid, number = sites[f["csid"]] if name == "ENTER_CS" else (f["rid"], 0)
            call = [regions[rid], number, float(f["time"]) - SECONDS_LATER, None, []]
            calls.setdefault(int(f["lid"]), []).append(call)
            open_calls.setdefault(int(f["lid"]), []).append(call)
        elif "lid" in f and "time" in f and open_calls.get(int(f["lid"])):
            own, stack = int(f["lid"]), open_calls[int(f["lid"])]
            short = shortened(name, f)
            if short and not (name.startswith("GET_1TS") and own != int(f["lid"])):
                if flags and name == "COLLEXIT":
                    stack[-1][4].append(flags)
                stack[-1][4].append(short)
            if name in ("EXIT", "COLLEXIT"):
                stack.pop()[3] = float(f["time"]) - SECONDS_LATER
            flags = None
    # The root region.
    return {thread: [tuple(c) for c in mine[1:]] for thread, mine in calls.items()}


def shortened(name, f):
    if name == "SHMEM_PLACE":
        return f"SHMEM_PLACE dlid={f['dlid']} offset={f['offset']} ctx={f['ctx']} flags={f['flags']}"
    if name == "PUT_1TS":
        return f"PUT_1TS dlid={f['dlid']} bytes={f['sent']}"
    if name == "GET_1TE":
        return f"GET dlid={f['slid']} bytes={f['recvd']}"
    if name == "SHMEM_QUIET":
        return f"SHMEM_QUIET ctx={f['ctx']}"
    if name in ("ALOCK", "RLOCK"):
        return f"{name} glid={f['glid']}"
    if name == "COLLEXIT":
        return f"COLLEXIT root={f['rlid']} sent={f['sent']} recvd={f['recvd']}"
    if name == "MPI_COLL_BEGIN":
        return f"MPI_COLL_BEGIN op={f['op']}"
    if name == "MPI_REQUEST_COMPLETE":
        return f"MPI_REQUEST_COMPLETE kind={f['kind']}"
    return None


def same(one, other):
    return one[:2] == other[:2] and abs(one[2] - other[2]) < 1e-6 and abs(one[3] - other[3]) < 1e-6 and one[4] == other[4]


def check(build, script, ids, *how):
    settings, events = read_script(script)
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, ELG_DIR=f"{folder}/t", LD_PRELOAD=f"{build}/lib/libelg_base.so")
        played = subprocess.run([f"{build}/bin/gasp_play", "--exact", "--ids", ids, *how, str(script)], env=env,
                                capture_output=True, text=True, check=False, timeout=60)
        if "does not tell" in played.stderr and ids != settings["ids"]:
            return []
        if played.returncode != 0 or played.stderr or played.stdout:
            return [f"status {played.returncode}: {played.stderr}{played.stdout}"]
        merged = subprocess.run([f"{build}/bin/elg_merge", "--model", "basic", "-o", f"{folder}/a.elg", f"{folder}/t"],
                                capture_output=True, text=True, check=False)
        if merged.returncode != 0:
            return [f"elg_merge: {merged.returncode} {merged.stderr}"]
        verified = subprocess.run([f"{build}/bin/elg_print", "--verify", f"{folder}/a.elg"], capture_output=True, text=True,
                                  check=False)
        wrong = [] if verified.returncode == 0 else [f"elg_print --verify: {verified.stdout}"]
        seen = seen_calls(f"{folder}/a.elg", f"{build}/bin/elg_print")
    expected = Expected(int(settings["threads"])).calls(events, float(settings["leave"]))
    for thread, wanted in sorted(expected.items()):
        found = seen.get(thread, [])
        for i in range(max(len(wanted), len(found))):
            one, other = (wanted[i] if i < len(wanted) else None), (found[i] if i < len(found) else None)
            if one is None or other is None or not same(one, other):
                wrong.append(f"thread {thread}, call {i}:\n  wanted {one}\n  found  {other}")
                break
    return wrong


class RandomScript:
    """Events of three threads, nested as a compiler nests them; barriers and collectives are every thread's."""

    def __init__(self, seed):
        self.random, self.lines, self.now = random.Random(seed), [], [0.0, 0.0, 0.0]
        for _ in range(self.random.randint(5, 25)):
            if self.random.random() < 0.3:
                self.together()
            else:
                self.alone(self.random.randrange(3), 0)
        self.lines.sort(key=lambda line: float(line.split()[0]))
        self.text = "\n".join(["threads 3", "ids own", *self.lines, f"leave {max(self.now) + 0.01:.3f}", ""])

    def add(self, thread, end, event):
        self.lines.append(f"{self.now[thread]:.3f} {end:.3f} {thread} {event}")

    def step(self, thread):
        self.now[thread] += self.random.randint(1, 9) / 1000

    def alone(self, thread, depth):
        r = self.random
        self.step(thread)
        begin, place_at = self.now[thread], f"{r.randrange(3)}:{8 * r.randrange(100)}"
        event = r.choice([
            f"UPC_GET {r.randint(1, 5)} {r.randint(0, 1)} {place_at} 8", f"UPC_PUT 6 {r.randint(0, 1)} {place_at} 4",
            f"UPC_MEMGET 7 {place_at} 100", f"UPC_MEMPUT 8 {place_at} 100", f"UPC_MEMCPY 9 {place_at} 1:64 10",
            f"UPC_NB_PUT_INIT 10 1 {place_at} 8 {r.randint(-1, 3)}", f"UPC_NB_SYNC 11 {r.randint(0, 3)}", "UPC_FENCE 12",
            f"UPC_LOCK_ATTEMPT 13 {place_at} {r.randint(0, 1)}", f"C_FUNC 14 f{r.randrange(4)}", "UPC_FORALL 15"])
        inner = depth < 4 and r.random() < 0.4
        at = len(self.lines)
        self.lines.append("")
        if inner:
            for _ in range(r.randint(1, 3)):
                self.alone(thread, depth + 1)
        self.step(thread)
        self.lines[at] = f"{begin:.3f} {self.now[thread]:.3f} {thread} {event}"

    def together(self):
        r = self.random
        kind, line, root = r.randrange(3), r.randint(20, 29), r.randrange(3)
        for thread in range(3):
            self.step(thread)
        end = max(self.now) + 0.001
        for thread in range(3):
            if kind == 0:
                self.add(thread, end, f"UPC_BARRIER {line} 0 0")
            elif kind == 1:
                self.add(thread, end, f"UPC_ALL_BROADCAST {line} 0:64 {root}:64 16 {r.choice(['MYSYNC', 'ALLSYNC'])}")
            else:
                self.add(thread, self.now[thread] + 0.0005, f"UPC_NOTIFY {line} 0 0")
                self.now[thread] = end + 0.001 * r.randint(0, 3)
                if r.random() < 0.5:
                    self.alone(thread, 4)
                    self.step(thread)
                self.add(thread, self.now[thread] + 0.002, f"UPC_WAIT {r.choice([line, line + 1])} 0 0")
                self.now[thread] += 0.002
        self.now = [max(end, now) for now in self.now]


class RandomWaits:
    """Three threads that compute, take two locks in turn, move data and meet: what is waited for is random, too.

    Where threads must answer, a call that needs one which computes ends when that one comes to its next call."""

    def __init__(self, seed):
        self.random, self.lines, self.free = random.Random(seed), [], [0.0, 0.0]
        self.now, self.next, self.answered = [0.0] * 3, [0.0] * 3, self.random.random() < 0.6
        for _ in range(self.random.randint(10, 40)):
            thread = self.next.index(min(self.next))
            self.now[thread] = self.next[thread]
            self.act(thread)
            for each in range(3):
                if self.next[each] <= self.now[each]:
                    self.next[each] = self.now[each] + self.random.choice([0.0011, 0.0043, 0.0207])
        end = max(self.now) + 0.05
        self.lines += [(self.next[each], end, f"{each} UPC_COLLECTIVE_EXIT 99 0") for each in range(3)]
        self.lines = [f"{begin:.6f} {to:.6f} {rest}" for begin, to, rest in sorted(self.lines)]
        self.text = "\n".join(["threads 3", "ids own", *self.lines, f"leave {end:.6f}", ""])

    def add(self, thread, event, needs=None):
        begin = self.now[thread]
        end = begin + 0.0002
        if self.answered and needs not in (None, thread) and begin >= self.now[needs]:
            end = max(end, self.next[needs] + 0.0001)
        self.lines.append((begin, end, f"{thread} {event}"))
        self.now[thread] = end + 0.0001

    def act(self, thread):
        r = self.random
        other, line = (thread + r.randint(1, 2)) % 3, r.randint(1, 4)
        place_at, kind = f"{other}:{8 * r.randrange(4)}", r.randrange(9)
        if kind < 2:
            lock = r.randrange(2)
            asked = self.now[thread]
            self.add(thread, f"UPC_LOCK {10 + line} {lock}:{4096 + 64 * lock}", lock)
            got = max(self.now[thread], self.free[lock] + 0.0001)
            self.lines[-1] = (asked, got, self.lines[-1][2])
            self.now[thread] = got + r.choice([0.001, 0.01])
            if r.random() < 0.3:
                self.add(thread, f"UPC_PUT 14 1 {place_at} 8")
            self.add(thread, f"UPC_UNLOCK {15 + line} {lock}:{4096 + 64 * lock}", other)
            self.free[lock] = self.now[thread]
        elif kind == 2:
            end = max(self.next) + 0.002
            for each in range(3):
                self.lines.append((max(self.now[each], self.next[each]), end, f"{each} UPC_BARRIER {20 + line} 0 0"))
                self.now[each] = end + 0.0001
        elif kind == 3:
            self.add(thread, f"UPC_NB_GET_INIT {30 + line} 1 {place_at} 64 {line}")
            self.now[thread] += 0.002
            self.add(thread, f"UPC_NB_SYNC {35 + line} {line}", other)
        elif kind == 4:
            self.add(thread, f"UPC_MEMPUT {40 + line} {place_at} 256")
            self.add(thread, f"UPC_FENCE {45 + line}", other)
        else:
            self.add(thread, [f"UPC_GET {50 + line} {r.randint(0, 1)} {place_at} 8", f"UPC_MEMGET {60 + line} {place_at} 200",
                              f"UPC_PUT {70 + line} 0 {place_at} 8", f"UPC_MEMCPY {80 + line} {thread}:64 {place_at} 16"][kind - 5],
                     other)


def check_waits(build, count):
    """Each script's report is what the independent analysis finds; together they have all the waits."""
    failures, seen = 0, set()
    first = int(os.environ.get("KOJAK_TEST_SEED", "1"))
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "random.txt"
            path.write_text(RandomWaits(seed).text)
            env = dict(os.environ, ELG_DIR=f"{folder}/t", LD_PRELOAD=f"{build}/lib/libelg_base.so")
            subprocess.run([f"{build}/bin/gasp_play", "--exact", str(path)], env=env, check=True, timeout=60)
            subprocess.run([f"{build}/bin/elg_merge", "-q", "-o", f"{folder}/a.elg", f"{folder}/t"], check=True)
            ran = subprocess.run([f"{build}/bin/expert", "-q", "-o", f"{folder}/a.cube", f"{folder}/a.elg"], check=False,
                                 capture_output=True, text=True)
            cube = compare.Cube(f"{folder}/a.cube")
            wrong = compare.differences(compare.text_of(f"{folder}/a.elg", f"{build}/bin/elg_print"), cube)
            if ran.returncode != 0:
                wrong.append(f"expert: {ran.returncode} {ran.stderr}")
            seen |= {metric for metric, values in cube.values.items() if any(v > 0 for v in values.values())}
            failures += len(wrong)
            for line in wrong[:5]:
                print(f"random waits {seed}: {line}")
    wanted = {"upc_lock_contention", "upc_lock_wait_for_progress", "upc_rma_wait_for_progress", "upc_quiet_wait_for_progress",
              "upc_barrier_wait"}
    for metric in sorted(wanted - seen) if count >= 20 else ():
        failures += 1
        print(f"no script has {metric}")
    return failures


def check_random(build, count):
    failures = 0
    first = int(os.environ.get("KOJAK_TEST_SEED", "1"))
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "random.txt"
            path.write_text(RandomScript(seed).text)
            for how in MODES:
                for line in check(build, path, "own", *how):
                    failures += 1
                    print(f"random script {seed} {how}: {line}")
    return failures


def main():
    build, scripts = sys.argv[1], [pathlib.Path(s) for s in sys.argv[2:]]
    failures = 0
    if scripts and scripts[0].name == "--random":
        failures = check_random(build, int(sys.argv[3]))
        scripts = []
    if scripts and scripts[0].name == "--waits":
        failures = check_waits(build, int(sys.argv[3]))
        scripts = []
    for script in scripts:
        for ids in ("gupc", "bupc", "own"):
            for how in MODES:
                for line in check(build, script, ids, *how):
                    failures += 1
                    print(f"{script.name} ({ids}) {how}: {line}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
