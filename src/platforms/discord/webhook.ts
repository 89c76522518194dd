/** Interactions that Discord sends by HTTP instead of over the gateway; what is behind them is the same. */
import { z } from 'zod';
import type { WebhookAnswer } from '../platform.ts';
import type { SignedRequest } from './signature.ts';

const PING = 1;
const PONG = 1;
const kindSchema = z.object({ type: z.number() });

export interface WebhookDependencies {
  readonly isSigned: (request: SignedRequest) => boolean;
  /** Takes an interaction, to be answered by its callback; false while nothing is taken. */
  readonly take: (interaction: unknown) => boolean;
}

/**
 * Only a ping is answered in place. The others are answered by their callback, which may carry files and be repeated;
 * 202 tells Discord so: https://docs.discord.com/developers/interactions/receiving-and-responding
 */
export function receiveWebhook(
  request: SignedRequest,
  { isSigned, take }: WebhookDependencies,
): WebhookAnswer {
  if (!isSigned(request)) return { status: 401, json: { error: 'invalid request signature' } };
  const interaction = parse(request.body);
  const kind = kindSchema.safeParse(interaction);
  if (!kind.success) return { status: 400, json: { error: 'not an interaction' } };
  if (kind.data.type === PING) return { status: 200, json: { type: PONG } };
  return take(interaction) ? { status: 202 } : { status: 503, json: { error: 'not taking anything now' } };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
