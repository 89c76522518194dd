import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chatEvent, chatStream, events, json, type Reply, type Upstream } from '../jobs/ask/upstream.ts';
import type { DiscordServer, StoredMessage } from '../servers/discord/index.ts';
import { readableText } from '../servers/slack/mentions.ts';
import type { SlackServer } from '../servers/slack/server.ts';
import { startOnUpstream } from './both-chats.ts';
import type { RunningMinstrel } from './minstrel.ts';

/** Illustrated answers, thinking, footers and failures of every dialect, from question to message. */
let world: Awaited<ReturnType<typeof startOnUpstream>>;
let discord: DiscordServer;
let slack: SlackServer;
let upstream: Upstream;
let running: RunningMinstrel;

beforeAll(async () => {
  world = await startOnUpstream({
    IMAGE_MODEL: 'gen:facet-picture',
    THINKING_MODELS: 'facet-thinker-preview',
    ASK_MAX_TOKENS: '500',
  });
  ({ discord, slack, upstream, running } = world);
});

afterEach(() => {
  expect(discord.refused).toEqual([]);
  expect(slack.refused).toEqual([]);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

const textOf = ({ embeds, content }: StoredMessage) => `${content}${JSON.stringify(embeds)}`;
async function ask(model: string, question = 'Show me a fox.'): Promise<StoredMessage> {
  const interaction = discord.command({ name: 'ask', options: { question, model } });
  return interaction.message((message) => JSON.stringify(message.components).includes('Again'));
}

describe('an illustrated answer', () => {
  it('shows its text and its image, stored as a file', async () => {
    const message = await ask('gen:facet-picture');
    expect(textOf(message)).toContain('Here is how I see');
    expect(message.attachments).toHaveLength(1);
    expect(
      Buffer.from(message.attachments[0]?.bytes ?? [])
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    const sent = running.emulator.requests.findLast(({ url }) => url.includes('facet-picture'));
    expect(sent?.body).toMatchObject({
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'], maxOutputTokens: 500 },
    });
    expect(sent?.url).toContain('/gen/v1beta/models/facet-picture:generateContent');
  });

  it('marks the position of each image within the text', async () => {
    const inlineData = { mimeType: 'image/png', data: Buffer.from(PIXEL, 'base64').toString('base64') };
    upstream.next(
      'facet-picture',
      json({
        candidates: [
          {
            content: { parts: [{ text: 'First:' }, { inlineData }, { text: 'Then:' }, { inlineData }] },
            finishReason: 'STOP',
          },
        ],
      }),
    );
    const text = textOf(await ask('gen:facet-picture'));
    expect(text.indexOf('First')).toBeLessThan(text.indexOf('Image 1'));
    expect(text.indexOf('Image 1')).toBeLessThan(text.indexOf('Then'));
  });

  it('is shown on Slack too', async () => {
    await slack.slash('/ask', 'Show me a fox. --model gen:facet-picture');
    const message = await slack.until(() =>
      slack.botMessages('C0MUSIC').find((m) => JSON.stringify(m.blocks).includes('Again')),
    );
    expect(readableText(message)).toContain('Here is how I see');
    expect(
      [...slack.workspace.files.values()].some(({ bytes }) => bytes.subarray(1, 4).toString() === 'PNG'),
    ).toBe(true);
  });
});

/** One red pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

describe('thinking', () => {
  it('uses the preview route with a budget if the operator turned it on', async () => {
    const message = await ask('gen:facet-thinker-preview', 'What is 6 times 7?');
    expect(textOf(message)).toContain('42');
    const sent = running.emulator.requests.findLast(({ url }) => url.includes('facet-thinker'));
    expect(sent?.url).toBe('/v1beta/models/facet-thinker-preview:generateContent');
    expect(sent?.body).toMatchObject({ generationConfig: { thinkingConfig: { thinkingBudget: -1 } } });
    expect(
      await discord.autocomplete({
        name: 'ask',
        option: 'model',
        typed: 'think',
        options: { question: 'x' },
      }),
    ).toContainEqual({
      name: 'facet-thinker-preview (thinking, preview)',
      value: 'gen:facet-thinker-preview',
    });
  });

  it('explains a refusal by the gateway', async () => {
    upstream.next(
      'facet-thinker',
      json({ error: { code: 404, message: 'no such preview', status: 'NOT_FOUND' } }, 404),
    );
    expect(textOf(await ask('gen:facet-thinker-preview'))).toContain(
      '”. This model is a preview that may change or end. Choose another model.',
    );
  });
});

describe('a model without a route', () => {
  it('is asked on msg if only that listing contains it', async () => {
    // The emulator's listings both contain every model, so this one is added to msg only.
    upstream.next('/chat/v1/models', json({ data: [{ id: 'chat-small' }], has_more: false }));
    upstream.next('/msg/v1/models', json({ data: [{ id: 'scribe-large' }], has_more: false }));
    await discord
      .command({ name: 'models set', options: { family: 'ask', model: 'unheard-of' }, moderator: true })
      .response();
    const message = await ask('scribe-large', 'What is 2 times 2?');
    expect(textOf(message)).toContain('scribe-large · ');
    const questions = running.emulator.requests.filter(({ method }) => method === 'POST');
    expect(questions.at(-1)?.url).toContain('/msg/');
    await discord
      .command({ name: 'models set', options: { family: 'ask', model: 'unheard-of' }, moderator: true })
      .response();
  });
});

describe('an answer without text is explained', () => {
  const genEnd =
    (end: object): Reply =>
    (response) =>
      void events(response).end(`data: ${JSON.stringify(end)}\n\n`);

  it.each([
    [
      'chat: content filter',
      'chat:chat-small',
      '/chat/completions',
      ((r) => void events(r).end(chatStream([], 'content_filter'))) as Reply,
      'content filter blocked this',
    ],
    [
      'chat: token limit',
      'chat:chat-small',
      '/chat/completions',
      ((r) => void events(r).end(chatStream([], 'length'))) as Reply,
      'reached its limit of 500 tokens',
    ],
    [
      'msg: refusal',
      'msg:scribe-large',
      '/msg/v1/messages',
      json({
        type: 'message',
        content: [],
        stop_reason: 'refusal',
        usage: { input_tokens: 3, output_tokens: 0 },
      }),
      'declined to answer',
    ],
    [
      'msg: token limit',
      'msg:scribe-large',
      '/msg/v1/messages',
      json({ content: [], stop_reason: 'max_tokens' }),
      'reached its limit of 500 tokens',
    ],
    [
      'gen: blocked prompt',
      'gen:facet-text',
      'facet-text',
      genEnd({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }),
      'prohibited content',
    ],
    [
      'gen: blocked answer',
      'gen:facet-text',
      'facet-text',
      genEnd({ candidates: [{ finishReason: 'SAFETY' }] }),
      'safety',
    ],
    [
      'gen: token limit',
      'gen:facet-text',
      'facet-text',
      genEnd({ candidates: [{ finishReason: 'MAX_TOKENS' }] }),
      'reached its limit of 500 tokens',
    ],
    [
      'gen: empty answer',
      'gen:facet-text',
      'facet-text',
      genEnd({ candidates: [{ finishReason: 'STOP' }] }),
      'answer was empty',
    ],
    [
      'gateway content policy',
      'chat:chat-small',
      '/chat/completions',
      json(
        {
          error: {
            message: 'content policy violation',
            type: 'invalid_request_error',
            code: 'content_policy_violation',
          },
        },
        400,
      ),
      'content rules',
    ],
  ])('%s', async (_name, model, path, reply, sentence) => {
    upstream.next(path, reply);
    const message = await ask(model);
    expect(textOf(message)).toContain(sentence);
  });
});

describe('the footer', () => {
  it('shows model and tokens; moderators can hide it, but not failures', async () => {
    expect(textOf(await ask('chat:chat-small', 'What is 6 times 7?'))).toMatch(
      /chat-small · \d+ tokens in, \d+ out/,
    );
    await discord.command({ name: 'models answers', options: { footer: false }, moderator: true }).response();
    expect(textOf(await ask('chat:chat-small', 'What is 6 times 7?'))).not.toContain('chat-small');
    upstream.next('/chat/completions', (response) => void events(response).end(chatEvent('Half')));
    expect(textOf(await ask('chat:chat-small'))).toContain(
      'The answer was cut off here. Press Again for a complete one.',
    );
    await discord.command({ name: 'models answers', options: { footer: true }, moderator: true }).response();
  });
});

describe('a moderators’ system prompt', () => {
  it('is sent with every question in the channel, in the field of each dialect', async () => {
    await discord
      .command({ name: 'models answers', options: { prompt: 'Answer briefly.' }, moderator: true })
      .response();
    await ask('chat:chat-small', 'Why?');
    await ask('msg:scribe-large', 'Why?');
    await ask('gen:facet-text', 'Why?');
    const [gen, msg, chat] = running.emulator.requests
      .filter(({ method }) => method === 'POST')
      .slice(-3)
      .reverse();
    expect(chat?.body).toMatchObject({
      messages: [
        { role: 'system', content: 'Answer briefly.' },
        { role: 'user', content: 'Why?' },
      ],
    });
    expect(msg?.body).toMatchObject({
      messages: [{ role: 'user', content: [{ text: 'Answer briefly.' }, { text: 'Why?' }] }],
    });
    expect(gen?.body).toMatchObject({
      contents: [{ role: 'user', parts: [{ text: 'Answer briefly.' }, { text: 'Why?' }] }],
    });
  });
});
