// A mail server for tests: `node server.mjs MODE CERT KEY USER PASSWORD`, where MODE is `starttls` or `tls`, or `node server.mjs none`.
// It prints its port, then each mail that it has taken as a line of JSON, and ends with its standard input.
// Recipients decide what happens: refused@ is unknown, full@ has no room for now, grey@ is accepted when it comes for the second time,
// slow@ is never answered, cut@ ends the connection in the middle of the text.

import { readFileSync } from 'node:fs';
import { SMTPServer } from 'smtp-server';

const [mode, cert, key, user, password] = process.argv.slice(2);
const refuse = (code, text) => Object.assign(new Error(text), { responseCode: code });
const seen = new Set();

const server = new SMTPServer({
  secure: mode === 'tls',
  ...(mode === 'none' ? { disabledCommands: ['STARTTLS', 'AUTH'] } : { cert: readFileSync(cert), key: readFileSync(key) }),
  authOptional: mode === 'none',
  disableReverseLookup: true,
  onAuth(auth, session, answer) {
    const is_right = auth.username === user && auth.password === password;
    answer(is_right ? null : refuse(535, 'authentication failed'), is_right ? { user } : undefined);
  },
  onRcptTo({ address }, session, answer) {
    const name = address.split('@')[0];
    if (name === 'refused') return answer(refuse(550, 'no such user'));
    if (name === 'full') return answer(refuse(452, 'the mailbox is full'));
    if (name === 'slow') return;
    if (name === 'grey' && !seen.has(address)) {
      seen.add(address);
      return answer(refuse(451, 'greylisted, try again later'));
    }
    answer();
  },
  onData(stream, session, answer) {
    const to = session.envelope.rcptTo.map((it) => it.address);
    if (to.some((address) => address.startsWith('cut@'))) {
      stream.once('data', () => server.connections.forEach((it) => it._socket.destroy()));
      return;
    }
    const parts = [];
    stream.on('data', (part) => parts.push(part));
    stream.on('end', () => {
      const text = Buffer.concat(parts).toString();
      console.log(JSON.stringify({ to, text, secure: session.secure, user: session.user ?? null }));
      answer(null, 'queued');
    });
  },
});
server.on('error', () => {});
server.listen(0, '127.0.0.1', () => console.log(server.server.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
