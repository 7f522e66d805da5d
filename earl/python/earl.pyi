"""Merged traces of kojak: events with pointers, state sequences, epochs and transactions, and columns
of millions of events as numpy arrays."""

import os
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload

import numpy
from numpy.typing import NDArray

TYPES: Dict[str, int]
COLUMNS: Tuple[str, ...]
__version__: str

class Error(Exception):
    file: str
    offset: Optional[int]
    record: str
    field: str
    reason: str
    remedy: str
    exit_code: int

class Machine:
    id: int
    name: str

class Node:
    id: int
    name: str
    machine: int
    clock_error: Optional[float]

class Process:
    rank: int
    name: str
    locations: List[int]

class Location:
    id: int
    process: int
    thread: int
    name: str
    node: str
    machine: str
    service: Optional[float]

class Region:
    id: int
    name: str
    file: str
    model: Optional[str]
    begin: Optional[int]
    end: Optional[int]

class CallSite:
    id: int
    file: str
    line: Optional[int]
    entered: Optional[int]
    left: Optional[int]
    caller: Optional[int]

class Communicator:
    id: int
    ranks: List[int]
    remote: List[int]
    is_group: bool
    identity_known: bool
    name: str

class Window:
    id: int
    communicator: int
    flavour: str
    name: str

class Metric:
    id: int
    name: str
    description: str

class Topology:
    id: int
    name: str
    size: List[int]
    periodic: List[bool]
    coordinates: Dict[int, List[int]]

class CallPath:
    id: int
    parent: Optional[int]
    region_id: int
    region: str
    path: str
    call_site: Optional[int]
    first_enter: int

class Event:
    pos: int
    type: str
    time: float
    location: Optional[int]
    process: Optional[int]
    region: Optional[str]
    region_id: Optional[int]
    call_site: Optional[int]
    peer: Optional[int]
    source: Optional[int]
    destination: Optional[int]
    root: Optional[int]
    target: Optional[int]
    communicator: Optional[int]
    window: Optional[int]
    tag: Optional[int]
    rmaid: Optional[int]
    request: Optional[int]
    lock: Optional[int]
    length: Optional[int]
    sent: int
    received: int
    group: Optional[int]
    synex: Optional[int]
    error_class: Optional[int]
    exclusive: Optional[bool]
    code: int
    metrics: List[int]
    enterptr: Optional["Event"]
    sendptr: Optional["Event"]
    requestptr: Optional["Event"]
    startptr: Optional["Event"]
    originptr: Optional["Event"]
    lockptr: Optional["Event"]
    forkptr: Optional["Event"]
    placeptr: Optional["Event"]
    writeptr: Optional["Event"]
    holderptr: Optional["Event"]
    pollptr: Optional["Event"]
    series: Optional["Polled"]
    context: Optional[int]
    offset: Optional[int]
    cnodeptr: Optional["Event"]
    call_path: Optional[int]
    path: str
    def is_a(self, kind: str) -> bool: ...
    def __lt__(self, other: "Event") -> bool: ...

class Operation:
    issued: Optional[Event]
    start: Optional[Event]
    end: Optional[Event]
    target: int
    is_get: bool
    marked: bool

class Epoch:
    mode: str
    process: int
    window: int
    opened: Optional[Event]
    closed: Optional[Event]
    partners: List[int]
    target: Optional[int]
    exclusive: bool
    ordinal: int
    operations: List[Operation]

class EpochPair:
    access: Epoch
    exposure: Epoch
    events: List[Event]

class Transaction:
    root: Epoch
    partners: List[Optional[Epoch]]
    whole: bool
    events: List[Event]

class CollectiveInstance:
    group: int
    ordinal: int
    size: int
    exits: List[Event]

class WindowLock:
    process: int
    target: Optional[int]
    exclusive: bool
    event: Optional[Event]

class AwaitedVariable:
    event: Optional[Event]
    offset: int
    bytes: int
    comparison: Optional[str]
    value: Optional[int]

class ShmemWait:
    location: int
    event: Optional[Event]
    for_lock: bool
    lock: Optional[int]
    variables: List[AwaitedVariable]

class Poll:
    kind: str
    region: str
    call_site: Optional[int]
    count: int
    first_enter: float
    last_enter: float
    request: Optional[int]
    requests: int
    source: Optional[int]
    communicator: Optional[int]
    tag: Optional[int]
    window: Optional[int]
    target: Optional[int]
    displacement: Optional[int]
    bytes: int
    value: int

class Polled:
    count: int
    begin: float
    time: float
    called: float
    paused: float
    asleep: float
    rest: float
    least: float
    ran: Optional[int]
    switches: int
    judged: str
    end: str
    goes_on: bool
    members: List[Poll]

class Polling:
    event: Optional[Event]
    since: Optional[Event]
    judged: str
    members: List[Poll]

class State:
    messages: List[Event]
    shmem_waits: List[ShmemWait]
    epoch_pairs: List[EpochPair]
    access_transactions: List[Transaction]
    exposure_transactions: List[Transaction]
    finished_epochs: List[Epoch]
    def stack(self, location: int) -> List[Event]: ...
    def visits(self, path: int, location: int) -> int: ...
    def polling(self, location: int) -> Optional[Polling]: ...
    def message_queue(self, communicator: int, source: int, destination: int,
                      tag: int) -> List[Event]: ...
    def transfers(self, location: int) -> List[Event]: ...
    def origins(self, location: int) -> List[Event]: ...
    def collectives(self, kind: str = "mpi") -> List[CollectiveInstance]: ...
    def complete(self, kind: str = "mpi") -> Optional[CollectiveInstance]: ...
    def access_epoch(self, process: int, window: int) -> Optional[Epoch]: ...
    def exposure_epoch(self, process: int, window: int) -> Optional[Epoch]: ...
    def fence_epoch(self, process: int, window: int) -> Optional[Epoch]: ...
    def lock_epoch(self, process: int, window: int,
                   target: Optional[int] = None) -> Optional[Epoch]: ...
    def epoch_pair(self, partner: int) -> Optional[EpochPair]: ...
    def holders(self, window: int, target: int) -> List[WindowLock]: ...
    def waiters(self, window: int, target: int) -> List[WindowLock]: ...
    def team(self, location: int) -> List[Event]: ...
    def lock_holder(self, process: Optional[int], lock: int) -> Optional[int]: ...
    def shmem_queue(self, process: int, context: Optional[int] = None) -> List[Event]: ...
    def lock_waiters(self, lock: int) -> List[ShmemWait]: ...

class Trace:
    path: str
    native: bool
    from_cache: bool
    damage: Optional[str]
    cache_error: Optional[str]
    begin: Optional[float]
    end: Optional[float]
    machines: Dict[int, Machine]
    nodes: Dict[int, Node]
    processes: Dict[int, Process]
    files: Dict[int, str]
    locations: List[Location]
    regions: Dict[int, Region]
    call_sites: Dict[int, CallSite]
    communicators: Dict[int, Communicator]
    groups: Dict[int, List[int]]
    windows: Dict[int, Window]
    metrics: List[Metric]
    topologies: List[Topology]
    call_tree: List[CallPath]
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, pos: int) -> Event: ...
    @overload
    def __getitem__(self, pos: slice) -> List[Event]: ...
    def __iter__(self) -> Iterator[Event]: ...
    def events(self, location: Optional[int] = None, begin: Optional[float] = None,
               end: Optional[float] = None) -> Iterator[Event]: ...
    def state(self, pos: int) -> State: ...
    def state_at(self, time: float) -> State: ...
    def first_at(self, time: float) -> int: ...
    def states(self, begin: Optional[int] = None,
               end: Optional[int] = None) -> Iterator[Tuple[Event, State]]: ...
    def access_transactions(self) -> List[Transaction]: ...
    def exposure_transactions(self) -> List[Transaction]: ...
    def epoch_pairs(self) -> List[EpochPair]: ...
    def finished_epochs(self) -> List[Epoch]: ...
    def collectives(self, kind: str = "mpi") -> List[CollectiveInstance]: ...
    def columns(self, names: Optional[Sequence[str]] = None, begin: Optional[int] = None,
                end: Optional[int] = None) -> Dict[str, NDArray[Any]]: ...
    def column(self, name: str, begin: Optional[int] = None,
               end: Optional[int] = None) -> NDArray[Any]: ...
    def byte_matrix(self, messages: bool = True,
                    transfers: bool = True) -> NDArray[numpy.uint64]: ...
    def to_pandas(self, what: str = "calls", begin: Optional[int] = None,
                  end: Optional[int] = None) -> Any: ...

def open(path: Union[str, "os.PathLike[str]"], cache: bool = False, distance: int = 8192) -> Trace: ...
def from_text(text: str) -> Trace: ...
def text_to_trace(text: str) -> bytes: ...
def load_report(path: Union[str, "os.PathLike[str]"]) -> Any: ...
def load_waits(path: Union[str, "os.PathLike[str]"]) -> Any: ...
