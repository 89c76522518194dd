/** What a language says instead of the English of the declarations; what it lacks stays English. */
export interface Locale {
  /** Names of commands, subcommands and options: lower case, no spaces, at most 32 characters. */
  readonly names: Readonly<Record<string, string>>;
  /** Descriptions (at most 100 characters), choices, and entries of a message's menu (at most 32), by their English. */
  readonly words: Readonly<Record<string, string>>;
}
