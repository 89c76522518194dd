const MEBIBYTE = 1024 * 1024;

/** Discord's limits, in characters unless the name has a unit. https://docs.discord.com/developers/resources/message */
export const DISCORD_LIMITS = Object.freeze({
  content: 2_000,
  embeds: 10,
  embedTitle: 256,
  embedDescription: 4_096,
  embedFields: 25,
  embedFieldName: 256,
  embedFieldValue: 1_024,
  embedFooter: 2_048,
  /** The total for all embeds of a message. */
  embedsTotal: 6_000,
  embedUrl: 2_048,
  attachments: 10,
  /**
   * The total for all files of a request; one larger file is allowed: https://github.com/disboxapp/web/issues/50.
   * 64 KiB are reserved for the rest of the form.
   */
  requestBytes: 25 * MEBIBYTE - 64 * 1024,
  attachmentDescription: 1_024,
  buttonsInRow: 5,
  rows: 5,
  menuOptions: 25,
  menuDescription: 100,
  placeholder: 150,
  buttonLabel: 80,
  buttonUrl: 512,
  customId: 100,
  nonce: 25,
  choices: 25,
  choiceText: 100,
  /** For channels and threads. */
  threadName: 100,
  modalTitle: 45,
  modalFields: 5,
  labelText: 45,
  labelDescription: 100,
  textInput: 4_000,
  textOption: 6_000,
  pollQuestion: 300,
  pollAnswer: 55,
  pollAnswers: 10,
  pollHours: 32 * 24,
  responseMs: 3_000,
  interactionMs: 15 * 60_000,
  /** Longer text becomes a file. The first page is the response; the rest fits in a user install's five follow-ups. */
  pages: 4,
} as const);

export const DEFAULT_FILE_BYTES = 10 * MEBIBYTE;

/** The largest file in bytes, by a guild's premium tier. https://docs.discord.com/developers/reference#uploading-files */
export const FILE_BYTES_BY_TIER: readonly number[] = [10, 10, 50, 100].map((size) => size * MEBIBYTE);
