// An OpenID provider for tests: `node provider.mjs CLIENT SECRET REDIRECT`. It prints its issuer, and ends with its standard input.
// Any name signs in; `NAME+GROUP+GROUP` is a person with these groups.

import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const [client_id, client_secret, redirect] = process.argv.slice(2);
const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id, client_secret, redirect_uris: [redirect] }],
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    pkce: { required: () => true },
    findAccount: (_, id) => {
      const [name, ...groups] = id.split('+');
      return { accountId: id, claims: () => ({ sub: id, preferred_username: name, groups }) };
    },
  });
  server.on('request', provider.callback());
  console.log(issuer);
});
process.stdin.on('end', () => process.exit(0)).resume();
