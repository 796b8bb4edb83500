// Verifies messages with the packages that receivers use: accepted with each of the secrets, refused when changed or old.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(process.env.PACKAGES + '/');
const verifiers = [require('standardwebhooks').Webhook, require('svix').Webhook];
const messages = readFileSync(0, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
let failures = 0;

const check = (Verifier, secret, headers, body, isValid, what) => {
  let accepted = true;
  try { new Verifier(secret).verify(body, headers); } catch { accepted = false; }
  if (accepted !== isValid) {
    failures += 1;
    console.error(`${what}: ${accepted ? 'accepted' : 'refused'}`);
  }
};

for (const { headers, body, valid, invalid } of messages) {
  for (const Verifier of verifiers) {
    // The svix package has names of its own for the same headers.
    const of = (sent) => ({ ...sent, 'svix-id': sent['webhook-id'], 'svix-timestamp': sent['webhook-timestamp'],
      'svix-signature': sent['webhook-signature'] });
    for (const secret of valid) {
      check(Verifier, secret, of(headers), body, true, 'a message');
      check(Verifier, secret, of(headers), body + ' ', false, 'a changed body');
      check(Verifier, secret, of({ ...headers, 'webhook-id': headers['webhook-id'] + '0' }), body, false, 'a changed ID');
      const old = String(Number(headers['webhook-timestamp']) - 301);
      check(Verifier, secret, of({ ...headers, 'webhook-timestamp': old }), body, false, 'an old time');
    }
    for (const secret of invalid) check(Verifier, secret, of(headers), body, false, 'another secret');
  }
}
console.log(`${messages.length} messages verified by 2 packages of npm`);
process.exit(failures === 0 ? 0 : 1);
