import { describe, expect, it } from 'vitest';
import { defineCommand, defineSubcommand } from '../../../src/core/bot/command.ts';
import type { Outcome } from '../../../src/core/bot/outcome.ts';
import { readCommandLine, typedOptions } from '../../../src/platforms/shared/command-line.ts';

const respondEmpty = async (): Promise<Outcome> => ({ type: 'message', visibility: 'person', message: {} });

const models = defineCommand({
  name: 'models',
  description: 'Which models are used here',
  options: {},
  subcommands: {
    set: defineSubcommand({
      description: 'Choose one',
      options: {
        family: { type: 'choice', description: 'For what', choices: [{ name: 'answers', value: 'ask' }] },
        model: { type: 'text', description: 'Which' },
        where: { type: 'choice', description: 'Where', choices: [{ name: 'channel', value: 'channel' }] },
      },
      run: respondEmpty,
    }),
    refresh: defineSubcommand({ description: 'Ask again', options: {}, run: respondEmpty }),
  },
  run: respondEmpty,
});

const read = (text: string) => typedOptions(models, readCommandLine(models, text), '');

describe('a command with subcommands', () => {
  it('takes the first word as the subcommand and the rest by position', () => {
    expect(readCommandLine(models, 'SET ask some model channel')).toMatchObject({
      subcommand: 'set',
      text: 'ask some model channel',
    });
    expect(read('set ask chat:chat-small channel')).toEqual({
      family: 'ask',
      model: 'chat:chat-small',
      where: 'channel',
    });
  });

  it('suggests the closest subcommand', () => {
    expect(() => read('sett ask x')).toThrow('/models has no subcommand “sett”. Did you mean /models set?');
    expect(() => read('everything')).toThrow('Choose one of: set, refresh.');
    expect(() => read('constructor')).toThrow('Choose one of: set, refresh.');
  });

  it("reports that a subcommand doesn't take text", () => {
    expect(() => read('refresh now')).toThrow("/models refresh doesn't take text.");
    expect(read('refresh')).toEqual({});
  });
});
