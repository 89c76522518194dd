import type { AutocompleteInteraction } from 'discord.js';
import type { Choice } from '../../../core/options.ts';
import { ellipsis } from '../../../core/util/words.ts';
import { troubleOf } from '../errors.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { suggestRequestOf } from './invocation.ts';
import type { ReceivingTools } from './tools.ts';

/** People type on after 300 ms; the rest is for the network. */
const SUGGEST_WITHIN_MS = 250;

/** Answers within 300 ms, without choices if they would come too late. Never rejects. */
export async function answerAutocomplete(
  interaction: AutocompleteInteraction,
  { bot, now, sleep, log }: ReceivingTools,
): Promise<void> {
  const request = suggestRequestOf(interaction, now());
  const answered = new AbortController();
  try {
    const none = sleep(SUGGEST_WITHIN_MS, answered.signal).then((): readonly Choice[] => []);
    const choices = request ? await Promise.race([bot.suggest(request), none]) : [];
    await interaction.respond(fitting(choices));
  } catch (error) {
    log.debug({ err: error, trouble: troubleOf(error) }, 'Could not send autocomplete suggestions');
  } finally {
    answered.abort();
  }
}

/** Discord refuses the whole list for one choice that is too long; a value cannot be shortened without changing it. */
function fitting(choices: readonly Choice[]): Choice[] {
  const { choices: most, choiceText: longest } = DISCORD_LIMITS;
  return choices
    .filter(({ name, value }) => name.trim() !== '' && value !== '' && value.length <= longest)
    .slice(0, most)
    .map(({ name, value }) => ({ name: ellipsis(name, longest), value }));
}
