// The samples of README.md that need a page. tests/samples.sh runs the others.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Window } from 'happy-dom';
import ts from 'typescript';
import { openPage } from './page.js';
import { startServer, until, type Server } from './server.js';

let server: Server;
let window: Window;
const files: string[] = [];

before(async () => {
  server = await startServer();
  window = openPage();
  Object.defineProperty(globalThis, 'location', { value: { assign: (url: string) => visited.push(url) }, configurable: true });
});
after(async () => {
  for (const file of files) rmSync(file);
  window?.close();
  await server?.stop();
});

const visited: string[] = [];

/** The only block in a language, with our server and key. */
function readBlock(language: string): string {
  const readme = readFileSync('README.md', 'utf8');
  const blocks = [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))];
  assert.equal(blocks.length, 1);
  return blocks[0]![1]!.replaceAll('https://causeway.example', server.baseUrl).replaceAll('PUBLIC_KEY', server.publicKey);
}

/** Runs a module inside the package, where its name can be imported. */
async function run(name: string, source: string): Promise<Record<string, unknown>> {
  const file = `test-dist/readme-${name}.mjs`;
  files.push(file);
  writeFileSync(file, source);
  return import(`./readme-${name}.mjs`);
}

function type(input: HTMLInputElement, term: string): void {
  // React watches the property of the element itself.
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value')!.set!.call(input, term);
  input.dispatchEvent(new window.Event('input', { bubbles: true }) as unknown as Event);
}

test('the combobox opens the profile of the chosen nonprofit', async () => {
  const html = readBlock('html');
  const script = /<script type="module">(.*)<\/script>/s.exec(html)!;
  document.body.innerHTML = html.replace(script[0], '');
  await run('combobox', script[1]!);
  const input = document.querySelector('input')!;
  input.focus();
  type(input, 'red cross');
  await until(() => document.querySelector('[role=option]') !== null);
  document.querySelector('[role=option]')!.dispatchEvent(new window.MouseEvent('click', { bubbles: true }) as unknown as Event);
  assert.deepEqual(visited, [`${server.baseUrl}/american-red-cross`]);
});

test('the React component shows results', async () => {
  const options = { jsx: ts.JsxEmit.ReactJSX, module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  const { outputText } = ts.transpileModule(readBlock('jsx'), { compilerOptions: options });
  const { NonprofitSearch } = await run('react', `${outputText}\nexport { NonprofitSearch };`);
  const { act, createElement } = await import('react');
  const { createRoot } = await import('react-dom/client');
  document.body.replaceChildren();
  const root = createRoot(document.body.appendChild(document.createElement('div')));
  await act(async () => root.render(createElement(NonprofitSearch as () => null)));
  await act(async () => type(document.querySelector('input')!, 'red cross'));
  while (!document.querySelector('a')) await act(async () => new Promise((resolve) => setTimeout(resolve, 20)));
  assert.equal(document.querySelector('a')!.getAttribute('href'), `${server.baseUrl}/american-red-cross`);
  await act(async () => root.unmount());
});
