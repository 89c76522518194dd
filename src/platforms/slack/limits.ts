/**
 * What Slack takes, in characters unless said otherwise. Sources: https://docs.slack.dev/reference/block-kit,
 * https://docs.slack.dev/reference/methods/chat.postMessage, https://docs.slack.dev/reference/views. Where Slack is
 * known to refuse less than it says, the figure is lower and the reason stands beside it.
 */
export const LIMITS = Object.freeze({
  /** Slack: 50 blocks a message. */
  blocks: 50,
  /** Slack: all blocks together about 13,200 (public reports), markdown blocks 12,000 and in practice 11,300. */
  partCharacters: 9000,
  sectionText: 3000,
  sectionFields: 10,
  sectionField: 2000,
  headerText: 150,
  contextText: 2000,
  contextElements: 10,
  buttonsInBlock: 25,
  buttonLabel: 75,
  buttonValue: 2000,
  url: 3000,
  actionId: 255,
  altText: 2000,
  imageTitle: 2000,
  /** Slack: 4,000 for chat.update. The text beside the blocks is only what notifications show. */
  fallbackText: 600,
  /** The text of a message without blocks. */
  bareText: 3500,
  privateMetadata: 3000,
  viewTitle: 24,
  viewButton: 24,
  inputText: 3000,
  inputHint: 2000,
  options: 100,
  optionText: 75,
  optionValue: 150,
  fileTitle: 255,
  /** Past this many messages a text becomes a file; in a thread of its own, past this many. */
  textParts: 4,
  threadParts: 8,
  /** Text that is longer is streamed in the thread, and its beginning alone stays in the channel. */
  streamFrom: 800,
  beginning: 1000,
  /** Slack: one stream holds 12,000 characters. */
  streamText: 11_000,
  /** Slack ends a stream after five minutes (node-slack-sdk#2702). */
  streamMs: 4.5 * 60_000,
  responseUrlUses: 5,
  responseUrlMs: 30 * 60_000,
  /** Slack: 3 s. The rest is for the way there and back. */
  acknowledgeWithinMs: 1500,
  /** Slack: chat.update 50+ a minute and workspace. */
  editGapMs: 1200,
});
