# Notes on the next fires of a schedule.
note-delay = Each fire counts from the end of the run before; these times are those of runs that take no time.
note-spread-chosen = Any second within { $seconds } s will do. { $offset } s later is where the least happens.
note-spread-kept = Any second within { $seconds } s will do. { $offset } s later was where the least happened when this was chosen; it stays so.
note-time-skipped = { $times_text } does not exist on { $day }: { $becomes_text }.
note-times-skipped = { $times_text } do not exist on { $day }: { $becomes_text }.
note-time-instead = it fires at { $time } instead
note-times-instead = it fires once, at { $time } instead
note-time-stands = the fire at { $time } stands for it
note-times-stand = the fire at { $time } stands for them
note-time-lost = nothing fires for it
note-times-lost = nothing fires for them
note-time-twice = { $times_text } comes twice on { $day }: it fires { $which_text }.
note-times-twice = { $times_text } come twice on { $day }: it fires { $which_text }.
note-both-times = both times
note-first-time = the first time only
note-second-time = the second time only
note-more-times = { $times } and { $count } more times
