import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { json, type Reply, startUpstream, type Upstream } from '../jobs/ask/upstream.ts';
import { type DiscordServer, type StoredMessage, startDiscord } from '../servers/discord/index.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** Answers that use the bot's commands, from a question on Discord to the resulting songs and images. */
const TOOLS = '/v1beta/models/facet-tools:generateContent';
let discord: DiscordServer;
let upstream: Upstream;
let running: RunningMinstrel;

beforeAll(async () => {
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  upstream = await startUpstream();
  // Replaced when the emulator's URL is known.
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
  const settings = discord.command({ name: 'models answers', options: { assistant: true }, moderator: true });
  await settings.response();
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

/** Asks a model that gives these replies in turn. Resolves to the complete answer. */
async function ask(...replies: Reply[]): Promise<StoredMessage> {
  upstream.next(TOOLS, ...replies);
  const interaction = discord.command({ name: 'ask', options: { question: 'Do it, please.' } });
  return interaction.message(
    (message) => JSON.stringify(message.components).includes('Again') && isAnswer(message),
  );
}
const isAnswer = ({ embeds }: StoredMessage) => JSON.stringify(embeds).includes('Do it, please');
const otherMessages = (answer: StoredMessage) => discord.botMessages().filter(({ id }) => id !== answer.id);

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
  upstream.requests.filter(({ path }) => path === TOOLS).map(({ body }) => bodySchema.parse(body));
/** Returns the results that the model got for its last calls. */
const toolResults = () =>
  (sent().at(-1)?.contents.at(-1)?.parts ?? []).flatMap(({ functionResponse }) =>
    functionResponse ? [functionResponse] : [],
  );

describe('a call runs the command for the requester in the same channel', () => {
  it.each([
    [
      'song',
      { prompt: 'a tune for rain', instrumental: true },
      (m: StoredMessage) => m.attachments.length >= 2,
    ],
    [
      'lyrics',
      { topic: 'a lighthouse' },
      (m: StoredMessage) => JSON.stringify(m.components).includes('Sing 1'),
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
    const before = new Set(discord.botMessages().map(({ id }) => id));
    const answer = await ask(content(call(command, args)), content({ text: 'It is on its way.' }));
    expect(JSON.stringify(answer.embeds)).toContain(`/${command}: started`);
    expect(JSON.stringify(answer.embeds)).toContain('It is on its way');
    expect(toolResults()).toEqual([
      { name: command, id: `id-${command}`, response: expect.objectContaining({ status: 'started' }) },
    ]);
    // The call is sent back unchanged, including its signature.
    expect(sent().at(-1)?.contents.at(-2)?.parts[0]).toMatchObject(call(command, args));
    const result = await discord.until(
      () => otherMessages(answer).find((m) => !before.has(m.id) && isDone(m)),
      `what /${command} makes`,
    );
    expect(result.pinged.filter((id) => id !== discord.user.id)).toEqual([]);
    // The answer is still shown.
    expect(answer.deleted).toBe(false);
    expect(JSON.stringify(answer.embeds)).toContain('It is on its way');
  });

  it('offers all commands with their options, except files', () => {
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

describe('an invalid call is reported to the model and people, and spends nothing', () => {
  it.each([
    ['without a required option', 'image', {}, '” is required: '],
    ['with an unknown choice', 'image', { prompt: 'x', size: 'round' }, 'must be one of: square'],
    ['with an unknown option', 'image', { prompt: 'x', colour: 'red' }, 'no option “colour”'],
    ['with a model option', 'image', { prompt: 'x', model: 'qwen-image' }, 'no option “model”'],
    [
      'with an invented file',
      'video',
      { image: { name: 'a.png', url: 'http://169.254.169.254/' } },
      'no option “image”',
    ],
    ['with a list', 'image', { prompt: ['a', 'b'] }, 'takes text'],
    ['with a text that is too long', 'lyrics', { topic: 'rain '.repeat(300) }, '300 words'],
  ])('%s', async (_name, command, args, sentence) => {
    const before = running.emulator.requests.filter(({ method }) => method === 'POST').length;
    const answer = await ask(content(call(command, args)), content({ text: 'Sorry.' }));
    expect(JSON.stringify(answer.embeds)).toContain(`/${command}: refused`);
    expect(JSON.stringify(toolResults())).toContain(sentence);
    expect(running.emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(before);
  });

  it('of an unknown function', async () => {
    const answer = await ask(content(call('models', { family: 'ask' })), content({ text: 'I see.' }));
    expect(JSON.stringify(toolResults())).toContain('There is no function');
    expect(JSON.stringify(answer.embeds)).not.toContain('/models');
  });

  it('with invalid arguments', async () => {
    await ask(content(call('image', 'a fox')), content({ text: 'I see.' }));
    expect(JSON.stringify(toolResults())).toContain('” is required: ');
  });

  it('beyond the person’s limit', async () => {
    const answer = await ask(
      content(call('video', { prompt: 'more waves' })),
      content({ text: 'Not today.' }),
    );
    expect(JSON.stringify(answer.embeds)).toContain('/video: refused');
    expect(JSON.stringify(toolResults())).toMatch(/limit|1 .*day|used/i);
  });
});

describe('a model that keeps calling commands', () => {
  const lyrics = (topic: string) => content(call('lyrics', { topic }));

  it('is asked five times at most, and its text is shown with a mark', async () => {
    const before = sent().length;
    const answer = await ask(
      content({ text: 'Let me see.' }, call('lyrics', { topic: 'one' })),
      ...['two', 'three', 'four', 'five'].map(lyrics),
    );
    expect(sent().length - before).toBe(5);
    expect(JSON.stringify(answer.embeds)).toContain('Let me see.');
    expect(JSON.stringify(answer.embeds)).toContain('kept calling commands');
  });

  it('runs identical commands once', async () => {
    const count = () =>
      running.emulator.requests.filter(({ body }) => JSON.stringify(body ?? '').includes('the very same'))
        .length;
    await ask(lyrics('the very same'), lyrics('the very same'), content({ text: 'Enough.' }));
    expect(JSON.stringify(toolResults())).toContain('already');
    await running.emulator.settled();
    await expect.poll(count).toBe(1);
  });

  it('runs at most five commands per reply', async () => {
    await ask(
      content(
        ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((topic) => call('lyrics', { topic: `about ${topic}` })),
      ),
      content({ text: 'Seven.' }),
    );
    const responses = toolResults().map(({ response }) => response.status ?? 'refused');
    expect(responses).toEqual(['started', 'started', 'started', 'started', 'started', 'refused', 'refused']);
  });
});

it('answers a question without commands with the same model, and shows its name and tokens', async () => {
  const answer = await ask(content({ text: 'Because.' }));
  expect(JSON.stringify(answer.embeds)).toContain('facet-tools · 10 tokens in, 5 out');
});

it('an answer without text after a call lists the started commands', async () => {
  const empty = json({ candidates: [{ content: { role: 'model' }, finishReason: 'STOP' }] });
  const answer = await ask(content(call('image', { prompt: 'an owl' })), empty);
  expect(JSON.stringify(answer.embeds)).toContain('/image: started');
  expect(JSON.stringify(answer)).not.toMatch(/broke off|gave no answer/);
});
