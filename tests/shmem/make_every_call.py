#!/usr/bin/env python3
"""Writes a C program that calls every function of the SHMEM library at hand that epilog/shmem/functions.table has.

  make_every_call.py TABLE OSHCC OUT.c

What a function does, and what it must leave in memory, is told here by its name, as the standard says it; of the table
only the name, the type and the order of the parameters are taken. The program runs on two PEs, each the other's partner,
checks its memory, and says what the trace must show (expect.h). Each function has memory of its own, so all are called
between two barriers; of what needs no type the calls are written by hand.
"""

import pathlib
import re
import sys

from table_covers_library import exported, library_of, read_table

N = 3  # elements of a transfer
HEAD = r"""/* Made by make_every_call.py. */
#include <complex.h>
#include <stdint.h>
#include <string.h>
#include <shmemx.h>
#include "expect.h"

enum { kElements = 3, kOld = 6, kValue = 3, kThere = 5 };
static unsigned char area[@AREAS@][256] __attribute__((aligned(64))); /* symmetric: what the others write and read */
static unsigned char own[@AREAS@][256] __attribute__((aligned(64)));
static unsigned char room[@AREAS@][SHMEM_REDUCE_MIN_WRKDATA_SIZE * 16] __attribute__((aligned(64)));
static long psync[@AREAS@][SHMEM_ALLTOALLS_SYNC_SIZE > SHMEM_COLLECT_SYNC_SIZE ? SHMEM_ALLTOALLS_SYNC_SIZE : SHMEM_COLLECT_SYNC_SIZE];
static long lock, other_lock;
static int other;
static shmem_ctx_t context;

#define VALUE(pe, i) (10 * (pe) + (i) + 1)
/* Elements of any size, `step` apart: all bytes of one have its value. */
static void fill(void* at, size_t bytes, int step, int pe) {
  for (int i = 0; i < kElements; ++i) memset((char*)at + i * step * bytes, VALUE(pe, i), bytes);
}
static int filled(const void* at, size_t bytes, int step, int first, int count, int pe, int of) {
  for (int i = 0; i < count; ++i) {
    for (size_t b = 0; b < bytes; ++b) {
      if (((const unsigned char*)at)[(first + i) * step * bytes + b] != VALUE(pe, of + i)) return 0;
    }
  }
  return 1;
}
"""
COMPARISONS = [("SHMEM_CMP_EQ", 1, 0), ("SHMEM_CMP_NE", 2, -1), ("SHMEM_CMP_GT", 3, -1), ("SHMEM_CMP_GE", 4, 0),
               ("SHMEM_CMP_LT", 5, 1), ("SHMEM_CMP_LE", 6, 0)]
# operation -> (what it has as operands, what is there afterwards, whether it brings the old value)
ATOMIC = {
    "set": ("kValue", "kValue", False), "inc": ("", "kOld + 1", False), "add": ("kValue", "kOld + kValue", False),
    "and": ("kValue", "kOld & kValue", False), "or": ("kValue", "kOld | kValue", False),
    "xor": ("kValue", "kOld ^ kValue", False), "fetch": ("", "kOld", True), "swap": ("kValue", "kValue", True),
    "compare_swap": ("kOld, kValue", "kValue", True), "cswap": ("kOld, kValue", "kValue", True),
    "fetch_inc": ("", "kOld + 1", True), "finc": ("", "kOld + 1", True),
    "fetch_add": ("kValue", "kOld + kValue", True), "fadd": ("kValue", "kOld + kValue", True),
    "fetch_and": ("kValue", "kOld & kValue", True), "fetch_or": ("kValue", "kOld | kValue", True),
    "fetch_xor": ("kValue", "kOld ^ kValue", True),
}
REDUCED = {"and": "(a & b)", "or": "(a | b)", "xor": "(a ^ b)", "max": "(a > b ? a : b)", "min": "(a < b ? a : b)",
           "sum": "(a + b)", "prod": "(a * b)"}
ALL = "0, 0, 2"  # the active set of both
# What is called at one place each: name -> statements, `{name}` with its line.
ASKED = {
    "shmem_my_pe": "check({name}() == me, \"{name}\");", "_my_pe": "check({name}() == me, \"{name}\");",
    "my_pe": "check({name}() == me, \"{name}\");", "shmem_n_pes": "check({name}() == 2, \"{name}\");",
    "_num_pes": "check({name}() == 2, \"{name}\");", "num_pes": "check({name}() == 2, \"{name}\");",
    "shmem_pe_accessible": "check({name}(other) == 1, \"{name}\");",
    "shmem_addr_accessible": "check({name}(area, other) == 1, \"{name}\");",
    "shmem_ptr": "check({name}(area, me) == area, \"{name}\");",
    "shmem_query_thread": "{{ int level = -1; {name}(&level); check(level >= 0, \"{name}\"); }}",
    "shmem_fence": "{name}();", "shmem_ctx_fence": "{name}(context);",
}
COMPLETING = {"shmem_quiet": ("", "quiet:0"), "shmem_ctx_quiet": ("context", "quiet:1")}
TOGETHER = {
    "shmem_barrier_all": ("", True), "shmem_barrier": (ALL + ", psync[{n}]", True), "shmem_sync_all": ("", False),
    "shmem_sync": (ALL + ", psync[{n}]", False), "shmem_sync_deprecated": (ALL + ", psync[{n}]", False),
}
# Open MPI 4.1 writes eight bytes on its stack where the old value of four bytes has room (mca_atomic_ucx_cswap): every call
# of these ends the program, also without us.
BROKEN = re.compile(r"shmemx?_(ctx_)?(u?int|u?int32)_(atomic_compare_swap|cswap)")
# Written into the program's frame below.
FRAME = {"shmem_init", "shmem_init_thread", "start_pes", "shmem_finalize", "shmem_global_exit", "globalexit", "shmem_ctx_create",
         "shmem_ctx_destroy", "shmem_set_lock", "shmem_test_lock", "shmem_clear_lock", "shmem_malloc", "shmem_calloc",
         "shmem_align", "shmem_realloc", "shmem_free", "shmalloc", "shmemalign", "shrealloc", "shfree",
         "shmem_malloc_with_hints", "shmemx_malloc_with_hint", "shmem_pcontrol"}
MAIN = r"""
static void locks(void) {
  long* const mine = me == 0 ? &lock : &other_lock; /* nobody else wants it */
  shmem_set_lock(mine);
  expect("shmem_set_lock lock:%s\n", place(mine));
  shmem_clear_lock(mine);
  expect("shmem_clear_lock quiet:0 unlock:%s\n", place(mine));
  check(shmem_test_lock(mine) == 0, "shmem_test_lock of a free lock");
  expect("shmem_test_lock lock:%s\n", place(mine));
  shmem_clear_lock(mine);
  expect("shmem_clear_lock quiet:0 unlock:%s\n", place(mine));
}

static void allocations(void) {
  char* a = shmem_malloc(64);
  expect_together("shmem_malloc", 1);
  first_block = a;
  char* b = shmem_calloc(4, 16);
  expect_together("shmem_calloc", 1);
  char* c = shmem_align(256, 64);
  expect_together("shmem_align", 1);
  check((uintptr_t)c % 256 == 0, "shmem_align");
  for (int i = 0; i < 64; ++i) check(b[i] == 0, "shmem_calloc");
  shmem_putmem(a, own, 64, other);
  expect_put("shmem_putmem", other, 64, a, 0, 0);
  shmem_putmem(b + 8, own, 8, other);
  expect_put("shmem_putmem", other, 8, b + 8, 0, 0);
  shmem_putmem(c, own, 4, other);
  expect_put("shmem_putmem", other, 4, c, 0, 0);
  barrier();
  a = shmem_realloc(a, 1024);
  expect_together("shmem_realloc", 1);
  shmem_putmem(a + 1000, own, 8, other);
  expect_put("shmem_putmem", other, 8, a + 1000, 0, 0);
  barrier();
  shmem_free(a);
  expect_together("shmem_free", 1);
  shmem_free(b);
  expect_together("shmem_free", 1);
  shmem_free(c);
  expect_together("shmem_free", 1);
  a = shmalloc(32);
  expect_together("shmalloc", 1);
  a = shrealloc(a, 64);
  expect_together("shrealloc", 1);
  shfree(a);
  expect_together("shfree", 1);
  a = shmemalign(512, 32);
  expect_together("shmemalign", 1);
  check((uintptr_t)a % 512 == 0, "shmemalign");
  shmem_free(a);
  expect_together("shmem_free", 1);
  a = @HINTED@(32, 0);
  expect_together("@HINTED@", 1);
  shmem_free(a);
  expect_together("shmem_free", 1);
}

int main(int argc, char** argv) {
  const char* start = argc > 1 ? argv[1] : "shmem_init";
  const char* stop = argc > 2 ? argv[2] : "shmem_finalize";
  int provided = 0;
  if (strcmp(start, "start_pes") == 0) start_pes(0);
  if (strcmp(start, "shmem_init") == 0) shmem_init();
  if (strcmp(start, "shmem_init_thread") == 0) shmem_init_thread(SHMEM_THREAD_SINGLE, &provided);
  begin_expecting(); /* asks which PE it is, and how many there are */
  expect("%s\nshmem_my_pe\nshmem_n_pes\n", start);
  other = 1 - me;
  barrier();
  if (strcmp(stop, "shmem_finalize") != 0) {
    printf("PE %d ends early\n", me);
    fflush(stdout);
    expect("%s\n", stop);
    end_expecting();
    (strcmp(stop, "globalexit") == 0 ? globalexit : shmem_global_exit)(3);
  }
  for (int i = 0; i < (int)(sizeof psync / sizeof psync[0]); ++i) {
    for (int k = 0; k < (int)(sizeof psync[0] / sizeof psync[0][0]); ++k) psync[i][k] = SHMEM_SYNC_VALUE;
  }
  check(shmem_ctx_create(0, &context) == 0, "shmem_ctx_create");
  expect("shmem_ctx_create\n");
  prepare();
  barrier();
  call();
  shmem_quiet();
  expect("shmem_quiet quiet:0\n");
  shmem_ctx_quiet(context);
  expect("shmem_ctx_quiet quiet:1\n");
  barrier();
  compare();
  locks();
  allocations();
  shmem_ctx_destroy(context);
  expect("shmem_ctx_destroy quiet:1\n");
  printf("PE %d: @AREAS@ functions, %d wrong results\n", me, wrong_results);
  fflush(stdout);
  expect("shmem_finalize quiet:all coll:-:0,1,2:0:0\n");
  end_expecting();
  shmem_finalize();
  return wrong_results != 0;
}
"""


class Program:
    """Three functions for each of the library's: what stands in memory before, the call, what must stand there then."""

    def __init__(self):
        self.parts = {"prepare": [], "call": [], "compare": []}
        self.size = 0

    def add(self, prepare, call, compare, **words):
        words["n"] = self.size
        self.size += 1
        for part, text in (("prepare", prepare), ("call", call), ("compare", compare)):
            if text:
                self.parts[part].append("  " + text.format(**words))

    def text(self):
        out = []  # functions of some calls each: one of thousands of lines takes a compiler long
        for part, lines in self.parts.items():
            pieces = [lines[i:i + 40] for i in range(0, len(lines), 40)]
            for k, piece in enumerate(pieces):
                out.append(f"static void {part}{k}(void) {{\n" + "\n".join(piece) + "\n}\n")
            out.append(f"static void {part}(void) {{\n" + "".join(f"  {part}{k}();\n" for k in range(len(pieces))) + "}\n")
        return "".join(out)


def moved(program, f, operation, words):
    """put, p, iput, get, g, iget and their forms of each size and type."""
    put, strided, later = "put" in operation or operation == "p", operation.startswith("i"), operation.endswith("_nbi")
    single = operation in ("p", "g")
    step = 2 if strided else 1
    count = 1 if single else N
    words.update(step=step, count=count, flags=1 if later else 0, kind="put" if put else "get", stride="2, 2, " if strided else "")
    told = ('expect_{kind}("{name}", other, {count} * {bytes}, area[{n}], {context}, {flags});')
    if single and put:
        return program.add("", "{name}({ctx}({type}*)area[{n}], ({type})VALUE(me, 0), other); " + told,
                           'check(*({type}*)area[{n}] == ({type})VALUE(other, 0), "{name}");', **words)
    if single:
        return program.add("*({type}*)area[{n}] = ({type})VALUE(me, 0);",
                           'check({name}({ctx}({type}*)area[{n}], other) == ({type})VALUE(other, 0), "{name}"); ' + told, "",
                           **words)
    if put:
        return program.add("fill(own[{n}], {bytes}, {step}, me);",
                           "{name}({ctx}(void*)area[{n}], (void*)own[{n}], {stride}kElements, other); " + told,
                           'check(filled(area[{n}], {bytes}, {step}, 0, kElements, other, 0), "{name}");', **words)
    return program.add("fill(area[{n}], {bytes}, {step}, me);",
                       "{name}({ctx}(void*)own[{n}], (void*)area[{n}], {stride}kElements, other); " + told,
                       'check(filled(own[{n}], {bytes}, {step}, 0, kElements, other, 0), "{name}");', **words)


def atomic(program, f, operation, words):
    operands, after, fetches = ATOMIC[operation]
    words.update(operands=operands + ", " if operands else "", after=after)
    if operation == "fetch":
        told = 'expect_get("{name}", other, {bytes}, area[{n}], {context}, 2);'
    elif fetches:
        told = 'expect_fetch("{name}", other, {bytes}, area[{n}], {context});'
    else:
        told = 'expect_put("{name}", other, {bytes}, area[{n}], {context}, 2);'
    made = "{name}({ctx}({type}*)area[{n}], {operands}other)"
    call = f'check({made} == ({{type}})kOld, "what {{name}} brings");' if fetches else f"{made};"
    program.add("*({type}*)area[{n}] = ({type})kOld;", call + " " + told,
                'check(*({type}*)area[{n}] == ({type})({after}), "{name}");', **words)


def waited(program, f, operation, words):
    compares = f.takes("cmp")
    symbol, number, difference = COMPARISONS[program.size % len(COMPARISONS)] if compares else ("", 2, -1)
    words.update(symbol=symbol + ", " if compares else "", number=number, value=f"kThere + {difference}")
    made = "{name}(({type}*)area[{n}], {symbol}{value})"
    call = f'check({made} != 0, "{{name}}");' if operation == "test" else f"{made};"
    told = 'expect("{name} found:%s:%zu:{number}:%d\\n", place(area[{n}]), {bytes}, {value});'
    program.add("*({type}*)area[{n}] = ({type})kThere;", call + " " + told, "", **words)


def collective(program, f, operation, words):
    """Each of both PEs gives three elements, or three for each other."""
    reduction = re.fullmatch(r"(\w+)_to_all", operation)
    told = 'expect("{name} coll:{root}:0,1,2:%zu:%zu\\n", {sent}, {received});'
    words.update(root="-", sent="(size_t)kElements * {bytes}".format(**words), received="(size_t)kElements * {bytes}".format(**words))
    if reduction:
        words["made"] = REDUCED[reduction[1]]
        return program.add(
            "for (int i = 0; i < kElements; ++i) {{ (({type}*)own[{n}])[i] = ({type})VALUE(me, i); }} "
            "memcpy(area[{n}] + 128, own[{n}], 64);",
            "{name}(({type}*)area[{n}], ({type}*)(area[{n}] + 128), kElements, " + ALL + ", ({type}*)room[{n}], psync[{n}]); " + told,
            "for (int i = 0; i < kElements; ++i) {{ const {type} a = ({type})VALUE(0, i), b = ({type})VALUE(1, i); "
            'check((({type}*)area[{n}])[i] == ({type}){made}, "{name}"); }}', **words)
    if operation == "broadcast":
        words.update(root="0", sent="me == 0 ? {sent} : (size_t)0".format(**words), received="me == 0 ? (size_t)0 : {received}".format(**words))
        return program.add("fill(area[{n}] + 128, {bytes}, 1, me);",
                           "{name}(area[{n}], area[{n}] + 128, kElements, 0, " + ALL + ", psync[{n}]); " + told,
                           'check(me == 0 || filled(area[{n}], {bytes}, 1, 0, kElements, 0, 0), "{name}");', **words)
    words["received"] = "2 * " + words["received"]
    if operation in ("collect", "fcollect"):
        return program.add("fill(area[{n}] + 128, {bytes}, 1, me);",
                           "{name}(area[{n}], area[{n}] + 128, kElements, " + ALL + ", psync[{n}]); " + told,
                           'check(filled(area[{n}], {bytes}, 1, 0, kElements, 0, 0) && '
                           'filled(area[{n}], {bytes}, 1, kElements, kElements, 1, 0), "{name}");', **words)
    # Of three elements one goes to each of both PEs.
    strided = operation == "alltoalls"
    words.update(stride="2, 2, " if strided else "", step=2 if strided else 1,
                 sent="2 * (size_t){bytes}".format(**words), received="2 * (size_t){bytes}".format(**words))
    return program.add("fill(area[{n}] + 128, {bytes}, {step}, me);",
                       "{name}(area[{n}], area[{n}] + 128, {stride}1, " + ALL + ", psync[{n}]); " + told,
                       'check(filled(area[{n}], {bytes}, {step}, 0, 1, 0, me) && '
                       'filled(area[{n}], {bytes}, {step}, 1, 1, 1, me), "{name}");', **words)


def operation_of(f):
    """The template without what all names have: `shmem_ctx_{T}_put_nbi` is put_nbi, `shmem_putmem` put."""
    name = re.sub(r"^shmemx?_(ctx_)?", "", f.template)
    return re.sub(r"mem(?=_|$)", "", name.replace("{T}_", "").replace("{N}", "")).removeprefix("atomic_")


def add(program, f):
    operation = operation_of(f)
    name_of_type = f.element if f.element and not f.element.isdigit() else ""
    words = {"name": f.name, "type": name_of_type, "bytes": f"sizeof({name_of_type})" if name_of_type else f.element_bytes(),
             "ctx": "context, " if f.takes("ctx") else "", "context": 1 if f.takes("ctx") else 0}
    words["bytes"] = words["bytes"] if name_of_type else f"(size_t){words['bytes']}"
    if f.name in ASKED:
        program.add("", ASKED[f.name] + ' expect("{name}\\n");', "", **words)
    elif f.name in COMPLETING:
        arguments, told = COMPLETING[f.name]
        program.add("", "{name}({arguments}); " + f'expect("{{name}} {told}\\n");', "", **words, arguments=arguments)
    elif f.name in TOGETHER:
        arguments, completes = TOGETHER[f.name]
        program.add("", "{name}(" + arguments + f'); expect_together("{{name}}", {int(completes)});', "", **words)
    elif re.fullmatch(r"i?(put|get)(_nbi)?|p|g", operation):
        moved(program, f, operation, words)
    elif operation in ATOMIC:
        atomic(program, f, operation, words)
    elif operation in ("wait", "wait_until", "test"):
        waited(program, f, operation, words)
    elif re.fullmatch(r"\w+_to_all|broadcast|f?collect|alltoalls?", operation):
        collective(program, f, operation, words)
    elif f.name not in FRAME:
        sys.exit(f"{f.name}: make_every_call.py does not know how to call it")


def is_stub(f):
    """Open MPI 5 has functions for teams and signals, atomic operations that return at once, and waits for several places
    that all fail: "Internal error is appeared rc = -7", "Called non-implemented API"."""
    words = f.name.split("_")
    return f.since >= 15 and ("team" in words or any("team" in p.name for p in f.parameters) or
                              bool({"signal", "all", "any", "some"} & set(words)) or {"atomic", "nbi"} <= set(words))


def library_functions(table, compiler):
    there = exported(library_of(compiler))
    return [f for f in read_table(table).functions
            if f.name in there and not BROKEN.fullmatch(f.name) and not is_stub(f)]


def main():
    table, compiler, out = sys.argv[1:]
    program = Program()
    functions = library_functions(table, compiler)
    for f in functions:
        add(program, f)
    names = {f.name for f in functions}
    hinted = next(name for name in ("shmem_malloc_with_hints", "shmemx_malloc_with_hint") if name in names)
    text = (HEAD + program.text() + MAIN).replace("@HINTED@", hinted)
    pathlib.Path(out).write_text(text.replace("@AREAS@", str(program.size)), encoding="utf-8")


if __name__ == "__main__":
    main()
