import { ApiError, ConnectionError, TimeoutError, toApiError } from './errors.js';

/** How calls time out and are retried. */
export interface RetryOptions {
  /** How long one attempt may take, in milliseconds. */
  timeout: number;
  /** How often a failed call is repeated. */
  maxRetries: number;
  /** The longest wait before a retry, in milliseconds. If the server asks for a longer one, the call fails. */
  maxRetryDelay: number;
}

type Fetch = (request: Request) => Promise<Response>;

/** The wait before the first retry, in milliseconds, if the server does not name one. It doubles each time. */
const FIRST_DELAY = 250;

/**
 * A `fetch` that limits the time of each attempt, repeats calls that are safe to repeat, and throws an `ApiError` for
 * an error response. The responses that it returns have been read completely.
 */
export function retryingFetch(fetch: typeof globalThis.fetch, options: RetryOptions): Fetch {
  return async (request) => {
    for (let retries = 0; ; retries++) {
      try {
        return await attempt(fetch, request, options.timeout);
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

async function attempt(fetch: typeof globalThis.fetch, request: Request, timeout: number): Promise<Response> {
  const controller = new AbortController();
  const abort = () => controller.abort(request.signal.reason);
  request.signal.throwIfAborted();
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
    if (!response.ok) throw toApiError(response.status, body, response.headers);
    return new Response(response.status === 204 ? null : body, response);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    request.signal.throwIfAborted();
    if (isTimedOut) throw new TimeoutError(`The server did not answer within ${timeout} ms.`, { cause: error });
    throw new ConnectionError('The server could not be reached.', { cause: error });
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', abort);
  }
}

/** Waits, and rejects with the reason of the signal as soon as it is aborted. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', abort, { once: true });
  });
}
