import type { Choice } from '../../command.ts';
import type { Bot } from '../platform.ts';
import { shorten } from './buttons.ts';
import type { CommandInteraction } from './interaction.ts';
import { suggestRequestOf } from './invocation.ts';
import { LIMITS } from './limits.ts';
import type { DiscordRest } from './rest.ts';

/** Completions that come later are of no use to somebody who types. */
const PATIENCE_MS = 300;

export interface AutocompleteDependencies {
  readonly bot: Bot;
  readonly rest: DiscordRest;
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Answers within 300 ms: with nothing rather than late. */
export async function complete(
  interaction: CommandInteraction,
  { bot, rest, now, sleep }: AutocompleteDependencies,
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
  await rest.complete(interaction, fitting(choices));
}

/** Discord refuses the whole list for one choice that is too long; a value cannot be shortened without changing it. */
function fitting(choices: readonly Choice[]): { name: string; value: string }[] {
  return choices
    .filter(({ name, value }) => name.trim() !== '' && value !== '' && value.length <= LIMITS.choiceText)
    .slice(0, LIMITS.choices)
    .map(({ name, value }) => ({ name: shorten(name, LIMITS.choiceText), value }));
}
