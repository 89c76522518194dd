import { afterEach, describe, expect, it } from 'vitest';
import { commands } from '../../../commands/index.ts';
import type { AnyCommand } from '../../../src/core/bot/command.ts';
import type { OptionDeclarations } from '../../../src/core/options.ts';
import { applicationCommands } from '../../../src/platforms/discord/connection/commands/commands.ts';
import { registerCommands } from '../../../src/platforms/discord/connection/commands/register.ts';
import { LOCALES, type Locale } from '../../../src/platforms/discord/locales/index.ts';
import { checkCommands, type RegisteredCommand } from '../../servers/discord/commands.ts';
import { type DiscordServer, startDiscord } from '../../servers/discord/index.ts';

/** Names such as V5 or 720P, and what has no letter, are the same in every language. */
const isSpoken = (choice: string) => /\p{Ll}/u.test(choice);

function sayings({ name, description, options, subcommands = {}, messageMenu }: AnyCommand) {
  const parts = Object.entries(subcommands);
  const declarations = [options, ...parts.map(([, part]) => part.options)].flatMap((some) =>
    Object.entries(some as OptionDeclarations),
  );
  return {
    names: [name, ...parts.map(([part]) => part), ...declarations.map(([option]) => option)],
    words: [
      description,
      ...(messageMenu ? [messageMenu.label] : []),
      ...parts.map(([, part]) => part.description),
      ...declarations.flatMap(([, option]) => [
        option.description,
        ...(option.type === 'choice' ? option.choices.map((choice) => choice.name).filter(isSpoken) : []),
      ]),
    ],
  };
}

const said = commands.map(sayings);
const everything = {
  names: new Set(said.flatMap(({ names }) => names)),
  words: new Set(said.flatMap(({ words }) => words)),
};

const PARTS = ['names', 'words'] as const;
const LANGUAGES = Object.entries<Locale>(LOCALES);

describe.each(LANGUAGES)('in %s', (code, locale) => {
  it.each(PARTS)('the %s of no command are missing', (part) => {
    expect([...everything[part]].filter((text) => !Object.hasOwn(locale[part], text))).toEqual([]);
  });

  it('no words belong to nothing', () => {
    expect(Object.keys(locale.words).filter((text) => !everything.words.has(text))).toEqual([]);
  });

  it('no two commands and no two options of one command have the same name', () => {
    const twice = (names: readonly string[]) => names.filter((name, index) => names.indexOf(name) !== index);
    const local = (name: string) => locale.names[name] ?? name;
    expect(twice(commands.map(({ name }) => local(name)))).toEqual([]);
    for (const command of commands) {
      const groups = [command, ...Object.values(command.subcommands ?? {})];
      for (const { options } of groups) expect(twice(Object.keys(options).map(local))).toEqual([]);
      expect(twice(Object.keys(command.subcommands ?? {}).map(local))).toEqual([]);
    }
  });

  it('what people see begins as a sentence does', () => {
    for (const [english, text] of Object.entries(locale.words)) {
      expect(text.trim(), english).toBe(text);
      if (/^\p{Lu}/u.test(english) && code !== 'ja') expect(text).toMatch(/^\p{Lu}/u);
    }
  });
});

describe('with all their languages, the commands', () => {
  let discord: DiscordServer | undefined;
  afterEach(async () => {
    await discord?.close();
    discord = undefined;
  });

  it('are within the limits of Discord', () => {
    // As JSON, as they are sent.
    expect(() => checkCommands(JSON.parse(JSON.stringify(applicationCommands(commands))))).not.toThrow();
  });

  it('are written with them, and compared with them', async () => {
    discord = await startDiscord();
    const options = { token: discord.token, apiUrl: discord.apiUrl };
    expect(await registerCommands(commands, options)).toBe('written');
    expect(await registerCommands(commands, options)).toBe('unchanged');
    const song = () => discord?.commands.find(({ name }) => name === 'song');
    expect(song()).toMatchObject({
      name_localizations: { de: 'lied', 'es-ES': 'canción', 'es-419': 'canción', fr: 'chanson', ja: '曲' },
      description_localizations: { fr: 'Créer une chanson' },
    });
    const menu = discord.commands.find(({ type, name }) => type === 3 && name === 'Ask about this');
    expect(menu?.name_localizations).toMatchObject({ de: 'Danach fragen' });

    // Somebody else's words count as a difference.
    const changed = song() as RegisteredCommand;
    changed.description_localizations = { ...changed.description_localizations, de: 'Etwas anderes' };
    expect(await registerCommands(commands, options)).toBe('written');
    expect(song()?.description_localizations).toMatchObject({ de: 'Ein Lied machen' });
    expect(discord.refused).toEqual([]);
  });
});
