/** Translated descriptions, keyed by the English text. Missing translations, and all names, stay English. */
import french from './french.json' with { type: 'json' };
import german from './german.json' with { type: 'json' };
import japanese from './japanese.json' with { type: 'json' };
import spanish from './spanish.json' with { type: 'json' };

/** Keyed by Discord's locale codes: https://docs.discord.com/developers/reference#locales */
export const LOCALES = {
  de: german,
  'es-ES': spanish,
  'es-419': spanish,
  fr: french,
  ja: japanese,
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Returns the translations of a command's or option's description. */
export const localizedDescriptions = (description: string): Partial<Record<keyof typeof LOCALES, string>> =>
  Object.fromEntries(
    Object.entries<Readonly<Record<string, string>>>(LOCALES).flatMap(([code, descriptions]) =>
      Object.hasOwn(descriptions, description) ? [[code, descriptions[description]]] : [],
    ),
  );
