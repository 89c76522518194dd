import { describe, expect, it } from 'vitest';
import { defineCommand, defineSubcommand, type Outcome } from '../../../src/command.ts';
import { typedOptions, typedPart } from '../../../src/platforms/command-line/typed-command.ts';

const nothing = async (): Promise<Outcome> => ({ type: 'message', visibility: 'person', message: {} });

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
      run: nothing,
    }),
    refresh: defineSubcommand({ description: 'Ask again', options: {}, run: nothing }),
  },
  run: nothing,
});

const read = (text: string) => typedOptions(models, typedPart(models, text), { wayToGiveFile: '' });

describe('a command with parts', () => {
  it('knows its part by the first word, and reads the others by their place', () => {
    expect(typedPart(models, 'SET ask some model channel')).toMatchObject({
      subcommand: 'set',
      text: 'ask some model channel',
    });
    expect(read('set ask chat:chat-small channel')).toEqual({
      family: 'ask',
      model: 'chat:chat-small',
      where: 'channel',
    });
  });

  it('names the part that was probably meant', () => {
    expect(() => read('sett ask x')).toThrow('/models has no “sett”. Did you mean /models set?');
    expect(() => read('everything')).toThrow('It knows set, refresh.');
    expect(() => read('constructor')).toThrow('It knows set, refresh.');
  });

  it('says that a part takes no text', () => {
    expect(() => read('refresh now')).toThrow('/models refresh takes no text.');
    expect(read('refresh')).toEqual({});
  });
});
