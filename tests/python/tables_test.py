"""Tables of pandas: what to_pandas, load_report and load_waits give for traces whose numbers stand here."""
import json
import os
import pathlib

import numpy
import pytest

import earl

REFERENCE = pathlib.Path(os.environ["KOJAK_REFERENCE"])

TRACE = """
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=0 time=1 region=MPI_Send
MPI_SEND lid=0 time=1.25 dlid=1 tag=3 sent=80
EXIT lid=0 time=2
ENTER lid=1 time=2 region=MPI_Recv
MPI_RECV lid=1 time=3 slid=0 tag=3 recvd=80
EXIT lid=1 time=3
ENTER lid=0 time=4 region=MPI_Put
MPI_PUT_1TS lid=0 time=4 dlid=1 rmaid=0 sent=8
EXIT lid=0 time=4.5
ENTER lid=1 time=4.5 region=MPI_Get
MPI_GET_1TO lid=1 time=4.5 rmaid=0
MPI_GET_1TS lid=0 time=4.75 dlid=1 rmaid=0 sent=16
EXIT lid=1 time=5
MPI_PUT_1TE lid=1 time=6 slid=0 rmaid=0
MPI_GET_1TE lid=1 time=6.5 slid=0 rmaid=0
EXIT lid=0 time=7
EXIT lid=1 time=7
"""


@pytest.fixture
def trace():
    return earl.from_text(TRACE)


def test_calls(trace):
    calls = trace.to_pandas()
    assert calls.groupby("region", observed=True)["seconds"].sum().to_dict() == {
        "main": 14, "MPI_Send": 1, "MPI_Recv": 1, "MPI_Put": 0.5, "MPI_Get": 0.5}
    send = calls[calls["region"] == "MPI_Send"].iloc[0]
    assert (send["process"], send["thread"], send["path"], send["begin"], send["end"]) == (0, 0, "main/MPI_Send", 1, 2)


def test_events(trace):
    events = trace.to_pandas("events")
    assert len(events) == len(trace)
    assert list(events["time"]) == [event.time for event in trace]
    assert events["type"].value_counts()["ENTER"] == 6
    assert set(events.loc[events["type"] == "MPI_SEND", "bytes"]) == {80}


def test_messages_and_transfers(trace):
    assert trace.to_pandas("messages").drop(columns="communicator").to_dict("records") == [
        {"source": 0, "destination": 1, "tag": 3, "bytes": 80, "sent": 1.25, "received": 3}]
    assert trace.to_pandas("transfers").drop(columns="window").to_dict("records") == [
        {"kind": "put", "origin": 0, "target": 1, "bytes": 8, "begin": 4, "end": 6},
        {"kind": "get", "origin": 1, "target": 0, "bytes": 16, "begin": 4.75, "end": 6.5}]


def test_polls():
    """A series of 7 polls that a find ends, and one of 3 that does not wait."""
    polls = earl.from_text("""
ENTER lid=0 time=0 region=main
ENTER lid=0 time=1 region=MPI_Iprobe
MPI_POLLED lid=0 time=3 count=7 begin=1 called=0.5 paused=1 asleep=0.75 rest=0.5 judged=1 end=1 members=1
MPI_POLL lid=0 time=3 kind=2 region=MPI_Iprobe count=7 first_enter=1 last_enter=2.5 cid=0
EXIT lid=0 time=4
ENTER lid=0 time=5 region=MPI_Test
MPI_POLLED lid=0 time=5.5 count=3 begin=5 called=0.5 rest=2 judged=3 end=3 flags=4 members=1
MPI_POLL lid=0 time=5.5 kind=1 region=MPI_Test count=3 first_enter=5 last_enter=7 reqid=1 requests=1
EXIT lid=0 time=5.5
EXIT lid=0 time=9
""").to_pandas("polls")
    assert polls.drop(columns=["thread", "path"]).to_dict("records") == [
        {"process": 0, "region": "MPI_Iprobe", "begin": 1, "end": 3, "polls": 7, "called": 0.5, "paused": 1, "asleep": 0.75,
         "rest": 0.5, "waits": True, "found": True},
        {"process": 0, "region": "MPI_Test", "begin": 5, "end": 5.5, "polls": 3, "called": 0.5, "paused": 0, "asleep": 0,
         "rest": 2, "waits": False, "found": False}]
    assert list(polls["path"]) == ["main/MPI_Iprobe", "main/MPI_Test"]


def test_part_of_a_trace(trace):
    """The last five events: both ends of transfers, whose starts lie before, and the ends of main."""
    assert list(trace.to_pandas("transfers", begin=-4)["begin"]) == [4, 4.75]
    calls = trace.to_pandas("calls", begin=-4)
    assert list(calls["region"]) == ["main", "main"] and list(calls["seconds"]) == [7, 7]


def test_what_is_not_there(trace):
    with pytest.raises(ValueError, match="'waits' is none of events, calls, messages, transfers, polls"):
        trace.to_pandas("waits")


def test_report():
    """The classic tools' report tells of the same calls as the trace."""
    report = earl.load_report(REFERENCE / "gats.cube")
    assert list(report.columns) == ["metric", "title", "unit", "call_path", "process", "thread", "value"]
    assert sorted(set(report["process"])) == [0, 1, 2, 3]
    trace = earl.open(REFERENCE / "gats.elg")
    calls = trace.to_pandas()
    visits = report[report["metric"] == "visits"].groupby("call_path", observed=True)["value"].sum()
    assert visits[visits > 0].to_dict() == calls["path"].value_counts()[lambda c: c > 0].to_dict()
    whole = calls[calls["path"] == "PARALLEL"]["seconds"].sum()
    assert report[report["metric"] == "time"]["value"].sum() == pytest.approx(whole, abs=1e-6)
    waiting = calls[calls["path"] == "PARALLEL/MPI_Barrier"].groupby("process")["seconds"].sum()
    mpi = report[(report["metric"] == "mpi") & (report["call_path"] == "PARALLEL/MPI_Barrier")]
    assert mpi.groupby("process")["value"].sum().to_dict() == pytest.approx(waiting.to_dict(), abs=1e-6)


def test_report_that_is_none(tmp_path):
    (tmp_path / "a.cube").write_text("<other/>")
    with pytest.raises(ValueError, match="this is no CUBE report"):
        earl.load_report(tmp_path / "a.cube")


def test_waits(tmp_path):
    wait = {"thread": 1, "call_path": 1, "enter": 2.0, "exit": 3.0, "waiting": 0.75,
            "until": {"time": 2.75, "thread": 0, "call_path": 2}}
    (tmp_path / "a.json").write_text(json.dumps({
        "call_paths": [{"region": "main", "parent": None}, {"region": "MPI_Recv", "parent": 0},
                       {"region": "MPI_Send", "parent": 0}],
        "instances": [{"metric": "mpi_latesender", "begin": 2.0, "end": 3.0,
                       "waits": [wait, {k: v for k, v in wait.items() if k != "until"}]}]}))
    waits = earl.load_waits(tmp_path / "a.json")
    assert list(waits["waiting"]) == [0.75, 0.75] and list(waits["call_path"]) == ["main/MPI_Recv"] * 2
    assert waits["by_call_path"][0] == "main/MPI_Send" and waits["by_call_path"][1] is None
    assert numpy.isnan(waits["until"][1])
