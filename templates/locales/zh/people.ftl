# 用户与我的账号
account-new-token = 您的新令牌
account-token-once = 请立即复制，之后不再显示。
account-roles = 您的角色
account-no-role = 您还没有角色，请联系管理员授予。
account-sign-in = 登录方式
account-current = 当前密码
account-new-again = 再次输入新密码
account-change = 修改密码
account-others-end = 您的其他会话都将结束。
account-revoke-tokens = 同时吊销我的 API 令牌
sessions = 会话
sessions-end-others = 结束其他全部会话
sessions-yours = 您的会话，最近使用的在前
session-browser = 浏览器
session-from = 来源
session-signed-in = 登录时间
session-last-used = 最近使用
session-this = 当前会话
session-end = 结束
tokens = API 令牌
tokens-intro = 令牌让程序以您的名义使用 API，权限不会超过您自己的权限。
tokens-newest = 令牌，最新的在前
tokens-provided = 通过 OpenID 提供方登录的账号，其令牌在最近一次登录后 30 天内有效。
token-expires = 过期时间
token-expired = 已过期
never = 从未
revoke = 吊销
token-new = 新建令牌
token-days = 有效天数
token-role-hint = 您自己的角色权限较低时，以您的角色为准。
token-all-apps = 我可使用的全部应用
token-make = 创建令牌
factor = 两步验证
on = 已启用
factor-keep-codes = 请妥善保管这些恢复码。手机丢失时，每个恢复码可代替验证码登录一次。之后不再显示。
factor-code-or-recovery = 验证码或恢复码
factor-remove = 移除两步验证
factor-required = 此处要求管理员使用两步验证，请设置后继续。
factor-scan = 请用验证码应用扫描，例如 FreeOTP、Aegis 或密码管理器。
factor-qr = 密钥的二维码
factor-code-now = 应用当前显示的验证码
factor-turn-on = 启用
factor-text = 手机应用显示验证码，在密码之后输入。仅凭被盗的密码无法登录。
factor-your-password = 您的密码
factor-set-up = 开始设置
no-role = 无角色
roles-may = 各角色的权限
role-viewer-may = 查看任务、调度日志、执行日志和执行器
role-operator-may = 另可执行、暂停和恢复任务，终止和处理运行
role-editor-may = 另可新增、修改和删除任务；全部应用：还可管理日历
role-admin-may = 另可设置应用的执行器和数据保留；全部应用：还可管理应用和用户
done = 完成
user-new = 新增用户
users-by-name = 用户，按名称排列
disabled = 已停用
enabled = 已启用
user-name-hint = 用户用此名称登录。您将得到一个供用户设置密码的链接。
user-create = 创建用户
user-actions = 用户的操作记录
user-link = 生成重设密码链接
enable = 启用
user-disable = { $count ->
    [0] 停用
   *[other] 停用并吊销 { $count } 个令牌
}
roles-save = 保存角色
user-sessions-end = 该用户的全部会话将结束。
user-end-access = { $count ->
    [0] 结束全部会话
   *[other] 结束全部会话并吊销 { $count } 个令牌
}
user-not-signed-in = 该用户未登录。
sessions-latest = 会话，最近使用的在前
account-token-header = 每次请求 API 时发送：
account-provided = 您通过 OpenID 提供方 <code>{ $issuer }</code> 登录。密码由其管理，角色由您在其中的组决定。
role-of = { $place }：{ $role }
from-source = 来自 { $source }
revoke-name = 吊销 { $name }
token-name-hint = 令牌的用途，例如 <code>deploy</code>。
factor-codes-left = 还剩 { $count } 个恢复码。
factor-asked = 输入密码后需要输入验证码。
factor-or-type = 或手动输入：
factor-needs-key = 两步验证需要加密其密钥的主密钥：请用 <code>--secret-key-file</code> 启动各节点。
link-for = { $name } 的链接
user-is-created = { $name } 已创建
new-password-for = 为 { $name } 重设密码
link-give = 请将此链接交给 { $name }。链接用于设置密码，只能使用一次，之后不再显示。
link-expires = 过期时间：
link-old-password = 在此之前旧密码仍然有效。
link-ends-access = 设置新密码后，全部会话将结束，API 令牌将被吊销。
user-own = 这是您自己的账号：角色由其他管理员修改。密码、会话和令牌在<a href="/account">我的账号</a>页面。
user-provided = 此账号通过 OpenID 提供方 <code>{ $issuer }</code> 登录。每次登录时由其中的组决定角色。
user-no-tokens = 该用户没有 API 令牌。
role-viewer = 查看者
role-operator = 操作员
role-editor = 编辑者
role-admin = 管理员
user-is-enabled = { $name } 可以重新登录。
user-is-disabled = { $name } 已停用：其会话已结束，令牌已吊销。
user-is-deleted = { $name } 已删除。
user-not-disable-self = 您不能停用自己的账号，请由其他管理员操作。
user-not-delete-self = 您不能删除自己的账号，请由其他管理员操作。
user-own-factor = 请在我的账号页面用验证码移除自己的两步验证。
user-factor-removed = { $name } 的两步验证已移除。
user-roles-saved = { $name } 的角色已保存，其会话已结束。
user-access-ended = { $tokens ->
    [0] 已结束 { $name } 的 { $count } 个会话。
   *[other] 已结束 { $name } 的 { $count } 个会话，并吊销 { $tokens } 个令牌。
}
account-password-changed = 密码已修改，其他全部会话已结束。
account-password-and-tokens = 密码已修改，其他全部会话已结束，您的令牌已吊销。
factor-removed = 您的两步验证已移除。
session-ended = 会话已结束。
sessions-others-ended = { $count ->
    [0] 没有其他会话。
   *[other] 已结束其他 { $count } 个会话。
}
token-revoked = 令牌已吊销，不再有效。
browser-on = { $system } 上的 { $browser }
right-to-scripts = 脚本
right-to-scripts-may = 需同时具有编辑者或管理员角色：可读取和编写脚本任务的源码
token-scripts = 同时授予您所拥有的脚本权限
