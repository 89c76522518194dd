/**
 * Slack's limits, in characters unless said otherwise. Sources: https://docs.slack.dev/reference/block-kit,
 * https://docs.slack.dev/reference/methods/chat.postMessage, https://docs.slack.dev/reference/views. Where Slack is
 * known to refuse less than it says, the figure is lower and a comment gives the reason.
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
  placeholder: 150,
  url: 3000,
  actionId: 255,
  altText: 2000,
  imageTitle: 2000,
  /** Slack: 4,000 for chat.update. The text next to the blocks is for notifications and screen readers. */
  fallbackText: 2000,
  privateMetadata: 3000,
  viewTitle: 24,
  viewButton: 24,
  inputText: 3000,
  inputHint: 2000,
  options: 100,
  overflowOptions: 5,
  optionText: 75,
  optionValue: 150,
  fileTitle: 255,
  /** Past this many messages a text becomes a file; in a thread of its own, past this many. */
  textParts: 4,
  threadParts: 8,
  /** Longer text is streamed in the thread, and only its beginning stays in the channel. */
  streamFrom: 800,
  beginning: 1000,
  /** Slack: one stream holds 12,000 characters. */
  streamText: 11_000,
  /** Slack ends a stream after five minutes (node-slack-sdk#2702). */
  streamMs: 4.5 * 60_000,
  responseUrlMs: 30 * 60_000,
  patienceMs: 3000,
  /** Slack's patience includes both directions of the network. */
  acknowledgeWithinMs: 1500,
  /** A look-up ahead of an acknowledgement. */
  lookUpWithinMs: 900,
  /** Slack: prompts of agents; the title of an agent's thread. */
  suggestedPrompts: 4,
  sessionTitle: 80,
  /** Not documented: clients cut what is longer. */
  statusText: 50,
  /** Slack takes a status back after two minutes. */
  statusMs: 30_000,
  feedbackText: 75,
});
