// Every method against the real server, on both databases.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as causeway from '../dist/index.js';
import { DATABASES, RED_CROSS, startServer, type Server } from './server.js';

for (const database of DATABASES) {
  describe(database, () => {
    let server: Server;
    let client: causeway.Causeway;

    before(async () => {
      server = await startServer(database);
      client = new causeway.Causeway(server);
    });
    after(() => server?.stop());

    test('reads nonprofits by slug, EIN and ID', async () => {
      for (const identifier of ['american-red-cross', '530196605', RED_CROSS]) {
        const { nonprofit, nonprofitTags } = await client.nonprofit(identifier);
        assert.equal(nonprofit.name, 'American Red Cross');
        assert.ok(nonprofitTags.some((tag) => tag.tagName === 'health'));
      }
      const { sources } = await client.nonprofit(RED_CROSS, { include: 'sources' });
      assert.ok(sources);
      assert.equal((await client.finances(RED_CROSS)).unit, 'dollars');
    });

    test('searches with filters, and explains with a private key', async () => {
      const { nonprofits } = await client.search('red cro');
      assert.equal(nonprofits[0]?.slug, 'american-red-cross');
      assert.deepEqual(nonprofits[0]?.matchedTerms, ['red', 'cro']);
      assert.equal((await client.search('the', { take: 3 })).nonprofits.length, 3);
      const filtered = await client.search('animal', { causes: ['animals', 'wildlife'], disbursable: true });
      assert.ok(filtered.nonprofits.every(({ tags }) => tags.includes('animals') || tags.includes('wildlife')));
      assert.deepEqual((await client.search(' ')).nonprofits, []);
      // Characters that have a meaning in URLs.
      assert.ok(Array.isArray((await client.search('50% a/b?c#d&e=f')).nonprofits));
      const { explanation } = await client.search('amercan red cross', { explain: true });
      assert.equal(explanation?.typos[0]?.readAs, 'american');
    });

    test('lists causes and describes the directory', async () => {
      const causes = await client.causes();
      assert.ok(causes.some((cause) => cause.tagName === 'animals' && cause.nonprofits > 0));
      const { counts } = await client.directory();
      assert.ok(counts.nonprofits > 0);
    });

    test('iterates over all pages once', async () => {
      const page = await client.browse('animals', { take: 3, page: 2 });
      assert.equal(page.pagination.page, 2);
      const ids = new Set<string>();
      let items = 0;
      for await (const nonprofit of client.browse('animals', { take: 3 })) {
        ids.add(nonprofit.id);
        items++;
      }
      assert.ok(items > 3);
      assert.equal(items, page.pagination.total_results);
      assert.equal(ids.size, items);
      const sizes: number[] = [];
      for await (const { nonprofits } of client.browse('animals', { take: 3, page: 2 }).pages()) sizes.push(nonprofits.length);
      assert.equal(sizes.length, page.pagination.pages - 1);
    });

    test('matches lists of any length', async () => {
      const rows = Array.from({ length: 1001 }, (_, index) => ({ id: String(index), ein: '53-0196605' }));
      const matched = await client.match(rows, { take: 1 });
      assert.deepEqual(matched.map(({ id }) => id), rows.map(({ id }) => id));
      assert.equal(matched[1000]?.candidates[0]?.slug, 'american-red-cross');
      assert.ok(matched[1000]?.match);
    });

    test('exports all nonprofits once, and lists what changed since', async () => {
      const { counts } = await client.directory();
      const ids: string[] = [];
      let last: causeway.ExportPart | undefined;
      for await (last of client.exportParts({ take: 250 })) ids.push(...last.nonprofits.map(({ id }) => id));
      assert.ok(counts.nonprofits > 250);
      assert.equal(ids.length, counts.nonprofits);
      assert.equal(new Set(ids).size, ids.length);
      const pages: causeway.ChangesPage[] = [];
      for await (const page of client.changes(last!.changesCursor)) pages.push(page);
      assert.deepEqual(pages.map(({ changes, hasMore }) => [changes, hasMore]), [[[], false]]);
      const error = await failure(client.changes('nonsense').next());
      assert.ok(error instanceof causeway.ApiError);
    });

    test('creates, reads, changes, closes and lists fundraisers', async () => {
      const input = { nonprofitId: RED_CROSS, title: 'Spring run', goal: 500_000 };
      const checked = await client.createFundraiser(input, { dryRun: true });
      assert.equal(checked.title, 'Spring run');
      const created = await client.createFundraiser(input);
      const details = await client.fundraiser('american-red-cross', created.slug);
      assert.equal(details.fundraiser.id, created.id);
      assert.equal((await client.raised(RED_CROSS, created.id)).goalAmount, 500_000);
      assert.equal((await client.updateFundraiser(created.id, { goal: null })).goalAmount, null);
      assert.equal((await client.closeFundraiser(created.id)).status, 'CLOSED');
      assert.equal((await client.reopenFundraiser(created.id)).status, 'PUBLISHED');

      const several = await client.createFundraiser({
        nonprofitId: causeway.SEVERAL_NONPROFITS_ID,
        title: 'Relief for all',
        type: 'MULTIPLE_NONPROFITS',
        forNonprofits: [RED_CROSS, '007de7ba-ef82-5f2d-b7af-9e5f7d4aadcf'],
      });
      const relief = await client.fundraiser(causeway.SEVERAL_NONPROFITS, several.slug);
      assert.equal(relief.nonprofits.length, 2);

      const titles: string[] = [];
      for await (const { title } of client.fundraisers({ take: 1 })) titles.push(title);
      assert.deepEqual(titles, ['Relief for all', 'Spring run']);
    });

    test('repeats a creation with the same key, and refuses another one with it', async () => {
      const options = { idempotencyKey: `order-${database}` };
      const input = { nonprofitId: RED_CROSS, title: 'Once' };
      const first = await client.createFundraiser(input, options);
      assert.equal((await client.createFundraiser(input, options)).id, first.id);
      const error = await failure(client.createFundraiser({ ...input, title: 'Twice' }, options));
      assert.ok(error instanceof causeway.IdempotencyError);
      assert.equal(error.code, 'idempotency_mismatch');
      assert.equal(error.status, 422);
      // Keys are generated for each call.
      assert.notEqual((await client.createFundraiser(input)).id, first.id);
    });

    test('throws a class for each family of codes', async () => {
      const missing = await failure(client.nonprofit('53-0196605'));
      assert.ok(missing instanceof causeway.NotFoundError && missing instanceof causeway.ApiError);
      assert.equal(missing.code, 'nonprofit_not_found');
      assert.equal(missing.status, 404);
      assert.match(missing.requestId ?? '', /./);
      assert.equal(missing.message, missing.detail);
      assert.equal(((await failure(client.browse('nonsense'))) as causeway.ApiError).code, 'unknown_cause');

      const invalid = await failure(client.createFundraiser({ nonprofitId: RED_CROSS, title: '', goal: -1 }));
      assert.ok(invalid instanceof causeway.InvalidRequestError);
      assert.deepEqual(invalid.errors.map(({ field }) => field).sort(), ['goal', 'title']);

      const stranger = new causeway.Causeway({ ...server, publicKey: 'cwpk_wrong' });
      const unknown = await failure(stranger.causes());
      assert.ok(unknown instanceof causeway.AuthenticationError);
      assert.equal(unknown.code, 'invalid_key');
      assert.equal(((await failure(stranger.createFundraiser({ nonprofitId: RED_CROSS, title: 'x' }))) as causeway.ApiError).code, 'invalid_credentials');

      const withoutPrivateKey = new causeway.Causeway({ baseUrl: server.baseUrl, publicKey: server.publicKey });
      await assert.rejects(withoutPrivateKey.closeFundraiser(RED_CROSS), causeway.ConfigurationError);
      assert.throws(() => new causeway.Causeway({ baseUrl: server.baseUrl, publicKey: server.privateKey }), causeway.ConfigurationError);
    });

    test('says when to try again after a rate limit', async () => {
      const publicKey = await server.createLimitedKey('search=2');
      const limited = new causeway.Causeway({ ...server, publicKey, maxRetries: 0 });
      // The limit holds within a second.
      let error: unknown;
      for (let calls = 0; !error && calls < 500; calls++) error = await failure(limited.search('red cross'));
      assert.ok(error instanceof causeway.RateLimitError);
      assert.equal(error.code, 'rate_limited');
      assert.ok(error.retryAfter! > 0 && error.retryAfter! <= 60);
    });
  });
}

async function failure(call: PromiseLike<unknown>): Promise<unknown> {
  return call.then(() => undefined, (error: unknown) => error);
}
