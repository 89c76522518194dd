/** Limits of the browser chat, to bound memory. */
export const WEB_LIMITS = {
  /** Messages stored per channel; older ones are dropped. */
  messages: 200,
  /** Characters of one line or form field, far more than lyrics or long questions need. */
  text: 100_000,
  /** Bytes per file: the most the bot reads of an attachment. */
  uploadBytes: 25 * 1024 * 1024,
  /** Total bytes of all uploads in memory. */
  heldBytes: 100 * 1024 * 1024,
  uploadsAtOnce: 10,
  /** Messages before a question that are included as context. */
  conversation: 50,
  /** Milliseconds between updates of a growing text. */
  streamMs: 80,
} as const;
