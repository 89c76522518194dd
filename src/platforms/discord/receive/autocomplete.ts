import type { Choice } from '../../../core/options.ts';
import { ellipsis } from '../../shared/text.ts';
import { troubleOf } from '../errors.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import type { ReceivingTools } from '../tools.ts';
import type { CommandInteraction } from './interaction.ts';
import { suggestRequestOf } from './invocation.ts';

/** People type on after 300 ms; the rest is for the network. */
const SUGGEST_WITHIN_MS = 250;
/** Shorter than Discord's limit, past which an answer is refused. */
const SEND_WITHIN_MS = DISCORD_LIMITS.responseMs - 500;

/** Answers within 300 ms, without choices if they would come too late. On a slow network it does not answer. Never rejects. */
export async function answerAutocomplete(
  interaction: CommandInteraction,
  { bot, rest, now, sleep, log }: ReceivingTools,
): Promise<void> {
  const request = suggestRequestOf(interaction, now());
  const answered = new AbortController();
  const sent = new AbortController();
  const late = new AbortController();
  try {
    const none = sleep(SUGGEST_WITHIN_MS, answered.signal).then((): readonly Choice[] => []);
    const choices = request ? await Promise.race([bot.suggest(request), none]) : [];
    void sleep(SEND_WITHIN_MS, sent.signal).then(() => late.abort());
    await rest.complete(interaction, fitting(choices), late.signal);
  } catch (error) {
    log.debug({ err: error, trouble: troubleOf(error) }, 'Completions did not arrive');
  } finally {
    answered.abort();
    sent.abort();
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
