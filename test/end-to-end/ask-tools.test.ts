import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { json, type Reply, startUpstream, type Upstream } from '../jobs/ask/upstream.ts';
import { type DiscordServer, type StoredMessage, startDiscord } from '../servers/discord/index.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** Answers that use the bot's own commands, from the question on Discord to the songs and pictures that come of it. */
const TOOLS = '/v1beta/models/facet-tools:generateContent';
let discord: DiscordServer;
let upstream: Upstream;
let running: RunningMinstrel;

beforeAll(async () => {
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  upstream = await startUpstream();
  // Only until the emulator's address is known.
  upstream.gateway = 'http://127.0.0.1:9';
  running = await startMinstrel({
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    GATEWAY_BASE_URL: upstream.url,
    TOOL_MODEL: 'facet-tools',
    USAGE_LIMITS: 'person video 1/day',
  });
  upstream.gateway = running.emulator.url;
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  const switched = discord.command({ name: 'models answers', options: { assistant: true }, moderator: true });
  await switched.response();
});

afterEach(() => expect(discord.refused).toEqual([]));
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
  await discord?.close();
});

const content = (...parts: object[]): Reply =>
  json({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 },
  });
const call = (name: string, args: unknown) => ({
  functionCall: { name, args, id: `id-${name}` },
  thoughtSignature: 'c2ln',
});

/** Asks, with a model that says these things in turn; resolves to the answer when it is whole. */
async function ask(...replies: Reply[]): Promise<StoredMessage> {
  upstream.next(TOOLS, ...replies);
  const asked = discord.command({ name: 'ask', options: { question: 'Do it, please.' } });
  return asked.message(
    (message) => JSON.stringify(message.components).includes('Again') && isAnswer(message),
  );
}
const isAnswer = ({ embeds }: StoredMessage) => JSON.stringify(embeds).includes('Do it, please');
const saidElsewhere = (answer: StoredMessage) => discord.said().filter(({ id }) => id !== answer.id);

const part = z.looseObject({
  functionResponse: z
    .looseObject({ name: z.string(), id: z.string().optional(), response: z.record(z.string(), z.unknown()) })
    .optional(),
  functionCall: z.looseObject({ name: z.string() }).optional(),
  thoughtSignature: z.string().optional(),
});
const bodySchema = z.looseObject({
  contents: z.array(z.looseObject({ role: z.string(), parts: z.array(part) })),
  tools: z.array(z.object({ functionDeclarations: z.array(z.looseObject({ name: z.string() })) })),
});
const sent = () =>
  upstream.asked.filter(({ path }) => path === TOOLS).map(({ body }) => bodySchema.parse(body));
/** What the model was told of its last calls. */
const told = () =>
  (sent().at(-1)?.contents.at(-1)?.parts ?? []).flatMap(({ functionResponse }) =>
    functionResponse ? [functionResponse] : [],
  );

describe('a call becomes that command, asked by that person, in the same channel', () => {
  it.each([
    [
      'song',
      { prompt: 'a tune for rain', instrumental: true },
      (m: StoredMessage) => m.attachments.length >= 2,
    ],
    [
      'lyrics',
      { topic: 'a lighthouse' },
      (m: StoredMessage) => JSON.stringify(m.components).includes('Sing it'),
    ],
    [
      'image',
      { prompt: 'a fox', size: 'square' },
      (m: StoredMessage) => m.attachments.some((file) => file.filename.endsWith('.png')),
    ],
    [
      'video',
      { prompt: 'waves', duration: 5 },
      (m: StoredMessage) => m.attachments.some((file) => file.filename.endsWith('.mp4')),
    ],
    ['stems', { split: 'all' }, (m: StoredMessage) => m.attachments.length > 2],
  ])('%s', async (command, args, isDone) => {
    const before = new Set(discord.said().map(({ id }) => id));
    const answer = await ask(content(call(command, args)), content({ text: 'It is on its way.' }));
    expect(JSON.stringify(answer.embeds)).toContain(`/${command}: started`);
    expect(JSON.stringify(answer.embeds)).toContain('It is on its way');
    expect(told()).toEqual([
      { name: command, id: `id-${command}`, response: expect.objectContaining({ status: 'started' }) },
    ]);
    // The call goes back as it came, signature and all.
    expect(sent().at(-1)?.contents.at(-2)?.parts[0]).toMatchObject(call(command, args));
    const made = await discord.until(
      () => saidElsewhere(answer).find((m) => !before.has(m.id) && isDone(m)),
      `what /${command} makes`,
    );
    expect(made.pinged.filter((id) => id !== discord.user.id)).toEqual([]);
    // The answer is still shown as it was.
    expect(answer.deleted).toBe(false);
    expect(JSON.stringify(answer.embeds)).toContain('It is on its way');
  });

  it('offers every one of them, with its options but those that are no text', () => {
    const [declared] = sent().at(-1)?.tools ?? [];
    expect(declared?.functionDeclarations.map(({ name }) => name)).toEqual([
      'song',
      'lyrics',
      'image',
      'video',
      'stems',
    ]);
    expect(declared?.functionDeclarations[2]).toMatchObject({
      parameters: {
        type: 'object',
        properties: {
          prompt: { type: 'string' },
          size: { type: 'string', description: expect.stringContaining('square') },
        },
        required: ['prompt'],
      },
    });
    expect(JSON.stringify(declared)).not.toContain('"model"');
    expect(JSON.stringify(declared)).not.toContain('"audio"');
  });
});

describe('a call that cannot be done is told to the model and to people, and spends nothing', () => {
  it.each([
    ['without what is required', 'image', {}, 'Please give the option'],
    ['with a choice that there is not', 'image', { prompt: 'x', size: 'round' }, 'can be square'],
    ['with an option that there is not', 'image', { prompt: 'x', colour: 'red' }, 'no option “colour”'],
    ['with a model of its own', 'image', { prompt: 'x', model: 'canvas-classic' }, 'no option “model”'],
    [
      'with a file made up',
      'video',
      { image: { name: 'a.png', url: 'http://169.254.169.254/' } },
      'no option “image”',
    ],
    ['with a list', 'image', { prompt: ['a', 'b'] }, 'takes a text'],
    ['that is too long', 'lyrics', { topic: 'rain '.repeat(300) }, '300 words'],
  ])('%s', async (_name, command, args, sentence) => {
    const before = running.emulator.requests.filter(({ method }) => method === 'POST').length;
    const answer = await ask(content(call(command, args)), content({ text: 'Sorry.' }));
    expect(JSON.stringify(answer.embeds)).toContain(`/${command}: refused`);
    expect(JSON.stringify(told())).toContain(sentence);
    expect(running.emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(before);
  });

  it('of a function that was not offered', async () => {
    const answer = await ask(content(call('models', { family: 'ask' })), content({ text: 'I see.' }));
    expect(JSON.stringify(told())).toContain('There is no function');
    expect(JSON.stringify(answer.embeds)).not.toContain('/models');
  });

  it('of arguments that are none', async () => {
    await ask(content(call('image', 'a fox')), content({ text: 'I see.' }));
    expect(JSON.stringify(told())).toContain('Please give the option');
  });

  it('over the person’s limit', async () => {
    const answer = await ask(
      content(call('video', { prompt: 'more waves' })),
      content({ text: 'Not today.' }),
    );
    expect(JSON.stringify(answer.embeds)).toContain('/video: refused');
    expect(JSON.stringify(told())).toMatch(/limit|1 .*day|used/i);
  });
});

describe('a model that goes in circles', () => {
  const lyrics = (topic: string) => content(call('lyrics', { topic }));

  it('is asked five times at most, and what it said is shown, marked', async () => {
    const before = sent().length;
    const answer = await ask(
      content({ text: 'Let me see.' }, call('lyrics', { topic: 'one' })),
      ...['two', 'three', 'four', 'five'].map(lyrics),
    );
    expect(sent().length - before).toBe(5);
    expect(JSON.stringify(answer.embeds)).toContain('Let me see.');
    expect(JSON.stringify(answer.embeds)).toContain('kept calling commands');
  });

  it('gets the same command with the same words once', async () => {
    const count = () =>
      running.emulator.requests.filter(({ body }) => JSON.stringify(body ?? '').includes('the very same'))
        .length;
    await ask(lyrics('the very same'), lyrics('the very same'), content({ text: 'Enough.' }));
    expect(JSON.stringify(told())).toContain('already');
    await running.emulator.settled();
    await expect.poll(count).toBe(1);
  });

  it('gets five commands at most from one breath', async () => {
    await ask(
      content(
        ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((topic) => call('lyrics', { topic: `about ${topic}` })),
      ),
      content({ text: 'Seven.' }),
    );
    const responses = told().map(({ response }) => response.status ?? 'refused');
    expect(responses).toEqual(['started', 'started', 'started', 'started', 'started', 'refused', 'refused']);
  });
});

it('a question with no need of commands is answered by the same model, with its route and tokens below', async () => {
  const answer = await ask(content({ text: 'Because.' }));
  expect(JSON.stringify(answer.embeds)).toContain('gen:facet-tools · 10 + 5 tokens');
});
