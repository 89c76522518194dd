import { createPublicKey, verify } from 'node:crypto';

/** Discord's requests that are older, or from further in the future, prove nothing any more. */
const SKEW_MS = 5 * 60_000;
const SIGNATURE = /^[\da-f]{128}$/i;
const TIMESTAMP = /^\d{1,12}$/;

export interface SignedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As it came. */
  readonly body: Buffer;
}

/**
 * Checks that Discord sent a request just now: Ed25519 over timestamp and raw body.
 * https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint
 * @param publicKey 64 hexadecimal digits, as the Developer Portal shows them
 */
export function createSignatureCheck(
  publicKey: string,
  now: () => number,
): (request: SignedRequest) => boolean {
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
