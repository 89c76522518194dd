import { french } from './french.ts';
import { german } from './german.ts';
import { japanese } from './japanese.ts';
import type { Locale } from './locale.ts';
import { spanish } from './spanish.ts';

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

/** Of a command, a subcommand or an option. */
export const localizedName = (name: string): { readonly name_localizations: Localizations } => ({
  name_localizations: translations(name, 'names'),
});

/** Of a choice, or an entry in the menu of a message. */
export const localizedLabel = (label: string): { readonly name_localizations: Localizations } => ({
  name_localizations: translations(label, 'words'),
});

export const localizedDescription = (
  description: string,
): { readonly description_localizations: Localizations } => ({
  description_localizations: translations(description, 'words'),
});
