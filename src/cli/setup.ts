/** `npm run setup`: asks for settings, writes `.env` and runs the doctor. */
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

const usage = `Usage: npm run setup
Asks for settings, writes them to .env and checks them.`;

const ENV_FILE = '.env';
const MANIFEST_FILE = 'slack-manifest.json';

/** Thrown when the person presses Ctrl-C or Escape. */
class Cancelled extends Error {}

export interface SetupOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Where `.env` is written. */
  readonly folder: string;
  readonly examination: Omit<Examination, 'environment'>;
  /** The process environment, which takes precedence over the file. */
  readonly environment: Examination['environment'];
}

type Settings = Map<Variable, string>;

/** The settings that turn a chat on, or require others that do. */
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

/** Asks for settings, writes `.env` with mode 0600, and runs the doctor. @returns whether there are no errors */
export async function setup(options: SetupOptions): Promise<boolean> {
  const { output, folder } = options;
  const path = join(folder, ENV_FILE);
  const current = readEnvFile(path);
  const changes: Settings = new Map();
  prompts.intro('Minstrel', { output });
  try {
    await askGateway(current, changes, options);
    await askChats(current, changes, options);
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    prompts.cancel('No changes made.', { output });
    return true;
  }
  updateEnvFile(path, changes);
  prompts.outro(`Saved ${ENV_FILE}. Only your user can read it.`, { output });
  const environment = { ...readEnvFile(path), ...options.environment };
  const { errors, sentence } = await report({ ...options.examination, environment }, (line) =>
    output.write(`${line}\n`),
  );
  const next =
    errors === 0
      ? 'Start the bot with npm start'
      : 'Fix the errors with npm run setup or in .env, then check again with npm run doctor.';
  output.write(`\n${sentence}\n${next}\n`);
  return errors === 0;
}

async function askGateway(
  current: Record<string, string>,
  changes: Settings,
  streams: SetupOptions,
): Promise<void> {
  const gateway = await answerTo(
    prompts.select({
      message: 'Which gateway should create songs, images, videos and answers?',
      options: [
        { value: 'account', label: 'My gateway', hint: 'you have its URL and an API key' },
        {
          value: 'emulator',
          label: 'Built-in emulator',
          hint: 'to try everything without an account or cost',
        },
      ],
      initialValue: current.GATEWAY_BASE_URL || !isNew(current) ? 'account' : 'emulator',
      ...streamsOf(streams),
    }),
  );
  if (gateway === 'emulator') {
    changes.set('GATEWAY_BASE_URL', '').set('GATEWAY_API_KEY', '');
    return;
  }
  const ask = prompter(current, changes, streams);
  await ask('GATEWAY_BASE_URL', 'Gateway URL');
  await ask('GATEWAY_API_KEY', 'Gateway API key', { isSecret: true });
  await ask('PUBLIC_URL', 'Public URL of this machine (the gateway sends songs to it)');
  const optional = { isOptional: true } as const;
  await ask('ASK_MODEL', 'Model for answers (leave empty to let moderators choose with /models)', optional);
  await ask('IMAGE_MODEL', 'Model for images', optional);
  await ask('VIDEO_MODEL', 'Model for videos', optional);
}

const isNew = (current: Record<string, string>): boolean => Object.keys(current).length === 0;

async function askChats(
  current: Record<string, string>,
  changes: Settings,
  streams: SetupOptions,
): Promise<void> {
  const { output } = streams;
  const chats = await answerTo(
    prompts.multiselect({
      message: 'Where will people use the bot? (press Space to select)',
      options: [
        { value: 'discord', label: 'Discord' },
        { value: 'slack', label: 'Slack' },
      ],
      initialValues: [
        ...(current.DISCORD_TOKEN ? ['discord'] : []),
        ...(current.SLACK_BOT_TOKEN || current.SLACK_CLIENT_ID ? ['slack'] : []),
      ],
      required: false,
      ...streamsOf(streams),
    }),
  );
  for (const [chat, variables] of Object.entries(CONNECTIONS))
    if (!chats.includes(chat)) for (const one of variables) if (current[one]) changes.set(one, '');
  const ask = prompter(current, changes, streams);
  if (chats.includes('discord')) {
    prompts.note(
      [
        '1. Open https://discord.com/developers/applications and create a New Application',
        '2. On the Bot page, choose Reset Token and copy the token',
      ].join('\n'),
      'Discord',
      { output },
    );
    await ask('DISCORD_TOKEN', 'Discord bot token', { isSecret: true });
  }
  if (chats.includes('slack')) await askSlack(current, ask, streams);
}

/** Sets up Socket Mode for one workspace. Other setups are done by hand; only their secrets can be changed here. */
async function askSlack(
  current: Record<string, string>,
  ask: ReturnType<typeof prompter>,
  { output, folder }: SetupOptions,
): Promise<void> {
  const byHttp = Boolean(current.SLACK_SIGNING_SECRET) && !current.SLACK_APP_TOKEN;
  const byOauth = Boolean(current.SLACK_CLIENT_ID);
  if (!byHttp && !byOauth) {
    writeFileSync(join(folder, MANIFEST_FILE), `${JSON.stringify(createManifest(commands), null, 2)}\n`);
    prompts.note(
      [
        `1. Open https://api.slack.com/apps, choose Create New App, From a manifest, and paste ${MANIFEST_FILE} (just created)`,
        '2. Choose Install to Workspace, then copy the bot token (xoxb-…) from OAuth & Permissions',
        '3. Under Basic Information, App-Level Tokens, generate a token with connections:write (xapp-…)',
        'For HTTP requests or many workspaces, see docs/slack.md',
      ].join('\n'),
      'Slack',
      { output },
    );
  }
  const isSecret = true;
  if (byOauth) await ask('SLACK_CLIENT_SECRET', 'Client secret', { isSecret });
  else await ask('SLACK_BOT_TOKEN', 'Slack bot token', { isSecret });
  if (byHttp) await ask('SLACK_SIGNING_SECRET', 'Signing secret', { isSecret });
  else await ask('SLACK_APP_TOKEN', 'App-level token', { isSecret });
}

interface Question {
  /** Hidden while typing; an empty answer keeps the current value. */
  readonly isSecret?: boolean;
  readonly isOptional?: boolean;
}

/** Asks for one setting until it is valid. */
function prompter(current: Record<string, string>, changes: Settings, streams: SetupOptions) {
  return async (
    variable: Variable,
    message: string,
    { isSecret = false, isOptional = false }: Question = {},
  ) => {
    const present = current[variable] ?? '';
    const validate = (typed = ''): string | undefined => {
      const value = typed.trim() || (isSecret ? present : '');
      if (value === '')
        return isOptional ? undefined : 'This is required. Press Ctrl-C to exit without changes.';
      const problem = environmentSchema.shape[variable].safeParse(value).error?.issues[0]?.message;
      return problem === undefined ? undefined : `This ${problem}`;
    };
    const answer = await answerTo(
      isSecret
        ? prompts.password({
            message: present === '' ? message : `${message} (leave empty to keep the current one)`,
            validate,
            ...streamsOf(streams),
          })
        : prompts.text({ message, initialValue: present, validate, ...streamsOf(streams) }),
    );
    // An empty prompt returns undefined.
    const value = (answer ?? '').trim();
    if (value !== '' || !isSecret) changes.set(variable, value);
  };
}

const streamsOf = ({ input, output }: SetupOptions) => ({ input, output });

async function answerTo<Value>(prompt: Promise<Value | typeof prompts.CANCEL_SYMBOL>): Promise<Value> {
  const answer = await prompt;
  if (prompts.isCancel(answer)) throw new Cancelled();
  return answer;
}

async function main(): Promise<void> {
  if (!process.stdin.isTTY)
    return fail(
      'npm run setup is interactive, so run it in a terminal. Or copy .env.example to .env and fill it in.',
    );
  const { stdin: input, stdout: output, env: environment } = process;
  if (!(await setup({ input, output, environment, folder: '.', examination: examination() })))
    process.exitCode = 1;
}

if (import.meta.main) await runProgram({ usage }, main);
