import { AbortError, ApiError, CausewayError, ConfigurationError, ConnectionError, TimeoutError, toApiError } from './errors.js';

/** How calls time out and are retried. */
export interface RetryOptions {
  /** How long one attempt may take, in milliseconds. */
  timeout: number;
  /** How often a failed call is repeated. */
  maxRetries: number;
  /** The longest wait before a retry, in milliseconds. If the server asks for a longer one, the call fails. */
  maxRetryDelay: number;
}

/** A response without its body. */
export interface ResponseInfo {
  /** The method of the request. */
  method: string;
  /** The path of the request, without its query. */
  path: string;
  /** The HTTP status. */
  status: number;
  headers: Headers;
  /** Identifies the request. Quote it when you contact the operator. */
  requestId: string | undefined;
}

export type ResponseListener = (response: ResponseInfo) => void;

type Fetch = (request: Request) => Promise<Response>;

/** The wait before the first retry, in milliseconds, if the server does not name one. It doubles each time. */
const FIRST_DELAY = 250;

/**
 * A `fetch` that limits the time of each attempt, repeats calls that are safe to repeat, and throws an `ApiError` for
 * an error response. The responses that it returns have been read completely. The listener gets every response.
 */
export function retryingFetch(fetch: typeof globalThis.fetch, options: RetryOptions, onResponse: ResponseListener): Fetch {
  return async (request) => {
    for (let retries = 0; ; retries++) {
      try {
        return await attempt(fetch, request, options.timeout, onResponse);
      } catch (error) {
        const delay = retryDelay(error, retries);
        if (retries >= options.maxRetries || !isRepeatable(request) || delay === undefined || delay > options.maxRetryDelay) {
          throw error;
        }
        await sleep(delay, request.signal);
      }
    }
  };
}

/** Reads, and creations that the server recognizes by their key, have the same effect once or twice. */
function isRepeatable(request: Request): boolean {
  return request.method === 'GET' || request.method === 'HEAD' || request.headers.has('Idempotency-Key');
}

/** How long to wait before repeating a call that failed in this way, or undefined if repeating it is useless. */
function retryDelay(error: unknown, retries: number): number | undefined {
  const backoff = FIRST_DELAY * 2 ** retries * (0.5 + Math.random() / 2);
  if (error instanceof ConnectionError) return backoff;
  if (!(error instanceof ApiError)) return undefined;
  const isTemporary = error.status === 429 || error.status >= 500 || error.code === 'idempotency_in_progress';
  if (!isTemporary) return undefined;
  return error.retryAfter === undefined ? backoff : error.retryAfter * 1000;
}

async function attempt(fetch: typeof globalThis.fetch, request: Request, timeout: number, onResponse: ResponseListener): Promise<Response> {
  const controller = new AbortController();
  const abort = () => controller.abort(request.signal.reason);
  throwIfAborted(request.signal);
  request.signal.addEventListener('abort', abort, { once: true });
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    controller.abort();
  }, timeout);
  try {
    // A copy, because the body of a request can be sent only once.
    const response = await fetch(request.clone(), { signal: controller.signal });
    const body = await response.text();
    notify(onResponse, request, response);
    if (!response.ok) throw toApiError(response.status, body, response.headers);
    return new Response(response.status === 204 ? null : body, response);
  } catch (error) {
    if (error instanceof CausewayError) throw error;
    throwIfAborted(request.signal);
    if (isTimedOut) throw new TimeoutError(`The server did not answer within ${timeout} ms.`, { cause: error });
    throw new ConnectionError('The server could not be reached.', { cause: error });
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', abort);
  }
}

function notify(onResponse: ResponseListener, { method, url }: Request, { status, headers }: Response): void {
  try {
    onResponse({ method, path: new URL(url).pathname, status, headers, requestId: headers.get('X-Request-Id') ?? undefined });
  } catch (error) {
    throw new ConfigurationError('onResponse threw an error.', { cause: error });
  }
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw toAbortError(signal);
}

function toAbortError(signal: AbortSignal): AbortError {
  return new AbortError('The call was aborted.', { cause: signal.reason });
}

/** Waits, and rejects with an `AbortError` as soon as the signal is aborted. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(toAbortError(signal));
    const abort = () => {
      clearTimeout(timer);
      reject(toAbortError(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', abort, { once: true });
  });
}
