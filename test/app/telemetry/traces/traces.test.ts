import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../../../src/emulator/server.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from '../../../end-to-end/minstrel.ts';
import { createSampleStudio } from '../../../fixtures/sample-studio.ts';
import { json, startUpstream, type Upstream } from '../../../jobs/ask/upstream.ts';
import { type Collector, type SpanTree, startCollector } from '../../../servers/collector.ts';
import { type DiscordServer, startDiscord } from '../../../servers/discord/index.ts';

/** What people write, in every input here. */
const SECRET = 'grandmother-letter';

let discord: DiscordServer;
let upstream: Upstream;
let collector: Collector;
let emulator: Emulator;
let running: RunningMinstrel;

async function start(environment: Record<string, string>): Promise<void> {
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  upstream = await startUpstream();
  collector = await startCollector();
  emulator = await startEmulator({ speed: 0, songSeconds: 3, studio: createSampleStudio() });
  upstream.gateway = emulator.url;
  running = await startMinstrel(
    {
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      GATEWAY_BASE_URL: upstream.url,
      MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
      TOOL_MODEL: 'facet-tools',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '20',
      ...environment,
    },
    { emulator },
  );
  // Models are named once they are listed.
  const isListed = (route: RegExp) =>
    emulator.requests.some(({ url, status }) => status === 200 && route.test(url));
  await discord.until(() => isListed(/chat\/v1\/models/) && isListed(/msg\/v1\/models/), 'listed models');
  await discord.until(() => discord.commands.length > 0, 'registered commands');
}

async function stop(): Promise<void> {
  await running?.[Symbol.asyncDispose]();
  await discord?.close();
  await upstream?.[Symbol.asyncDispose]();
  await emulator?.close();
  await collector?.[Symbol.asyncDispose]();
}

const treesOf = (command: string) =>
  collector.trees().filter(({ span }) => span.attributes['minstrel.command'] === command);
const stateAfter = ({ span }: SpanTree) => span.attributes['minstrel.state.after'];
const named = ({ children }: SpanTree) => children.map(({ span }) => span.name);

/** The tree of a command that passes this check. */
const treeWhere = (command: string, holds: (tree: SpanTree) => boolean): Promise<SpanTree> =>
  collector.until(() => treesOf(command).find((tree) => holds(tree)));

/** Once a step ended its job. */
const isEnded = ({ children }: SpanTree, end = 'delivered') =>
  children.some((child) => stateAfter(child) === end);

function spansIn({ span, children }: SpanTree): SpanTree['span'][] {
  return [span, ...children.flatMap(spansIn)];
}

const spanIn = (tree: SpanTree, name: string) => spansIn(tree).find((span) => span.name === name);

async function allowTools(assistant: boolean): Promise<void> {
  await discord.command({ name: 'models answers', options: { assistant }, moderator: true }).response();
}

describe('with a collector', () => {
  beforeAll(async () => {
    await start({
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=some%20key',
      OTEL_SERVICE_NAME: 'troubadour',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
      TRACE_GATEWAY: '1',
    });
    // It is asked about after some seconds.
    discord.command({ name: 'video', options: { prompt: SECRET } });
  });
  afterAll(stop);
  afterEach(() => expect(collector.refused).toEqual([]));

  it('one song is one trace, from its command to its delivery', async () => {
    const song = discord.command({ name: 'song', options: { prompt: SECRET, title: SECRET, style: SECRET } });
    await song.message(({ attachments }) => attachments.length >= 2);
    const tree = await treeWhere('song', isEnded);
    expect(treesOf('song')).toHaveLength(1);
    expect(tree.span).toMatchObject({
      name: 'command song',
      kind: 2,
      parentSpanId: undefined,
      isFailed: false,
      attributes: { 'minstrel.platform': 'discord', 'minstrel.outcome': 'accepted' },
    });
    expect(named(tree)).toEqual(expect.arrayContaining(['queue', 'step accepted', 'wait', 'callback']));
    // The words are written before the song is asked for.
    const made = tree.children.flatMap(named).filter((name) => name.startsWith('generate_content'));
    expect(made).toEqual(['generate_content', 'generate_content V5']);
    const last = tree.children.find((child) => stateAfter(child) === 'delivered');
    expect(last && named(last)).toContain('discord show');
    expect(spansIn(tree).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['media keep', 'media tag']),
    );
    expect(tree.children.map(({ span }) => span.attributes['minstrel.event'])).toContain('completed');
    const job = tree.span.attributes['minstrel.job'];
    for (const { span } of tree.children) expect(span.attributes['minstrel.job'], span.name).toBe(job);
    expect(spanIn(tree, 'generate_content V5')).toMatchObject({
      kind: 3,
      attributes: {
        'gen_ai.operation.name': 'generate_content',
        'gen_ai.provider.name': 'gateway',
        'gen_ai.request.model': 'V5',
        'gen_ai.output.type': 'audio',
        'http.response.status_code': 200,
        'minstrel.gateway.tries': 1,
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(upstream.url).port),
      },
    });
  });

  it('an answer is a part of its trace, with its model and its tokens', async () => {
    const asked = discord.command({ name: 'ask', options: { question: `What is 6 times 7? ${SECRET}` } });
    await asked.message((message) => JSON.stringify(message.components).includes('Again'));
    const tree = await treeWhere('ask', isEnded);
    expect(spanIn(tree, 'chat chat-small')?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'chat-small',
      'gen_ai.request.stream': true,
      'gen_ai.request.max_tokens': 4096,
      'gen_ai.response.model': 'chat-small',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
    });
    expect(spanIn(tree, 'discord stream')).toMatchObject({ isFailed: false });
  });

  it('what a model does in an answer is a part of the trace, and the gateway is told of it', async () => {
    const content = (...parts: object[]) => ({ candidates: [{ content: { role: 'model', parts } }] });
    const headers: unknown[] = [];
    await allowTools(true);
    upstream.next(
      '/v1beta/models/facet-tools:generateContent',
      (response, request) => {
        headers.push(request.headers.traceparent);
        const functionCall = { name: 'image', args: { prompt: SECRET } };
        return json(content({ functionCall }))(response, request);
      },
      json(content({ text: SECRET })),
    );
    discord.command({ name: 'ask', options: { question: SECRET, model: 'gen:facet-tools' } });
    const tree = await treeWhere('ask', (found) =>
      ['command image', 'generate_content canvas-plus'].every((name) => spanIn(found, name)),
    );
    const spans = spansIn(tree);
    const picture = spans.find(({ name }) => name === 'generate_content canvas-plus');
    expect(picture?.attributes).toMatchObject({ 'gen_ai.output.type': 'image' });
    const [asking] = spans.filter(({ name }) => name === 'generate_content facet-tools');
    expect(headers).toEqual([`00-${asking?.traceId}-${asking?.spanId}-01`]);
    await allowTools(false);
  });

  it('a button begins a trace of its own', async () => {
    const picture = discord.command({ name: 'image', options: { prompt: SECRET, avoid: SECRET } });
    const shown = await picture.message(({ attachments }) => attachments.length === 1);
    const first = await treeWhere('image', (tree) => tree.span.parentSpanId === undefined && isEnded(tree));
    await discord.press('Again', shown).message(({ attachments }) => attachments.length === 1);
    const second = await treeWhere('image', ({ span }) => span.attributes['minstrel.action'] !== undefined);
    expect(second.span).toMatchObject({
      parentSpanId: undefined,
      attributes: { 'minstrel.action': 'again' },
    });
    expect(second.span.traceId).not.toBe(first.span.traceId);
  });

  it('a call that the gateway refuses has failed, with a code and no word', async () => {
    const message = `You asked for ${SECRET}`;
    upstream.next('/chat/completions', json({ error: { message, code: 'content_policy_violation' } }, 400));
    discord.command({ name: 'ask', options: { question: SECRET } });
    const tree = await treeWhere('ask', (found) => isEnded(found, 'failed'));
    expect(spanIn(tree, 'chat chat-small')).toMatchObject({
      isFailed: true,
      attributes: { 'error.type': 'blocked', 'http.response.status_code': 400 },
    });
    const failures = tree.children.map(({ span }) => span.attributes['minstrel.failure']);
    expect(failures).toContain('blocked');
  });

  it('a command that is refused is a trace of one span, and a model that nobody lists is not named', async () => {
    discord.command({ name: 'ask', options: { question: SECRET, model: SECRET } });
    const isRefused = ({ span }: SpanTree) => span.attributes['minstrel.outcome'] === 'message';
    expect((await treeWhere('ask', isRefused)).children).toEqual([]);
  });

  it('a video’s polls are parts of its trace', async () => {
    const tree = await treeWhere('video', isEnded);
    expect(spansIn(tree).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['generate_content reel-standard', 'wait', 'read media/task', 'media keep']),
    );
  });

  it('traces say of which deployment they are, and carry the headers for the collector', () => {
    const [span] = collector.spans;
    expect(span?.resource).toEqual({
      'service.name': 'troubadour',
      'deployment.environment.name': 'test',
      'service.instance.id': expect.stringMatching(/^[\da-f]{16}$/),
    });
    expect(collector.bodies.at(-1)).toContain('"x-key":"some key"');
  });

  it('nothing of all this says what people wrote, who they are, or what opens a door', () => {
    const sent = collector.bodies.join('\n');
    expect(collector.bodies.length).toBeGreaterThan(5);
    const { id, username, global_name } = discord.user;
    const people = [id, username, global_name ?? username, discord.guild.id, discord.channel.id];
    const doors = [discord.token, emulator.apiKey, '/callbacks/', '/files/', 'signature'];
    // Whole words: an id may hold the letters of a name.
    const isSaid = (word: string) => new RegExp(`\\b${word}\\b`, 'i').test(sent);
    expect([SECRET, ...people].filter(isSaid)).toEqual([]);
    expect(doors.filter((word) => sent.includes(word))).toEqual([]);
  });
});

describe('without an answer of the collector', () => {
  beforeAll(() => start({}));
  afterAll(stop);

  const answered = async (question: string) => {
    const asked = discord.command({ name: 'ask', options: { question } });
    await asked.message((message) => JSON.stringify(message.components).includes('Again'));
  };

  it('people get theirs, and its traces wait until they can be sent', async () => {
    collector.decide = () => ({ status: 503 });
    await answered('Who was first?');
    await expect.poll(() => collector.bodies.length).toBeGreaterThan(0);
    collector.decide = () => undefined;
    await collector.until(() => collector.trees().some(({ span }) => span.name === 'command ask'));
    const told = () =>
      running.log.lines
        .filter(({ sentence }) => /^Traces (could not be|are) sent/.test(sentence))
        .map(({ level }) => level);
    await expect.poll(told).toEqual(['warn', 'info']);
  });

  it('people get theirs while it hangs, and the bot stops all the same', async () => {
    collector.decide = () => 'hangs';
    await answered('Who was second?');
    await expect.poll(() => collector.bodies.at(-1)).toContain('command ask');
    await running.minstrel.stop();
    expect(running.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
