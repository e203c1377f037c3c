# Jobs: the list, the page of one, and what can be done to them.
job-new = New job
jobs-search = Name, handler, description, tag or id
jobs-search-hint = Name, handler, text, tag or id
job-enabled = Enabled
job-paused = Paused
schedule = Schedule
any-schedule = Any schedule
owner = Owner
any-owner = Any owner
last-result = Last result
any-last-result = Any last result
result-is-failed = Failed
result-is-killed = Killed
result-is-succeeded = Succeeded
by-name = By name
by-next-fire = By next fire
failures-first = Failures first
jobs-no-match = No job matches the filter
jobs-show-all = Show all jobs
jobs-none = There are no jobs yet
jobs-none-text = A job defines which handler runs, when, and on which executors.
job-create-first = Create the first job
jobs-count-cut = { $count }+ jobs
bulk-all-count = All that match ({ $count })
select-name = Select { $name }
next-fire = Next fire
last-runs = Last runs
paused-by = paused by { $author }
paused-by-until = paused by { $author } until { $end }
note-after = : { $note }
run-once = Run once
run-once-ask = Run once…
run-once-name = Run { $name } once
pause = Pause
pause-ask = Pause…
pause-name = Pause { $name }
resume = Resume
resume-name = Resume { $name }
edit-name = Edit { $name }
copy = Copy
copy-name = Copy { $name }
delete-name = Delete { $name }
strip-one = last run { $state }
strip-all = last { $count } runs: { $parts }
strip-part = { $count } { $state }
job-hidden = deleted or hidden job #{ $id }
paused-by-since = <strong>Paused by { $author }</strong>
until-after = , until
pause-change = Change
job-engine-paused = The engine has paused this job: { $reason }
definition = Definition
history = History
schedule-kind = { $kind }:
labels-only = – only executors that have all of them
takes-no-result = without the result of the parent
pause-after = after { $count ->
    [one] { $count } failed fire
   *[other] { $count } failed fires
} in a row
flag = Flag
flag-after = if not sent within { $period }
next-fires = Next fires
job-paused-preview = The job is paused. If it were enabled, it would fire at:
job-all-runs = All runs
backfill = Backfill
job-no-runs = No recent runs
job-no-runs-text = Run the job once to check its executor and handler.
skipped-fires = Skipped fires
skipped-fires-all = All skipped fires
job-delete-ask = Delete { $name }?
job-delete-text = The job will not fire any more. Its runs that are not sent yet are cancelled; runs in progress continue. Its past runs stay until the retention removes them.
job-delete-scheduled = { $count ->
    [one] One scheduled run is deleted and leaves no run.
   *[other] { $count } scheduled runs are deleted and leave no runs.
}
job-delete-scheduled-more = More than { $count } scheduled runs are deleted and leave no runs.
jobs-delete-parents = Jobs that have one of them as a child, and get a new version without it:
child-not-started = not started: its app does not let jobs of this app start its jobs
parent-not-starting = does not start this job: this app does not let jobs of that app start its jobs
job-delete-parents = It is a child of these jobs. Each of them gets a new version without it:
job-delete = Delete the job
job-is-created = { $name } is created.
job-is-saved = { $name } is saved.
job-is-paused = { $name } is paused.
job-is-enabled = { $name } is enabled.
job-is-deleted = { $name } is deleted. Its runs are kept.
job-is-restored = { $name } has the definition of version { $version } again.
job-same-name = Another job of { $app } has the same name: #{ $id }.
job-copy-name = { $name } (copy)
job-not-resumed = The job cannot be resumed: { $why }. Edit it first.
job-not-restored = Version { $version } cannot be restored: { $why }.
job-changed-meanwhile = Nothing was restored: the job was changed meanwhile. The list has the change now.
pause-text = The schedule stops. Its runs that are not sent yet, retries too, are cancelled; runs in progress, backfills and runs that were asked for continue. The job can still be run by hand.
pause-note-hint = Others see it on the page of the job.
job-pause-until-empty = empty: until it is resumed; { $zone }
job-pause-until-hint = Then the job resumes by itself; its misfire policy decides what becomes of the fires that it has missed.
pause-job = Pause the job
jobs-pause = Pause { jobs-count }
jobs-resume = Resume { jobs-count }
jobs-run = Run { jobs-count }
jobs-move = Move { jobs-count }
jobs-tag-add = Add a tag to { jobs-count }
jobs-tag-remove = Remove a tag from { jobs-count }
jobs-delete = Delete { jobs-count }
jobs-select-first = Select jobs first, or all that match the filter.
jobs-all-match = All jobs that match the filter: { $count } now.
jobs-selected = { $count ->
    [one] { $count } selected job.
   *[other] { $count } selected jobs.
}
jobs-left = Jobs for which your role does not allow it are left as they are, and named afterwards.
jobs-until-empty = empty: until resumed; { $zone }
move-to-app = Move to an app
move-to = To the app
move-hint = Their runs that are not sent yet move with them. A job stays if the move would stop a chain: the new app may not start the child, or may not be started by the parent. Jobs of one chain can move together.
tag-add = Add a tag
tag-remove = Remove a tag
run-now = Run now
jobs-run-hint = Each job runs once now with its own parameters, enabled or not.
jobs-delete-hint = The jobs will not fire any more. Their runs that are not sent yet are cancelled, and their scheduled runs are deleted; past runs stay until the retention removes them. A job that has one of them as a child gets a new version without it.
jobs-resume-hint = Their schedules start now; jobs that the engine has paused go on where they stopped.
# A parent that the viewer may not see.
job-of-another-app = a job of another app
# Next fires during a pause.
job-paused-until = The job is paused until { $end }. After it, it fires at:
job-app-paused-until = The app is paused until { $end }; fires before that are cancelled. After it, the job fires at:
job-app-paused = The app is paused: fires of the schedule are cancelled until the pause is ended.
