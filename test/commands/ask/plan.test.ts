import { describe, expect, test } from 'vitest';
import { type PlanRequest, planAnswer } from '../../../commands/ask/plan.ts';
import type { AnswerOffer, Context } from '../../../src/core/bot/context.ts';
import { FAMILIES } from '../../../src/core/models/family.ts';

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
      readsImages: (id: string) => id.startsWith('seeing'),
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

  test('drops it without such a model, but refuses an attached image', async () => {
    expect(await plan({ picture: 'replied-to' })).toEqual({ dialect: 'chat', model: 'small' });
    await expect(plan({ picture: 'attached' })).rejects.toThrow("can't read images");
  });
});

describe('several models', () => {
  test('are planned in order, each dialect and model once', async () => {
    expect(await plan({}, 'chat:small, msg:large, chat:small, gen:wide')).toEqual({
      dialect: 'chat',
      model: 'small',
      fallbacks: [
        { dialect: 'msg', model: 'large' },
        { dialect: 'gen', model: 'wide' },
      ],
    });
  });

  test('answer a question with an image only if they can see it', async () => {
    expect(await plan({ picture: 'attached' }, 'chat:small, chat:seeing, gen:wide')).toEqual({
      dialect: 'chat',
      model: 'seeing',
      readsImages: true,
      fallbacks: [{ dialect: 'gen', model: 'wide' }],
    });
    const vision = { visionModel: 'msg:looking' };
    expect(await plan({ picture: 'attached' }, 'chat:small, chat:tiny, gen:wide', vision)).toEqual({
      dialect: 'msg',
      model: 'looking',
      fallbacks: [{ dialect: 'gen', model: 'wide' }],
    });
    await expect(plan({ picture: 'attached' }, 'chat:small, chat:tiny')).rejects.toThrow(
      "“small” can't read",
    );
  });

  test('keep their modes', async () => {
    expect(
      await plan({ assistant: true }, 'gen:wide, gen:pondering, msg:large', {
        thinkingModels: ['pondering'],
      }),
    ).toMatchObject({
      way: { type: 'tools' },
      fallbacks: [
        { model: 'pondering', way: { type: 'thinking' } },
        { model: 'large', note: expect.stringContaining('TOOL_MODEL') },
      ],
    });
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
