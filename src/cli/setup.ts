/** `npm run setup`: asks for what is missing, step by step, writes `.env`, and ends in what `npm run doctor` says. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import * as prompts from '@clack/prompts';
import { commands } from '../../commands/index.ts';
import { readEnvFile, updateEnvFile } from '../app/config/env-file.ts';
import { environmentSchema, type Variable } from '../app/config/schema.ts';
import type { Examination } from '../app/doctor/examine.ts';
import { fail, runProgram } from '../app/process.ts';
import { createManifest } from '../platforms/slack/manifest.ts';
import { examination, report } from './doctor.ts';

const ENV_FILE = '.env';
const MANIFEST_FILE = 'slack-manifest.json';

/** The person left by Ctrl-C or Escape. */
class Left extends Error {}

export interface SetupOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Where `.env` is written. */
  readonly folder: string;
  readonly examination: Omit<Examination, 'environment'>;
  /** Of the process, which overrules the file. */
  readonly environment: Examination['environment'];
}

type Settings = Map<Variable, string>;

/** What connects a chat, or asks for the rest of what does: without these it is off. */
const CONNECTIONS: Readonly<Record<'discord' | 'slack', readonly Variable[]>> = {
  discord: ['DISCORD_TOKEN'],
  slack: [
    'SLACK_BOT_TOKEN',
    'SLACK_APP_TOKEN',
    'SLACK_SIGNING_SECRET',
    'SLACK_CLIENT_ID',
    'SLACK_CLIENT_SECRET',
    'SLACK_CLIENT_SECRET_PREVIOUS',
  ],
};

/** Asks, writes `.env` with mode 0600, and examines it. @returns whether nothing is wrong */
export async function setup(options: SetupOptions): Promise<boolean> {
  const { output, folder } = options;
  const path = join(folder, ENV_FILE);
  const known = readEnvFile(path);
  const chosen: Settings = new Map();
  prompts.intro('Minstrel', { output });
  try {
    await askGateway(known, chosen, options);
    await askChats(known, chosen, options);
  } catch (error) {
    if (!(error instanceof Left)) throw error;
    prompts.cancel('Nothing was changed.', { output });
    return true;
  }
  updateEnvFile(path, chosen);
  prompts.outro(`${ENV_FILE} is written; only you can read it.`, { output });
  const environment = { ...readEnvFile(path), ...options.environment };
  const { wrong } = await report({ ...options.examination, environment }, (line) =>
    output.write(`${line}\n`),
  );
  output.write(
    wrong === 0
      ? '\nAll is set: npm start\n'
      : '\nMend what is wrong, by npm run setup or in .env; npm run doctor looks again.\n',
  );
  return wrong === 0;
}

async function askGateway(
  known: Record<string, string>,
  chosen: Settings,
  streams: SetupOptions,
): Promise<void> {
  const gateway = await answered(
    prompts.select({
      message: 'What makes the songs, pictures, videos and answers?',
      options: [
        { value: 'account', label: 'my gateway', hint: 'you have its address and a key' },
        {
          value: 'emulator',
          label: 'the built-in emulator',
          hint: 'to try everything; costs nothing, needs no account',
        },
      ],
      initialValue: known.GATEWAY_BASE_URL || !isNew(known) ? 'account' : 'emulator',
      ...streamsOf(streams),
    }),
  );
  if (gateway === 'emulator') {
    chosen.set('GATEWAY_BASE_URL', '').set('GATEWAY_API_KEY', '');
    return;
  }
  const ask = asking(known, chosen, streams);
  await ask('GATEWAY_BASE_URL', 'The address of the gateway');
  await ask('GATEWAY_API_KEY', 'Your key', { isSecret: true });
  await ask('PUBLIC_URL', 'The address under which the gateway reaches this machine (songs come back by it)');
  const optional = { isOptional: true } as const;
  await ask('ASK_MODEL', 'The model that answers (empty: moderators choose by /models)', optional);
  await ask('IMAGE_MODEL', 'The model that paints', optional);
  await ask('VIDEO_MODEL', 'The model that films', optional);
}

const isNew = (known: Record<string, string>): boolean => Object.keys(known).length === 0;

async function askChats(
  known: Record<string, string>,
  chosen: Settings,
  streams: SetupOptions,
): Promise<void> {
  const { output } = streams;
  const chats = await answered(
    prompts.multiselect({
      message: 'Where do people talk to it? (space chooses)',
      options: [
        { value: 'discord', label: 'Discord' },
        { value: 'slack', label: 'Slack' },
      ],
      initialValues: [
        ...(known.DISCORD_TOKEN ? ['discord'] : []),
        ...(known.SLACK_BOT_TOKEN || known.SLACK_CLIENT_ID ? ['slack'] : []),
      ],
      required: false,
      ...streamsOf(streams),
    }),
  );
  for (const [chat, variables] of Object.entries(CONNECTIONS))
    if (!chats.includes(chat)) for (const one of variables) if (known[one]) chosen.set(one, '');
  const ask = asking(known, chosen, streams);
  if (chats.includes('discord')) {
    prompts.note(
      [
        '1. https://discord.com/developers/applications, New Application',
        '2. On its page Bot: Reset Token, and copy the token',
      ].join('\n'),
      'Discord',
      { output },
    );
    await ask('DISCORD_TOKEN', 'The token of the bot', { isSecret: true });
  }
  if (chats.includes('slack')) await askSlack(known, ask, streams);
}

/** Other ways than Socket Mode for one workspace are set up by hand: what is there of them is asked for again, and no more. */
async function askSlack(
  known: Record<string, string>,
  ask: ReturnType<typeof asking>,
  { output, folder }: SetupOptions,
): Promise<void> {
  const byHttp = Boolean(known.SLACK_SIGNING_SECRET) && !known.SLACK_APP_TOKEN;
  const byOauth = Boolean(known.SLACK_CLIENT_ID);
  if (!byHttp && !byOauth) {
    writeFileSync(join(folder, MANIFEST_FILE), `${JSON.stringify(createManifest(commands), null, 2)}\n`);
    prompts.note(
      [
        `1. https://api.slack.com/apps, Create New App, From a manifest: paste ${MANIFEST_FILE}, which was written just now`,
        '2. Install to Workspace; under OAuth & Permissions, copy the bot token (xoxb-…)',
        '3. Under Basic Information, App-Level Tokens: generate one with connections:write (xapp-…)',
        'Requests by HTTP, and many workspaces: docs/slack.md',
      ].join('\n'),
      'Slack',
      { output },
    );
  }
  const isSecret = true;
  if (byOauth) await ask('SLACK_CLIENT_SECRET', 'The client secret', { isSecret });
  else await ask('SLACK_BOT_TOKEN', 'The bot token', { isSecret });
  if (byHttp) await ask('SLACK_SIGNING_SECRET', 'The signing secret', { isSecret });
  else await ask('SLACK_APP_TOKEN', 'The app-level token', { isSecret });
}

interface Question {
  /** Not shown, and kept where nothing is typed. */
  readonly isSecret?: boolean;
  readonly isOptional?: boolean;
}

/** Asks for one setting until it can be read. */
function asking(known: Record<string, string>, chosen: Settings, streams: SetupOptions) {
  return async (
    variable: Variable,
    message: string,
    { isSecret = false, isOptional = false }: Question = {},
  ) => {
    const present = known[variable] ?? '';
    const validate = (typed = ''): string | undefined => {
      const value = typed.trim() || (isSecret ? present : '');
      if (value === '') return isOptional ? undefined : 'This is needed. Ctrl-C leaves without a change.';
      const problem = environmentSchema.shape[variable].safeParse(value).error?.issues[0]?.message;
      return problem === undefined ? undefined : `This ${problem}`;
    };
    const given = await answered(
      isSecret
        ? prompts.password({
            message: present === '' ? message : `${message} (empty: the present one stays)`,
            validate,
            ...streamsOf(streams),
          })
        : prompts.text({ message, initialValue: present, validate, ...streamsOf(streams) }),
    );
    // The prompts answer with undefined where nothing was typed.
    const value = (given ?? '').trim();
    if (value !== '' || !isSecret) chosen.set(variable, value);
  };
}

const streamsOf = ({ input, output }: SetupOptions) => ({ input, output });

async function answered<Value>(prompt: Promise<Value | typeof prompts.CANCEL_SYMBOL>): Promise<Value> {
  const answer = await prompt;
  if (prompts.isCancel(answer)) throw new Left();
  return answer;
}

async function main(): Promise<void> {
  if (!process.stdin.isTTY)
    return fail(
      'npm run setup asks questions, so run it in a terminal. Or copy .env.example to .env, and fill it in.',
    );
  const { stdin: input, stdout: output, env: environment } = process;
  if (!(await setup({ input, output, environment, folder: '.', examination: examination() })))
    process.exitCode = 1;
}

if (import.meta.main) await runProgram(main);
