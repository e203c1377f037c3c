# Times and durations. The script of the console uses the same messages.
time-now = now
time-in = in { $amount }
time-ago = { $amount } ago
time-seconds = { $seconds } s
time-minutes = { $minutes } min
time-minutes-seconds = { $minutes } min { $seconds } s
time-hours = { $hours } h
time-days = { $days } d
time-milliseconds = { $milliseconds } ms
time-hours-minutes = { $hours } h { $minutes } min
time-days-hours = { $days } d { $hours } h
span-seconds = { $count ->
    [one] { $count } second
   *[other] { $count } seconds
}
span-minutes = { $count ->
    [one] { $count } minute
   *[other] { $count } minutes
}
