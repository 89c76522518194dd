import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../../commands/index.ts';
import type { Bot } from '../../src/core/bot/create-bot.ts';
import type { Invocation } from '../../src/core/invocation.ts';
import type { RawOptions } from '../../src/core/options.ts';
import { readCommandLine, requestedHelp } from '../../src/platforms/shared/command-line.ts';
import { readSlashLine, readTyped } from '../../src/platforms/slack/receive/commands.ts';
import { createBotOn } from '../core/bot-on-world.ts';
import { createWorld, type World } from '../jobs/world.ts';
import { administer } from '../settings/administration.ts';
import { HERE, MOD } from '../settings/samples.ts';

/** The documents whose command lines are tested. */
const FILES = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md'));

/** Documents that use the notation of Slack and the terminal. */
const SLACK_ONLY = [
  'docs/terminal.md',
  'docs/slack.md',
  'docs/gateway.md',
  'docs/decisions/0002-words-before-the-song.md',
];

interface Line {
  readonly file: string;
  readonly line: string;
  /** In Slack's notation: Discord has no flags. */
  readonly slackOnly: boolean;
}

const SPANS: Line[] = FILES.flatMap((file) =>
  readFileSync(file, 'utf8')
    .split(/\n{2,}/)
    .flatMap((paragraph) => {
      const spans = [...paragraph.matchAll(/`(\/[^`\n]+)`/g)].map(([, span = '']) => span);
      const fenced = [...paragraph.matchAll(/^(?!.*`)(\/\S.*)$/gm)].map(([, line = '']) => line);
      const slackOnly = SLACK_ONLY.includes(file) || paragraph.includes('On Slack');
      return [...spans, ...fenced].map((line) => ({ file, line, slackOnly }));
    }),
);
const LINES = SPANS.filter(({ line }) => parse(line) !== undefined);

function parse(line: string) {
  const [, name, text = ''] = /^\/([a-z]+)(?: (.*))?$/.exec(line) ?? [];
  const command = commands.find((candidate) => candidate.name === name);
  return command && { command, ...readCommandLine(command, text) };
}

/** True for lines that only name options, such as `/models set family model where` and `/song --title`. */
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
  // The line is valid and would work in a channel with a song.
  const needsSong = isRefused && /^There are no songs here yet/.test(outcome.message.text ?? '');
  return isRefused && !needsSong ? outcome.message.text : undefined;
}

/** Reads options as Discord's client does. */
function onDiscord({ text, options }: { text: string; options: object }): RawOptions | undefined {
  const parts = text.split(/\s+(?=[a-z][\w-]*:)/).filter((part) => part !== '');
  const matches = parts.map((part) => /^([a-z][\w-]*):(.+)$/.exec(part));
  if (matches.some((match) => !match || !Object.hasOwn(options, match[1] ?? ''))) return undefined;
  return Object.fromEntries(matches.map((match) => [match?.[1] ?? '', match?.[2] ?? '']));
}

/** Replaces mentions by the platform's form. */
const withMentions = (text: string) => text.replace(/@(?!everyone)(\w+)/g, '<@U0$1|$1>');

describe.each(LINES)('$file: $line', ({ line, slackOnly }) => {
  const read = parse(line);
  if (!read) throw new TypeError(line);
  const { command, subcommand } = read;

  test('is accepted', async () => {
    if (read.text === '' || isSignature(read)) return;
    if (requestedHelp(command, read)) return;
    const typed = readTyped(readSlashLine(withMentions(line), [command]));
    if (typed.options !== 'form')
      expect(await refusalOf(command.name, typed.subcommand, typed.options)).toBeUndefined();
    if (slackOnly) return;
    const options = onDiscord({ ...read, text: withMentions(read.text) });
    expect(options, 'in the notation of Discord').toBeDefined();
    if (options) expect(await refusalOf(command.name, subcommand, options)).toBeUndefined();
  });
});

test('every line that looks like a command is a command', () => {
  const unknown = SPANS.filter(({ line }) => /^\/[a-z]+ /.test(line) && !parse(line));
  // A command of Slack itself.
  expect(unknown.filter(({ line }) => line !== '/invite @minstrel')).toEqual([]);
});

test('the documents contain examples', () => {
  const examples = LINES.filter(({ line }) => {
    const read = parse(line);
    return read && read.text !== '' && !isSignature(read);
  });
  expect(examples.length).toBeGreaterThan(10);
});
