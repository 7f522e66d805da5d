"""A CUBE report: its metrics with their parents, and {(call path, (rank, thread)): value} of each."""
import gzip
import xml.etree.ElementTree


def key_of(path):
    """A call path for comparison. Reports put the caller between a call of known place and what encloses it; so where
    a path has calls of known place, it is these and the last one, else all of it."""
    placed = tuple(node for node in path[:-1] if node[1] is not None)
    return placed + path[-1:] if placed or path[-1][1] is not None else path


class Cube:
    def __init__(self, path):
        opened = gzip.open(path) if str(path).endswith(".gz") else open(path, "rb")
        with opened as file:
            self.root = xml.etree.ElementTree.parse(file).getroot()
        self.stretches = {r.get("id") for r in self.root.iter("region")
                          if r.findtext("descr") == "what its caller computes between two calls"}
        self._read(frozenset())

    def entered_with_calls(self, functions):
        """These functions, by name and line, are entered with their calls only: what is computed between two calls is
        not theirs in the trace."""
        if functions and self.stretches:
            self._read(functions)

    def _read(self, entered_with_calls):
        root = self.root
        self.parent, self.unit, names = {}, {}, {}
        for metric in root.find("metrics").findall("metric"):
            self._metric(metric, None, names)
        regions = {r.get("id"): r.findtext("name") or "" for r in root.iter("region")}
        self.twins = twins(root)
        visits = next((i for i, name in names.items() if name == "visits"), None)
        visited = {row.get("cnodeId") for matrix in root.find("severity").findall("matrix")
                   if matrix.get("metricId") == visits for row in matrix.findall("row")} if visits else None
        paths = {}
        for cnode in root.find("program").findall("cnode"):
            self._path(cnode, (), regions, paths, visited)
        if self.stretches:
            transparent = {r.get("id") for r in root.iter("region")
                           if (r.findtext("name") or "", r.get("begin")) in entered_with_calls}
            self._fold(root, self.stretches, paths, visited, transparent)
        threads = []
        for process in root.iter("process"):
            for thread in process.findall("thread"):
                threads.append((int(thread.get("Id")), (int(process.findtext("rank")), int(thread.findtext("rank")))))
        self.threads = [who for _, who in sorted(threads)]
        self.values = {name: {} for name in self.parent}
        for matrix in root.find("severity").findall("matrix"):
            rows = self.values[names[matrix.get("metricId")]]
            for row in matrix.findall("row"):
                for who, number in zip(self.threads, row.text.split(), strict=True):
                    if float(number) != 0:
                        key = key_of(paths[row.get("cnodeId")]), who
                        rows[key] = rows.get(key, 0.0) + float(number)

    def _metric(self, element, parent, names):
        name = element.findtext("uniq_name")
        self.parent[name] = parent
        self.unit[name] = element.findtext("uom")
        names[element.get("id")] = name
        for child in element.findall("metric"):
            self._metric(child, name, names)

    def _path(self, element, above, regions, paths, visited):
        place = None
        # The line of a function that was not entered is one that samples tell.
        entered = visited is None or element.get("id") in visited
        if element.get("line") is not None and entered:
            place = (element.get("mod") or "", int(element.get("line")))
        path = above + ((regions[element.get("calleeId")], place),)
        paths[element.get("id")] = path
        for child in element.findall("cnode"):
            self._path(child, path, regions, paths, visited)

    @staticmethod
    def _fold(root, stretches, paths, visited, transparent):
        """What a function computes between two calls is a node below it, with time of its own: it counts as that of the
        region that the trace has around it."""
        def look(element, recorded):
            number = element.get("id")
            if element.get("calleeId") in stretches:
                paths[number] = recorded
            elif number in visited and element.get("calleeId") not in transparent:
                recorded = paths[number]
            for child in element.findall("cnode"):
                look(child, recorded)

        for cnode in root.find("program").findall("cnode"):
            look(cnode, ())


def twins(root):
    """Siblings that CUBE's algebra takes for one: of the same region, called at the same line. And functions of a known
    place that stand below one parent with and without the line of their call."""
    regions = {r.get("id"): (r.findtext("name") or "", r.get("mod") or "", r.get("begin"), r.get("end"))
               for r in root.iter("region")}
    found, parents = [], [root.find("program")]
    while parents:
        parent = parents.pop()
        children = parent.findall("cnode")
        parents += children
        seen = set()
        for child in children:
            line = None if child.get("line") in (None, "-1") else (child.get("mod") or "", child.get("line"))
            key = regions[child.get("calleeId")], line
            if key in seen:
                found.append(f"two siblings are equal: {key}")
            seen.add(key)
        for region, line in seen:
            if line is None and region[2] != "-1" and any(r == region and at is not None for r, at in seen):
                found.append(f"a function stands below its caller with and without the line of its call: {region}")
    return found


APART = {"omp_idle_threads"}  # beside Time, and not part of it


def cross_checks(cube, tolerance):
    """What holds in every report, for metrics in seconds below Time: lines of text about what does not."""
    def below_time(metric):
        while metric is not None and metric not in APART:
            if metric == "time":
                return True
            metric = cube.parent[metric]
        return False

    wrong, sums, own = [], {}, cube.values.get("time", {})
    for metric, values in cube.values.items():
        if not below_time(metric):
            continue
        for key, value in values.items():
            if value < -tolerance or value > own.get(key, 0) + tolerance:
                wrong.append(f"{metric} at {key}: {value:.9g} of {own.get(key, 0):.9g} s")
            if metric != "time":
                at = cube.parent[metric], key
                sums[at] = sums.get(at, 0) + value
    for (metric, key), value in sums.items():
        if value > cube.values[metric].get(key, 0) + tolerance:
            wrong.append(f"the parts of {metric} at {key} are {value:.9g} of {cube.values[metric].get(key, 0):.9g} s")
    return wrong
