const MEBIBYTE = 1024 * 1024;

/** Discord's limits, in characters where no unit is named. https://docs.discord.com/developers/resources/message */
export const LIMITS = Object.freeze({
  content: 2_000,
  embeds: 10,
  embedTitle: 256,
  embedDescription: 4_096,
  embedFields: 25,
  embedFieldName: 256,
  embedFieldValue: 1_024,
  embedFooter: 2_048,
  /** Over all embeds of a message. */
  embedsTotal: 6_000,
  embedUrl: 2_048,
  attachments: 10,
  attachmentDescription: 1_024,
  buttonsInRow: 5,
  buttons: 25,
  buttonLabel: 80,
  buttonUrl: 512,
  customId: 100,
  nonce: 25,
  choices: 25,
  choiceText: 100,
  modalTitle: 45,
  modalFields: 5,
  labelText: 45,
  labelDescription: 100,
  textInput: 4_000,
  commandDescription: 100,
  commandOptions: 25,
  textOption: 6_000,
  responseMs: 3_000,
  interactionMs: 15 * 60_000,
  /** A message with more pages of text than this becomes a file. With the original, they fit in a user install's five follow-ups. */
  pages: 3,
} as const);

/** Bytes a file may have, by a guild's premium tier. https://docs.discord.com/developers/reference#uploading-files */
export const FILE_BYTES_BY_TIER = Object.freeze([
  10 * MEBIBYTE,
  10 * MEBIBYTE,
  50 * MEBIBYTE,
  100 * MEBIBYTE,
] as const);

export const DEFAULT_FILE_BYTES = FILE_BYTES_BY_TIER[0];
