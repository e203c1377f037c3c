# Runs: the list, the page of one, and what can be done to them.
runs-of = of <a href="/jobs/{ $id }">{ $job }</a>
rerun-failed = Run again what failed
rerun-failed-ask = Run again what failed…
runs-search = Job, result or run id
state-open = Not ended
state-trouble = Failed, lost or unknown
cause = Cause
any-cause = Any cause
cause-schedule = schedule
by-hand = by hand
cause-api = API
cause-child = child
cause-backfill = backfill
cause-node = workflow
cause-item = items
cause-delayed = delayed trigger
newest-first = Newest first
by-time = By time
longest-first = Longest first
most-late-first = Most late first
runs-no-match-yet = No match among the runs searched
runs-not-searched = Older runs have not been searched yet.
runs-no-match = No run matches the filter
runs-show-all = Show all runs
runs-none = There are no runs yet
runs-none-text = Each fire of a job and each run by hand appears here with its timeline and its log.
runs-searched = { $count } runs were searched for this page.
runs-sorted = The newest { $count } runs are sorted.
search-back = Search further back
sent = Sent
took = Took
run-message = Message
select-run = Select run { $id }
run-attempt = attempt { $number }
run-retry = retry { $number }
part-of = part { $part } of { $parts }
deleted-id = deleted, { $id }
deleted-job = deleted job { $id }
due = due
run-late = { $by } late
not-yet = not yet
run-again = Run again
kill = Kill
resolve = Resolve
kill-runs = Kill { $runs }
rerun-runs = Run again { $runs }
resolve-runs = Resolve { $runs }
runs-ask = { $action }?
runs-all-match = All runs that match the filter: { $count } now.
runs-selected = { $count ->
    [one] { $count } selected run
   *[other] { $count } selected runs
}.
runs-left = Runs for which your role does not allow it are left as they are, and named afterwards.
runs-kill-hint = Runs that have not been sent are cancelled. Otherwise the executors are asked to end them; they end when their handlers react. Requests of HTTP jobs are ended.
runs-rerun-hint = Each job runs again with the parameters that the run was given, also where the job has others by now. A run that was never sent, or whose parameters are not on record, gets those of its job. Only the last attempt of each fire counts.
runs-select-first = Select runs first, or all that match the filter.
filter-fault = The filter { $fault }
result = Result
choose = Choose …
result-succeeded = Succeeded
result-failed = Failed, or never ran
how-known = How you know
rerun-hint = Counts the fires that have failed, were lost or have an unknown outcome after their last attempt, and that were not run again since. Nothing runs before you confirm the number.
rerun-repeated = Also count those that were run again since
empty-all = empty: all
since = Since
rerun-count = Count them…
run-named = Run { $id }
run-kill-ask = Kill run { $id }?
run-kill-ask-of = Kill run { $id } of { $job }?
run-kill-text = A run that has not been sent is cancelled. Otherwise the executor is asked to end the run; it ends when its handler reacts. An xxl-job executor also drops the queued runs of the same job.
run-kill = Kill the run
run-cancelled = The run is cancelled; it had not been sent.
run-end-asked = The end of the run was asked for.
run-ended-already = The run has ended already.
run-goes-on = The run goes on: { $why }.
run-resolve-named = Resolve run { $id }
run-resolve = Resolve the run
run-resolved = The run is resolved.
resolve-text = The run is { $state ->
   *[unknown] unknown
    [lost] lost
}: it was sent, and no result has arrived.
resolve-text-to = The run is { $state ->
   *[unknown] unknown
    [lost] lost
}: it was sent to { $address }, and no result has arrived.
resolve-answer = Your answer becomes its result: if it succeeded, a waiting retry is cancelled and the child jobs run. The audit log keeps your note.
outcome-known = The outcome of the run is known: it is { $state }.
outcome-known-by-now = The outcome of the run is known by now: it is { $state }.
# What is done with many rows of a list.
bulk-all = All that match
bulk-select-page = Select all on this page
bulk-continue = Continue…
bulk-done-of = { $done } of { $all } done
bulk-done = Done: { $what }.
bulk-done-all = It was done with all of them.
bulk-left = { $count ->
    [one] { $count } was left as it is:
   *[other] { $count } were left as they are:
}
bulk-refused = What was refused
bulk-more = And { $count } more.
# The question before something is done with many runs.
runs-of-one-job = { $job }: { $runs }
run-for = for
# A run whose job is deleted.
deleted-named = { $name } (deleted, { $id })

# The items that a run has handed in.
items = Items
item = Item
items-ended = { $ended } of { $all } have an outcome, { $percent } %
items-succeeded = Succeeded
items-given-up = Failed
items-waiting = Without an outcome
items-again = Delivered again
items-reduce-run = Run that reads them
items-retrying = delivered again
items-failed = Items that have failed
deliveries = Deliveries
deliveries-of = { $count }, { $open } of them on their way
deliveries-latest = The latest deliveries
items-reduce = reads the results
items-reduce-later = when all items have their outcome
item-range = { $first } to { $last }
items-of-run = Items of run
item-range-of = items { $first } to { $last }
item-one = item { $item }
items-all-results = the results of { $count } items
params-items = Items of another run. A further attempt carries only those without a success.
