import { describe, expect, test } from 'vitest';
import { type PlanRequest, planAnswer } from '../../../commands/ask/plan.ts';
import type { AnswerOffer, Context } from '../../../src/core/bot/context.ts';
import { FAMILIES } from '../../../src/core/family.ts';

const OFFER: AnswerOffer = {
  maxTokens: 100,
  contextTokens: 1000,
  illustratingModels: [],
  thinkingModels: [],
};

/** Plans an answer while `modelInForce` is set. */
function plan(
  { assistant = false, ...request }: Partial<PlanRequest> & { readonly assistant?: boolean },
  modelInForce = 'chat:small',
  offer: Partial<AnswerOffer> = {},
) {
  const context = {
    inForce: { answers: async () => ({ assistant: { on: assistant } }) },
    answerOffer: { ...OFFER, ...offer },
    families: FAMILIES,
    models: {
      resolve: async (_family: string, requestedModel = modelInForce) => requestedModel,
      listedBy: () => [],
      readsImages: () => false,
      dialects: ['chat', 'msg', 'gen'],
    },
  };
  // The cast is safe: planning uses no other member.
  return planAnswer(
    { requestedModel: undefined, picture: 'none', ...request },
    context as unknown as Context,
  );
}

describe('a reply to an image', () => {
  test('uses a model that can see it', async () => {
    expect(await plan({ picture: 'replied-to' }, 'chat:small', { visionModel: 'msg:seeing' })).toEqual({
      dialect: 'msg',
      model: 'seeing',
    });
    expect(await plan({ picture: 'replied-to' }, 'gen:seeing')).toMatchObject({ dialect: 'gen' });
  });

  test('drops it without such a model, while an attached image is refused', async () => {
    expect(await plan({ picture: 'replied-to' })).toEqual({ dialect: 'chat', model: 'small' });
    await expect(plan({ picture: 'attached' })).rejects.toThrow("can't read images");
  });
});

describe('the assistant without a tool model', () => {
  test('gives the commands to the gen model that moderators chose', async () => {
    expect(await plan({ assistant: true }, 'gen:chosen')).toMatchObject({ way: { type: 'tools' } });
  });

  test('does not give them to another model that a person chose', async () => {
    expect(await plan({ assistant: true, requestedModel: 'gen:another' })).toEqual({
      dialect: 'gen',
      model: 'another',
    });
  });
});
