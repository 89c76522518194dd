/** Signatures in URLs. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * HMAC-SHA256 of `text` as base64url (43 characters). The text begins with what the signature is for, so that what was
 * signed for one use never proves another.
 */
export function sign(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

/** Whether any of `secrets` made `signature`. Takes as long for a near miss as for nonsense. */
export function isSignedBy(text: string, signature: string, secrets: readonly string[]): boolean {
  const given = Buffer.from(signature);
  let matches = false;
  for (const secret of secrets) {
    // Texts are compared, not decoded bytes: base64url can spell the same bytes differently.
    const expected = Buffer.from(sign(text, secret));
    if (given.length === expected.length && timingSafeEqual(given, expected)) matches = true;
  }
  return matches;
}
