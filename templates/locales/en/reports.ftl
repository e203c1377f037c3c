# Reports.
report-intro = { $from } to { $to }. A run is counted on the day of { $zone } on which it was due, about three minutes after it ends. Retries count as runs of their own.
report-group = Group by
by-day = By day
by-job = By job
day = Day
period = Period
report-none = No runs in this period
report-none-filtered = No run of what the filter names has ended in it.
report-none-counted = Nothing is counted yet: new runs appear three minutes after they end.
report-runs = Runs
report-cancelled = { $count } cancelled
report-success = Succeeded
report-of-sent = of those that were sent
report-doubtful = { $count } without a known outcome
report-duration = Duration p50 / p95
report-lateness = Lateness p50 / p95
report-late = lateness { $times }
report-caption = Runs by { $group ->
   *[day] day
    [app] app
    [job] job
}
report-first = The first { $count } of { $all }.
deleted-app = deleted app { $id }
report-killed = Killed
