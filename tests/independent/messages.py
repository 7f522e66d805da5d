"""Messages: which receive took which send, Late Sender, Late Receiver, both with Messages in Wrong Order."""
import bisect
import math

from independent.functions import ALL, POLLED_PROBES, PROBES, RECEIVES, SENDS, WAITED_SENDS, WAITS
from independent.intervals import difference, intersection, length, until
from independent.polls import parts_that_asked


class Message:
    def __init__(self, send):
        self.send, self.receive, self.posted = send, None, None
        self.received_pos = float("inf")  # where in the trace it had certainly been received
        self.taken = float("inf")         # where the receive that took it was posted


class Sends:
    """Messages in the order of their sends, and up to each when the last of them had been received."""

    def __init__(self):
        self.sent, self.received = [], [-math.inf]

    def add(self, message):
        self.sent.append(message.send.pos)
        self.received.append(max(self.received[-1], message.received_pos))

    def older_and_open(self, message, receiving):
        """Another was sent before `message`, and when that was received nobody had received it."""
        return self.received[bisect.bisect_left(self.sent, message.send.pos)] > receiving.exit_pos


class Messages:
    def __init__(self, trace):
        self.trace = trace
        self.of_send, self.of_receive, self.by_request, self.posts = {}, {}, {}, {}
        self.sent = {}  # (communicator, source, destination, tag) -> messages in order
        self._match()

    def _key_of_send(self, event):
        process = self.trace.process_of
        return event.cid, process[event.lid], process[event.dlid], event.tag

    def _match(self):
        trace, process = self.trace, self.trace.process_of
        cancelled, freed = set(), set()
        for event in trace.events:
            if event.kind == "MPI_RECV_REQUEST":
                self.posts[process[event.lid], event.reqid] = event
            elif event.kind == "REQUEST_STATE" and event.kind_ == 1 and not event.flags & 1:
                # Open where recording began again; if it was posted before, that is known.
                event.slid = None if event.flags & 2 else event.plid
                self.posts.setdefault((process[event.lid], event.reqid), event)
            elif event.kind == "MPI_CANCELLED":
                cancelled.add((process[event.lid], event.reqid))
            elif event.kind == "MPI_REQUEST_FREED":
                freed.add((process[event.lid], event.reqid))
        sent, state_sent = {}, {}   # key -> [(ordinal, send)], key -> next ordinal
        takers = {}                 # key -> [[(posted, receive or None)], ...], one list for each stretch
        bases = {}                  # key -> the ordinal that each stretch begins with
        gaps = []                   # (pos, key, messages received by then)
        for event in trace.events:
            at = process[event.lid]
            if event.kind == "MPI_SEND":
                if event.request is not None and (at, event.request) in cancelled:
                    continue
                key = self._key_of_send(event)
                ordinal = state_sent.get(key, 0)
                state_sent[key] = ordinal + 1
                message = Message(event)
                self.of_send[event.pos] = message
                self.sent.setdefault(key, []).append(message)
                if event.request is not None:
                    self.by_request[at, event.request] = message
                sent.setdefault(key, {})[ordinal] = message
            elif event.kind == "MPI_RECV":
                key = event.cid, process[event.slid], at, event.tag
                post = self.posts.get((at, event.request)) if event.request is not None else None
                direct = event.request is None and event.call.name in RECEIVES
                posted = post.pos if post else event.call.begin.pos if direct else event.pos
                takers.setdefault(key, [[]])[-1].append((posted, event, post))
            elif event.kind == "MPI_REQUEST_FREED":
                post = self.posts.get((at, event.reqid))
                if post is not None and getattr(post, "slid", None) is not None and post.tag is not None:
                    key = post.cid, process[post.slid], at, post.tag
                    takers.setdefault(key, [[]])[-1].append((post.pos, None, post))
            elif event.kind == "MSG_STATE":
                peer = process[event.plid]
                state_sent[event.cid, at, peer, event.tag] = event.sent
                key = event.cid, peer, at, event.tag
                stretches = takers.setdefault(key, [[]])
                bases.setdefault(key, {})[len(stretches)] = event.recvd
                stretches.append([])
                gaps.append((event.pos, key, event.recvd))
        for key, stretches in takers.items():
            ordinal = 0
            for number, stretch in enumerate(stretches):
                ordinal = bases.get(key, {}).get(number, ordinal)
                for posted, receive, post in sorted(stretch, key=lambda taker: taker[0]):
                    message = sent.get(key, {}).get(ordinal)
                    ordinal += 1
                    if message is None or key[0] in trace.unpaired_comms:
                        continue
                    message.posted, message.taken = post, posted
                    if receive is None:
                        message.received_pos = post.pos
                        continue
                    message.receive, message.received_pos = receive, receive.pos
                    self.of_receive[receive.pos] = message
                    if post is None and receive.request is None and receive.call.name in RECEIVES:
                        message.posted = receive.call.begin
        for pos, key, count in gaps:
            for ordinal, message in sent.get(key, {}).items():
                if ordinal < count and message.receive is None:
                    message.received_pos = min(message.received_pos, pos)

    # ---- patterns

    def patterns(self, severities):
        self._index()
        taken = {}
        for call in self.trace.calls:
            if call.polled or call.name in RECEIVES or call.name in WAITS or call.name in PROBES:
                taken[call] = self._late_sender(call, severities)
        for call in self.trace.calls:
            if call.polled or call.name in SENDS or call.name in WAITS:
                self._late_receiver(call, taken.get(call, []), severities)

    def _late_sender(self, call, severities):
        received = [self.of_receive[e.pos] for e in call.events if e.kind == "MPI_RECV" and e.pos in self.of_receive]
        probes = call.name in PROBES or (call.polled and call.name in POLLED_PROBES)
        if probes:
            received = self._probed(call)
        if not received:
            return []
        choose = max if call.name in ALL else min
        message = choose(received, key=lambda m: m.send.call.enter)
        interval = intersection(call.exclusive(), until(call, message.send.call.enter))
        severities.add("mpi_latesender", call, length(interval))
        for part, since in parts_that_asked(call, None if probes else message.receive.request):
            before = intersection(part.exclusive(), [(since, message.send.call.enter)])
            severities.add("mpi_latesender", part, length(before))
        if probes:
            return interval  # nothing is received yet
        if interval and self.sends_to[call.process].older_and_open(message, call):
            severities.add("mpi_latesender_wo", call, length(interval))
        return interval

    def _probed(self, call):
        """The message that MPI_Mprobe took for its MPI_Mrecv, or the first that MPI_Probe left in the queue."""
        if call.name in ("MPI_Mprobe", "MPI_Improbe"):
            return self.matched_by.get(call, [])
        for event in call.events:
            if event.kind == "MPI_PROBED":
                key = event.cid, self.trace.process_of[event.slid], call.process, event.tag
                return [m for m in self.sent.get(key, []) if m.taken > call.exit_pos][:1]
        return []

    def _index(self):
        """Messages by the call that matched them; sends to a process, and sends of a process."""
        self.matched_by, self.sends_to, self.sends_of = {}, {}, {}
        for message in sorted(self.of_send.values(), key=lambda m: m.send.pos):
            if message.posted is not None:
                self.matched_by.setdefault(message.posted.call, []).append(message)
            self.sends_to.setdefault(self.trace.process_of[message.send.dlid], Sends()).add(message)
            self.sends_of.setdefault(message.send.call.process, Sends()).add(message)

    def _late_receiver(self, call, taken, severities):
        sends = []
        for event in call.events:
            if event.kind == "MPI_SEND" and call.name in SENDS:
                sends.append(self.of_send.get(event.pos))
            elif event.kind == "MPI_SEND_COMPLETE" and (call.polled or call.name in WAITS):
                message = self.by_request.get((call.process, event.reqid))
                if message is not None and message.send.call.name in WAITED_SENDS:
                    sends.append(message)
        sends = [m for m in sends if m is not None and m.posted is not None]
        if not sends:
            return
        if call.name not in ALL:
            sends = [min(sends, key=lambda m: m.posted.call.enter)]
        sends = [m for m in sends if m.posted.call.enter <= call.exit + self.trace.delta(
            call.process, m.posted.call.process)]
        if not sends:
            return
        message = max(sends, key=lambda m: m.posted.call.enter)
        interval = intersection(call.exclusive(), until(call, message.posted.call.enter))
        value = length(difference(interval, taken))
        severities.add("mpi_latereceiver", call, value)
        if message.receive is None or not value:
            return
        if self.sends_of[call.process].older_and_open(message, message.receive.call):
            severities.add("mpi_latereceiver_wo", call, value)
