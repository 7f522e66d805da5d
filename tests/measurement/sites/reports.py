"""Reports of the traces that tests of libraries make: expert's severities by what stands in the call path."""

import re
import subprocess
import sys
import xml.etree.ElementTree as xml


def analyse(case, traces):
    """The report of a merged trace, in which no message may have been left over."""
    report = f"{traces}.cube"
    said = subprocess.run([case.args.bin / "expert", "-o", report, f"{traces}.elg"], capture_output=True, text=True,
                          timeout=60)
    if said.returncode != 0:
        sys.exit(f"{traces}: expert ended with {said.returncode}: {said.stdout}{said.stderr}")
    if re.search(r"sends? without receive", said.stdout + said.stderr):
        sys.exit(f"{traces}: {said.stdout}")
    return report


def severity(report, metric, function, place):
    """Of one process, over all call paths that lead through a function, or a statement that is named like one."""
    root = xml.parse(report).getroot()
    number = next(m.get("id") for m in root.iter("metric") if m.findtext("uniq_name") == metric)
    names = {r.get("id"): r.findtext("name", "") for r in root.iter("region")}
    inside = set()

    def walk(node, through):
        through = through or names[node.get("calleeId")] == function
        if through:
            inside.add(node.get("id"))
        for child in node.findall("cnode"):
            walk(child, through)

    for node in root.find("program").findall("cnode"):
        walk(node, False)
    if not inside:
        sys.exit(f"the report has no call path through '{function}'")
    rows = [row for matrix in root.iter("matrix") if matrix.get("metricId") == number for row in matrix.iter("row")]
    return sum(float(row.text.split()[place]) for row in rows if row.get("cnodeId") in inside)
