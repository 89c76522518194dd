/** Descriptions in other languages, by their English; a description that a language lacks stays English, and so do all names. */
import french from './french.json' with { type: 'json' };
import german from './german.json' with { type: 'json' };
import japanese from './japanese.json' with { type: 'json' };
import spanish from './spanish.json' with { type: 'json' };

/** By Discord's own codes: https://docs.discord.com/developers/reference#locales */
export const LOCALES = {
  de: german,
  'es-ES': spanish,
  'es-419': spanish,
  fr: french,
  ja: japanese,
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The description of a command or option in every language that has it. */
export const localizedDescriptions = (description: string): Partial<Record<keyof typeof LOCALES, string>> =>
  Object.fromEntries(
    Object.entries<Readonly<Record<string, string>>>(LOCALES).flatMap(([code, descriptions]) =>
      Object.hasOwn(descriptions, description) ? [[code, descriptions[description]]] : [],
    ),
  );
