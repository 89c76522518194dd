import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Outcome } from '../../src/core/bot/outcome.ts';
import { isOpen } from '../../src/core/job.ts';
import type { Message } from '../../src/core/message.ts';
import type { RawOptions } from '../../src/core/options.ts';
import type { GatewayErrorCode } from '../../src/gateway/transport/errors.ts';
import { codePoint } from '../fixtures/code-point.ts';
import { gatewayError } from '../jobs/scripted-gateway.ts';
import { BOB, MODERATOR, openStudio, type Studio } from './song/world.ts';

/** An action of a person. */
type Step =
  | { readonly type: 'ask'; readonly command: string; readonly options: RawOptions }
  | {
      readonly type: 'press';
      readonly message: number;
      readonly button: number;
      readonly values: RawOptions;
      readonly who: number;
    };

interface Round {
  readonly step: Step;
  readonly gateway: GatewayErrorCode | 'taken' | 'lost';
  readonly callback: 'complete' | 'failed' | 'nothing';
}

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('rain', 'a slow waltz', 'Verse:\nDrip drop\n[Chorus]\nDrip') },
  { weight: 1, arbitrary: fc.constantFrom('', '   ', '[Instrumental]', 'x'.repeat(5001)) },
  { weight: 1, arbitrary: fc.string({ maxLength: 40, unit: codePoint }) },
);
const number = fc.oneof(fc.integer({ min: -5, max: 120 }), fc.double({ noNaN: true, min: 0, max: 100 }));
const file = fc.constant({ name: 'demo.wav', url: 'https://cdn.example/demo.wav', contentType: 'audio/wav' });
/** Omitted half the time. */
const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 1 });
const model = fc.constantFrom('V4', 'V4_5', 'V4_5PLUS', 'V4_5ALL', 'V5', 'V9');
const voice = fc.constantFrom('Rainy', 'nobody', 'persona-of-audio-one');
const request = {
  prompt: optional(text),
  title: optional(text),
  style: optional(text),
  instrumental: optional(fc.boolean()),
  voice: optional(voice),
  model: optional(model),
};
const mode = fc.constantFrom('cover', 'extend', 'vocals', 'instrumental');

const askStep = (
  command: string,
  options: Record<string, fc.Arbitrary<RawOptions[string]>>,
): fc.Arbitrary<Step> =>
  fc.record(options).map((values) => ({
    type: 'ask' as const,
    command,
    options: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)),
  }));
const ask: fc.Arbitrary<Step> = fc.oneof(
  askStep('song', { ...request, lyrics: optional(text) }),
  askStep('song', { earlier: text }),
  askStep('remix', { ...request, mode, audio: optional(file) }),
  askStep('lyrics', { topic: text }),
  askStep('stems', { song: optional(text), split: fc.constantFrom('vocals', 'all') }),
);
const partial = <Value>(shape: { [Name in keyof Value]: fc.Arbitrary<Value[Name]> }) =>
  fc.record(shape, { requiredKeys: [] });
const press: fc.Arbitrary<Step> = fc.record({
  type: fc.constant('press' as const),
  message: fc.nat(50),
  button: fc.nat(50),
  values: partial({
    prompt: text,
    style: text,
    title: text,
    from: number,
    name: text,
    start: number,
    end: number,
  }),
  who: fc.nat(2),
});
const round: fc.Arbitrary<Round> = fc.record({
  step: fc.oneof({ weight: 1, arbitrary: ask }, { weight: 3, arbitrary: press }),
  gateway: fc.oneof(
    { weight: 6, arbitrary: fc.constant('taken' as const) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('lost', 'not-found', 'exists', 'credits', 'blocked', 'invalid', 'nonsense'),
    },
  ),
  callback: fc.oneof(
    { weight: 6, arbitrary: fc.constant('complete' as const) },
    { weight: 2, arbitrary: fc.constantFrom('failed', 'nothing') },
  ),
});

/** Performs a step. Forms get only values for fields that they have. */
async function perform(
  studio: Studio,
  step: Step,
  messages: readonly Message[],
): Promise<Outcome | undefined> {
  if (step.type === 'ask') return studio.ask(step.command, step.options);
  const message = messages[step.message % Math.max(1, messages.length)];
  // Link buttons do not reach the bot.
  const labels = (message?.actions ?? []).flatMap((action) => (action.type === 'action' ? action.label : []));
  const label = labels[step.button % Math.max(1, labels.length)];
  if (message === undefined || label === undefined) return undefined;
  const person = [undefined, BOB, MODERATOR][step.who];
  const more = person === undefined ? {} : { person };
  const pressed = await studio.press(message, label, more);
  if (pressed.type !== 'form') return pressed;
  const values = Object.entries(step.values).filter(([name]) => name in pressed.form.options);
  return studio.fill(message, label, Object.fromEntries(values), more);
}

/** Plays the gateway's part and resolves to the final message. */
async function carryOut(studio: Studio, outcome: Outcome, { callback }: Round): Promise<Message> {
  const { world } = studio;
  const { id } = await studio.stored(outcome);
  await world.advance(id);
  if (callback === 'failed' && isOpen(await world.read(id)))
    await world.callback(id, { code: 501, msg: 'failed', data: { callbackType: 'error', data: null } });
  if (callback === 'nothing') world.clock.advance(3 * 3_600_000);
  if (callback !== 'complete') await world.advance(id);
  const { state } = await world.read(id);
  return state === 'delivered' || state === 'failed' || state === 'expired'
    ? (world.platform.shown.get(String((await world.read(id)).posted?.id)) ?? {})
    : studio.finish(outcome);
}

function hasContent({ title, text, media }: Message): boolean {
  return Boolean(text?.trim() || media?.length || title?.trim());
}

it('random chains of actions end in results or error messages', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 2, maxLength: 8 }), async (rounds) => {
      await using studio = await openStudio();
      const { world } = studio;
      const messages = [await studio.finish(await studio.ask('song', { prompt: 'a tune for rain' }))];
      for (const round of rounds) {
        if (round.gateway === 'lost')
          world.gateway.replies.push(gatewayError('network', { taken: 'unknown' }));
        else if (round.gateway !== 'taken') world.gateway.replies.push(gatewayError(round.gateway));
        const outcome = await perform(studio, round.step, messages);
        if (outcome?.type === 'message') {
          expect(outcome.message.text ?? outcome.message.title).toMatch(/\S/);
          expect(outcome.message.text ?? '').not.toContain('Something went wrong');
          if (outcome.message.actions?.length) messages.push(outcome.message);
        } else if (outcome?.type === 'accepted') {
          const message = await carryOut(studio, outcome, round);
          expect(hasContent(message)).toBe(true);
          expect(message.progress).toBeUndefined();
          messages.push(message);
        }
        world.gateway.replies.length = 0;
      }
      for await (const id of world.storage.jobs.open()) expect(await world.read(id)).toBeUndefined();
      expect(world.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    }),
  );
});
