/** The limits of the chat in the browser. They are our own: they bound what a page, a file and a process hold. */
export const WEB_LIMITS = {
  /** Messages of a channel that are kept; past that, the oldest goes first. */
  messages: 200,
  /** Characters of one line or form field. Lyrics and long questions fit many times. */
  text: 100_000,
  /** Of one file in bytes: as much as the bot reads of an attachment. */
  uploadBytes: 25 * 1024 * 1024,
  /** Of all files that were attached and not asked for again, in bytes. */
  heldBytes: 100 * 1024 * 1024,
  uploadsAtOnce: 10,
  /** What was said before a question, in messages. */
  conversation: 50,
  /** Between two states of a text that grows, in milliseconds. */
  streamMs: 80,
} as const;
