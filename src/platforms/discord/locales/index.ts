import { french } from './french.ts';
import { german } from './german.ts';
import { japanese } from './japanese.ts';
import { spanish } from './spanish.ts';

/** What a language says instead of the English of the declarations; what it lacks stays English. */
export interface Locale {
  /** Names of commands, subcommands and options: lower case, no spaces, at most 32 characters. */
  readonly names: Readonly<Record<string, string>>;
  /** Descriptions (at most 100 characters), choices, and entries of a message's menu (at most 32), by their English. */
  readonly words: Readonly<Record<string, string>>;
}

/** By Discord's own codes: https://docs.discord.com/developers/reference#locales */
export const LOCALES = {
  de: german,
  'es-ES': spanish,
  'es-419': spanish,
  fr: french,
  ja: japanese,
} as const satisfies Readonly<Record<string, Locale>>;

export type LocaleCode = keyof typeof LOCALES;
type Localizations = Partial<Record<LocaleCode, string>>;

/** In every language that has it; empty where none does. */
function translations(text: string, part: keyof Locale): Localizations {
  return Object.fromEntries(
    Object.entries<Locale>(LOCALES).flatMap(([code, locale]) =>
      Object.hasOwn(locale[part], text) ? [[code, locale[part][text]]] : [],
    ),
  );
}

/** @param part `names` of commands, subcommands and options; `words` of choices and entries in the menu of a message */
export const localizedName = (name: string, part: keyof Locale) => ({
  name_localizations: translations(name, part),
});

export const localizedDescription = (description: string) => ({
  description_localizations: translations(description, 'words'),
});
