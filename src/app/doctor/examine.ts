/** Checks everything that `npm start` needs, and changes nothing. */
import { commandsFor } from '../../../commands/index.ts';
import { type Finding, fatal, good, warning } from '../../core/finding.ts';
import type { System } from '../../core/system.ts';
import { commandLine } from '../../core/util/installation.ts';
import type { Gateway } from '../../gateway/client.ts';
import { type Config, ConfigError, readConfig } from '../config/read.ts';
import { openGateway, openStorage, unmeasured } from '../services.ts';
import { inspectClock } from './clock.ts';
import { inspectListener } from './listener.ts';
import { inspectPublicUrl } from './public-url.ts';
import { inspectServices } from './services.ts';
import { inspectMediaFolder, inspectStorage } from './storage.ts';

const SUBJECT = 'Settings';

export interface Examination extends System {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly fetch: typeof fetch;
}

/** Yields findings as they are known. Stops after the settings if they are invalid. */
export async function* examine(examination: Examination): AsyncGenerator<Finding> {
  let config: Config;
  try {
    config = readConfig(examination.environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const { sentence } of error.problems) yield fatal(SUBJECT, sentence);
    return;
  }
  yield good(SUBJECT, 'all settings are valid');
  for (const sentence of config.warnings) yield warning(SUBJECT, sentence);
  const storage = await inspectStorage(config, {
    ...examination,
    open: () => openStorage(config, examination),
  });
  yield* storage;
  // By default, both use the same folder.
  yield* inspectMediaFolder(config).filter(({ sentence }) =>
    storage.every((found) => found.sentence !== sentence),
  );
  const listener = await inspectListener(config, examination);
  yield* listener;
  yield* await serviceFindings(config, examination);
  if (listener.every(({ level }) => level === 'good')) yield* await inspectPublicUrl(config, examination);
  yield* await chatFindings(config, examination, { connects: true });
  yield* await inspectClock(
    [
      ...new Set(Object.values(config.accounts).map(({ baseUrl }) => baseUrl)),
      config.discord && (config.discord.apiUrl ?? 'https://discord.com/api'),
      config.slack && (config.slack.apiUrl ?? 'https://slack.com/api/'),
    ].filter((url) => url !== undefined),
    examination,
  );
}

/** Joins the sentence, which may end with a full stop, and the remedy. */
export function lineOf({ subject, sentence, remedy }: Finding): string {
  const text = remedy === undefined ? sentence : `${sentence.replace(/\.$/, '')}. To fix: ${remedy}`;
  return `${subject}: ${text}`;
}

/** Logs problems after a start. On a terminal, also logs good findings and suggests a first command. Never rejects. */
export async function logFindings(
  config: Config,
  gateway: Pick<Gateway, 'models' | 'checkKey'>,
  examination: Omit<Examination, 'environment'>,
  isTerminal: boolean,
): Promise<void> {
  const { log } = examination;
  try {
    for await (const finding of examineStarted(config, gateway, examination)) {
      if (finding.level !== 'good') log.warn({}, lineOf(finding));
      else if (isTerminal) log.info({}, lineOf(finding));
    }
    if (isTerminal)
      log.info(
        {},
        `Ready: type ${config.offered.includes('song') ? '/song prompt:a tune for rain' : '/minstrel help'} in a channel`,
      );
  } catch (error) {
    log.warn({ err: error }, 'Could not check the setup');
  }
}

/** Uses the gateway client of the running bot. */
async function* examineStarted(
  config: Config,
  gateway: Pick<Gateway, 'models' | 'checkKey'>,
  examination: Omit<Examination, 'environment'>,
): AsyncGenerator<Finding> {
  yield* inspectMediaFolder(config);
  yield* await inspectServices(gateway, config);
  if (config.listener.port !== 0) yield* await inspectPublicUrl(config, examination);
  yield* await chatFindings(config, examination, { connects: false });
}

async function serviceFindings(config: Config, examination: Examination): Promise<Finding[]> {
  const client = openGateway(config.accounts, { ...examination, measure: unmeasured });
  try {
    return await inspectServices(client, config);
  } finally {
    await client.close();
  }
}

/** @param connects also opens connections */
async function chatFindings(
  { discord, slack, production, ...offer }: Config,
  { log }: Pick<Examination, 'log'>,
  { connects }: { connects: boolean },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  if (discord) {
    const { inspectDiscord } = await import('../../platforms/discord/connection/inspect.ts');
    // A starting bot registers its commands itself.
    findings.push(...(await inspectDiscord(discord, connects ? commandsFor(offer) : undefined)));
  }
  if (slack) {
    const { inspectSlack } = await import('../../platforms/slack/connection/inspect.ts');
    findings.push(...(await inspectSlack({ ...slack, connects, log })));
  }
  if (!discord && !slack && (production || connects))
    findings.push(
      warning(
        'Chats',
        `no Discord or Slack token is set, so ${production ? 'nobody can reach the bot' : `${commandLine('start')} prints the address of the playground and opens a prompt in the terminal`}`,
        `connect Discord or Slack with ${commandLine('setup')}`,
      ),
    );
  return findings;
}
