# Times and durations. The script of the console uses the same messages.
time-now = now
time-in = in { $amount }
time-ago = { $amount } ago
time-seconds = { $seconds } s
time-minutes = { $minutes } min
time-minutes-seconds = { $minutes } min { $seconds } s
time-hours = { $hours } h
time-days = { $days } d
