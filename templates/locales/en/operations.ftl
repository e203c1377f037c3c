# Misfires, gap audit, nodes, retention, forecast.
gap-audit = Gap audit
span = Span
look = Check
gaps-lost = Instants were lost or doubled without a reason on record.
page = Page
no-such-job = There is no such job
gaps-none = No differences
gaps-none-text = Every instant of these jobs is on record.
differences = Differences
instants = Instants
not-known = not known
explain-first-instant = Explain the first of these instants
first-jobs = First jobs
further-jobs = Further jobs
misfires-no-match = No skipped fire matches the filter
misfires-none = No fire was skipped
misfires-none-text = A fire that is reached later than the misfire threshold of its job is run or skipped by the job's misfire policy. What was skipped is listed here.
misfires-caption = Skipped fires, newest first
explain-first-fire = Explain the first of these fires
nodes-and-shards = Nodes and shards
zone-data = Time zone data
zone-data-here = Time zones on this node: { $data }
zones-compiled-in = compiled in
nodes-differ = Nodes differ in their version or their time zone data. This is normal during an upgrade; otherwise install the same version on all nodes.
nodes-none = No node has reported in the last 24 hours
address = Address
version = Version
last-seen = Last seen
shards = Shards
this-node = this node
clock-and-shards = Clock and shards
clock-difference = Clock difference
clock-hint = – at this node's last comparison; each node follows the clock of the database
retention-intro = How long runs are kept. The rule of a job counts before that of its app, and that before the rule for all jobs.
retention-caption = Rules and what is in force by them
rule = Rule
retention-runs = Runs that did not fail
retention-most = At most, of a job
retention-failed = Failed runs and skipped fires
retention-last = Last failures, at any age
not-set-here = not set here
retention-cut = Further jobs have rules of their own: their pages lead to them.
retention-outro = A rule for one job is set from the page of the job.
kept-for = Kept for
time-span = Time span
forecast-jobs-cut = There are more jobs than this page counts; some are left out.
busiest-second = Busiest second
busiest-seconds = Busiest seconds
busiest-minute = Busiest minute
fires-unit = fires
forecast-chart = Fires ahead; the busiest seconds are in the table below
busiest-caption = The seconds with the most fires
second = Second
from-now = From now
spread-hint = A job with a spread takes the least busy second of its span.
by-app = By app
app-fires = Fires of each app
forecast-none = No fires in this time span
forecast-none-text = No enabled job fires within it.
last-span = Last { $span }
gaps-sum = { $differences ->
    [one] { $differences } difference
   *[other] { $differences } differences
}, { $instants ->
    [one] { $instants } instant
   *[other] { $instants } instants
} unexplained.
gaps-text = The audit computes again what the schedules required and compares it with the runs and the skipped fires on record. The command <code>carillon audit</code> does it for all jobs, the deleted ones too.
gaps-cut = { $name } fires too often: only the first part of the span was looked at.
nodes-idle = There are more nodes than shards, so some nodes have nothing to schedule. <code>carillon shards set</code> changes the number of shards.
nodes-unheld = No node holds these shards: { $shards }. The jobs there wait until a node takes the shards, some seconds after a node has ended.
node-of = node <span translate="no">{ $id }</span>
count-of-all = { $count } of { $all }
nodes-hint = On a machine of the cluster, <code>carillon shards</code> shows the lease of each shard, and <code>carillon shards set N</code> divides the jobs into another number of shards while nodes run. See also <code>carillon_clock_difference_seconds</code> of each node under <code>/metrics</code>.
retention-edit = Edit the rule: { $name }
retention-of = Retention of { $name }
retention-empty = An empty field leaves the value to { $wider }.
retention-if-empty = Empty: { $value }.
forecast-cut = There are more fires than this page counts. The numbers are complete up to
of-jobs = { $count ->
    [one] of { $count } job
   *[other] of { $count } jobs
}
busiest-minutes = Busiest { $minutes } minutes
fires-per-minute = Fires per minute
fires-per-minutes = Fires per { $minutes } minutes
gap-explained = { $kind ->
   *[missing] missing
    [extra] extra
    [twice] doubled
    [unlooked] not looked at
}, explained
gap-unexplained = { $kind ->
   *[missing] missing
    [extra] extra
    [twice] doubled
    [unlooked] not looked at
}, unexplained
retention-days-hint = 0: forever.
retention-most-hint = The latest runs that did not fail; 0: no limit.
retention-last-hint = They stay, however old they are.
retention-saved = The rule is saved. Old runs are deleted by it soon.
retention-default = the default
retention-of-all = the rule for all jobs
retention-of-app = the rule for its app or for all jobs
clock-equal = less than 1 ms
clock-ahead = the database is { $by } ahead of this machine
clock-behind = the database is { $by } behind this machine
misfire-coalesced = catch-up: only the latest of several late fires runs
misfire-policy = misfire policy: { $policy ->
    [skip] skip
    [fire_all] fire all
    [fire_within] fire within
   *[fire_once] fire once
}
# The gap audit of some of the jobs.
gaps-none-first = No differences in the first { $count } of { $all } jobs
gaps-none-part = No differences in these { $count } of { $all } jobs
# What other schedulers brought.
import-from = From { $source }
import-releases = Version of xxl-job
import-zone = { $agree } of { $of } running cron jobs were planned there at instants of the time zone that was given
import-counts = { $created } made, { $changed } changed, { $unchanged } unchanged by the last import
import-apps = Apps with imported jobs
import-jobs = Imported jobs
import-enabled = Enabled here
import-waiting = Wait for the change-over
import-next = Next step
import-nothing-waits = nothing waits
import-cutover = Stop the jobs of an app in xxl-job and let its executors register here; then the command enables the jobs that ran there. <code>--back</code> pauses them again.
import-no-findings = Every job means the same here as there.
import-findings = What is different here
import-findings-hint = Each difference has a code; the guide for moving in lists them all. The numbers of jobs are those there.
import-more = { $count ->
    [one] and 1 more
   *[other] and { $count } more
}
import-unreadable = Another version of the program has written this report. Import again to see it.
import-none = Nothing has been imported yet
import-again = Import again, or from elsewhere
import-how = Imports run on the command line of a machine that reaches the other scheduler. From xxl-job jobs arrive in the database of this installation; from crontabs and Kubernetes in a file for <code>carillon apply</code>.
import-how-hint = Jobs arrive paused, and an import may be repeated at any time. With <code>--dry-run</code> nothing is written.
