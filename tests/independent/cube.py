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
            root = xml.etree.ElementTree.parse(file).getroot()
        self.parent, self.unit, names = {}, {}, {}
        for metric in root.find("metrics").findall("metric"):
            self._metric(metric, None, names)
        regions = {r.get("id"): r.findtext("name") or "" for r in root.iter("region")}
        # What a function computes between two calls is a node below it, with time of its own: it counts as the function's.
        stretches = {r.get("id") for r in root.iter("region")
                     if r.findtext("descr") == "what its caller computes between two calls"}
        paths = {}
        for cnode in root.find("program").findall("cnode"):
            self._path(cnode, (), regions, paths)
        if stretches:
            self._fold(root, stretches, paths, next(i for i, name in names.items() if name == "visits"))
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

    def _path(self, element, above, regions, paths):
        place = None
        if element.get("line") is not None:
            place = (element.get("mod") or "", int(element.get("line")))
        path = above + ((regions[element.get("calleeId")], place),)
        paths[element.get("id")] = path
        for child in element.findall("cnode"):
            self._path(child, path, regions, paths)


    @staticmethod
    def _fold(root, stretches, paths, visits):
        visited = {row.get("cnodeId") for matrix in root.find("severity").findall("matrix")
                   if matrix.get("metricId") == visits for row in matrix.findall("row")}

        def look(element, recorded):
            number = element.get("id")
            if element.get("calleeId") in stretches:
                paths[number] = recorded
            elif number in visited:
                recorded = paths[number]
            for child in element.findall("cnode"):
                look(child, recorded)

        for cnode in root.find("program").findall("cnode"):
            look(cnode, ())


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
