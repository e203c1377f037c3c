# Signing in, and the first steps.
password = Password
password-again = Password again
password-hint = 10 to 128 characters of any kind; a few words are fine.
login = Sign in
login-name = Name
login-signed-out = You are signed out.
login-provider = Sign in with { $name }
login-provider-failed = { $name } did not answer the last time; the button asks it again.
login-kept-by-password = Only the sign-in with a password returns what you filled in.
login-or = or
login-forgotten = Password forgotten? An administrator can make you a link, or run <code>carillon user password NAME</code> on the server.
login-kept = What you filled in is kept: sign in, and it is here again.
login-not-changed = Nothing was changed. Sign in, then do it again.
setup = Set up
setup-title = Welcome to Carillon
setup-text = Create the first administrator. Carillon printed the set-up secret when it started; the secret is valid for half an hour and can be used once.
setup-secret = Set-up secret
setup-name = Your name
setup-submit = Set up and sign in
reset = New password
reset-for = for <strong>{ $name }</strong>. The link works once.
reset-submit = Set the password and sign in
code = Code
code-title = Enter the code
code-text = that the app on your phone shows now.
code-lost = Phone lost? Enter one of your recovery codes. Without one, an administrator can remove the second factor, or <code>carillon user remove-second-factor NAME</code> on the server.
kept = Back to your form
kept-title = You are signed in again
kept-text = The form still holds what you typed. Nothing is saved until you press its button.
kept-submit = Back to the form
too-many-attempts = Too many failed attempts. Try again in { $time }.
code-recovery-used = { $count ->
    [one] You have used a recovery code; { $count } is left.
   *[other] You have used a recovery code; { $count } are left.
} Set up the second factor again if the app is lost.
reset-done = Your new password is set.
setup-done = Welcome. You are the first administrator.
