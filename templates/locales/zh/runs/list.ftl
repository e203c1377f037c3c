# 运行：列表、单次运行的页面以及可执行的操作
runs-of = 任务 <a href="/jobs/{ $id }">{ $job }</a>
rerun-failed = 重新执行失败的运行
rerun-failed-ask = 重新执行失败的运行…
runs-search = 任务、结果或运行 ID
state-open = 未结束
state-trouble = 失败、结果丢失或未知
cause = 触发类型
any-cause = 全部触发类型
cause-schedule = 定时触发
by-hand = 手动触发
cause-api = API 触发
cause-child = 父任务触发
cause-backfill = 补跑触发
cause-node = 工作流节点
cause-item = 条目
cause-delayed = 延迟触发
newest-first = 最新的在前
by-time = 按时间
longest-first = 耗时最长的在前
most-late-first = 延迟最大的在前
runs-no-match-yet = 已搜索的运行中没有匹配项
runs-not-searched = 更早的运行尚未搜索。
runs-no-match = 没有符合筛选条件的运行
runs-show-all = 显示全部运行记录
runs-none = 还没有运行
runs-none-text = 任务的每次触发和每次手动执行都会出现在这里，并附有时间线和执行日志。
runs-searched = 本页共搜索了 { $count } 次运行。
runs-sorted = 对最新的 { $count } 次运行排序。
search-back = 继续向前搜索
sent = 发送时间
took = 耗时
run-message = 备注
select-run = 选择运行 { $id }
run-attempt = 第 { $number } 次尝试
run-retry = 第 { $number } 次重试
part-of = 分片 { $part } / { $parts }
deleted-id = 已删除，{ $id }
deleted-job = 已删除的任务 { $id }
due = 应于
run-late = 延迟 { $by }
not-yet = 尚未
run-again = 重新执行
kill = 终止
resolve = 处理
kill-runs = 终止 { $runs }
rerun-runs = 重新执行 { $runs }
resolve-runs = 处理 { $runs }
runs-ask = { $action }？
runs-all-match = 符合筛选条件的全部运行：目前 { $count } 次。
runs-selected = 已选择 { $count } 次运行。
runs-left = 您的角色无权操作的运行保持不变，之后会逐一列出。
runs-kill-hint = 尚未发送的运行将被取消，其余的请求执行器终止；JobHandler 响应后运行才结束。HTTP 任务的请求会被终止。
runs-rerun-hint = 各任务以该次运行的任务参数重新执行，即使任务现在的参数已不同。从未发送的运行，或参数没有记录的运行，使用任务现在的参数。每次触发只计最后一次尝试。
runs-select-first = 请先选择运行，或选择符合条件的全部运行。
filter-fault = 筛选条件：{ $fault }
result = 结果
choose = 请选择…
result-succeeded = 成功
result-failed = 失败，或从未执行
how-known = 判断依据
rerun-hint = 统计最后一次尝试失败、结果丢失或结果未知，且之后没有重新执行过的触发。您确认次数之前不会执行任何任务。
rerun-repeated = 也统计之后已重新执行过的运行
empty-all = 留空：全部
since = 开始时间
rerun-count = 统计次数…
run-named = 运行 { $id }
run-kill-ask = 终止运行 { $id }？
run-kill-ask-of = 终止任务 { $job } 的运行 { $id }？
run-kill-text = 尚未发送的运行将被取消，否则请求执行器终止；JobHandler 响应后运行才结束。xxl-job 执行器还会丢弃同一任务排队中的运行。
run-kill = 终止运行
run-cancelled = 运行已取消，尚未发送。
run-end-asked = 已请求终止运行。
run-ended-already = 运行已经结束。
run-goes-on = 运行仍在继续：{ $why }。
run-resolve-named = 处理运行 { $id }
run-resolve = 处理运行
run-resolved = 运行已处理。
resolve-text = 运行{ $state ->
   *[unknown] 结果未知
    [lost] 结果丢失
}：已发送，但没有收到结果。
resolve-text-to = 运行{ $state ->
   *[unknown] 结果未知
    [lost] 结果丢失
}：已发送到 { $address }，但没有收到结果。
resolve-answer = 您的选择将作为运行的结果：如果成功，等待中的重试会被取消，子任务会执行。审计日志保留您的说明。
outcome-known = 运行的结果已知：{ $state }。
outcome-known-by-now = 运行的结果现在已知：{ $state }。
# 对列表中多行的批量操作
bulk-all = 符合条件的全部
bulk-select-page = 选择本页全部
bulk-continue = 继续…
bulk-done-of = { $all } 项中完成了 { $done } 项
bulk-done = 已完成：{ $what }。
bulk-done-all = 已全部完成。
bulk-left = { $count } 项保持不变：
bulk-refused = 被拒绝的项目
bulk-more = 另有 { $count } 项。
# 批量操作之前的确认
runs-of-one-job = { $job }：{ $runs }
run-for = 触发时刻
# 任务已删除的运行
deleted-named = { $name }（已删除，{ $id }）

# 运行提交的条目。
items = 条目
item = 条目
items-ended = { $all } 个中的 { $ended } 个已有结果，{ $percent } %
items-succeeded = 成功
items-given-up = 失败
items-waiting = 尚无结果
items-again = 再次分发
items-reduce-run = 汇总结果的运行
items-retrying = 再次分发
items-failed = 失败的条目
deliveries = 分发
deliveries-of = { $count } 次，其中 { $open } 次进行中
deliveries-latest = 最近的分发
items-reduce = 汇总结果
items-reduce-later = 全部条目有结果之后
item-range = { $first } 至 { $last }
items-of-run = 所属运行的条目
item-range-of = 条目 { $first } 至 { $last }
item-one = 条目 { $item }
items-all-results = { $count } 个条目的结果
params-items = 另一次运行的条目。再次尝试时只包含尚未成功的条目。
