// Timeouts, retries and cancellation, with a proxy in front of the real server that makes errors.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { AbortError, Causeway, ConnectionError, RateLimitError, ServerError, TimeoutError } from '../dist/index.js';
import { answer, breakConnection, loseAnswer, RED_CROSS, startProxy, startServer, until, type Proxy, type Server } from './server.js';

let server: Server;
let proxy: Proxy;
let client: Causeway;

before(async () => {
  server = await startServer();
  proxy = await startProxy(server.baseUrl);
  client = new Causeway({ ...server, baseUrl: `${proxy.baseUrl}/` });
});
after(async () => {
  await proxy?.stop();
  await server?.stop();
});
beforeEach(() => {
  proxy.faults = [];
  proxy.requests = [];
});

test('waits as long as Retry-After says', async () => {
  proxy.faults = [answer(429, 'rate_limited', '1')];
  assert.equal((await client.nonprofit(RED_CROSS)).nonprofit.ein, '530196605');
  const [first, second] = proxy.requests;
  assert.ok(second!.at - first!.at >= 990, 'the retry came early');
});

test('repeats reads after broken connections and errors of the server', async () => {
  proxy.faults = [breakConnection, answer(503, 'unavailable')];
  await client.causes();
  assert.equal(proxy.requests.length, 3);
});

test('gives up after the last retry, and at once if the wait is too long or the error lasts', async () => {
  proxy.faults = [1, 2, 3].map(() => answer(503, 'unavailable'));
  await assert.rejects(client.causes(), ServerError);
  assert.equal(proxy.requests.length, 3);

  proxy.requests = [];
  proxy.faults = [answer(429, 'rate_limited', '60')];
  await assert.rejects(client.causes({ maxRetryDelay: 1000 }), (error) => error instanceof RateLimitError && error.retryAfter === 60);
  await assert.rejects(client.nonprofit('no-such-nonprofit'));
  assert.equal(proxy.requests.length, 2);

  proxy.faults = [answer(503, 'unavailable', new Date(Date.now() + 30_000).toUTCString())];
  const withDate = (error: unknown) => error instanceof ServerError && error.retryAfter! > 20 && error.retryAfter! <= 30;
  await assert.rejects(client.causes({ maxRetries: 0 }), withDate);
});

test('creates a fundraiser once when the answer is lost', async () => {
  proxy.faults = [loseAnswer];
  const created = await client.createFundraiser({ nonprofitId: RED_CROSS, title: 'Only once' });
  const keys = proxy.requests.map(({ headers }) => headers['idempotency-key']);
  assert.equal(keys.length, 2);
  assert.ok(keys[0]);
  assert.equal(keys[0], keys[1]);
  const list: string[] = [];
  for await (const { id, title } of client.fundraisers()) if (title === 'Only once') list.push(id);
  assert.deepEqual(list, [created.id]);
});

test('does not repeat other writes', async () => {
  const { id } = await client.createFundraiser({ nonprofitId: RED_CROSS, title: 'To close' });
  proxy.requests = [];
  proxy.faults = [breakConnection, breakConnection];
  await assert.rejects(client.updateFundraiser(id, { goal: 1000 }), ConnectionError);
  await assert.rejects(client.closeFundraiser(id), ConnectionError);
  assert.equal(proxy.requests.length, 2);
});

test('ends an attempt that takes too long, while waiting for the head or the body', async () => {
  proxy.faults = [() => {}];
  await assert.rejects(client.causes({ timeout: 50, maxRetries: 0 }), TimeoutError);
  proxy.faults = [({ response }) => void response.writeHead(200, { 'Content-Type': 'application/json' }).write('{')];
  await assert.rejects(client.causes({ timeout: 50, maxRetries: 0 }), TimeoutError);
  // The next attempt has its own time.
  proxy.faults = [() => {}];
  assert.ok((await client.causes({ timeout: 5000 })).length > 0);
});

test('stops when the signal is aborted, before a call, during it and between two', async () => {
  const reason = new Error('The user left.');
  const isAborted = (error: unknown) => error instanceof AbortError && error.name === 'AbortError' && error.cause === reason;
  await assert.rejects(client.causes({ signal: AbortSignal.abort(reason) }), isAborted);
  assert.equal(proxy.requests.length, 0);

  for (const fault of [() => {}, answer(503, 'unavailable', '50')]) {
    proxy.requests = [];
    proxy.faults = [fault];
    const controller = new AbortController();
    const call = client.causes({ signal: controller.signal });
    call.catch(() => {});
    await until(() => proxy.requests.length === 1);
    setTimeout(() => controller.abort(reason), 50);
    await assert.rejects(call, isAborted);
    assert.equal(proxy.requests.length, 1);
  }
});

test('reads only the pages that are used', async () => {
  for await (const _ of client.browse('animals', { take: 2 })) if (proxy.requests.length === 2) break;
  assert.equal(proxy.requests.length, 2);
});
