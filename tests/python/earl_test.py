"""Tests of the Python module earl: pytest earl_test.py, with the module and KOJAK_REFERENCE set."""
import gc
import gzip
import os
import pathlib
import threading

import numpy
import pytest

import earl

REFERENCE = pathlib.Path(os.environ["KOJAK_REFERENCE"])

MESSAGE = """
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=0 time=1 region=MPI_Send
MPI_SEND lid=0 time=1 dlid=1 tag=3 sent=80
EXIT lid=0 time=2
ENTER lid=1 time=2 region=MPI_Recv
MPI_RECV lid=1 time=3 slid=0 tag=3 recvd=80
EXIT lid=1 time=3
EXIT lid=0 time=6
EXIT lid=1 time=6
"""


POLLS = """
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=0 time=1 region=MPI_Test
ENTER lid=1 time=2 region=MPI_Send
MPI_SEND lid=1 time=2 dlid=0 tag=3 sent=80
EXIT lid=1 time=2
MPI_POLLED lid=0 time=3 begin=1 count=7 called=0.5 rest=1.25 judged=1 end=1 members=2
MPI_POLL lid=0 time=3 kind=1 region=MPI_Test count=5 first_enter=1 last_enter=2.75 reqid=4 requests=1
MPI_POLL lid=0 time=3 kind=2 region=MPI_Iprobe count=2 first_enter=2 last_enter=2.5 cid=0 plid=1 tag=3
MPI_RECV lid=0 time=4 slid=1 tag=3 recvd=80
EXIT lid=0 time=4
EXIT lid=0 time=6
EXIT lid=1 time=6
"""


def epochs(put=True):
    """A target posts, an origin starts, puts and completes, the target waits: late post of 2 s."""
    lines = ["ENTER lid=0 time=1 region=MPI_Win_start", "ENTER lid=1 time=3 region=MPI_Win_post",
             "MPI_WINEXIT lid=1 time=3.5 wid=0 group=[0] synex=0",
             "MPI_WINEXIT lid=0 time=4 wid=0 group=[1] synex=0"]
    if put:
        lines += ["ENTER lid=0 time=5 region=MPI_Put",
                  "MPI_PUT_1TS lid=0 time=5 dlid=1 wid=0 rmaid=0 sent=64", "EXIT lid=0 time=6"]
    lines += ["ENTER lid=0 time=7 region=MPI_Win_complete",
              "MPI_WINEXIT lid=0 time=8 wid=0 group=[1] synex=1",
              "ENTER lid=1 time=9 region=MPI_Win_wait"]
    if put:
        lines += ["MPI_PUT_1TE lid=1 time=10 slid=0 wid=0 rmaid=0 recvd=64"]
    lines += ["MPI_WINEXIT lid=1 time=10 wid=0 group=[0] synex=1"]
    return "\n".join(lines) + "\n"


def test_names_of_communicators_and_windows():
    trace = earl.from_text("MPI_GROUP gid=0 mode=0 count=2 ranks=[0,1]\nMPI_COMM_REF cid=0 gid=0\n"
                           'COMM_NAME cid=0 cnid="halo"\nMPI_COMM_REF cid=1 gid=0\n'
                           'MPI_WIN wid=0 cid=0\nWIN_NAME wid=0 wnid="f\\351ld"\n' + MESSAGE)
    assert (trace.communicators[0].name, trace.communicators[1].name) == ("halo", "")
    assert "'halo' of 2" in repr(trace.communicators[0])
    assert trace.windows[0].name == "f\\xe9ld"  # no UTF-8
    assert "f\\xe9ld" in repr(trace.windows[0])


def test_a_receives_sender():
    trace = earl.from_text(MESSAGE)
    receive = trace[6]
    assert receive.type == "MPI_RECV" and receive.is_a("P2P") and not receive.is_a("Flow")
    assert receive.sendptr.pos == 3
    assert receive.sendptr.enterptr.region == "MPI_Send"
    assert receive.sendptr.path == "main/MPI_Send"
    assert receive.enterptr.enterptr == trace[1]
    assert trace[0].enterptr is None and receive.startptr is None
    assert receive.received == 80 and receive.peer == 0 and receive.window is None
    with pytest.raises(ValueError):
        receive.is_a("Nonsense")


def test_what_a_process_polls_for():
    trace = earl.from_text(POLLS)
    polling = trace.state(4).polling(0)
    assert polling.event.pos == 2 and polling.since == polling.event and polling.judged == "waits"
    test, probe = polling.members
    assert (test.kind, test.region, test.request, test.first_enter) == ("request", "MPI_Test", 4, 1.0)
    assert (probe.kind, probe.source, probe.tag, probe.window) == ("message", 1, 3, None)
    assert trace.state(4).polling(1) is None and trace.state(9).polling(0) is None
    polled = trace[9].pollptr
    assert polled.pos == 6 and trace[10].pollptr == polled and trace[4].pollptr is None
    assert polled.series.count == 7 and polled.series.end == "found" and polled.series.ran is None
    assert (polled.series.begin, polled.series.time, polled.series.called) == (1.0, 3.0, 0.5)
    assert trace[9].series is None


def test_a_trace_is_a_sequence():
    trace = earl.from_text(MESSAGE)
    assert len(trace) == 10 and trace[-1].pos == 9 and trace[-1].is_a("Exit")
    assert [e.pos for e in trace] == list(range(10))
    assert [e.pos for e in trace.events(location=1, begin=2, end=3.5)] == [5, 6, 7]
    assert trace.first_at(2.5) == 6 and trace.first_at(100) == 10
    with pytest.raises(IndexError):
        trace[10]


def test_definitions():
    trace = earl.from_text(MESSAGE)
    assert [(l.id, l.process, l.thread) for l in trace.locations] == [(0, 0, 0), (1, 1, 0)]
    assert {"main", "MPI_Send", "MPI_Recv"} <= {r.name for r in trace.regions.values()}
    assert trace.communicators[0].ranks == [0, 1]
    assert [(p.region, p.parent) for p in trace.call_tree] == [
        ("main", None), ("MPI_Send", 0), ("MPI_Recv", 0)]


def test_whose_functions_regions_are():
    names = {"main": None, "MPI_Barrier": "mpi", "shmem_quiet": "shmem", "ARMCI_Fence": "armci", "upc_fence": "upc"}
    trace = earl.from_text("".join(f"ENTER lid=0 time={i} region={name}\n" for i, name in enumerate(names)))
    found = {region.name: region.model for region in trace.regions.values()}
    assert {name: found[name] for name in names} == names


def test_states():
    trace = earl.from_text(MESSAGE)
    state = trace.state(3)
    assert [e.region for e in state.stack(0)] == ["main", "MPI_Send"]
    assert [e.pos for e in state.messages] == [3]
    assert [e.pos for e in state.message_queue(0, 0, 1, 3)] == [3]
    assert trace.state(6).messages == []
    assert [e.region for e in trace.state_at(2.5).stack(1)] == ["main", "MPI_Recv"]
    assert trace.state_at(-1).stack(0) == []
    assert state.visits(1, 0) == 1 and state.visits(1, 1) == 0
    with pytest.raises(IndexError):
        state.stack(99)
    with pytest.raises(ValueError):
        state.collectives("other")


def test_epochs_and_transactions():
    trace = earl.from_text(epochs())
    [transaction] = trace.access_transactions()
    assert transaction.whole and transaction.root.mode == "access"
    assert transaction.root.opened.enterptr.time == 1
    [partner] = transaction.partners
    assert partner.mode == "exposure" and partner.opened.enterptr.time == 3
    [put] = transaction.root.operations
    assert put.start.type == "MPI_PUT_1TS" and put.end.time == 10 and put.target == 1
    assert [e.type for e in transaction.events] == [
        "MPI_WINEXIT", "MPI_WINEXIT", "MPI_PUT_1TS", "MPI_WINEXIT", "MPI_PUT_1TE", "MPI_WINEXIT"]
    state = trace.state(len(trace) - 1)
    assert state.epoch_pair(0).access.process == 0
    assert len(state.exposure_transactions) == 1
    open_state = trace.state(5)
    assert open_state.access_epoch(0, 0).partners == [1]
    assert open_state.exposure_epoch(1, 0).closed is None
    assert open_state.access_epoch(0, 0).target is None  # that is of locks
    assert open_state.fence_epoch(0, 0) is None and open_state.lock_epoch(0, 0) is None
    assert [e.type for e in open_state.transfers(0)] == ["MPI_PUT_1TS"]


def test_objects_outlive_their_trace():
    event = earl.from_text(MESSAGE)[6]
    state = earl.from_text(MESSAGE).state(3)
    gc.collect()
    assert event.sendptr.sent == 80
    assert [e.pos for e in state.messages] == [3]


def test_columns():
    trace = earl.from_text(MESSAGE)
    columns = trace.columns()
    assert set(columns) == {"time", "type", "location", "region"}
    assert columns["time"].dtype == numpy.float64 and len(columns["time"]) == 10
    for names in (["pos", "enterptr", "path", "peer", "tag", "bytes", "process"], ["time"]):
        part = trace.columns(names, begin=2, end=8)
        assert all(len(values) == 6 for values in part.values())
    part = trace.columns(["enterptr", "peer", "bytes", "region", "path"])
    for event in trace:
        caller = event.enterptr
        assert part["enterptr"][event.pos] == (-1 if caller is None else caller.pos)
        assert part["peer"][event.pos] == (-1 if event.peer is None else event.peer)
        assert part["bytes"][event.pos] == (event.sent or event.received)
        assert part["region"][event.pos] == event.region_id
        assert part["path"][event.pos] == event.call_path
    sends = trace.columns(["type"])["type"] == earl.TYPES["MPI_SEND"]
    assert sends.sum() == 1
    with pytest.raises(ValueError):
        trace.columns(["nonsense"])


def test_byte_matrix():
    assert earl.from_text(MESSAGE).byte_matrix().tolist() == [[0, 80], [0, 0]]
    trace = earl.from_text(epochs())
    assert trace.byte_matrix(messages=False).tolist() == [[0, 64], [0, 0]]
    assert trace.byte_matrix(transfers=False).sum() == 0


def test_reference_trace():
    trace = earl.open(str(REFERENCE / "gats.elg"))
    assert not trace.native and trace.damage is None
    starts = trace.columns(["type"])["type"] == earl.TYPES["MPI_PUT_1TS"]
    ends = [e for e in trace if e.is_a("Put_1TE")]
    assert starts.sum() == len(ends) > 0
    for end in ends:
        start = end.startptr
        assert start.rmaid == end.rmaid and start.process == end.peer and start.pos < end.pos
    for transaction in trace.exposure_transactions():
        assert transaction.whole
        assert all(e is not None for e in transaction.partners)


def test_errors_are_typed(tmp_path):
    with pytest.raises(earl.Error) as missing:
        earl.open(str(tmp_path / "none.elg"))
    assert missing.value.exit_code == 2 and missing.value.file.endswith("none.elg")
    (tmp_path / "text.elg").write_text("no trace at all")
    with pytest.raises(earl.Error):
        earl.open(str(tmp_path / "text.elg"))
    with pytest.raises(earl.Error):
        earl.from_text("NONSENSE lid=0\n")


def test_a_damaged_trace_is_read_up_to_the_damage(tmp_path):
    whole = (REFERENCE / "gats.elg").read_bytes()
    path = tmp_path / "cut.elg"
    path.write_bytes(whole[:-5])
    with pytest.warns(RuntimeWarning, match="cut.elg: offset"):
        trace = earl.open(path)
    assert trace.damage is not None and "cut.elg" in trace.damage and "damaged" in repr(trace)
    complete = earl.open(str(REFERENCE / "gats.elg"))
    assert len(trace) == len(complete) - 1
    assert trace[-1].time == complete[-2].time


def test_a_compressed_trace(tmp_path):
    path = tmp_path / "gats.elg.gz"
    path.write_bytes(gzip.compress((REFERENCE / "gats.elg").read_bytes()))
    plain, packed = earl.open(str(REFERENCE / "gats.elg")), earl.open(str(path))
    assert len(packed) == len(plain) and packed.damage is None
    for name, values in plain.columns(["time", "type", "enterptr", "peer"]).items():
        assert (packed.columns([name])[name] == values).all()
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.warns(RuntimeWarning, match="truncated"):
        cut = earl.open(path)
    assert cut.damage is not None and 0 < len(cut) < len(plain)


def test_the_index_is_kept(tmp_path):
    path = tmp_path / "a.elg"
    path.write_bytes((REFERENCE / "fence.elg").read_bytes())
    assert not earl.open(str(path), cache=True).from_cache
    again = earl.open(str(path), cache=True)
    assert again.from_cache and (tmp_path / "a.elg.earl").exists()
    assert [e.pos for e in again.state(len(again) - 1).messages] == []


def test_a_trace_cut_between_two_records_is_damaged(tmp_path):
    # The last record of the file is an EXIT of classic layout: length, type, location, time.
    path = tmp_path / "whole_records.elg"
    path.write_bytes((REFERENCE / "gats.elg").read_bytes()[:-(2 + 4 + 8)])
    with pytest.warns(RuntimeWarning, match="the trace ends after 304 of its 305 events"):
        trace = earl.open(path)
    assert len(trace) == 304


def test_what_is_no_trace_is_refused(tmp_path):
    whole = (REFERENCE / "gats.elg").read_bytes()
    for name, content, reason in (
            ("empty.elg", b"", "empty"), ("definitions.elg", whole[:500], "definitions"),
            ("text.elg", b"no trace at all", "no EPILOG trace"),
            ("empty.elg.gz", gzip.compress(b""), "empty"),
            ("head.elg.gz", gzip.compress(whole)[:5], "truncated")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(earl.Error, match=reason) as error:
            earl.open(tmp_path / name)
        assert error.value.file == str(tmp_path / name) and error.value.exit_code == 2
    with pytest.raises(earl.Error, match="directory"):
        earl.open(tmp_path)
    with pytest.raises(earl.Error, match="no EPILOG trace"):
        earl.open("/dev/zero")  # which has no end
    with pytest.raises((ValueError, TypeError)):
        earl.open("zero\0byte")


def test_a_pipe_is_read_once_and_its_index_is_not_kept(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for name in ("gats.elg", "fence.elg"):
        content, failures = (REFERENCE / name).read_bytes(), []

        def write():
            try:
                path.write_bytes(content)
            except OSError as error:  # the reader has closed it in between
                failures.append(error)

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        trace = earl.open(path, cache=True)
        writer.join(timeout=60)
        assert not failures and not writer.is_alive()
        assert len(trace) == len(earl.open(REFERENCE / name)) and trace.damage is None
        assert not trace.from_cache and not pathlib.Path(f"{path}.earl").exists()


def test_a_kept_index_that_does_not_fit_is_made_anew(tmp_path):
    trace, other = tmp_path / "a.elg", tmp_path / "b.elg"
    trace.write_bytes((REFERENCE / "fence.elg").read_bytes())
    other.write_bytes((REFERENCE / "gats.elg").read_bytes())
    size = len(earl.open(trace, cache=True))
    earl.open(other, cache=True)
    kept = pathlib.Path(f"{trace}.earl")
    good = kept.read_bytes()
    for bad in (pathlib.Path(f"{other}.earl").read_bytes(), good[:100], b"", good[:-1] + b"?"):
        kept.write_bytes(bad)
        again = earl.open(trace, cache=True)
        assert not again.from_cache and len(again) == size and again.cache_error is None
        assert earl.open(trace, cache=True).from_cache  # mended
    # Nowhere to keep it: a warning, and everything works without.
    kept.unlink()
    kept.mkdir()
    with pytest.warns(RuntimeWarning, match="index cannot be kept"):
        without = earl.open(trace, cache=True)
    assert len(without) == size and "index cannot be kept" in without.cache_error


def test_slices_and_time_bounds():
    trace = earl.from_text(MESSAGE)
    assert [e.pos for e in trace[2:8:3]] == [2, 5] and trace[20:] == []
    assert [e.pos for e in trace[::-1]] == list(range(9, -1, -1))
    assert (trace.begin, trace.end) == (0, 6)
    assert trace.column("time", begin=-2).tolist() == [6, 6]
    assert sorted([trace[4], trace[1]])[0].pos == 1
    assert trace[1] == trace[1] != trace[2] and trace[1] in [None, 7, trace[1]]
    assert trace[1] != None and trace[1] != 1  # noqa: E711  (not equal rather than an error)
    assert earl.from_text("EPILOG 2.0 little\nLAST_DEF\n").begin is None


def test_attributes_by_the_names_of_the_model():
    trace = earl.from_text(MESSAGE)
    send, receive = trace[3], trace[6]
    assert (send.destination, send.source, send.length) == (1, None, 80)
    assert (receive.source, receive.destination, receive.length) == (0, None, 80)
    assert trace[0].length is None and trace[0].synex is None and trace[0].root is None
    trace = earl.from_text(epochs())
    opened = trace[2]
    assert (opened.synex, trace.communicators[opened.group].ranks) == (0, [0])
    put, end = trace[5], trace[10]
    assert (put.destination, put.length, end.source, end.length) == (1, 64, 0, 64)
    trace = earl.from_text("ENTER lid=0 time=0 region=MPI_Bcast\nENTER lid=1 time=0 region=main\n"
                           "MPI_COLLEXIT lid=0 time=1 rlid=1 cid=0 sent=4 recvd=0\n"
                           "MPI_WIN_LOCK lid=0 time=2 llid=1 wid=0 ltype=1\n"
                           "MPI_WIN_LOCK lid=1 time=2 llid=0 wid=0 ltype=0\n")
    assert (trace[2].root, trace[2].sent, trace[2].communicator) == (1, 4, 0)
    assert (trace[3].target, trace[3].exclusive, trace[4].exclusive) == (1, True, False)
    # A classic trace tells no length where data arrive: that of the start.
    for end in earl.open(REFERENCE / "gats.elg"):
        if end.is_a("Put_1TE"):
            assert end.length == end.startptr.sent > 0 and end.received == 0


def test_what_does_not_exist_is_an_error():
    trace = earl.from_text(epochs())
    state = trace.state(3)
    for ask in (lambda: state.holders(9, 0), lambda: state.waiters(0, 9),
                lambda: state.transfers(9), lambda: state.origins(9), lambda: state.team(9),
                lambda: state.access_epoch(0, 9), lambda: state.visits(99, 0),
                lambda: trace.events(location=9), lambda: trace.state(99)):
        with pytest.raises(IndexError, match="no such"):
            ask()
    with pytest.raises(ValueError, match="there are pos, time, "):
        trace.columns(["times"])


def test_the_iteration_over_states_is_that_of_each_event():
    trace = earl.open(REFERENCE / "gats.elg")
    for begin, end in ((0, 60), (200, 305), (-3, None)):
        for event, state in trace.states(begin, end):
            same = trace.state(event.pos)
            for location in trace.locations:
                assert state.stack(location.id) == same.stack(location.id)
            assert state.transfers(1) == same.transfers(1) and repr(state) == repr(same)
            assert len(state.exposure_transactions) == len(same.exposure_transactions)
    # A state stays good when the iteration has gone on: main, MPI_Send and its end, on location 0.
    pairs = list(earl.from_text(MESSAGE).states())
    assert [len(state.stack(0)) for _, state in pairs] == [1, 1, 2, 2, 1, 1, 1, 1, 0, 0]


def test_all_of_a_kind_are_those_of_the_states():
    trace = earl.from_text(epochs())
    assert [(p.access.process, p.exposure.process) for p in trace.epoch_pairs()] == [(0, 1)]
    assert trace.collectives() == [] and trace.finished_epochs() == []
    trace = earl.open(REFERENCE / "fence.elg")
    seen, finished = [], []
    for event, state in trace.states():
        instance = state.complete("window")
        if instance is not None:
            seen.append([e.pos for e in instance.exits])
        finished += [(e.process, e.opened, e.closed) for e in state.finished_epochs]
    assert [[e.pos for e in c.exits] for c in trace.collectives("window")] == seen and seen
    assert [(e.process, e.opened, e.closed) for e in trace.finished_epochs()] == finished
    # Of each process's last fence epoch MPI_Win_free is the end.
    assert [e[0] for e in finished if e[2] is None] == [0, 1, 2, 3] and len(finished) > 4


def test_pointer_columns():
    trace = earl.open(REFERENCE / "gats.elg")
    names = [name for name in earl.COLUMNS if name.endswith("ptr")]
    assert len(names) == 11
    columns = trace.columns(names + ["thread", "sent", "received", "code", "call_site", "request"])
    for event in trace:
        for name in names:
            to = getattr(event, name)
            assert columns[name][event.pos] == (-1 if to is None else to.pos), (event, name)
        assert columns["thread"][event.pos] == 0
        assert columns["sent"][event.pos] == event.sent and columns["code"][event.pos] == event.code
    assert (columns["startptr"] >= 0).sum() > 0


def test_threads_read_one_trace():
    trace = earl.open(REFERENCE / "gats.elg")
    expected = [[e.pos for e in trace.state(i).stack(1)] for i in range(len(trace))]

    def work(results, part):
        results[part] = [[e.pos for e in trace.state(i).stack(1)] for i in range(len(trace))] == expected

    results = {}
    threads = [threading.Thread(target=work, args=(results, part)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {part: True for part in range(4)}


def test_every_object_says_what_it_is():
    trace = earl.open(REFERENCE / "gats.elg")
    shown = [trace, trace[0], trace.state(9), trace.locations[0], trace.windows[0], trace.regions[0],
             trace.communicators[0], trace.call_tree[0], trace.exposure_transactions()[0],
             trace.epoch_pairs()[0], trace.exposure_transactions()[0].root, trace.nodes[0],
             trace.machines[0], trace.processes[0], trace.collectives("window")[0],
             trace.access_transactions()[0].root.operations[0], trace.topologies[0]]
    for thing in shown:
        assert repr(thing).startswith("<earl.") and " object at " not in repr(thing)
    assert repr(trace[0]) == "<earl.Event 0 ENTER PARALLEL on 0 at 0.000000>"


def test_everything_has_a_docstring_and_a_hint():
    hints = (pathlib.Path(earl.__file__).parent / "earl.pyi").read_text()
    for name, value in vars(earl).items():
        if name.startswith("_") or not isinstance(value, type) or name.endswith("Iterator"):
            continue
        assert value.__doc__, name
        assert f"class {name}" in hints
        for member in vars(value):
            if not member.startswith("_") and value is not earl.Error:
                assert f" {member}" in hints, f"{name}.{member}"
