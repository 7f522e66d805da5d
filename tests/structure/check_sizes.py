#!/usr/bin/env python3
"""Checks what must not grow: a function has at most 120 lines, and a class of the rooms in FEW_MEMBERS at most 20
members of state and no friend.

Usage: check_sizes.py ROOT. Prints what is wrong; exit status 1 then.

C++ is read as clang-format leaves it: what opens with `{` at the end of a line closes with `}` at the same column. A
function is what opens outside of functions and is no namespace, class or list of values, so a table is none. Members of
a class are what it declares itself, but for constants, types and functions; one without functions is a row and has no
state.
"""
import ast
import pathlib
import re
import sys

FOLDERS = ("epilog", "merge", "earl", "expert", "tools")
MOST_LINES = 120
FEW_MEMBERS = {"expert/causes": 20}
# Whatever stands in a namespace stands at its column.
NOTHING = re.compile(r"\s*(#|(public|private|protected):|(inline )?namespace\b.*\{$|extern \"C\" \{$|\}$)")
ROW_OF_MACRO = re.compile(r"[A-Z][A-Z_]*\(")
TYPE = re.compile(r"(template ?<.*> ?)?(typedef )?(class|struct|union)\b(?!.*\) *(const|noexcept|override)* *$)")
NO_MEMBER = re.compile(r"(using|static|friend|typedef|template|enum|class|struct|union|public|private|protected)\b|[#~]")


def without_comment(line):
    return re.sub(r"\s*//.*", "", line)


def blocks(lines, begin, end):
    """(statement, its first line, where it opens, where it closes or None) of all statements that are not in another."""
    start, text, n = None, "", begin
    while n < end:
        line = without_comment(lines[n])
        if not line.strip() or NOTHING.match(line):
            n += 1
            continue
        if start is None:
            start = n
        text = f"{text} {line.strip()}".strip()
        if line.endswith(")") and ROW_OF_MACRO.match(text):
            start, text, n = None, "", n + 1
            continue
        if line.endswith("{"):
            column = len(lines[start]) - len(lines[start].lstrip())
            close = next((k for k in range(n + 1, end) if re.match(rf" {{{column}}}\}}", lines[k])), None)
            if close is None:
                return
            yield text, start, n, close
            start, text, n = None, "", close + 1
            continue
        if line.endswith((";", "}")):
            yield text, start, n, None
            start, text = None, ""
        n += 1


def bare(text):
    """Without what stands in <...>, {...} and [...]."""
    while (less := re.sub(r"<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]", "", text)) != text:
        text = less
    return text


def is_function(statement):
    return "(" in bare(statement).split("=")[0] or " operator" in statement


def members_of(statement):
    text = bare(statement.rstrip("; {")).replace("mutable ", "")
    if NO_MEMBER.match(text) or is_function(text):
        return 0
    return len(re.sub(r"\([^()]*\)", "", text).split(","))


def look(lines, begin, end, found):
    """Functions as (name, lines), and classes as (name, members)."""
    members, does = 0, False
    for text, start, opened, close in blocks(lines, begin, end):
        if close is None:
            members += members_of(text)
            does = does or is_function(text)
        elif TYPE.match(text):
            name = re.sub(r" (final )?:[^:].*| \{|.*\b(class|struct|union) ", "", text)
            found["classes"].append((name, start + 1, look(lines, opened + 1, close, found)))
            members += 0 if re.match(r"\} *;", lines[close].strip()) else 1
        elif is_function(text) and not text.endswith("= {"):
            does = True
            found["functions"].append((text, start + 1, close - start + 1))
        else:
            members += members_of(text)
    return members if does else 0


def main():
    root = pathlib.Path(sys.argv[1])
    wrong, functions, classes = [], 0, 0
    for source in sorted(s for folder in FOLDERS for s in (root / folder).rglob("*") if s.suffix in {".h", ".cc", ".py"}):
        name = source.relative_to(root)
        if source.suffix == ".py":
            found = [(f.name, f.lineno, f.end_lineno - f.lineno + 1) for f in ast.walk(ast.parse(source.read_text()))
                     if isinstance(f, ast.FunctionDef)]
            here = {"functions": found, "classes": []}
        else:
            here = {"functions": [], "classes": []}
            lines = source.read_text(errors="replace").splitlines()
            look(lines, 0, len(lines), here)
        functions += len(here["functions"])
        for what, line, count in here["functions"]:
            if count > MOST_LINES:
                wrong.append(f"{name}:{line}: {count} lines, more than {MOST_LINES}: {what[:80]}")
        most = next((m for room, m in FEW_MEMBERS.items() if name.as_posix().startswith(room + "/")), None)
        if most is None:
            continue
        classes += len(here["classes"])
        wrong += [f"{name}:{n}: a friend" for n, line in enumerate(lines, 1) if re.match(r"\s*friend\b", line)]
        for what, line, count in here["classes"]:
            if count > most:
                wrong.append(f"{name}:{line}: {what} has {count} members, more than {most}")
    if functions < 2000 or classes < 50:
        wrong.append(f"only {functions} functions and {classes} classes found under {root}: wrong folder?")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
