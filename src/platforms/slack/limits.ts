/**
 * Slack's limits, in characters unless noted. Sources: https://docs.slack.dev/reference/block-kit,
 * https://docs.slack.dev/reference/methods/chat.postMessage, https://docs.slack.dev/reference/views. A limit is lower, with a
 * comment, where Slack is known to reject less than documented.
 */
export const LIMITS = Object.freeze({
  /** Slack: 50 blocks per message. */
  blocks: 50,
  /** Slack: about 13,200 for all blocks (public reports); 12,000 for markdown blocks, 11,300 in practice. */
  partCharacters: 9000,
  sectionText: 3000,
  sectionFields: 10,
  sectionField: 2000,
  headerText: 150,
  /** For the title and the subtitle, markup included. */
  cardTitle: 150,
  /** https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block */
  chartTitle: 50,
  chartLabel: 20,
  chartSeries: 6,
  chartCategories: 20,
  /** Slack: 101 rows with the head, and 10,000 characters per table. The rest of the message needs some. */
  tableRows: 101,
  tableCharacters: 3000,
  tablePage: 10,
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
  /** Slack: 4,000 for chat.update. Shown in notifications and read by screen readers. */
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
  /** The most messages for one text in a channel, or in a thread. Longer text becomes a file. */
  textParts: 4,
  threadParts: 8,
  /** Longer text is streamed in the thread, and the channel shows only its beginning. */
  streamFrom: 800,
  beginning: 1000,
  /** Slack: 12,000 characters per stream. */
  streamText: 11_000,
  /** Slack ends a stream after five minutes (node-slack-sdk#2702). */
  streamMs: 4.5 * 60_000,
  responseUrlMs: 30 * 60_000,
  patienceMs: 3000,
  /** Slack's time limit includes the network in both directions. */
  acknowledgeWithinMs: 1500,
  /** Time limit of a look-up before an acknowledgement. */
  lookUpWithinMs: 900,
  /** Slack: prompts per agent, and the length of an agent thread's title. */
  suggestedPrompts: 4,
  sessionTitle: 80,
  /** Undocumented: clients truncate longer text. */
  statusText: 50,
  /** Slack clears a status after two minutes. */
  statusMs: 30_000,
  feedbackText: 75,
});
