/** Measures the time until a request is acknowledged. */
import type { Bot } from '../../core/bot/create-bot.ts';
import type { Outcome } from '../../core/bot/outcome.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { Measure } from '../../core/telemetry/series.ts';
import type { Tracer } from '../../core/telemetry/tracer.ts';

export interface Observers {
  readonly measure: Measure;
  readonly tracer?: Tracer | undefined;
  readonly elapsed: () => number;
}

/** Actions that every command has. */
const COMMON_ACTIONS = ['cancel', 'show', 'again'];

/**
 * Times invocations from their arrival to the end of their acknowledgement, when work begins. Each is a span: a root span
 * for people's requests, a child of the answer's span for tool calls.
 */
export function observedBot(bot: Bot, by: 'person' | 'model', { measure, tracer, elapsed }: Observers): Bot {
  // Only known names are recorded, never text that people typed.
  const attributesOf = ({ command, action, address }: Invocation) => {
    const declaration = bot.commands.find(({ name }) => name === command);
    const actions = [...COMMON_ACTIONS, ...Object.keys(declaration?.actions ?? {})];
    return {
      'minstrel.platform': address.platform,
      'minstrel.command': declaration?.name,
      'minstrel.action': actions.find((name) => name === action?.name),
    };
  };
  const run = (invocation: Invocation): Promise<Outcome> => {
    if (!tracer) return bot.run(invocation);
    const attributes = attributesOf(invocation);
    const name = `command ${attributes['minstrel.command'] ?? 'unknown'}`;
    const parent = by === 'person' ? 'none' : undefined;
    return tracer.run({ name, attributes, parent }, async (span) => {
      const outcome = await bot.run(invocation);
      span.set({
        'minstrel.outcome': outcome.type,
        'minstrel.job': outcome.type === 'accepted' ? outcome.job : undefined,
      });
      return outcome;
    });
  };
  return {
    ...bot,
    async run(invocation) {
      const { platform } = invocation.address;
      const arrivedAt = elapsed();
      const outcome = await run(invocation);
      if (by === 'model' || outcome.type !== 'accepted') return outcome;
      return {
        ...outcome,
        begin: () => {
          measure('minstrel_acknowledged_seconds', { platform }, (elapsed() - arrivedAt) / 1000);
          outcome.begin();
        },
      };
    },
  };
}
