// Responses are reported, and everything that fails is a `CausewayError` with its cause.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Causeway, CausewayError, ConfigurationError, ConnectionError, InvalidResponseError, NotFoundError, type ResponseInfo } from '../dist/index.js';
import { answer, breakConnection, RED_CROSS, startProxy, startServer, type Fault, type Proxy, type Server } from './server.js';

let server: Server;
let proxy: Proxy;
let client: Causeway;

before(async () => {
  server = await startServer();
  proxy = await startProxy(server.baseUrl);
  client = new Causeway({ ...server, baseUrl: proxy.baseUrl, maxRetries: 0 });
});
after(async () => {
  await proxy?.stop();
  await server?.stop();
});
beforeEach(() => {
  proxy.faults = [];
  proxy.requests = [];
});

async function failure(call: PromiseLike<unknown>): Promise<unknown> {
  return call.then(() => assert.fail('The call succeeded.'), (error: unknown) => error);
}

/** A success with another body. */
function succeed(body: string, type = 'application/json'): Fault {
  return ({ response }) => void response.writeHead(200, { 'Content-Type': type, 'X-Request-Id': 'req-1' }).end(body);
}

test('every response is reported with its headers and request ID', async () => {
  const ofClient: ResponseInfo[] = [];
  const ofCall: ResponseInfo[] = [];
  const watched = new Causeway({ ...server, baseUrl: proxy.baseUrl, onResponse: (response) => ofClient.push(response) });
  await watched.nonprofit(RED_CROSS);
  assert.equal(ofClient.length, 1);
  const [info] = ofClient as [ResponseInfo];
  assert.deepEqual([info.method, info.path, info.status], ['GET', `/v0.2/nonprofit/${RED_CROSS}`, 200]);
  assert.ok(info.requestId);
  assert.equal(info.requestId, info.headers.get('X-Request-Id'));
  assert.match(info.headers.get('Content-Type') ?? '', /json/);

  // Also before a retry and with an error, and in place of the one of the client.
  proxy.faults = [answer(503, 'unavailable', '0')];
  const error = await failure(watched.nonprofit('no-such-nonprofit', { onResponse: (response) => ofCall.push(response) }));
  assert.deepEqual(ofCall.map(({ status }) => status), [503, 404]);
  assert.ok(error instanceof NotFoundError);
  assert.equal(error.requestId, ofCall[1]?.requestId);
  assert.equal(ofClient.length, 1);

  // Each page of a list.
  for await (const _ of watched.browse('animals', { take: 3 })) if (ofClient.at(2)) break;
  assert.deepEqual(ofClient.map(({ status }) => status), [200, 200, 200]);

  const cause = new Error('Not ours.');
  const thrown = await failure(client.causes({ onResponse: () => { throw cause; } }));
  assert.ok(thrown instanceof ConfigurationError);
  assert.equal(thrown.cause, cause);
});

test('a success that the client cannot read is an InvalidResponseError', async () => {
  const bodies = ['<html>Sign in to the Wi-Fi</html>', '{"nonprofits": [', 'null', '{}', '""', '[]'];
  const calls: (() => PromiseLike<unknown>)[] = [
    () => client.nonprofit(RED_CROSS),
    () => client.finances(RED_CROSS),
    () => client.search('red cross'),
    () => client.browse('animals'),
    () => client.browse('animals')[Symbol.asyncIterator]().next(),
    () => client.causes(),
    () => client.directory(),
    () => client.match([{ name: 'Red Cross' }]),
    () => client.changes('cursor').next(),
    () => client.events().next(),
    () => client.donations().next(),
    () => client.donation('id'),
    () => client.fundraiser(RED_CROSS, 'run'),
    () => client.raised(RED_CROSS, 'run'),
    () => client.createFundraiser({ nonprofitId: RED_CROSS, title: 'Run' }),
    () => client.updateFundraiser('id', {}),
    () => client.closeFundraiser('id'),
    () => client.fundraisers(),
  ];
  for (const body of bodies) {
    for (const call of calls) {
      proxy.faults = [succeed(body, body.startsWith('<') ? 'text/html' : 'application/json')];
      const error = await failure(call());
      assert.ok(error instanceof InvalidResponseError && error instanceof CausewayError, `${body} ${call}: ${error}`);
      assert.deepEqual([error.status, error.requestId], [200, 'req-1']);
      assert.ok(error.cause instanceof Error);
    }
  }
  proxy.faults = [succeed('{"id": 1}\n{', 'application/jsonl')];
  assert.ok((await failure(client.exportParts().next())) instanceof InvalidResponseError);
});

test('an unreachable server is a ConnectionError with the error of fetch', async () => {
  proxy.faults = [breakConnection];
  const error = await failure(client.causes());
  assert.ok(error instanceof ConnectionError && error instanceof CausewayError);
  assert.ok(error.cause instanceof TypeError);
  const nowhere = new Causeway({ ...server, baseUrl: 'http://no-such-host.invalid', maxRetries: 0 });
  assert.ok((await failure(nowhere.causes())) instanceof ConnectionError);
});

test('wrong options and arguments are a ConfigurationError, and nothing is sent', async () => {
  const wrong = [undefined, {}, { baseUrl: '/api' }, { baseUrl: 'ftp://causeway.example' }, { baseUrl: 7 }, { baseUrl: proxy.baseUrl }];
  for (const options of wrong) assert.throws(() => new Causeway(options as never), ConfigurationError);
  const circular: { self?: object } = {};
  circular.self = circular;
  const calls: (() => PromiseLike<unknown>)[] = [
    () => new Causeway({ ...server, baseUrl: 'http://[' }).causes(),
    () => new Causeway({ baseUrl: proxy.baseUrl, publicKey: server.publicKey }).fundraisers(),
    () => client.search(undefined as never),
    () => client.search('red cross', { causes: 'animals' as never }),
    () => client.causes({ signal: 'stop' as never }),
    () => client.match({ length: 1 } as never),
    () => client.createFundraiser({ nonprofitId: RED_CROSS, title: circular as never }),
    () => client.createFundraiser({ nonprofitId: RED_CROSS, title: 'Run' }, { idempotencyKey: 'a\nb' }),
  ];
  for (const call of calls) {
    const error = await failure(call());
    assert.ok(error instanceof ConfigurationError, `${call}: ${error}`);
  }
  assert.equal(proxy.requests.length, 0);
});
