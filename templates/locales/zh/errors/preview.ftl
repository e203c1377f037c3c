# 关于下次触发的说明
note-delay = 每次触发从上一次运行结束时起算；这里的时间假定运行不耗时。
note-spread-chosen = { $seconds } 秒之内任意一秒均可。晚 { $offset } 秒最空闲。
note-spread-kept = { $seconds } 秒之内任意一秒均可。选择时晚 { $offset } 秒最空闲，此后保持不变。
note-time-skipped = { $day } 没有 { $times_text }：{ $becomes_text }。
note-times-skipped = { $day } 没有 { $times_text }：{ $becomes_text }。
note-time-instead = 改在 { $time } 触发
note-times-instead = 改在 { $time } 触发一次
note-time-stands = 由 { $time } 的触发代替
note-times-stand = 由 { $time } 的触发代替
note-time-lost = 不触发
note-times-lost = 不触发
note-time-twice = { $day } 有两次 { $times_text }：{ $which_text }触发。
note-times-twice = { $day } 有两次 { $times_text }：{ $which_text }触发。
note-both-times = 两次都
note-first-time = 仅第一次
note-second-time = 仅第二次
note-more-times = { $times } 以及另外 { $count } 个时间
