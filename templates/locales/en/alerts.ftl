# Alerts, their rules, channels and messages.
alert = Alert
alert-named = Alert: { $name }
alert-rules = Alert rules
rules = Rules
alert-channels = Alert channels
channels = Channels
alerts-none = There are no alerts
alerts-none-text = A <a href="/alerts/rules">rule</a> makes alerts of failed runs and other events, and sends them to channels.
alerts-open = Open
alerts-over = Over
alerts-any-rule = Any rule
alerts-any-event = Any event
alerts-no-match = No alert matches
alerts-handle = Apply
alerts-handled = { $count ->
    [one] Done with { $count } alert.
   *[other] Done with { $count } alerts.
}
alerts-refused = { $done } { $count } left as they are: { $why }
alert-silence = Silence
alert-silence-1h = Silence for 1 hour
alert-silence-8h = Silence for 8 hours
alert-silence-24h = Silence for 24 hours
alert-silent-until = Silent until
alerts-caption = { $title }: the latest event first
alerts-older = Older
alert-events = Events
alert-last-event = Latest event
alert-rule-deleted = deleted
alert-is-open = open
alert-is-acknowledged = acknowledged
alert-is-resolved = resolved
alert-is-over = over
alert-events-since = { $count } since
alert-escalated = Escalated
alert-acknowledged = Acknowledged
alert-was-over = Over
alert-acknowledge-label = I look after it
alert-note-hint = A note for the others
alert-acknowledge = Acknowledge
alert-acknowledge-hint = No reminders and no escalation until the alert is over, unless something else goes wrong more than an hour later.
alert-is-looked-after = Acknowledged by you. No more reminders until the alert is over.
alert-items = What it is about
alert-items-open = { $open } of { $all } not over
alert-items-caption = What is not over first
alert-item-what = What
alert-item-text = Text
alert-item-last = Latest
alert-item-job = job { $id }
alert-item-run = run { $id }
messages = Messages
messages-none = None yet.
messages-caption = Messages, the newest first
message = Message
channel = Channel
message-answer = Answer
message-written = Written
message-waiting = waiting
message-trying-again = trying again
message-sent = sent
message-given-up = given up
message-left-out = left out
message-channel-deleted = deleted
message-no-answer = none yet
message-tries = { $count ->
    [one] { $count } attempt
   *[other] { $count } attempts
}
alert-title = { $place }: { $what } ({ $rule })
alert-title-reminder = still open: { $place }: { $what } ({ $rule })
alert-title-escalated = not acknowledged: { $place }: { $what } ({ $rule })
alert-title-recovered = Recovered: { $what } ({ $place })
alert-title-more = Carillon: { $count ->
    [one] { $count } more message was left out
   *[other] { $count } more messages were left out
}
alert-title-test = Carillon: this is a test message
alert-job-happened = job { $job } { $happened }
alert-happened-often = { $happened }, { $events } events
alert-many-happened = { $items ->
    [one] { $items } job or condition
   *[other] { $items } jobs or conditions
} { $happened }, { $events } events
alert-line-test = The channel works: messages of alert rules arrive here.
alert-line-left-out = The channel has had its messages of the hour. The others are on the page of alerts.
alert-line-job = { $job } (job { $id })
alert-line-job-deleted = job { $id }
alert-line-said = { $subject }: { $text }
alert-line-times = { $line } ({ $count } times)
alert-line-more = and { $count } more
alert-line-since = { $count ->
    [one] { $count } event
   *[other] { $count } events
} since { $from }, the last at { $last }
alert-line-was-open = open from { $from } to { $to }, { $count ->
    [one] { $count } event
   *[other] { $count } events
}
alert-line-alert = alert { $id } of the rule { $rule }
alert-link-alert = Open the alert
alert-link-run = Open the run
recovered-job = job `{ $job }`
recovered-many = { $items } jobs or conditions
recovered-condition = condition
recovered-clock = the clock
recovered-database = the database
recovered-ring = the queue of runs
recovered-executor-lost = the executor
recovered-no-executor = an executor is online
happened-none = alert
happened-several = need attention
happened-failed = failed
happened-unknown = has a run whose outcome is unknown
happened-lost = lost a run with its executor
happened-paused = was paused by the scheduler
happened-clock = the clock is in doubt
happened-database = the database is in doubt
happened-ring = the queue of runs is full
happened-gap = has records that differ from its schedule
happened-stuck = was not sent in time
happened-child-not-started = succeeded, and a child of it was not started
happened-late-start = did not start in time
happened-loop = has no executor, or fails in its loop
happened-long-running = takes too long
happened-misfire = skipped instants
happened-executor-lost = an executor is lost
happened-no-executor = no executor is online
alert-kind-failed = failed
alert-kind-unknown = unknown
alert-kind-lost = lost
alert-kind-paused = paused
alert-kind-clock = clock
alert-kind-database = database
alert-kind-ring = ring
alert-kind-gap = gap
alert-kind-stuck = stuck
alert-kind-child-not-started = child not started
alert-kind-late-start = late start
alert-kind-loop = loop
alert-kind-long-running = long running
alert-kind-misfire = misfire
alert-kind-executor-lost = executor lost
alert-kind-no-executor = no executor
alert-on-failed = Failed, after all retries
alert-on-unknown = Outcome unknown
alert-on-lost = Lost with its executor
alert-on-paused = Job paused by the scheduler
alert-on-clock = Clock in doubt
alert-on-database = Database in doubt
alert-on-ring = Queue of runs full
alert-on-gap = Records that differ from the schedule (gap)
alert-on-stuck = Not sent in time
alert-on-child-not-started = A child job was not started
alert-on-late-start = Not started within the objective of the job
alert-on-loop = The loop of a best-effort job has no executor, or fails
alert-on-long-running = Running too long
alert-on-misfire = Instants skipped (misfire)
alert-on-executor-lost = Executor lost
alert-on-no-executor = No executor online
alert-of-app = <span translate="no">{ $app }</span>: { $event }
