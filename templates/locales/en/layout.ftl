# The frame of every page.
skip = Skip to the content
nav = Main
nav-dashboard = Dashboard
nav-jobs = Jobs
nav-runs = Runs
nav-forecast = Forecast
nav-reports = Reports
nav-alerts = Alerts
nav-calendars = Calendars
nav-misfires = Misfires
nav-executors = Executors
nav-nodes = Nodes
nav-retention = Retention
nav-users = Users
nav-audit = Audit
nav-menu = Menu
find-job = Find a job
find-job-hint = Find a job by name or handler
colours = Colours
colours-system = System
colours-light = Light
colours-dark = Dark
language = Language
zone = Times are shown in
zone-set = Set
zone-unknown = { $zone } is not a time zone; write one such as Europe/Berlin.
your-account = Your account
sign-out = Sign out
degraded = <strong>Degraded:</strong> Redis does not answer this node. Scheduling continues with the leases of the database alone.
paused-app = App { $app } is paused:
paused-all = All apps are paused:
paused-until = until { $end }
paused-link = Pauses
paused-more = { $count ->
    [one] { $count } more pause is in force.
   *[other] { $count } more pauses are in force.
}
times-in = Times in { $zone }
error-dashboard = To the dashboard
error-request = Request
filter-wrong = This filter cannot be used.
field-fault = { $field }: { $message }
