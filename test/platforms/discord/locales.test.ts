import { afterEach, describe, expect, it } from 'vitest';
import { commands } from '../../../commands/index.ts';
import type { OptionDeclarations } from '../../../src/core/options.ts';
import { applicationCommands } from '../../../src/platforms/discord/connection/commands.ts';
import { registerCommands } from '../../../src/platforms/discord/connection/register.ts';
import { LOCALES } from '../../../src/platforms/discord/locales/index.ts';
import { checkCommands } from '../../servers/discord/commands.ts';
import { type DiscordServer, startDiscord } from '../../servers/discord/index.ts';

const english = new Set(
  commands
    .flatMap((command) => [command, ...Object.values(command.subcommands ?? {})])
    .flatMap(({ description, options }) => [
      description,
      ...Object.values<OptionDeclarations[string]>(options).map((option) => option.description),
    ]),
);

describe.each(Object.entries<Readonly<Record<string, string>>>(LOCALES))('in %s', (code, descriptions) => {
  it('every key is the description of a command or option', () => {
    expect(Object.keys(descriptions).filter((text) => !english.has(text))).toEqual([]);
  });

  it('every translation is trimmed and capitalised like the English', () => {
    for (const [text, translated] of Object.entries(descriptions)) {
      expect(translated.trim(), text).toBe(translated);
      if (/^\p{Lu}/u.test(text) && code !== 'ja') expect(translated).toMatch(/^\p{Lu}/u);
    }
  });
});

describe('localised commands', () => {
  let discord: DiscordServer | undefined;
  afterEach(async () => {
    await discord?.close();
    discord = undefined;
  });

  it("stay within Discord's limits", () => {
    // As JSON, in the form that Discord receives.
    expect(() => checkCommands(JSON.parse(JSON.stringify(applicationCommands(commands))))).not.toThrow();
  });

  it('keep English names', async () => {
    discord = await startDiscord();
    await registerCommands(commands, discord);
    const song = discord.commands.find(({ name }) => name === 'song');
    expect(song).toMatchObject({ description_localizations: { fr: 'Créer une chanson' } });
    expect(JSON.stringify(discord.commands)).not.toContain('name_localizations');
    expect(discord.refused).toEqual([]);
  });
});
