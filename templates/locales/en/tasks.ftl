# The tasks of a node, on the page of the nodes.
tasks-of-node = Tasks of this node
tasks-hint = The scan loops record the fires of their shard ahead of time; the dispatch loop sends what is due. The lag is how much later than planned the last round started.
task = Task
last-round = Last round
task-lag = Lag
last-work = Last work
task-working = still running
task-rounds = { $rounds ->
    [one] 1 round
   *[other] { $rounds } rounds
}
task-dispatch = Dispatch loop
task-scan = Scan loop of shard { $shard }
task-poll = Search for shards with work
task-lease = Leases of shards
task-clock = Clock
task-hints = Hints to other nodes
task-complete = Results of runs
task-successes = Results of successful runs
task-advance = Child jobs, workflows and fixed delays
task-unmark = Return of runs that were not sent
task-route-refresh = List of executors
task-pauses = List of paused apps
task-limits = Limits of runs
task-resolve = Runs without an answer
task-monitor = Runs at executors
task-lease-ends = Ends of executors' leases
task-loops = Loops of executors
task-flag-overdue = Overdue runs
task-watch-starts = Objectives of jobs
task-escalate = Open alarms
task-backfill = Backfills
task-calendars = Changed calendars
task-zones = Changed time zone data
task-gaps = Gap audit
task-prune = Deletion of old runs
task-summarize = Reports
task-alerts = Alert rules
task-declarations = Jobs declared in code
task-deliveries = Messages of alerts
task-other = Other task
did-claimed = { $count } recorded
did-released = { $count ->
    [one] 1 scheduled run due
   *[other] { $count } scheduled runs due
}
did-adopted = { $count } taken over
did-skipped = { $count ->
    [one] 1 range skipped
   *[other] { $count } ranges skipped
}
did-paused = { $count ->
    [one] 1 job paused
   *[other] { $count } jobs paused
}
did-sent = { $count } sent
did-probed = { $count } probed
did-waiting = { $count } put off
did-failed = { $count } failed
did-cancelled = { $count } cancelled
did-settled = { $count } ended
did-accepted = { $count } accepted
did-taken = { $count ->
    [one] 1 shard taken
   *[other] { $count } shards taken
}
did-lost = { $count ->
    [one] 1 shard lost
   *[other] { $count } shards lost
}
did-woken = { $count ->
    [one] 1 scan woken
   *[other] { $count } scans woken
}
did-handled = { $count } handled
did-panicked = stopped by an error of the program
