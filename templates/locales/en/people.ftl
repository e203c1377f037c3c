# Users and the own account.
account-new-token = Your new token
account-token-once = Copy it now. It is not shown again.
account-roles = Your roles
account-no-role = You have no role yet. An administrator can give you one.
account-sign-in = Sign-in
account-current = Current password
account-new-again = New password again
account-change = Change the password
account-others-end = All your other sessions end.
account-revoke-tokens = Revoke my tokens of the API, too
sessions = Sessions
sessions-end-others = End all others
sessions-yours = Your sessions, the latest used first
session-browser = Browser
session-from = From
session-signed-in = Signed in
session-last-used = Last used
session-this = this one
session-end = End
tokens = Tokens of the API
tokens-intro = A token lets a program use the API in your name. It never does more than you may do yourself.
tokens-newest = Tokens, newest first
tokens-provided = Tokens of an account that signs in by an OpenID provider are valid for 30 days after its last sign-in.
token-expires = Expires
token-expired = expired
never = never
revoke = Revoke
token-new = New token
token-days = Days until it expires
token-role-hint = If your own role allows less, your own role applies.
token-all-apps = All that I may use
token-make = Make the token
factor = Second factor
on = on
factor-keep-codes = Keep these recovery codes in a safe place. Each signs you in once, in place of a code, when your phone is lost. They are not shown again.
factor-code-or-recovery = Code, or a recovery code
factor-remove = Remove the second factor
factor-required = Administrators need a second factor here. Set it up to go on.
factor-scan = Scan this with an app for codes, such as FreeOTP, Aegis or the one in your password manager.
factor-qr = QR code of the secret
factor-code-now = Code that the app shows now
factor-turn-on = Turn it on
factor-text = An app on your phone shows a code that you enter after your password. A stolen password alone is then not enough to sign in.
factor-your-password = Your password
factor-set-up = Set it up
no-role = no role
roles-may = What the roles may do
role-viewer-may = sees jobs, runs, logs and executors
role-operator-may = also runs, pauses and resumes jobs, and ends and resolves runs
role-editor-may = also makes, changes and deletes jobs; of all apps: also calendars
role-admin-may = also sets executors and retention of the app; of all apps: also apps and users
done = Done
user-new = New user
users-by-name = Users, by name
disabled = disabled
enabled = enabled
user-name-hint = The user signs in with it. You get a link with which the user sets a password.
user-create = Create the user
user-actions = Actions of the user
user-link = Link for a new password
enable = Enable
user-disable = { $count ->
    [0] Disable
    [one] Disable and revoke { $count } token
   *[other] Disable and revoke { $count } tokens
}
roles-save = Save the roles
user-sessions-end = All sessions of the user end.
user-end-access = { $count ->
    [0] End all sessions
    [one] End all sessions and revoke { $count } token
   *[other] End all sessions and revoke { $count } tokens
}
user-not-signed-in = The user is not signed in.
sessions-latest = Sessions, the latest used first
account-token-header = Send it with each request to the API:
account-provided = You sign in by the OpenID provider <code>{ $issuer }</code>. It decides about your password, and your groups there about your roles.
role-of = { $role } of { $place }
from-source = from { $source }
revoke-name = Revoke { $name }
token-name-hint = What the token is for, such as <code>deploy</code>.
factor-codes-left = { $count ->
    [one] { $count } recovery code is left.
   *[other] { $count } recovery codes are left.
}
factor-asked = After your password, you are asked for a code.
factor-or-type = Or type it:
factor-needs-key = A second factor needs a key that encrypts its secret: start the nodes with <code>--secret-key-file</code>.
link-for = Link for { $name }
user-is-created = { $name } is created
new-password-for = A new password for { $name }
link-give = Give this link to { $name }. It sets a password, works once, and is not shown again.
link-expires = It expires
link-old-password = The old password works until then.
link-ends-access = With the new password all sessions end, and the tokens of the API are revoked.
user-own = This is your own account: its roles are changed by another administrator. Password, sessions and tokens are on <a href="/account">your page</a>.
user-provided = This account signs in by the OpenID provider <code>{ $issuer }</code>. Its groups there give the roles, at each sign-in.
user-no-tokens = The user has no tokens of the API.
role-viewer = viewer
role-operator = operator
role-editor = editor
role-admin = admin
user-is-enabled = { $name } can sign in again.
user-is-disabled = { $name } is disabled: its sessions are ended, and its tokens are revoked.
user-is-deleted = { $name } is deleted.
user-not-disable-self = You cannot disable your own account; another administrator can.
user-not-delete-self = You cannot delete your own account; another administrator can.
user-own-factor = Remove your own second factor on your page, with a code.
user-factor-removed = The second factor of { $name } is removed.
user-roles-saved = The roles of { $name } are saved; its sessions are ended.
user-access-ended = { $tokens ->
    [0] { $count ->
        [one] { $count } session of { $name } is ended.
       *[other] { $count } sessions of { $name } are ended.
    }
   *[other] Of { $name }, sessions ended: { $count }, tokens revoked: { $tokens }.
}
account-password-changed = Your password is changed, and all other sessions are ended.
account-password-and-tokens = Your password is changed. All other sessions are ended, and your tokens are revoked.
factor-removed = Your second factor is removed.
session-ended = The session is ended.
sessions-others-ended = { $count ->
    [0] There was no other session.
    [one] The other session is ended.
   *[other] { $count } other sessions are ended.
}
token-revoked = The token is revoked; it no longer works.
browser-on = { $browser } on { $system }
right-to-scripts = scripts
right-to-scripts-may = with the role editor or admin: reads and writes the sources of script jobs
token-scripts = Also the right to scripts, where you have it
