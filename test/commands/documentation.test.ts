import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../../commands/index.ts';
import type { Bot } from '../../src/core/bot/create-bot.ts';
import type { Invocation } from '../../src/core/invocation.ts';
import type { RawOptions } from '../../src/core/options.ts';
import { askedHelp, readCommandLine } from '../../src/platforms/shared/command-line.ts';
import { readSlashLine, readTyped } from '../../src/platforms/slack/receive/commands.ts';
import { createBotOn } from '../core/bot-on-world.ts';
import { createWorld, type World } from '../jobs/world.ts';
import { administer } from '../settings/administration.ts';
import { HERE, MOD } from '../settings/samples.ts';

/** Every command line in the documents, tried word for word. */
const FILES = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md'));

/** Written in the notation of Slack and the terminal throughout. */
const SLACK_ONLY = [
  'docs/terminal.md',
  'docs/slack.md',
  'docs/gateway.md',
  'docs/decisions/0002-words-before-the-song.md',
];

interface Line {
  readonly file: string;
  readonly line: string;
  /** It says that it is for Slack: Discord has no flags. */
  readonly slackOnly: boolean;
}

const WRITTEN: Line[] = FILES.flatMap((file) =>
  readFileSync(file, 'utf8')
    .split(/\n{2,}/)
    .flatMap((paragraph) => {
      const spans = [...paragraph.matchAll(/`(\/[^`\n]+)`/g)].map(([, span = '']) => span);
      const fenced = [...paragraph.matchAll(/^(?!.*`)(\/\S.*)$/gm)].map(([, line = '']) => line);
      const slackOnly = SLACK_ONLY.includes(file) || paragraph.includes('On Slack');
      return [...spans, ...fenced].map((line) => ({ file, line, slackOnly }));
    }),
);
const LINES = WRITTEN.filter(({ line }) => named(line) !== undefined);

function named(line: string) {
  const [, name, text = ''] = /^\/([a-z]+)(?: (.*))?$/.exec(line) ?? [];
  const command = commands.find((one) => one.name === name);
  return command && { command, ...readCommandLine(command, text) };
}

/** `/models set family model where` and `/song --title` name options, and are nothing that people type. */
function isSignature({ text, options }: { text: string; options: object }): boolean {
  const words = text.split(/\s+/);
  return words.every((word) => Object.hasOwn(options, word.replace(/^--/, '')));
}

let world: World;
let bot: Bot;
let events = 0;

beforeAll(async () => {
  world = await createWorld();
  const defaults = { ask: 'chat-small', image: 'some-model', video: 'some-model', song: 'V5' };
  const administered = administer({ ...world, defaults });
  administered.list.offer(['chat-small', 'some-model']);
  bot = createBotOn(world, { administered });
});
afterAll(() => world[Symbol.asyncDispose]());

async function refusalOf(command: string, subcommand: string | undefined, options: RawOptions) {
  const invocation: Invocation = {
    id: `event-${++events}`,
    command,
    ...(subcommand === undefined ? {} : { subcommand }),
    options,
    address: HERE,
    person: MOD,
  };
  const outcome = await bot.run(invocation);
  const isRefused = outcome.type === 'message' && outcome.option !== undefined;
  // The line is understood: it works where there is a song.
  const lacksSong =
    isRefused && /^There are no songs (in this channel|here) yet/.test(outcome.message.text ?? '');
  return isRefused && !lacksSong ? outcome.message.text : undefined;
}

/** As Discord's client reads it: a command, a part, and options by their names. */
function onDiscord({ text, options }: { text: string; options: object }): RawOptions | undefined {
  const parts = text.split(/\s+(?=[a-z][\w-]*:)/).filter((part) => part !== '');
  const given = parts.map((part) => /^([a-z][\w-]*):(.+)$/.exec(part));
  if (given.some((match) => !match || !Object.hasOwn(options, match[1] ?? ''))) return undefined;
  return Object.fromEntries(given.map((match) => [match?.[1] ?? '', match?.[2] ?? '']));
}

/** A mention becomes what the platform makes of it. */
const mentioned = (text: string) => text.replace(/@(?!everyone)(\w+)/g, '<@U0$1|$1>');

describe.each(LINES)('$file: $line', ({ line, slackOnly }) => {
  const read = named(line);
  if (!read) throw new TypeError(line);
  const { command, subcommand } = read;

  test('is read', async () => {
    if (read.text === '' || isSignature(read)) return;
    if (askedHelp(command, read)) return;
    const typed = readTyped(readSlashLine(mentioned(line), [command]));
    if (typed.options !== 'form')
      expect(await refusalOf(command.name, typed.subcommand, typed.options)).toBeUndefined();
    if (slackOnly) return;
    const options = onDiscord({ ...read, text: mentioned(read.text) });
    expect(options, 'in the notation of Discord').toBeDefined();
    if (options) expect(await refusalOf(command.name, subcommand, options)).toBeUndefined();
  });
});

test('what is written like a command with words after it is one', () => {
  const unknown = WRITTEN.filter(({ line }) => /^\/[a-z]+ /.test(line) && !named(line));
  // Slack's own.
  expect(unknown.filter(({ line }) => line !== '/invite @minstrel')).toEqual([]);
});

test('there are examples to try', () => {
  const examples = LINES.filter(({ line }) => {
    const read = named(line);
    return read && read.text !== '' && !isSignature(read);
  });
  expect(examples.length).toBeGreaterThan(10);
});
