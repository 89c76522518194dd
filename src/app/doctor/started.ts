/** What a bot that has just started tells of what it reaches. */
import { commands } from '../../../commands/index.ts';
import type { Log } from '../../core/telemetry/log.ts';
import type { Gateway } from '../../gateway/client.ts';
import type { Config } from '../config/read.ts';
import { newId } from '../services.ts';
import { examineStarted } from './examine.ts';

/** What the bot would stumble over later, and on a terminal where it is and how people call it. Never rejects. */
export async function tellFindings(
  config: Config,
  gateway: Pick<Gateway, 'models'>,
  log: Log,
  isRead: boolean,
): Promise<void> {
  try {
    const tools = { commands, fetch, now: Date.now, random: Math.random, newId, log };
    for await (const { level, subject, sentence, remedy } of examineStarted(config, gateway, tools)) {
      const what = remedy === undefined ? sentence : `${sentence.replace(/\.$/, '')}. What to do: ${remedy}`;
      const line = `${subject}: ${what}`;
      if (level !== 'good') log.warn({}, line);
      else if (isRead) log.info({}, line);
    }
    if (isRead) log.info({}, 'In a channel, type /song a tune for rain');
  } catch (error) {
    log.warn({ err: error }, 'What the bot reaches could not be examined');
  }
}
