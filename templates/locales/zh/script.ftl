# 脚本写入的文本
live-on = 实时
live-paused = 已暂停
live-signed-out = 已注销
live-offline = 已离线 { $seconds } 秒
live-pause = 本页面自动更新，点击可暂停。
live-resume = 自动更新已暂停，点击可继续。
log-copied = 已复制
log-copy = 复制链接
log-no-match = 没有匹配
log-no-match-in = 第 { $from }–{ $to } 行中没有匹配
log-match = 第 { $number } 处，共 { $count } 处
log-no-error = 没有找到错误
log-no-error-in = 第 { $from }–{ $to } 行中没有错误
log-error-match = 第 { $number } 处错误，共 { $count } 处
log-loaded = 已载入 { $to } 行
log-loaded-of = 已载入 { $to } 行，共 { $all } 行
