# Words that several pages use.
name = Name
app = App
apps = Apps
role = Role
roles = Roles
cancel = Cancel
save = Save
preview = Preview
edit = Edit
delete = Delete
state = State
job = Job
from = From
to = To
why = Why
actions = Actions
none = none
created = Created
optional = optional
more = More
unknown = unknown
filter = Filter
clear = Clear
all-apps = All apps
first-page = First page
previous-page = Previous page
next-page = Next page
back-first-page = Back to the first page
end-of-list = This is the end of the list
job-id = Job id
job-name-or-id = Job, name or id
explain = Explain
show-all = Show all
title = Title
fires = Fires
pages = Pages
to-date = to
from-in-zone = From, { $zone }
to-in-zone = To, { $zone }
jobs-count = { $count ->
    [one] { $count } job
   *[other] { $count } jobs
}
version-of = version { $version }
of-all-apps = all apps
app-number = app { $id }
span-hours = { $count ->
    [one] { $count } hour
   *[other] { $count } hours
}
span-days = { $count ->
    [one] { $count } day
   *[other] { $count } days
}
number = { $number }
no-limit = no limit
for-ever = forever
all-jobs = All jobs
of-all-jobs = all jobs
jobs-of = Jobs of { $app }
of-jobs-of = the jobs of { $app }
unit-days = days
unit-runs = runs
unit-runs-of-job = runs of a job
day-mon = Mon
day-tue = Tue
day-wed = Wed
day-thu = Thu
day-fri = Fri
day-sat = Sat
day-sun = Sun
executor = Executor
executors = Executors
run = Run
attempt = Attempt
parameters = Parameters
tag = Tag
any-tag = Any tag
any-state = Any state
order = Order
select = Select
log = Log
runs-count = { $count ->
    [one] { $count } run
   *[other] { $count } runs
}
full-stop = .
