import { describe, expect, test } from 'vitest';
import { type PlanRequest, planAnswer } from '../../../commands/ask/plan.ts';
import type { AnswerOffer, Context } from '../../../src/core/bot/context.ts';

const OFFER: AnswerOffer = {
  maxTokens: 100,
  contextTokens: 1000,
  illustratingModels: [],
  thinkingModels: [],
};

/** Which model answers, where the one in force is `chosen`. */
function plan(
  { assistant = false, ...request }: Partial<PlanRequest> & { readonly assistant?: boolean },
  chosen = 'chat:small',
  offer: Partial<AnswerOffer> = {},
) {
  const context = {
    inForce: { answers: async () => ({ assistant: { on: assistant } }) },
    answerOffer: { ...OFFER, ...offer },
    models: { resolve: async (_family: string, named = chosen) => named, listedBy: () => [] },
  };
  // Sound: planning uses nothing else of the tools.
  return planAnswer({ named: undefined, picture: 'none', ...request }, context as unknown as Context);
}

describe('a reply to a picture', () => {
  test('looks at it, where a model can', async () => {
    expect(await plan({ picture: 'replied-to' }, 'chat:small', { visionModel: 'msg:seeing' })).toEqual({
      dialect: 'msg',
      model: 'seeing',
    });
    expect(await plan({ picture: 'replied-to' }, 'gen:seeing')).toMatchObject({ dialect: 'gen' });
  });

  test('is answered without it where none can: only what a person attaches is refused', async () => {
    expect(await plan({ picture: 'replied-to' })).toEqual({ dialect: 'chat', model: 'small' });
    await expect(plan({ picture: 'attached' })).rejects.toThrow('cannot be shown pictures');
  });
});

describe('the assistant without a model of its own', () => {
  test('gives its commands to the gen model that moderators chose', async () => {
    expect(await plan({ assistant: true }, 'gen:chosen')).toMatchObject({ way: { type: 'tools' } });
  });

  test('and to no other that a person names', async () => {
    expect(await plan({ assistant: true, named: 'gen:another' })).toEqual({
      dialect: 'gen',
      model: 'another',
    });
  });
});
