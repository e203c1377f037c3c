# 手动执行、补跑与任务定义的历史版本
run-now-hint = 仅用于本次运行；任务自身的任务参数不变。密钥仅在已保存的参数中有效。
run-now-priority-hint = 排队等待时提前的秒数，-3600 到 3600；留空：沿用任务的 { $seconds } 秒。
run-now-parts-hint = 仅用于本次触发。数字表示拆分成多少次运行，各自使用上面的任务参数。或者填写每个分片的参数，每行一个；此时上面的参数须为空。
run-now-by-route = 按路由策略：{ $route }
run-now-no-executor = { $app } 没有在线的执行器：运行将失败。
run-now-executors = 查看执行器
run-now-like = 运行 { $run } 的任务参数；任务自身的任务参数现已不同。
run-now-not-on-record = 任务自身的任务参数：运行 { $run } 的任务参数没有记录。
backfill-of = 补跑 { $name }
backfill-wrong = 时间范围无效。
range = 时间范围
backfill-text = 对时间范围内当前调度的每个触发时刻执行任务。之前的补跑已执行过的时刻不再执行。
backfill-to-hint = 不包含此时刻本身；必须是过去的时间。
backfill-concurrent = 同时运行数
backfill-concurrent-hint = 1 到 { $most }：此任务的补跑同时未结束的运行数上限。
dry-run = 试算
backfill-instants = { $count } 个触发时刻
backfill-skipped = ，其中 { $count } 个已有运行，将不再执行
backfill-not-started = 。尚未开始执行。
backfill-start = 开始补跑
backfill-most = 一次补跑最多 { $count } 个触发时刻。
backfills = 此任务的补跑
backfill-runs = 补跑的运行
backfills-none = 此任务还没有补跑。
backfills-caption = 补跑，最新的在前
backfill-progress = 进度
backfill-asked = 提交时间
backfill-runs-created = 已创建 { $count } 次运行
backfill-had-run = ，{ $count } 个时刻已有运行
backfill-at-once = ；同时 { $count } 次
backfill-cancel = 取消 { $count } 个触发时刻的补跑
backfill-started = 补跑已开始：{ $count } 个触发时刻。
backfill-is-cancelled = 补跑已取消，已创建的运行继续。
backfill-was-complete = 补跑已创建全部运行。
history-of = { $name } 的历史版本
history-text = 任务定义的每次修改，最新的在前，保留一年。恢复的版本成为新版本；调度是否启用保持不变。
history-none = 没有修改记录
history-none-text = 修改记录保留一年。
history-caption = 任务定义的修改，最新的在前
who = 操作者
what-changed = 修改内容
restore = 恢复
restore-version = 恢复版本 { $version }
version-present = 当前
history-cut = 更早的修改请通过 API 查询：
# 恢复历史版本之前的确认
restore-ask = 恢复版本 { $version }？
restore-same = 版本 { $version } 与当前版本 { $now } 相同，无需恢复。
restore-lacks-right = 此版本的脚本与当前不同。恢复它需要该应用的脚本权限，且服务器已启用脚本（--scripts）。
restore-changes = { $count ->
   *[other] 版本 { $now } 中将有 { $count } 个字段改变，结果成为版本 { $next }；调度是否启用保持不变。
}
# 补跑的结果
backfill-ended = 已结束
backfill-succeeded = 成功 { $count } / { $all }
backfill-failed = ，失败 { $count } 个
backfill-pending = ，未结束 { $count } 个
backfill-reached = 已处理 { $done } / { $all } 个触发时刻；
by-author = 由 { $author } 发起
backfill-stock-executors = { $count ->
   *[other] { $app } 有 { $count } 个 xxl-job 类型的执行器：除非任务参数中写有 <code>{"{{scheduled_at}}"}</code>，否则其 JobHandler 无法得知一次运行对应的触发时刻。
}
# 稍后执行的运行。
run-at = 执行时间
run-at-hint = 留空：立即执行，或在延迟之后执行。
run-in = 延迟
scheduled-runs = 已排定的运行
scheduled-runs-of = { $name } 已排定的运行
scheduled-all = 全部已排定的运行
scheduled-none = 此任务没有已排定的运行
scheduled-none-text = “执行一次”和 API 可以为运行指定将来的时间。
scheduled-caption = 已排定的运行，最早的在前
scheduled-due = 计划时间
scheduled-until = 不晚于
scheduled-asked = 请求时间
scheduled-move = 改期…
scheduled-move-do = 改期
scheduled-move-named = 运行 { $id } 改期
scheduled-move-hint = 已经过去的时间表示立即执行。
scheduled-cancel = 取消运行 { $id }
scheduled-moved = 运行已改期。
