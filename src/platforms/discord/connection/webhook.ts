/** Interactions that Discord sends by HTTP instead of over the gateway. */
import { createPublicKey, verify } from 'node:crypto';
import { z } from 'zod';
import type { WebhookAnswer, WebhookRequest } from '../../../core/http.ts';

const PING = 1;
const PONG = 1;
const kindSchema = z.object({ type: z.number() });
/** Requests that are older, or from further in the future, are refused: they may be replayed. */
const SKEW_MS = 5 * 60_000;
const SIGNATURE = /^[\da-f]{128}$/i;
const TIMESTAMP = /^\d{1,12}$/;

interface WebhookOptions {
  /** 64 hexadecimal digits, as the Developer Portal shows them. */
  readonly publicKey: string;
  readonly now: () => number;
  /** Takes an interaction, to be answered by its callback; false while none is taken. */
  readonly take: (interaction: unknown) => boolean;
}

/**
 * Only a ping is answered in the response. The others are answered by their callback, which may carry files and be
 * repeated; 202 tells Discord so: https://docs.discord.com/developers/interactions/receiving-and-responding
 */
export function createInteractionWebhook({ publicKey, now, take }: WebhookOptions) {
  const isSigned = createSignatureCheck(publicKey, now);
  return async (request: WebhookRequest): Promise<WebhookAnswer> => {
    if (!isSigned(request)) return { status: 401, json: { error: 'invalid request signature' } };
    const interaction = parse(request.body);
    const kind = kindSchema.safeParse(interaction);
    if (!kind.success) return { status: 400, json: { error: 'not an interaction' } };
    if (kind.data.type === PING) return { status: 200, json: { type: PONG } };
    return take(interaction) ? { status: 202 } : { status: 503, json: { error: 'not taking anything now' } };
  };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Ed25519 over timestamp and raw body.
 * https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint
 */
export function createSignatureCheck(
  publicKey: string,
  now: () => number,
): (request: WebhookRequest) => boolean {
  const key = createPublicKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey, 'hex').toString('base64url') },
  });
  return ({ headers, body }) => {
    const signature = headers['x-signature-ed25519'];
    const timestamp = headers['x-signature-timestamp'];
    if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return false;
    if (typeof timestamp !== 'string' || !TIMESTAMP.test(timestamp)) return false;
    if (Math.abs(now() - Number(timestamp) * 1_000) > SKEW_MS) return false;
    return verify(null, Buffer.concat([Buffer.from(timestamp), body]), key, Buffer.from(signature, 'hex'));
  };
}
