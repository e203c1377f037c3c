# Texts that the scripts write.
live-on = Live
live-paused = Paused
live-signed-out = Signed out
live-offline = Offline for { $seconds } s
live-pause = This page is kept up to date. Press to pause.
live-resume = Updates are paused. Press to go on.
log-copied = Copied
log-copy = Copy link
log-no-match = no match
log-no-match-in = no match in lines { $from }–{ $to }
log-match = { $number } of { $count }
log-no-error = no error found
log-no-error-in = no error in lines { $from }–{ $to }
log-error-match = error { $number } of { $count }
log-loaded = { $to } lines so far
log-loaded-of = { $to } of { $all } lines
