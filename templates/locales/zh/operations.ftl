# 调度过期、漏触发审计、节点、数据保留、调度预测
gap-audit = 漏触发审计
span = 时间范围
look = 查看
gaps-lost = 有触发时刻丢失或重复，且没有记录原因。
page = 分页
no-such-job = 没有这样的任务
gaps-none = 没有差异
gaps-none-text = 这些任务的每个触发时刻都有记录。
differences = 差异
instants = 触发时刻
not-known = 不详
explain-first-instant = 说明第一个时刻的原因
first-jobs = 最前的任务
further-jobs = 更多任务
misfires-no-match = 没有符合筛选条件的被跳过的触发
misfires-none = 没有被跳过的触发
misfires-none-text = 晚于任务过期阈值的触发，按任务的调度过期策略执行或跳过。此处列出被跳过的触发。
misfires-caption = 被跳过的触发，最新的在前
explain-first-fire = 说明第一次触发的原因
nodes-and-shards = 节点与分片
zone-data = 时区数据
zone-data-here = 本节点的时区数据：{ $data }
zones-compiled-in = 内置
nodes-differ = 各节点的版本或时区数据不同。升级期间属正常现象；否则请在所有节点上安装同一版本。
nodes-none = 最近 24 小时没有节点上报
address = 地址
version = 版本
last-seen = 最近心跳
shards = 分片
this-node = 本节点
clock-and-shards = 时钟与分片
clock-difference = 时钟偏差
clock-hint = ——本节点最近一次比对；各节点以数据库时钟为准
retention-intro = 运行记录的保留时长。任务的规则优先于应用的规则，应用的规则优先于全部任务的规则。
retention-caption = 规则及其生效值
rule = 规则
retention-runs = 未失败的运行
retention-most = 每个任务最多
retention-failed = 失败的运行与被跳过的触发
retention-last = 最近的失败（不限时间）
not-set-here = 此处未设置
retention-cut = 还有其他任务有自己的规则，可从任务页面进入。
retention-outro = 单个任务的规则在任务页面设置。
kept-for = 保留时长
time-span = 时间范围
forecast-jobs-cut = 任务数超出本页统计范围，部分任务未计入。
busiest-second = 最繁忙的一秒
busiest-seconds = 最繁忙的秒
busiest-minute = 最繁忙的一分钟
fires-unit = 次
forecast-chart = 未来的触发次数；最繁忙的秒见下表
busiest-caption = 触发次数最多的秒
second = 时刻
from-now = 距现在
spread-hint = 设置了打散的任务使用其区间内最空闲的一秒。
by-app = 按应用
app-fires = 各应用的触发次数
forecast-none = 此时间范围内没有触发
forecast-none-text = 没有启用的任务在此范围内触发。
last-span = 最近 { $span }
gaps-sum = { $differences } 处差异，{ $instants } 个时刻未说明原因。
gaps-text = 审计重新计算调度要求的触发时刻，并与记录的运行和被跳过的触发比较。命令 <code>carillon audit</code> 对全部任务（包括已删除的）执行此检查。
gaps-cut = { $name } 触发过于频繁：只检查了时间范围的前一部分。
nodes-idle = 节点数多于分片数，部分节点没有调度任务。可用 <code>carillon shards set</code> 修改分片数。
nodes-unheld = 没有节点持有以下分片：{ $shards }。其中的任务会等待，直到有节点接管（节点结束后数秒内）。
node-of = 节点 <span translate="no">{ $id }</span>
count-of-all = { $count } / { $all }
nodes-hint = 在集群的机器上，<code>carillon shards</code> 显示每个分片的租约，<code>carillon shards set N</code> 可在节点运行时修改分片数。另见各节点 <code>/metrics</code> 中的 <code>carillon_clock_difference_seconds</code>。
retention-edit = 编辑规则：{ $name }
retention-of = 数据保留：{ $name }
retention-empty = 留空则使用{ $wider }。
retention-if-empty = 留空：{ $value }。
forecast-cut = 触发次数超出本页统计范围。数字完整统计到
of-jobs = 来自 { $count } 个任务
busiest-minutes = 最繁忙的 { $minutes } 分钟
fires-per-minute = 每分钟触发次数
fires-per-minutes = 每 { $minutes } 分钟触发次数
gap-explained = { $kind ->
   *[missing] 缺失
    [extra] 多余
    [twice] 重复
    [unlooked] 未检查
}，已说明原因
gap-unexplained = { $kind ->
   *[missing] 缺失
    [extra] 多余
    [twice] 重复
    [unlooked] 未检查
}，未说明原因
retention-days-hint = 0：永久。
retention-most-hint = 最近未失败的运行；0：不限。
retention-last-hint = 无论多久都会保留。
retention-saved = 规则已保存，过期的运行将很快按规则删除。
retention-default = 默认值
retention-of-all = 全部任务的规则
retention-of-app = 所属应用或全部任务的规则
clock-equal = 小于 1 毫秒
clock-ahead = 数据库比本机快 { $by }
clock-behind = 数据库比本机慢 { $by }
misfire-coalesced = 迟到触发处理：多次触发迟到时只执行最近一次
misfire-policy = 调度过期策略：{ $policy ->
    [skip] 忽略
    [fire_all] 全部执行
    [fire_within] 执行期限内的触发
   *[fire_once] 立即执行一次
}
# 只检查了部分任务
gaps-none-first = 前 { $count } 个任务没有差异，共 { $all } 个
gaps-none-part = 这 { $count } 个任务没有差异，共 { $all } 个
# What other schedulers brought.
import-from = 来自 { $source }
import-releases = xxl-job 版本
import-zone = 那里 { $of } 个运行中的 Cron 任务里，有 { $agree } 个的计划时刻符合所给时区
import-counts = 上次导入：新建 { $created } 个，更改 { $changed } 个，未变 { $unchanged } 个
import-apps = 有导入任务的应用
import-jobs = 导入的任务
import-enabled = 已在此启用
import-waiting = 等待切换
import-next = 下一步
import-nothing-waits = 没有等待的任务
import-cutover = 先在 xxl-job 中停止该应用的任务，并让其执行器注册到这里；然后执行此命令，启用在那里运行过的任务。加 <code>--back</code> 可再次暂停它们。
import-no-findings = 每个任务在这里的含义与那里相同。
import-findings = 在这里有所不同
import-findings-hint = 每种差异有一个代码，迁移指南列出全部代码。任务编号为那里的编号。
import-more = 另有 { $count } 项
import-unreadable = 此报告由其他版本的程序写入。请重新导入后查看。
import-none = 尚未导入任何内容
import-again = 再次导入，或从其他来源导入
import-how = 导入在能访问另一调度器的机器的命令行上执行。来自 xxl-job 的任务直接进入本系统的数据库；来自 crontab 和 Kubernetes 的任务写入供 <code>carillon apply</code> 使用的文件。
import-how-hint = 任务导入后为暂停状态，可随时重复导入。使用 <code>--dry-run</code> 时不写入任何内容。
