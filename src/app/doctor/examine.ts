/** Examines what `npm start` would need, and changes nothing. */
import type { AnyCommand } from '../../core/bot/command.ts';
import { type Finding, good, warning, wrong } from '../../core/finding.ts';
import type { System } from '../../core/system.ts';
import type { Gateway } from '../../gateway/client.ts';
import { type Config, ConfigError, readConfig } from '../config/read.ts';
import { openGateway, openStorage, unmeasured } from '../services.ts';
import { inspectClock } from './clock.ts';
import { inspectGateway } from './gateway.ts';
import { inspectPublicUrl } from './public-url.ts';
import { inspectMediaFolder, inspectStorage } from './storage.ts';

const SUBJECT = 'Settings';

export interface Examination extends System {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly commands: readonly AnyCommand[];
  readonly fetch: typeof fetch;
}

/** One finding after the other, as they are made. With settings that cannot be read, it ends after these. */
export async function* examine(examination: Examination): AsyncGenerator<Finding> {
  let config: Config;
  try {
    config = readConfig(examination.environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const { sentence } of error.problems)
      yield wrong(SUBJECT, sentence, 'every setting is explained in .env.example');
    return;
  }
  yield good(SUBJECT, 'every setting can be read');
  for (const sentence of config.warnings)
    yield warning(SUBJECT, sentence, 'every setting is explained in .env.example');
  yield* await inspectStorage(config, {
    ...examination,
    open: () => openStorage(config, examination),
  });
  yield* inspectMediaFolder(config);
  yield* await openedGateway(config, examination);
  yield* await inspectPublicUrl(config, examination);
  yield* await chats(config, examination, { connects: true });
  yield* await inspectClock(
    [
      config.gateway?.baseUrl,
      config.discord && (config.discord.apiUrl ?? 'https://discord.com/api'),
      config.slack && (config.slack.apiUrl ?? 'https://slack.com/api/'),
    ].filter((url) => url !== undefined),
    examination,
  );
}

/** Sentences of settings end by themselves. */
export function lineOf({ subject, sentence, remedy }: Finding): string {
  const what = remedy === undefined ? sentence : `${sentence.replace(/\.$/, '')}. What to do: ${remedy}`;
  return `${subject}: ${what}`;
}

/** What a bot that has just started would stumble over later, and on a terminal where it is and how people call it. Never rejects. */
export async function tellFindings(
  config: Config,
  gateway: Pick<Gateway, 'models'>,
  examination: Omit<Examination, 'environment'>,
  isRead: boolean,
): Promise<void> {
  const { log } = examination;
  try {
    for await (const finding of examineStarted(config, gateway, examination)) {
      if (finding.level !== 'good') log.warn({}, lineOf(finding));
      else if (isRead) log.info({}, lineOf(finding));
    }
    if (isRead) log.info({}, 'In a channel, type /song a tune for rain');
  } catch (error) {
    log.warn({ err: error }, 'What the bot reaches could not be examined');
  }
}

/** By the bot's own client. */
async function* examineStarted(
  config: Config,
  gateway: Pick<Gateway, 'models'>,
  examination: Omit<Examination, 'environment'>,
): AsyncGenerator<Finding> {
  yield* inspectMediaFolder(config);
  yield* config.gateway === undefined ? EMULATED : await inspectGateway(gateway, config);
  if (config.listener.port !== 0) yield* await inspectPublicUrl(config, examination);
  yield* await chats(config, examination, { connects: false });
}

const EMULATED = [
  good('Gateway', 'the built-in emulator plays it: everything is real but the models, and costs nothing'),
];

async function openedGateway(config: Config, examination: Examination): Promise<Finding[]> {
  if (config.gateway === undefined) return EMULATED;
  const opened = openGateway(config.gateway, { ...examination, measure: unmeasured });
  try {
    return await inspectGateway(opened, config);
  } finally {
    await opened.close();
  }
}

/** `connects`: whether connections are tried out, too. */
async function chats(
  { discord, slack, production }: Config,
  { commands, log }: Pick<Examination, 'commands' | 'log'>,
  { connects }: { connects: boolean },
): Promise<Finding[]> {
  const found: Finding[] = [];
  if (discord) {
    const { inspectDiscord } = await import('../../platforms/discord/connection/inspect.ts');
    // A bot that starts is just registering them.
    found.push(...(await inspectDiscord(discord, connects ? commands : undefined)));
  }
  if (slack) {
    const { inspectSlack } = await import('../../platforms/slack/connection/inspect.ts');
    found.push(...(await inspectSlack({ ...slack, connects, log })));
  }
  if (!discord && !slack && (production || connects))
    found.push(
      warning(
        'Chats',
        `neither DISCORD_TOKEN nor SLACK_BOT_TOKEN is set, so ${production ? 'nobody can reach the bot' : 'npm start opens a chat in the browser and a prompt in the terminal'}`,
        'npm run setup connects one',
      ),
    );
  return found;
}
