import { CausewayError, ConfigurationError } from './errors.js';
import type * as wire from './generated/types.gen.js';

/** The webhook was not sent by the server, was changed on its way, or is too old. Answer with status 400 and ignore it. */
export class WebhookVerificationError extends CausewayError {
  override name = 'WebhookVerificationError';
}

/** The headers of a request: of the Fetch API, or as Node.js has them. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

export interface VerifyOptions {
  /** The age in seconds up to which a webhook is accepted, and how far in the future: 300 by default. */
  tolerance?: number;
  /** The current time in milliseconds. */
  now?: number;
}

/** An event. Compare `type` to know what `data` is. */
export type WebhookEvent = {
  /** Store it: a webhook that arrives twice has the same. */
  id: string;
} & (
  | wire.EventDonationSucceededWebhookPayload
  | wire.EventDonationRefundedWebhookPayload
  | wire.EventDonationDisputedWebhookPayload
  | wire.EventDonationDisputeClosedWebhookPayload
  | wire.EventMonthlyGiftStartedWebhookPayload
  | wire.EventMonthlyGiftChangedWebhookPayload
  | wire.EventMonthlyGiftPaymentFailedWebhookPayload
  | wire.EventMonthlyGiftCanceledWebhookPayload
  | wire.EventFundraiserCreatedWebhookPayload
  | wire.EventFundraiserUpdatedWebhookPayload
  | wire.EventFundraiserClosedWebhookPayload
  | wire.EventFundraiserReopenedWebhookPayload
  | wire.EventFundraiserHiddenWebhookPayload
  | wire.EventFundraiserShownWebhookPayload
  | wire.EventFundraiserGoalReachedWebhookPayload
  | wire.EventNonprofitUpdatedWebhookPayload
  | wire.EventDirectoryUpdatedWebhookPayload
  | wire.EventPingWebhookPayload
);

/**
 * Verifies the signature of a webhook, and returns its event. `body` is the body as it arrived, before it is parsed;
 * `secret` starts with `whsec_`, and may be a list while you replace one. Rejects with a `WebhookVerificationError` if the webhook must be ignored, and with a
 * `ConfigurationError` if an argument is wrong.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const { tolerance = 300, now = Date.now() } = options;
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new ConfigurationError('Pass the body as it arrived: a string or bytes, before it is parsed.');
  }
  if (typeof headers !== 'object' || headers === null) throw new ConfigurationError('Pass the headers of the request.');
  const keys = await Promise.all((typeof secret === 'string' ? [secret] : toList(secret)).map(importKey));
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const signatures = header(headers, 'webhook-signature');
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('The header webhook-timestamp is not a number of seconds.');
  if (Math.abs(now / 1000 - Number(timestamp)) > tolerance) {
    throw new WebhookVerificationError('The webhook is too old, or the clock of this machine is wrong.');
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(prefix.length + bytes.length);
  signed.set(prefix);
  signed.set(bytes, prefix.length);
  for (const key of keys) {
    for (const signature of signatures.split(' ')) {
      const encoded = signature.startsWith('v1,') ? decodeBase64(signature.slice(3)) : undefined;
      // `verify` compares in constant time.
      if (encoded && (await crypto.subtle.verify('HMAC', key, encoded, signed))) return parse(id, bytes);
    }
  }
  throw new WebhookVerificationError('No signature matches. Pass the body as it arrived, and the secret of this endpoint.');
}

function parse(id: string, body: Uint8Array): WebhookEvent {
  try {
    const event = JSON.parse(new TextDecoder().decode(body)) as Omit<WebhookEvent, 'id'>;
    return { id, ...event } as WebhookEvent;
  } catch (error) {
    throw new WebhookVerificationError('The body is not JSON.', { cause: error });
  }
}

function header(headers: WebhookHeaders, name: string): string {
  const found =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const value = Array.isArray(found) ? found[0] : found;
  if (!value) throw new WebhookVerificationError(`The header ${name} is missing.`);
  return value;
}

function toList(secret: unknown): string[] {
  if (!Array.isArray(secret)) throw new ConfigurationError('Pass the secret of the endpoint, or a list of secrets.');
  return secret as string[];
}

async function importKey(secret: string): Promise<CryptoKey> {
  const bytes = typeof secret === 'string' ? decodeBase64(secret.replace(/^whsec_/, '')) : undefined;
  if (!bytes || bytes.length === 0) throw new ConfigurationError('This is not a webhook secret. It starts with whsec_.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
