import type { Choice, Log } from '../../command.ts';
import type { Bot } from '../platform.ts';
import { shorten } from './buttons.ts';
import { troubleOf } from './errors.ts';
import type { CommandInteraction } from './interaction.ts';
import { suggestRequestOf } from './invocation.ts';
import { LIMITS } from './limits.ts';
import type { DiscordRest } from './rest.ts';

/** Of 300 ms, after which completions are of no use to somebody who types; the rest is for the way. */
const PATIENCE_MS = 250;
/** Discord takes nothing after three seconds, so the answer is given up before. */
const GIVE_UP_AFTER_MS = 2_500;

export interface AutocompleteDependencies {
  readonly bot: Bot;
  readonly rest: DiscordRest;
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}

/** Answers within 300 ms: with nothing rather than late, and on a network that is too slow not at all. Never rejects. */
export async function complete(
  interaction: CommandInteraction,
  { bot, rest, now, sleep, log }: AutocompleteDependencies,
): Promise<void> {
  const request = suggestRequestOf(interaction, now());
  const answered = new AbortController();
  const choices = request
    ? await Promise.race([
        bot.suggest(request),
        sleep(PATIENCE_MS, answered.signal).then((): readonly Choice[] => []),
      ])
    : [];
  answered.abort();
  const sent = new AbortController();
  const given = new AbortController();
  void sleep(GIVE_UP_AFTER_MS, sent.signal).then(() => given.abort());
  try {
    await rest.complete(interaction, fitting(choices), given.signal);
  } catch (error) {
    log.debug({ err: error, trouble: troubleOf(error) }, 'Completions did not arrive');
  } finally {
    sent.abort();
  }
}

/** Discord refuses the whole list for one choice that is too long; a value cannot be shortened without changing it. */
function fitting(choices: readonly Choice[]): { name: string; value: string }[] {
  return choices
    .filter(({ name, value }) => name.trim() !== '' && value !== '' && value.length <= LIMITS.choiceText)
    .slice(0, LIMITS.choices)
    .map(({ name, value }) => ({ name: shorten(name, LIMITS.choiceText), value }));
}
