import type { AutocompleteInteraction } from 'discord.js';
import type { Choice } from '../../../core/options.ts';
import { ellipsis } from '../../../core/util/words.ts';
import { errorKindOf } from '../errors.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { suggestRequestOf } from './invocation.ts';
import type { ReceivingTools } from './tools.ts';

/** People keep typing after about 300 ms. The difference is for the network. */
const SUGGEST_WITHIN_MS = 250;

/** Answers within 300 ms, with an empty list if the suggestions take longer. Never rejects. */
export async function answerAutocomplete(
  interaction: AutocompleteInteraction,
  { bot, now, sleep, log }: ReceivingTools,
): Promise<void> {
  const request = suggestRequestOf(interaction, now());
  const done = new AbortController();
  try {
    const timedOut = sleep(SUGGEST_WITHIN_MS, done.signal).then((): readonly Choice[] => []);
    const choices = request ? await Promise.race([bot.suggest(request), timedOut]) : [];
    await interaction.respond(withinLimits(choices));
  } catch (error) {
    log.debug({ err: error, kind: errorKindOf(error) }, 'Could not send autocomplete suggestions');
  } finally {
    done.abort();
  }
}

/** Discord rejects the whole list for one overlong choice. Names are shortened; choices with overlong values are dropped. */
function withinLimits(choices: readonly Choice[]): Choice[] {
  const { choices: maxChoices, choiceText: maxLength } = DISCORD_LIMITS;
  return choices
    .filter(({ name, value }) => name.trim() !== '' && value !== '' && value.length <= maxLength)
    .slice(0, maxChoices)
    .map(({ name, value }) => ({ name: ellipsis(name, maxLength), value }));
}
