// Servers for the tests: the real binary on a free port with a temporary folder, and a proxy that makes errors.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const BINARY = process.env.CAUSEWAY;
const POSTGRES = process.env.CAUSEWAY_TEST_POSTGRES_URL;

export type Database = 'SQLite' | 'PostgreSQL';
export const DATABASES: Database[] = ['SQLite', 'PostgreSQL'];
export const RED_CROSS = 'd9017b27-edb0-54b2-b0c1-533033c82832';

export interface Server {
  baseUrl: string;
  publicKey: string;
  privateKey: string;
  /** Creates another public key with limits, such as `search=3`. */
  createLimitedKey(limit: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a server with the demo directory and creates keys for it. */
export async function startServer(database: Database = 'SQLite'): Promise<Server> {
  if (!BINARY) throw new Error('Set CAUSEWAY to the binary of the server, or run make test-clients.');
  const folder = mkdtempSync(join(tmpdir(), 'causeway-client-'));
  const settings = ['--data', join(folder, 'data')];
  const name = `client_${randomBytes(6).toString('hex')}`;
  if (database === 'PostgreSQL') {
    if (!POSTGRES) throw new Error('Set CAUSEWAY_TEST_POSTGRES_URL, or run make test-clients.');
    execFileSync('psql', [POSTGRES, '--quiet', '--command', `create database ${name}`]);
    settings.push('--database-url', POSTGRES.replace(/[^/]*$/, name));
  }
  const process = spawn(BINARY, ['serve', ...settings, '--listen', '127.0.0.1:0', '--metrics-listen', 'off'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => process.once('exit', () => resolve()));
  const stop = async () => {
    process.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
    if (database === 'PostgreSQL') execFileSync('psql', [POSTGRES!, '--quiet', '--command', `drop database ${name} with (force)`]);
  };
  const run = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(BINARY, [...args, ...settings, '--json']);
    return JSON.parse(stdout) as { id: string; key: string };
  };
  const createKey = (kind: string) => run('key', 'create', '--account', 'demo', '--kind', kind);
  try {
    const baseUrl = await new Promise<string>((resolve, reject) => {
      let output = '';
      process.stderr.on('data', (chunk) => (output += chunk));
      process.stdout.on('data', (chunk) => {
        output += chunk;
        const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
        if (url) resolve(url[0]);
      });
      exited.then(() => reject(new Error(`The server stopped: ${output}`)));
    });
    const [publicKey, privateKey] = await Promise.all([createKey('public'), createKey('private')]);
    const createLimitedKey = async (limit: string) => {
      const { id, key } = await createKey('public');
      await run('limit', 'set', id, limit);
      return key;
    };
    return { baseUrl, publicKey: publicKey.key, privateKey: privateKey.key, createLimitedKey, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What happens to a request instead of being forwarded. It may call `forward` itself. */
export type Fault = (call: { request: IncomingMessage; response: ServerResponse; forward: () => Promise<void> }) => void | Promise<void>;

export interface Proxy {
  baseUrl: string;
  /** The faults of the next requests, in order. Later requests are forwarded. */
  faults: Fault[];
  /** Method and path of every request. */
  requests: { line: string; headers: IncomingMessage['headers']; at: number }[];
  stop(): Promise<void>;
}

/** Starts a proxy for a server that makes the faults it is told to. */
export async function startProxy(target: string): Promise<Proxy> {
  const proxy: Proxy = { baseUrl: '', faults: [], requests: [], stop: async () => {} };
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    proxy.requests.push({ line: `${incoming.method} ${incoming.url}`, headers: incoming.headers, at: performance.now() });
    const forward = () =>
      new Promise<void>((resolve, reject) => {
        const { method, headers } = incoming;
        const outgoing = request(target + incoming.url, { method, headers }, (answer) => {
          if (!response.destroyed) response.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(response);
          answer.once('end', resolve);
        });
        outgoing.once('error', reject);
        outgoing.end(Buffer.concat(chunks));
      });
    const fault = proxy.faults.shift();
    if (fault) await fault({ request: incoming, response, forward });
    else await forward();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('The proxy has no port.');
  proxy.baseUrl = `http://127.0.0.1:${address.port}`;
  proxy.stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return proxy;
}

/** An error response, with a `Retry-After` if one is given. */
export function answer(status: number, code: string, retryAfter?: string): Fault {
  return ({ response }) => {
    const headers = { 'Content-Type': 'application/problem+json', ...(retryAfter !== undefined && { 'Retry-After': retryAfter }) };
    response.writeHead(status, headers).end(JSON.stringify({ status, code, detail: 'A test error.' }));
  };
}

/** Breaks the connection before the request reaches the server. */
export const breakConnection: Fault = ({ request }) => void request.socket.destroy();

/** Lets the server do its work, and breaks the connection instead of answering. */
export const loseAnswer: Fault = async ({ request, response, forward }) => {
  response.write = () => true;
  await forward();
  request.socket.destroy();
};

/** Waits until the condition holds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
