# 首页
step-executor = 接入执行器
step-executor-done = 已完成：有一个执行器在线。
step-executor-done-as = 已完成：有一个执行器在线，注册名称为 <code>{ $name }</code>。
step-executor-text = 执行器是运行 JobHandler 的进程。任何 xxl-job 执行器都可以使用；以下执行器随 Carillon 提供：
step-token-file = 访问令牌在本节点机器的 <code>{ $file }</code> 中。
step-token = 访问令牌即本节点启动时使用的令牌（--access-token、CARILLON_ACCESS_TOKEN）。
step-job = 创建任务
step-job-done = 已完成：<a href="/jobs/{ $id }">打开任务</a>。
step-app-first = 请先创建执行器注册时使用的应用。
step-app-create = 创建应用 { $name }
step-job-text = 任务定义运行哪个 JobHandler、何时运行以及在哪些执行器上运行。
step-job-new = 新增任务
step-app-text = 任务需要一个应用，即同一名称下的一组执行器。
step-app-new = 新增应用
step-run = 执行任务
step-run-text = 手动执行一次，或等待第一次触发，然后查看执行日志。
step-run-once = 执行一次
stat-jobs = 已启用的任务
stat-paused = { $count } 个已暂停
stat-runs = 运行次数，24 小时
stat-in-progress = { $count } 次进行中
stat-failed = 失败次数，24 小时
stat-failing = { $count ->
    [0] 目前没有失败的任务
   *[other] 目前 { $count } 个任务失败
}
stat-online = 在线执行器
stat-known = 共 { $count } 个
chart-name = 运行次数，{ $span }
chart-period = 图表的时间范围
chart-label = { $span }的运行次数；数字见下表
chart-caption = { $span }的运行次数，最新的在前
chart-numbers = 显示数字
chart-none = 最近一小时没有运行。
period-recent = 最近
period-today = 今天
period-24h = 24 小时
period-7d = 7 天
period-30d = 30 天
period-90d = 90 天
period-none = 此时间范围内还没有已统计的运行。
period-delay = 运行结束约三分钟后计入统计。
last-hour = 最近 1 小时
last-10-min = 最近 10 分钟
last-minute = 最近 1 分钟
failed-or-lost-lower = 失败或结果丢失
others-lower = 其他
success = 成功
failed-or-lost = 失败或结果丢失
others = 其他
attention = 需要关注
awaited-executors-of = 自本节点启动或数据库中断以来，应用 <strong>{ $app }</strong> 还没有执行器重新注册，运行正在等待它们。
no-executor-of = 应用 <strong>{ $app }</strong> 没有在线的执行器：其任务会失败。
no-app-of = 有执行器以 <strong>{ $app }</strong> 注册，但没有这个应用。
create-it = 创建
job-was-paused = 任务 <a href="/jobs/{ $id }">{ $name }</a> 已被暂停：{ $reason }
failing = 当前失败
failing-none = 目前没有失败的任务。
failing-in-a-row = 连续 { $count } 次，
scheduler = 调度中心
nodes-none-now = 最近 15 秒没有节点上报。
node-and-version = 节点 <span translate="no">{ $id }</span>，版本 <span translate="no">{ $version }</span>
shards-of-all = { $count } / { $all } 个分片
next-fires-none = 没有任务有下一次触发。
late-runs = 最近的运行中有 { $count } 次发送较晚，或仍在等待发送。
late-last = 最近一次到期：
open-alerts = 有 { $count } 条未结束的报警。
failing-others = 及 <span translate="no">{ $app }</span> 的另外 { $count } 个任务
failing-more = 连续失败最多的任务。
failing-all = 所有失败的任务
