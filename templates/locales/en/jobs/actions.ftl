# Running a job by hand, its backfills, and the versions of its definition.
run-now-hint = For this run only; the parameters of the job do not change. Secrets count only in saved parameters.
run-now-priority-hint = A head start where runs wait in a line, from -3600 to 3600 seconds; empty: that of the job, { $seconds } s.
run-now-parts-hint = For this fire only. A number splits it into that many runs, each with the parameters above. Or the parameters of each part, one in each line; then leave those above empty.
run-now-by-route = By route: { $route }
run-now-no-executor = No executor of { $app } is online: the run would fail.
run-now-executors = See the executors
run-now-like = The parameters of run { $run }; those of the job are different now.
run-now-not-on-record = The parameters of the job: those of run { $run } are not on record.
backfill-of = Backfill { $name }
backfill-wrong = The range cannot be used.
range = Range
backfill-text = Runs the job for each instant of its present schedule that lies in the range. An instant that an earlier backfill has run is left out.
backfill-to-hint = This moment itself is not in the range; it lies in the past.
backfill-concurrent = Runs at the same time
backfill-concurrent-hint = 1 to { $most }: at most this many runs of backfills of this job are open at once.
dry-run = Dry run
backfill-instants = { $count ->
    [one] { $count } instant
   *[other] { $count } instants
}
backfill-skipped = { $count ->
    [one] , of which { $count } has a run already and will be left out
   *[other] , of which { $count } have a run already and will be left out
}
backfill-not-started = . Nothing is started yet.
backfill-start = Start the backfill
backfill-most = A backfill has at most { $count } instants.
backfills = Backfills of this job
backfill-runs = Their runs
backfills-none = There is no backfill of this job yet.
backfills-caption = Backfills, newest first
backfill-progress = Progress
backfill-asked = Asked for
backfill-runs-created = { $count ->
    [one] { $count } run created
   *[other] { $count } runs created
}
backfill-had-run = , { $count } had a run already
backfill-at-once = ; { $count } at the same time
backfill-cancel = { $count ->
    [one] Cancel the backfill of { $count } instant
   *[other] Cancel the backfill of { $count } instants
}
backfill-started = { $count ->
    [one] The backfill is started: { $count } instant.
   *[other] The backfill is started: { $count } instants.
}
backfill-is-cancelled = The backfill is cancelled. The runs that it has created go on.
backfill-was-complete = The backfill had created all its runs already.
history-of = History of { $name }
history-text = Each change of the definition, newest first, for a year. A restored version becomes a new one; whether the schedule fires stays as it is.
history-none = No change is on record
history-none-text = Changes are kept for a year.
history-caption = Changes of the definition, newest first
who = Who
what-changed = What changed
restore = Restore
restore-version = Restore version { $version }
version-present = present
history-cut = Earlier changes are in the API:
# The question before a former version is restored.
restore-ask = Restore version { $version }?
restore-same = Version { $version } says the same as the present version { $now }: there is nothing to restore.
restore-lacks-right = This version has another script. Restoring it needs the right to scripts for the app, and scripts switched on (--scripts).
restore-changes = { $count ->
    [one] One field of version { $now } changes. The result is version { $next }; whether the schedule fires stays as it is.
   *[other] { $count } fields of version { $now } change. The result is version { $next }; whether the schedule fires stays as it is.
}
# What has become of a backfill.
backfill-ended = ended
backfill-succeeded = { $count } of { $all } succeeded
backfill-failed = , { $count } failed
backfill-pending = , { $count } not ended
backfill-reached = { $done } of { $all } instants reached;{" "}
by-author = by { $author }
backfill-stock-executors = { $count ->
    [one] One executor of { $app } is of the kind xxl-job: its handlers do not learn the instant that a run is for, unless the job's parameters name it: write <code>{"{{scheduled_at}}"}</code> in them.
   *[other] { $count } executors of { $app } are of the kind xxl-job: their handlers do not learn the instant that a run is for, unless the job's parameters name it: write <code>{"{{scheduled_at}}"}</code> in them.
}
# A run that is due later.
run-at = At
run-at-hint = Empty: now, or after the delay.
run-in = In
scheduled-runs = Scheduled runs
scheduled-runs-of = Scheduled runs of { $name }
scheduled-all = All scheduled runs
scheduled-none = No run of this job is scheduled
scheduled-none-text = “Run once” and the API can give a run a time that is ahead.
scheduled-caption = Scheduled runs, the earliest first
scheduled-due = Due
scheduled-until = not after
scheduled-asked = Asked for
scheduled-move = Move…
scheduled-move-do = Move
scheduled-move-named = Move run { $id }
scheduled-move-hint = A time that has passed means now.
scheduled-cancel = Cancel run { $id }
scheduled-moved = The run has another time.
