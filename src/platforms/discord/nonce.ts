import { createHash } from 'node:crypto';
import { LIMITS } from './limits.ts';

/** A nonce that is the same for the same text, of the length that Discord takes. */
export const nonceOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, LIMITS.nonce);
