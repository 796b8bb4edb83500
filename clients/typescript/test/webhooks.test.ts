import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { ConfigurationError, verifyWebhook, WebhookVerificationError } from 'causeway-client';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const NOW = 1_614_265_330;
const BODY = JSON.stringify({ type: 'ping', timestamp: '2026-11-18T20:00:00Z', data: { é: 1 } });

function headers(body: string, ...secrets: string[]): Record<string, string> {
  const sign = (secret: string) =>
    createHmac('sha256', Buffer.from(secret.slice(6), 'base64')).update(`evt_1.${NOW}.${body}`).digest('base64');
  return {
    'Webhook-Id': 'evt_1',
    'webhook-timestamp': String(NOW),
    'webhook-signature': secrets.map((secret) => `v1,${sign(secret)}`).join(' '),
  };
}

const at = (seconds: number) => ({ now: seconds * 1000 });

test('the example of Standard Webhooks is accepted', async () => {
  const signed = new Headers({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': String(NOW),
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
  const event = await verifyWebhook('{"test": 2432232314}', signed, SECRET, at(NOW));
  assert.equal(event.id, 'msg_p5jXN8AQM9LWM0D4loKWxJek');
});

test('an event is returned while either secret signs', async () => {
  const event = await verifyWebhook(Buffer.from(BODY), headers(BODY, SECRET), SECRET, at(NOW + 299));
  assert.deepEqual(event, { id: 'evt_1', ...JSON.parse(BODY) });
  for (const secret of [SECRET, OTHER, [OTHER, SECRET]]) {
    assert.equal((await verifyWebhook(BODY, headers(BODY, OTHER, SECRET), secret, at(NOW))).type, 'ping');
  }
});

test('what was changed or is old is refused', async () => {
  const good = headers(BODY, SECRET);
  const { 'webhook-signature': _, ...unsigned } = good;
  const cases: [string, Record<string, string>, string, number][] = [
    [`${BODY} `, good, SECRET, NOW],
    [BODY, { ...good, 'Webhook-Id': 'evt_2' }, SECRET, NOW],
    [BODY, good, OTHER, NOW],
    [BODY, good, SECRET, NOW + 301],
    [BODY, good, SECRET, NOW - 301],
    [BODY, { ...good, 'webhook-timestamp': 'soon' }, SECRET, NOW],
    [BODY, { ...good, 'webhook-signature': 'v1,é v2,x' }, SECRET, NOW],
    [BODY, unsigned, SECRET, NOW],
  ];
  for (const [body, changed, secret, now] of cases) {
    await assert.rejects(verifyWebhook(body, changed, secret, at(now)), WebhookVerificationError);
  }
  await assert.rejects(verifyWebhook(BODY, good, 'whsec_', at(NOW)), ConfigurationError);
});

test('wrong arguments and a signed body that is not JSON are errors of this package', async () => {
  const good = headers(BODY, SECRET);
  const parsed = JSON.parse(BODY) as unknown as string;
  await assert.rejects(verifyWebhook(parsed, good, SECRET, at(NOW)), ConfigurationError);
  await assert.rejects(verifyWebhook(BODY, undefined as unknown as Headers, SECRET, at(NOW)), ConfigurationError);
  await assert.rejects(verifyWebhook(BODY, good, process.env.NOT_SET as string, at(NOW)), ConfigurationError);
  const isNotJson = (error: unknown) => error instanceof WebhookVerificationError && error.cause instanceof SyntaxError;
  await assert.rejects(verifyWebhook('no JSON', headers('no JSON', SECRET), SECRET, at(NOW)), isNotJson);
});
