import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * HMAC-SHA256 of `subject` as base64url (43 characters). `purpose` goes into it, so that what was signed for one use
 * never proves another.
 */
export function sign(purpose: string, subject: string, secret: string): string {
  return createHmac('sha256', secret).update(`${purpose}\n${subject}`).digest('base64url');
}

/** Whether any of `secrets` made `signature`. Takes as long for a near miss as for nonsense. */
export function verify(
  purpose: string,
  subject: string,
  signature: string,
  secrets: readonly string[],
): boolean {
  const given = Buffer.from(signature);
  let matches = false;
  for (const secret of secrets) {
    const expected = Buffer.from(sign(purpose, subject, secret));
    // Texts are compared, not decoded bytes: base64url can spell the same bytes in several ways.
    if (given.length === expected.length && timingSafeEqual(given, expected)) matches = true;
  }
  return matches;
}
