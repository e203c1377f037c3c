# Apps, their executors and tokens.
app-new = New app
app-settings = Settings
app-settings-of = Settings of { $name }
app-tokens = Tokens
app-tokens-of = Tokens of { $name }
app-jobs = Jobs
app-online = { $online } online
app-online-draining = { $online } online, { $draining } draining
app-refused = Refused
app-refused-state = not registered
app-refused-one = This node refused an executor at <code>{ $source }</code>, last
app-refused-one-of = This node refused an executor of app <code>{ $app }</code> at <code>{ $source }</code>, last
app-refused-often = ({ $count } requests)
app-refused-token = Its access token is wrong. Configure it with the token of its app, or with the one of this node: <code>--access-token</code>, <code>CARILLON_ACCESS_TOKEN</code>, or the file <code>access-token</code> in the data folder.
app-refused-app = The app does not accept its access token: configure it with a token of the app.
app-refused-path = It uses a path that the protocol does not have: its admin address must end before <code>/api/registry</code>.
app-refused-listener = It uses the address of this console: executors register at the address of <code>--executor-listen</code>.
app-unknown = no such app
app-create-this = Create this app
app-unknown-text = { $count ->
    [one] An executor has registered under this name, but there is no such app. Jobs can use it once the app exists.
   *[other] { $count } executors have registered under this name, but there is no such app. Jobs can use them once the app exists.
}
app-no-executors = No executor has registered yet
app-no-executors-text = Start one with the app name <code>{ $name }</code>, the address of this node and the access token; it then appears here.
app-no-member = You are a member of no app yet
app-no-member-text = An administrator can give you a role.
apps-none = There are no apps yet
apps-none-text = An app is a group of executors under one name: the processes that run the handlers. Start an executor and it appears here, or create its app first.
app-create-first = Create an app
app-connect = How to connect an executor
app-name-hint = The name under which executors register: 4 to 64 letters, digits, - _ and .
app-title-hint = Shown in the console instead of the name.
app-create = Create the app
app-is-created = The app { $name } is created.
app-is-saved = The app { $name } is saved.
app-name-change-hint = The name under which executors register. After a change they may use the old one until it is removed here; jobs, runs and tokens stay.
app-former-names = Former names
app-former-until = Until
app-former-hint = Remove a name when all executors register under the new one: those that do not are executors of no app.
app-former-removed = { $name } is no name of this app any more.
remove = Remove
remove-name = Remove { $name }
app-addresses = Addresses entered by hand
app-addresses-text = An executor whose address is entered here need not register: it counts as online until the address is removed. Executors that register are used beside it.
app-addresses-none = No address is entered.
app-address-entered = Entered
app-address-new = New address
app-address-hint = Such as <code>http://10.0.0.5:9999/</code>. This node and the others send their requests there, with the access token.
app-address-enter = Enter the address
app-address-not-allowed = An administrator of all apps enters addresses, as the access token is sent there.
app-address-is-entered = { $address } is entered. All nodes use it within two seconds.
app-delete-text = An app without jobs and open runs can be deleted.
app-delete-ask = Delete the app …
app-delete-question = Delete { $name }?
app-delete-effect = Its executors, tokens, pauses, maintenance windows and alert rules are deleted with it. An executor that still runs appears as one of an app that does not exist. The past runs of its jobs are not shown any more; the retention removes them.
app-delete = Delete the app
app-in-use = It cannot be deleted while it has jobs, or runs that have not ended: it has <a href="/jobs?app={ $app }">{ $jobs ->
    [one] { $jobs } job
   *[other] { $jobs } jobs
}</a> and { $runs ->
    [one] { $runs } such run
   *[other] { $runs } such runs
}. Delete the jobs or move them to another app.
app-back = Back
app-is-deleted = The app { $name } is deleted.
app-token-new-title = The new token
app-token-use = Executors of { $app } use it as their access token. Each is called with the token that it registered with, so they can be restarted one by one; then revoke the old token.
app-tokens-text = A token of this app lets an executor register for <code>{ $app }</code> and report the results of its runs, and nothing else. Two can be valid at a time, so that one can replace the other.
app-tokens-none = The app has no tokens of its own.
app-tokens-caption = Tokens of { $name }, newest first
app-token-made = Made
app-token-no-key = Tokens of apps are stored encrypted, and this node has no key for that: set <code>--secret-key-file</code> (<code>CARILLON_SECRET_KEY_FILE</code>) on every node, such as with the output of <code>openssl rand -base64 32</code>.
app-token-name-hint = What tells it from the other one, such as <code>2026-11</code>.
app-tokens-full = Two tokens are valid. Revoke the one that no executor uses any more to make another.
app-token-revoked = The token is revoked; executors that use it are refused.
app-global-token = The token of all apps
app-global-refused = It is not accepted: the executors of { $app } need a token of this app.
app-global-accept = Accept it again
app-global-accepted = It is accepted from the executors of { $app }, too.
app-global-refuse-hint = Refuse it when all of them use a token of this app: those that do not are refused and called no more.
app-global-needs-own = It can be refused once the app has a token of its own.
app-global-refuse = Accept own tokens alone
app-accepts-own-alone = { $app } accepts its own tokens alone.
app-accepts-global = { $app } accepts the token of all apps as well.
executor-named = Executor { $address }
executor-kind = Kind
executor-weight = Weight
executor-labels = Labels
executor-last-heartbeat = Last heartbeat
executor-online-since = Online since
executor-entered-by-hand = entered by hand
executor-set = set
executor-not-reached = registers, but this node cannot reach it
executor-draining-since = draining since
executor-no-heartbeat = no heartbeat; gets no runs
executor-drained-since = It has got no new runs since
executor-drained-runs = { $count ->
    [0] No run is under way there.
    [one] One run may still be under way there.
   *[other] { $count } runs may still be under way there.
}
executor-drained-hint = This lasts until it is undone, also when the executor registers again.
executor-drain-hint = Draining keeps new runs away from this executor, also when it registers again; the runs that it has end there.
executor-undrain = Give it new runs again
executor-drain = Drain
executor-is-drained = { $address } gets no new runs from now on.
executor-is-undrained = { $address } gets new runs again.
executor-weight-hint = 1 to 100: its share of the runs of jobs with the route Weighted.
executor-weight-announced = The executor registers with { $weight }.
executor-weight-none = The executor registers without a weight, which counts as 1.
executor-labels-hint = Such as <code>zone=eu-1,gpu=yes</code>; jobs can require labels.
executor-labels-announced = The executor registers with <code>{ $labels }</code>.
executor-labels-none = The executor registers without labels.
executor-set-hint = A value set here overrides the one that the executor registers with, also when it registers again. An empty field means the value of the executor.
executor-is-saved = The settings of { $address } are saved.
executor-was-entered = The address was entered by hand.
executor-comes-back = The executor registers by itself: if it still runs, it appears again with its next heartbeat, within half a minute.
executor-remove-effect = What is set for it is forgotten. Its runs count as lost a minute later, unless their results arrive; to let them end first, drain it.
executor-remove = Remove the executor
executor-is-removed = { $address } is removed. If it still runs and registers, it appears again.
app-starters = Jobs of other apps
app-starters-apps = Apps whose jobs may start jobs of this one
app-starters-hint = Names of apps, with commas between. A job of such an app may name a job of this app as its child. Without its app here, a child of another app is not started.
app-unstarted = These jobs are children of jobs of other apps that may not start them, so they are not started:
app-starters-saved = Saved.
app-takes-global = It accepts the token of all apps
app-weight = Weight at limits
app-weight-unit = turns, 1 to 100
app-weight-hint = Where runs of several apps wait for a <a href="/limits">limit</a>, an app with 3 gets three times the slots of one with 1.
app-runs-scripts = Its executors in Java run scripts
app-runs-scripts-hint = Runs of script jobs are sent to executors that announce nothing. Carillon's own executors say themselves what they run.
