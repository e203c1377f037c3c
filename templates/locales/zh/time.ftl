# 时间与时长，页面脚本也使用这些文本
time-now = 现在
time-in = { $amount }后
time-ago = { $amount }前
time-seconds = { $seconds } 秒
time-minutes = { $minutes } 分钟
time-minutes-seconds = { $minutes } 分 { $seconds } 秒
time-hours = { $hours } 小时
time-days = { $days } 天
time-milliseconds = { $milliseconds } 毫秒
time-hours-minutes = { $hours } 小时 { $minutes } 分
time-days-hours = { $days } 天 { $hours } 小时
span-seconds = { $count } 秒
span-minutes = { $count } 分钟
