# The start page.
step-executor = Connect an executor
step-executor-done = Done: one is online.
step-executor-done-as = Done: one is online. It registered as <code>{ $name }</code>.
step-executor-text = An executor is the process that runs the handlers. Any xxl-job executor works; this one comes with Carillon:
step-token-file = The access token is in <code>{ $file }</code> on the machine of this node.
step-token = The access token is the one that this node was started with (--access-token, CARILLON_ACCESS_TOKEN).
step-job = Create a job
step-job-done = Done: <a href="/jobs/{ $id }">open the job</a>.
step-app-first = First create the app under which the executor has registered.
step-app-create = Create the app { $name }
step-job-text = A job defines which handler runs, when, and on which executors.
step-job-new = New job
step-app-text = A job needs an app: a group of executors under one name.
step-app-new = New app
step-run = Run it
step-run-text = Run it once by hand or wait for its first fire, then read the log.
step-run-once = Run it once
stat-jobs = Jobs enabled
stat-paused = { $count } paused
stat-runs = Runs, 24 h
stat-in-progress = { $count } in progress
stat-failed = Failed, 24 h
stat-failing = { $count ->
    [0] no job failing now
    [one] { $count } job failing now
   *[other] { $count } jobs failing now
}
stat-online = Executors online
stat-known = of { $count } known
chart-name = Runs, { $span }
chart-period = Period of the chart
chart-label = Runs of the { $span }; the numbers are in the table below
chart-caption = Runs of the { $span }, newest first
chart-numbers = Show numbers
chart-none = Nothing has run within the last hour.
period-recent = Recent
period-today = Today
period-24h = 24 hours
period-7d = 7 days
period-30d = 30 days
period-90d = 90 days
period-none = No run of this period is counted yet.
period-delay = Runs count about three minutes after their end.
last-hour = last hour
last-10-min = last 10 min
last-minute = last minute
failed-or-lost-lower = failed or lost
others-lower = others
success = Succeeded
failed-or-lost = Failed or lost
others = Others
attention = Needs attention
awaited-executors-of = No executor of <strong>{ $app }</strong> has registered again since this node started or lost its database. Runs wait for them.
no-executor-of = No executor of <strong>{ $app }</strong> is online: the jobs of this app fail.
no-app-of = Executors have registered as <strong>{ $app }</strong>, but there is no such app.
create-it = Create it
job-was-paused = <a href="/jobs/{ $id }">{ $name }</a> was paused: { $reason }
failing = Failing now
failing-none = No job is failing now.
failing-in-a-row = { $count } in a row,{ " " }
scheduler = Scheduler
nodes-none-now = No node has reported within the last 15 seconds.
node-and-version = node <span translate="no">{ $id }</span>, version <span translate="no">{ $version }</span>
shards-of-all = { $count } of { $all } shards
next-fires-none = No job has a next fire.
late-runs = { $count ->
    [one] { $count } of the newest runs was sent late, or waits to be sent.
   *[other] { $count } of the newest runs were sent late, or wait to be sent.
}
late-last = the last one was due
open-alerts = { $count ->
    [one] { $count } alert is open.
   *[other] { $count } alerts are open.
}
failing-others = and { $count } more of <span translate="no">{ $app }</span>
failing-more = The jobs with the most failures in a row.
failing-all = All failing jobs
