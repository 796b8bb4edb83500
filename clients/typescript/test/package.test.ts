// The packed package installs in empty projects, as ES modules and as CommonJS, and works there with its types.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { startServer, type Server } from './server.js';

const TSC = resolve('node_modules/typescript/bin/tsc');

let server: Server;
let folder: string;
let archive: string;
let files: string[];

function run(command: string, args: string[], cwd: string): string {
  const env = { ...process.env, CAUSEWAY_URL: server.baseUrl, CAUSEWAY_KEY: server.publicKey };
  return execFileSync(command, args, { cwd, encoding: 'utf8', env });
}

before(async () => {
  server = await startServer();
  folder = mkdtempSync(join(tmpdir(), 'causeway-package-'));
  const output = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], process.cwd());
  const [packed] = JSON.parse(output) as [{ filename: string; files: { path: string }[] }];
  archive = join(folder, packed.filename);
  files = packed.files.map(({ path }) => path);
});
after(async () => {
  if (folder) rmSync(folder, { recursive: true, force: true });
  await server?.stop();
});

test('the archive has what is needed and nothing else', () => {
  const modules = ['index', 'combobox', 'react'].flatMap((name) => [`dist/${name}`, `dist/cjs/${name}`]);
  const built = modules.flatMap((name) => [`${name}.js`, `${name}.d.ts`]);
  for (const file of ['README.md', 'LICENSE-MIT', 'LICENSE-APACHE', ...built]) {
    assert.ok(files.includes(file), `${file} is missing`);
  }
  assert.ok(files.every((file) => !file.startsWith('test/') && !file.startsWith('src/')));
});

const BODY = `
  const { CAUSEWAY_URL: baseUrl = '', CAUSEWAY_KEY: publicKey = '' } = process.env;
  async function main() {
    const causeway = new Causeway({ baseUrl, publicKey });
    const { nonprofits } = await causeway.search('red cross');
    const missing = await causeway.nonprofit('no-such-nonprofit').catch((error) => error);
    console.log(nonprofits[0]?.slug, missing instanceof NotFoundError, typeof createCombobox);
  }
  void main();
`;
const IMPORTS = `
  import { Causeway, NotFoundError } from 'causeway-client';
  import { createCombobox } from 'causeway-client/combobox';
`;
const REQUIRES = `
  const { Causeway, NotFoundError } = require('causeway-client');
  const { createCombobox } = require('causeway-client/combobox');
`;

for (const { type, imports } of [
  { type: 'module', imports: IMPORTS },
  { type: 'commonjs', imports: REQUIRES },
]) {
  test(`an empty project of type ${type} installs the archive and uses it`, () => {
    const project = join(folder, type);
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type }));
    run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', archive], project);
    writeFileSync(join(project, 'script.js'), imports + BODY);
    assert.equal(run(process.execPath, ['script.js'], project).trim(), 'american-red-cross true function');

    // TypeScript reads the types of the format that it writes. It fails if they are missing or those of the other format.
    const wrong = '\n  // @ts-expect-error\n  new Causeway({ baseUrl: 1 });\n';
    const node = 'declare const process: { env: Record<string, string | undefined> };\n';
    writeFileSync(join(project, 'program.ts'), node + IMPORTS + BODY + wrong);
    const options = ['--strict', '--module', 'Node16', '--target', 'ES2022', '--noEmit'];
    run(process.execPath, [TSC, ...options, 'program.ts'], project);
  });
}
