// The packed package installs in another project and works there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startServer } from './server.js';

test('npm pack makes a package that installs and works', async (context) => {
  const server = await startServer();
  context.after(() => server.stop());
  const folder = mkdtempSync(join(tmpdir(), 'causeway-package-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const run = (command: string, args: string[], cwd = folder, env = {}) =>
    execFileSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, ...env } });

  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], process.cwd())) as [
    { filename: string; files: { path: string }[] },
  ];
  const files = packed.files.map(({ path }) => path);
  for (const file of ['README.md', 'LICENSE-MIT', 'LICENSE-APACHE', 'dist/index.js', 'dist/index.d.ts', 'dist/react.js', 'dist/combobox.js']) {
    assert.ok(files.includes(file), `${file} is missing`);
  }
  assert.ok(files.every((file) => !file.startsWith('test/') && !file.startsWith('src/')));

  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', `./${packed.filename}`]);
  const script = `
    import { Causeway, NotFoundError } from 'causeway-client';
    import { createCombobox } from 'causeway-client/combobox';
    const { CAUSEWAY_URL: baseUrl, CAUSEWAY_KEY: publicKey } = process.env;
    const causeway = new Causeway({ baseUrl, publicKey });
    const { nonprofits } = await causeway.search('red cross');
    const missing = await causeway.nonprofit('no-such-nonprofit').catch((error) => error);
    console.log(nonprofits[0].slug, missing instanceof NotFoundError, typeof createCombobox);
  `;
  writeFileSync(join(folder, 'script.js'), script);
  const output = run(process.execPath, ['script.js'], folder, { CAUSEWAY_URL: server.baseUrl, CAUSEWAY_KEY: server.publicKey });
  assert.equal(output.trim(), 'american-red-cross true function');
});
