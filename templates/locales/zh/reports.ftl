# 统计报表
report-intro = { $from } 至 { $to }。运行计入其触发时刻在 { $zone } 的日期，在结束约三分钟后统计；每次重试都计为一次运行。
report-group = 分组
by-day = 按日期
by-job = 按任务
day = 日期
period = 时间范围
report-none = 此时间范围内没有运行
report-none-filtered = 没有符合筛选条件的运行在此期间结束。
report-none-counted = 还没有统计到运行：新的运行在结束三分钟后出现。
report-runs = 运行次数
report-cancelled = { $count } 次已取消
report-success = 成功率
report-of-sent = 占已发送的运行
report-doubtful = { $count } 次结果未知
report-duration = 耗时 p50 / p95
report-lateness = 延迟 p50 / p95
report-late = 延迟 { $times }
report-caption = { $group ->
   *[day] 按日期统计的运行
    [app] 按应用统计的运行
    [job] 按任务统计的运行
}
report-first = 前 { $count } 项，共 { $all } 项。
deleted-app = 已删除的应用 { $id }
report-killed = 已终止
