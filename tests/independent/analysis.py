"""The whole analysis of one trace: metric -> {(call path, location): severity}."""
from independent import active, base, begun, collectives, dispatchers, messages, omp, partitioned, passive, polls, shmem, \
    unexplained, upc
from independent import epochs as epoch_module


def analyse(trace):
    severities = base.Severities()
    started = begun.Begun(trace)
    polls.read(trace)
    base.classify(trace, started)
    epochs = epoch_module.Epochs(trace)
    base.times(trace, severities)
    polls.visits(trace, severities)
    polls.bytes_read(trace, severities)
    matched = messages.Messages(trace)
    base.visits_and_bytes(trace, severities, epochs.operations, matched.of_receive, epochs.shmem)
    matched.patterns(severities)
    partitioned.patterns(trace, severities)
    collectives.collective_patterns(trace, severities)
    started.patterns(severities)
    begun.neighbour_patterns(trace, severities)
    begun.group_patterns(trace, severities)
    collectives.window_patterns(trace, severities)
    target = active.ActiveTarget(trace, epochs)
    target.late_post_and_early_transfer(severities)
    progress_of = passive.patterns(trace, epochs, target.claimed, severities)
    polls.notifications(trace, severities, progress_of)
    polls.locks(trace, severities, progress_of)
    target.early_wait(severities, progress_of)
    target.pairs(severities)
    omp.openmp_patterns(trace, severities)
    shmem.patterns(trace, severities)
    upc.patterns(trace, severities)
    polls.polling(trace, severities)
    dispatchers.idle(trace, severities)
    omp.counters(trace, severities)
    omp.waiting_counters(severities)
    unexplained.not_explained(trace, severities)
    return severities.values
