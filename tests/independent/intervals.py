"""Sets of times: sorted lists of disjoint intervals (begin, end). Nothing is fast here, all is plain."""


def union(*sets):
    result = []
    for begin, end in sorted(i for intervals in sets for i in intervals):
        if end <= begin:
            continue
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


def intersection(first, second):
    result, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        begin, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if begin < end:
            result.append((begin, end))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return result


def difference(first, second):
    result = []
    for begin, end in first:
        for other_begin, other_end in second:
            if other_end <= begin or other_begin >= end:
                continue
            if other_begin > begin:
                result.append((begin, other_begin))
            begin = max(begin, other_end)
        if begin < end:
            result.append((begin, end))
    return result


def length(intervals):
    return sum(end - begin for begin, end in intervals)


def until(call, time):
    """[call.enter, time], within the call; of a series of polls from when on it asked for what it found."""
    end, begin = min(call.exit, time), getattr(call, "since", call.enter)
    return [(begin, end)] if end > begin else []
