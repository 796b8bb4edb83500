/** An invalid field of a request body. */
export interface FieldError {
  field: string;
  detail: string;
}

/** The problem details (RFC 9457) in the body of an error response. */
interface Problem {
  code?: string;
  title?: string;
  detail?: string;
  requestId?: string;
  errors?: FieldError[];
}

/** The base class of everything that the client throws. `cause` has the error behind it, if there is one. */
export class CausewayError extends Error {
  override name = 'CausewayError';
}

/** No response arrived: the server could not be reached, or the connection broke. `cause` is the error of `fetch`. */
export class ConnectionError extends CausewayError {
  override name = 'ConnectionError';
}

/** No complete response arrived in time. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError';
}

/** The call was ended by its `AbortSignal`. `cause` is the reason of the signal. */
export class AbortError extends CausewayError {
  override name = 'AbortError';
}

/** An option or argument is wrong, so no request was sent. */
export class ConfigurationError extends CausewayError {
  override name = 'ConfigurationError';
}

/** The server answered with a success, but the body is not what the API returns: usually a proxy answered instead. */
export class InvalidResponseError extends CausewayError {
  override name = 'InvalidResponseError';
  /** The HTTP status. */
  readonly status: number;
  /** Identifies the request, if the server answered. */
  readonly requestId: string | undefined;

  constructor(status: number, requestId: string | undefined, options: ErrorOptions) {
    super(`The server answered with status ${status} and a body that this client cannot read.`, options);
    this.status = status;
    this.requestId = requestId;
  }
}

/** An error response of the server. The subclasses are families of codes. */
export class ApiError extends CausewayError {
  override name = 'ApiError';
  /** Identifies the kind of error. Codes do not change; compare this in programs. */
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** What went wrong and what to send instead. */
  readonly detail: string;
  /** Identifies the request. Quote it when you contact the operator. */
  readonly requestId: string | undefined;
  /** Every invalid field of the request body. */
  readonly errors: readonly FieldError[];
  /** The number of seconds after which to try again, if the server named one. */
  readonly retryAfter: number | undefined;

  constructor(status: number, problem: Problem, headers: Headers) {
    const detail = problem.detail ?? problem.title ?? `The server answered with status ${status}.`;
    super(detail);
    this.code = problem.code ?? `http_${status}`;
    this.status = status;
    this.detail = detail;
    this.requestId = problem.requestId ?? headers.get('X-Request-Id') ?? undefined;
    this.errors = problem.errors ?? [];
    this.retryAfter = parseRetryAfter(headers);
  }
}

/** The request is invalid: `invalid_parameter`, `invalid_json`, `invalid_body`, `too_large` and others. */
export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError';
}

/** A key is missing or wrong: `missing_key`, `invalid_key`, `private_key_exposed`, `missing_credentials`, `invalid_credentials`. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError';
}

/** The operator does not allow this: `blocked_key`. */
export class PermissionDeniedError extends ApiError {
  override name = 'PermissionDeniedError';
}

/** It does not exist: `nonprofit_not_found`, `fundraiser_not_found`, `unknown_cause`, `not_found`. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** An Idempotency-Key is in use: `idempotency_mismatch`, `idempotency_in_progress`. */
export class IdempotencyError extends ApiError {
  override name = 'IdempotencyError';
}

/** Too many requests: `rate_limited`. Try again after `retryAfter` seconds. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError';
}

/** An error of the server: `internal`, `unavailable`. */
export class ServerError extends ApiError {
  override name = 'ServerError';
}

/** The error for a response whose status is not a success. */
export function toApiError(status: number, body: string, headers: Headers): ApiError {
  const problem = parseProblem(body);
  return new (errorClass(status, problem.code ?? ''))(status, problem, headers);
}

function errorClass(status: number, code: string): typeof ApiError {
  if (code.startsWith('idempotency_')) return IdempotencyError;
  if (status === 401) return AuthenticationError;
  if (status === 403) return PermissionDeniedError;
  if (status === 404 || status === 410) return NotFoundError;
  if (status === 429) return RateLimitError;
  if (status >= 500) return ServerError;
  if (status >= 400) return InvalidRequestError;
  return ApiError;
}

function parseProblem(body: string): Problem {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    // An error page of a proxy.
    return {};
  }
}

/** The header is a number of seconds, or a date if a proxy sent it. */
function parseRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('Retry-After')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}
