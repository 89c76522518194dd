/** Sends more than the limit to every place that reads text or files of people, the gateway or the network. SECURITY.md has this table. */
import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { commands } from '../commands/index.ts';
import { FETCHING } from '../src/app/services.ts';
import { type Contest, type ContestEntry, MOST_ENTRIES } from '../src/core/contest.ts';
import type { ConversationTurn } from '../src/core/invocation.ts';
import type { OptionDeclaration, OptionValue } from '../src/core/options.ts';
import { amount } from '../src/core/util/words.ts';
import { CALLBACK_BODY_BYTES, callbackUrl, musicCallbackRoutes } from '../src/http/music-callback.ts';
import { playgroundRoutes } from '../src/http/playground/routes.ts';
import { listenAt } from '../src/http/server.ts';
import { createPictures } from '../src/media/content/pictures.ts';
import { createMarks } from '../src/media/marks/mark.ts';
import { createMedia } from '../src/media/media.ts';
import { createFolderStore } from '../src/media/store/folder.ts';
import { WEB_LIMITS } from '../src/platforms/web/limits.ts';
import { MOST_VOTES, withEntry, withVote } from '../src/settings/contests/contest.ts';
import { createBotOn } from './core/bot-on-world.ts';
import { answer, errorOf, gatewayAt, type Script, startServer } from './gateway/support.ts';
import { collectLog, listen as listenTo, sendRaw } from './http/listener.ts';
import { openSongSite } from './http/pages/open-song-site.ts';
import { Files, sampleSong } from './http/pages/song-site.ts';
import { advanceOnce, createWorld, QUESTION, SONG, type World } from './jobs/world.ts';
import { emptyPng, pngChunk } from './media/empty-png.ts';
import { fetcherFor, listen, temporaryFolder } from './media/helpers.ts';
import { startHarness } from './platforms/slack/harness.ts';

interface Row {
  /** The place that reads. */
  readonly source: string;
  readonly limit: string;
  /** The effect of more. */
  readonly above: string;
  /** Sends more than the limit, and expects what `above` says. */
  readonly exceed: () => Promise<void>;
}

const voter = (number: number) => ({ id: `person${number}`, displayName: 'Somebody' });
const CONTEST: Contest = {
  id: 'contest',
  theme: 'Rain',
  address: { platform: 'slack', guild: 'T1', channel: 'C1', person: 'mod' },
  startedBy: voter(0),
  startedAt: 0,
  endsAt: 1,
  votingMs: 1,
  entriesPerPerson: 1,
  state: 'entries',
  entries: [],
  ballot: [],
  votes: {},
  posts: {},
};
const ENTRY: ContestEntry = { job: 'job', invocation: 'event', person: voter(0), take: 0, at: 0 };

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const inMib = (bytes: number) => `${bytes / MEBIBYTE} MiB`;

async function openWorld(): Promise<World> {
  const world = await createWorld();
  onTestFinished(() => world[Symbol.asyncDispose]());
  return world;
}

const post = (url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body, headers });

/** The listener's address for callbacks of a new job. */
async function openCallbacks(): Promise<{ world: World; job: string; url: string }> {
  const world = await openWorld();
  const secrets = ['the secret of this deployment'];
  const { jobs, log } = world;
  const receive = async (job: string, body: string) => {
    const received = await jobs.receive(job, body);
    return received === 'stored' ? received : 'unknown-job';
  };
  const server = await listenTo({
    routes: [musicCallbackRoutes({ secrets, receive, log, measure: () => {} })],
  });
  const job = await world.start(SONG);
  await world.advance(job);
  return { world, job, url: callbackUrl(server.url, job, secrets[0] ?? '') };
}

async function openPlayground(): Promise<{ url: string; origin: string }> {
  const listener = await listenAt({ host: '127.0.0.1', port: 0, log: collectLog() });
  onTestFinished(() => listener.close());
  const untilClosed = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  const chat = {
    token: 'only-for-tests',
    uploadBytes: WEB_LIMITS.uploadBytes,
    watch: (_person: string, _send: unknown, signal: AbortSignal) => untilClosed(signal),
    ask: async () => ({ type: 'done' }) as const,
    upload: () => ({ id: 'u1' }),
    uploaded: () => undefined,
  };
  await listener.serve([playgroundRoutes({ chat, url: listener.url })]);
  return { url: `${listener.url}/playground/${chat.token}`, origin: listener.url };
}

/** Media that may fetch from the servers of this test, with the limits of the real program. */
async function openMedia() {
  return createMedia({
    store: createFolderStore({ directory: await temporaryFolder(), now: Date.now }),
    fetcher: fetcherFor({ maximumBytes: FETCHING.maximumBytes }),
    publicUrl: 'https://bot.example',
    secrets: ['secret'],
    linkTtlSeconds: 3600,
    now: Date.now,
    log: { warn: () => undefined },
  });
}

/** Reads the origin of a PNG with these chunks. */
async function inspectPng(...chunks: readonly (readonly [type: string, data: Buffer])[]) {
  const png = emptyPng(30, 20);
  const added = chunks.map(([type, data]) => pngChunk(type, data));
  const { origin } = await listen((_request, response) =>
    response.end(Buffer.concat([png.subarray(0, 33), ...added, png.subarray(33)])),
  );
  const media = await openMedia();
  return media.inspect(origin, { from: 'platform', kinds: ['image'] });
}

/** Asks a question with a file of this content, and returns what the model and the channel got. */
async function askWithFile(body: Buffer | number): Promise<{ sent: string; shown: string }> {
  const world = await openWorld();
  const { origin } = await listen((_request, response) => {
    if (typeof body === 'number') response.writeHead(200, { 'content-length': body }).write('a');
    else response.end(body);
  });
  const media = await openMedia();
  const file = { name: 'notes.txt', url: `${origin}/notes.txt`, attached: true } as const;
  world.gateway.streams.push(WORDS);
  const job = await world.start({
    ...QUESTION,
    work: {
      route: 'answer',
      dialect: 'chat',
      request: { model: 'small', turns: [{ role: 'user', parts: [{ type: 'file', file }] }] },
    },
  });
  for (let run = 0; run < 3; run += 1) await advanceOnce({ ...world.dependencies, media }, job);
  return { sent: JSON.stringify(world.gateway.taken), shown: JSON.stringify(world.message()) };
}

const WORDS = [
  { type: 'part', part: { type: 'text', text: 'Because.' } },
  { type: 'finish', finish: { reason: 'stop' } },
] as const;

/** Writes until the client closes the connection. */
const endless =
  (head: Record<string, string>, chunk: string): Script =>
  async (request, response) => {
    response.writeHead(200, head);
    let isClosed = false;
    void request.closed.then(() => {
      isClosed = true;
    });
    while (!isClosed) await new Promise<void>((resolve) => void response.write(chunk, () => resolve()));
  };

const JSON_TYPE = { 'content-type': 'application/json' };
const STREAM_TYPE = { 'content-type': 'text/event-stream' };
const TURNS = [{ role: 'user', parts: [{ type: 'text', text: 'Why?' }] }] as const;

/** Asks a gateway that answers with this script. Returns the error. */
async function streamError(script: Script): Promise<unknown> {
  const { gateway } = gatewayAt((await startServer(script)).url);
  const read = async () => {
    for await (const _ of gateway.chat.stream({ model: 'small', turns: TURNS }));
  };
  return errorOf(read());
}

const ROWS: readonly Row[] = [
  {
    source: 'Gateway callbacks',
    limit: inMib(CALLBACK_BODY_BYTES),
    above: 'Refused with 413',
    exceed: async () => {
      const { url } = await openCallbacks();
      expect((await post(url, ' '.repeat(CALLBACK_BODY_BYTES + 1))).status).toBe(413);
      expect((await post(url, ' '.repeat(CALLBACK_BODY_BYTES))).status).toBe(200);
    },
  },
  {
    source: 'Results in a callback',
    limit: '50 of each kind',
    above: 'The first 50 count',
    exceed: async () => {
      const { world, job, url } = await openCallbacks();
      const data = Array.from({ length: 60 }, (_, n) => ({
        id: `a${n}`,
        audio_url: `https://gateway.example/${n}.mp3`,
      }));
      const body = { code: 200, data: { callbackType: 'complete', task_id: 'task-1', data } };
      expect((await post(url, JSON.stringify(body))).status).toBe(200);
      await world.advance(job);
      expect((await world.read(job)).result?.songs).toHaveLength(50);
    },
  },
  {
    source: 'Headers and address of a request to the listener',
    limit: '16 KiB',
    above: 'Refused with 431',
    exceed: async () => {
      const server = await listenTo();
      const answered = await sendRaw(server, `GET /${'x'.repeat(17 * KIBIBYTE)} HTTP/1.1\r\nhost: a\r\n\r\n`);
      expect(answered).toMatch(/^HTTP\/1.1 431 /);
    },
  },
  {
    source: 'Slack requests',
    limit: '1 MiB',
    above: 'Refused with 413',
    exceed: async () => {
      const slack = await startHarness({ connection: 'http' });
      onTestFinished(() => slack.stop());
      expect((await post(slack.url, 'x'.repeat(MEBIBYTE + 1), JSON_TYPE)).status).toBe(413);
      expect(slack.bot.invocations).toEqual([]);
    },
  },
  {
    source: 'Playground requests',
    limit: '1 MiB',
    above: 'Refused with 413',
    exceed: async () => {
      const { url, origin } = await openPlayground();
      const long = JSON.stringify({ type: 'line', line: 'x'.repeat(MEBIBYTE) });
      expect((await post(`${url}/requests`, long, { ...JSON_TYPE, origin })).status).toBe(413);
    },
  },
  {
    source: 'Files sent in the playground',
    limit: inMib(WEB_LIMITS.uploadBytes),
    above: 'Refused with 413',
    exceed: async () => {
      const { url, origin } = await openPlayground();
      const headers = { 'content-type': 'application/octet-stream', origin };
      const bytes = new Uint8Array(WEB_LIMITS.uploadBytes + 1);
      expect((await post(`${url}/uploads?name=a`, bytes, headers)).status).toBe(413);
    },
  },
  {
    source: 'Playground WebSocket messages',
    limit: '1 KiB',
    above: 'The connection is closed',
    exceed: async () => {
      const { url, origin } = await openPlayground();
      const socket = new WebSocket(`${url.replace('http', 'ws')}/events?as=ada`, { origin });
      socket.on('error', () => {});
      socket.on('open', () => socket.send('x'.repeat(KIBIBYTE + 1)));
      expect(await new Promise((resolve) => socket.on('close', resolve))).not.toBe(1000);
    },
  },
  {
    source: 'Text options of commands and forms',
    limit: 'From 80 characters for a title to 40,000 for a question',
    above: 'Refused with the limit',
    exceed: async () => {
      const bot = createBotOn(await openWorld());
      for (const { command, subcommand, options } of declaredOptions())
        for (const [name, declaration] of Object.entries(options)) {
          if (declaration.type !== 'text') continue;
          const { maximumLength = Number.POSITIVE_INFINITY } = declaration;
          expect(maximumLength, `/${command} ${name}`).toBeLessThanOrEqual(40_000);
          const outcome = await bot.run({
            id: 'event',
            command,
            subcommand,
            options: { ...leastOptions(options), [name]: 'x'.repeat(maximumLength + 1) },
            address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' },
            person: { id: 'ada', displayName: 'Ada', moderator: true, roles: [] },
          });
          expect(JSON.stringify(outcome), `/${command} ${name}`).toContain(`The limit is ${maximumLength}.`);
        }
    },
  },
  {
    source: 'Earlier messages of a conversation',
    limit: '20,000 characters each, 60,000 together',
    above: 'Long ones are cut, old ones are left out',
    exceed: async () => {
      const world = await openWorld();
      const message = (text: string): ConversationTurn => ({
        author: 'person',
        person: 'bob',
        text,
        files: [],
      });
      world.platform.conversation = [
        ...Array.from({ length: 50 }, (_, n) => message(`${n} ${'x'.repeat(9_000)}`)),
        { author: 'bot', text: 'y'.repeat(90_000), files: [] },
      ];
      world.gateway.streams.push(WORDS);
      const { work } = QUESTION;
      if (work.route !== 'answer') throw new TypeError('Not a question');
      const job = await world.start({ ...QUESTION, work: { ...work, history: { before: '1' } } });
      for (let run = 0; run < 3; run += 1) await world.advance(job);
      const sent = JSON.stringify(world.gateway.taken[0]?.request);
      expect(sent.match(/y{9,}/)?.[0]).toHaveLength(20_000);
      expect(sent.length).toBeLessThan(65_000);
    },
  },
  {
    source: 'A question with its conversation',
    limit: 'Tokens set by `ASK_CONTEXT_TOKENS`',
    above: 'Earlier messages are left out',
    exceed: async () => {
      const world = await openWorld();
      world.gateway.streams.push(WORDS);
      const turns = Array.from({ length: 11 }, (_, n) => ({
        role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
        parts: [{ type: 'text' as const, text: `${n}${'語'.repeat(1_000)}` }],
      }));
      const job = await world.start({
        ...QUESTION,
        work: { route: 'answer', dialect: 'chat', request: { model: 'small', turns }, contextTokens: 3_500 },
      });
      for (let run = 0; run < 2; run += 1) await world.advance(job);
      expect(JSON.stringify(world.gateway.taken[0]?.request).match(/語{1000}/g)).toHaveLength(3);
    },
  },
  {
    source: 'Text files of a question',
    limit: '48,000 bytes',
    above: 'The rest is cut off, and the model reads a note',
    exceed: async () => {
      const { sent } = await askWithFile(Buffer.from('x'.repeat(50_000)));
      expect(sent.match(/x{9,}/)?.[0]).toHaveLength(48_000);
      expect(sent).toContain('(The rest of the file is cut off.)');
    },
  },
  {
    source: 'Attached files, and files at typed addresses',
    limit: '25 MiB',
    above: 'Refused with the limit',
    exceed: async () => {
      const { sent, shown } = await askWithFile(25 * MEBIBYTE + 1);
      expect(shown).toContain('notes.txt is too large. The limit is 25 MB');
      expect(sent).toBe('[]');
    },
  },
  {
    source: 'Attached images',
    limit: '64 megapixels',
    above: 'Refused',
    exceed: async () => {
      await expect(createPictures().fit(emptyPng(30_000, 30_000), 'ada')).rejects.toMatchObject({
        code: 'too-large',
      });
    },
  },
  {
    source: 'Metadata of files, each text',
    limit: '1 MiB',
    above: 'Not read',
    exceed: async () => {
      const text = `DigitalSourceType\0trainedAlgorithmicMedia${'x'.repeat(MEBIBYTE)}`;
      expect(await inspectPng(['tEXt', Buffer.from(text)])).toMatchObject({
        isGenerated: false,
        isReadable: true,
      });
    },
  },
  {
    source: 'Metadata of files, compressed texts together',
    limit: '1 MiB',
    above: 'Not read',
    exceed: async () => {
      const compressed = (text: string) =>
        ['zTXt', Buffer.concat([Buffer.from('Text\0\0'), deflateSync(text)])] as const;
      const generated = compressed('trainedAlgorithmicMedia');
      const isGenerated = async (characters: number) =>
        (await inspectPng(compressed('x'.repeat(characters)), generated)).isGenerated;
      expect(await isGenerated(MEBIBYTE - KIBIBYTE)).toBe(true);
      expect(await isGenerated(MEBIBYTE)).toBe(false);
    },
  },
  {
    source: 'Metadata of files, signed marks',
    limit: '100',
    above: 'Not checked',
    exceed: async () => {
      const { sign } = createMarks(['secret']);
      const mark = { job: 'job', day: '2026-01-31' };
      const { id } = sign(mark);
      const forged = `${id.replace(':job:', ':other:')} `;
      const markAfter = async (count: number) =>
        (await inspectPng(['tEXt', Buffer.from(`Text\0${forged.repeat(count)}${id}`)])).mark;
      expect(await markAfter(99)).toEqual(mark);
      expect(await markAfter(100)).toBeUndefined();
    },
  },
  {
    source: 'Gateway files',
    limit: inMib(FETCHING.maximumBytes),
    above: 'Not stored, and the message names them',
    exceed: async () => {
      const { origin } = await listen((_request, response) =>
        response.writeHead(200, { 'content-length': FETCHING.maximumBytes + 1 }).write('a'),
      );
      const media = await openMedia();
      await expect(media.keep(origin, { from: 'gateway', kinds: ['audio'] })).rejects.toMatchObject({
        code: 'too-large',
      });
    },
  },
  {
    source: 'Gateway responses',
    limit: '4 MiB, with answers 8 MiB, with images 48 MiB',
    above: 'The request fails',
    exceed: async () => {
      const { gateway } = gatewayAt((await startServer(endless(JSON_TYPE, ' '.repeat(MEBIBYTE)))).url);
      const requests = [
        [4, () => gateway.media.queryVideo('v1')],
        [8, () => gateway.msg.complete({ model: 'small', turns: TURNS })],
        [48, () => gateway.media.createImage({ model: 'paint', prompt: 'a fox' })],
      ] as const;
      for (const [most, request] of requests)
        expect((await errorOf(request())).message).toContain(`longer than ${most * MEBIBYTE} bytes`);
    },
  },
  {
    source: 'Gateway errors',
    limit: '64 KiB',
    above: 'The rest is not read',
    exceed: async () => {
      const { gateway } = gatewayAt(
        (
          await startServer(async (request, response) => {
            response.writeHead(400, JSON_TYPE).write(`{"error":{"message":"No","code":"`);
            response.write('x'.repeat(64 * KIBIBYTE));
            await request.closed;
          })
        ).url,
      );
      expect(await errorOf(gateway.media.queryVideo('v1'))).toMatchObject({ name: 'GatewayError' });
    },
  },
  {
    source: 'A gateway stream event',
    limit: '4 MiB',
    above: 'The stream counts as broken',
    exceed: async () => {
      const error = await streamError(endless(STREAM_TYPE, `data: ${'x'.repeat(MEBIBYTE)}`));
      expect(error).toMatchObject({ code: 'broken-stream' });
    },
  },
  {
    source: 'A gateway stream',
    limit: '64 MiB',
    above: 'The stream counts as broken',
    exceed: async () => {
      const chunk = JSON.stringify({ choices: [{ delta: { content: 'x'.repeat(MEBIBYTE) } }] });
      const error = await streamError(endless(STREAM_TYPE, `data: ${chunk}\n\n`));
      expect(error).toMatchObject({ code: 'broken-stream', message: expect.stringContaining('longer than') });
    },
  },
  {
    source: 'An answer of a model',
    limit: '200,000 characters',
    above: 'Stopped, with a note in the message',
    exceed: async () => {
      const world = await openWorld();
      const part = { type: 'part', part: { type: 'text', text: 'x'.repeat(150_000) } } as const;
      world.gateway.streams.push([part, part, part]);
      const job = await world.start(QUESTION);
      await world.advance(job);
      const { text = '', footer } = world.message() ?? {};
      expect(text.length).toBeLessThan(350_000);
      expect(footer).toContain('The answer became too long, so I stopped it here.');
    },
  },
  {
    source: 'Lists of models',
    limit: '50 pages and 10,000 models',
    above: 'The rest is not read',
    exceed: async () => {
      let pages = 0;
      const { gateway } = gatewayAt(
        (
          await startServer(({ path }, response) => {
            if (!path.startsWith('/chat/')) return answer(response, {}, { status: 404 });
            pages += 1;
            answer(response, { data: [{ id: `model-${pages}` }], has_more: true, last_id: `model-${pages}` });
          })
        ).url,
      );
      await gateway.models.refresh();
      expect(pages).toBe(50);
    },
  },
  {
    source: 'Entries of a song contest',
    limit: String(MOST_ENTRIES),
    above: 'Refused with the limit',
    exceed: async () => {
      const enter = (entered: Contest, number: number) =>
        withEntry(entered, { ...ENTRY, invocation: String(number), person: voter(number) }, 0);
      const full = Array.from({ length: MOST_ENTRIES }, (_, number) => number).reduce(enter, CONTEST);
      expect(() => enter(full, MOST_ENTRIES)).toThrow(`it has ${MOST_ENTRIES} entries`);
    },
  },
  {
    source: 'Votes in a song contest by buttons',
    limit: amount(MOST_VOTES),
    above: 'Refused with the limit',
    exceed: async () => {
      const votes = Object.fromEntries(
        Array.from({ length: MOST_VOTES }, (_, number) => [voter(number).id, ENTRY.job]),
      );
      const full: Contest = {
        ...CONTEST,
        state: 'voting',
        entries: [ENTRY],
        ballot: [{ job: ENTRY.job, take: 0, file: { name: 'one.mp3', bytes: 1, contentType: 'audio/mpeg' } }],
        votingEndsAt: 1,
        votes,
      };
      expect(() => withVote(full, 'late', 1, 0)).toThrow('The vote is full: 5,000 people');
      expect(withVote(full, voter(0).id, 1, 0)).toBe(full);
    },
  },
  {
    source: 'Texts on song pages',
    limit: '300 characters of a title, 60,000 bytes of lyrics',
    above: 'Cut, and the page says that the lyrics continue',
    exceed: async () => {
      const files = new Files();
      const song = {
        ...sampleSong(files, 1),
        takes: [],
        title: 'T'.repeat(400),
        lyrics: 'Line\n'.repeat(20_000),
      };
      const { songUrl } = await openSongSite({ song, files });
      const page = await (await fetch(songUrl)).text();
      expect(page).not.toMatch(/T{300}/);
      expect(page).toContain('The lyrics are too long to show in full.');
    },
  },
];

/** The options of every command and subcommand. */
function declaredOptions() {
  return commands.flatMap(({ name: command, options, subcommands }) => {
    const own = subcommands ? [] : [{ command, subcommand: undefined, options }];
    const parts = Object.entries(subcommands ?? {}).map(([subcommand, part]) => ({
      command,
      subcommand,
      options: part.options,
    }));
    return [...own, ...parts];
  });
}

/** A value for each required option. */
function leastOptions(options: Readonly<Record<string, OptionDeclaration>>): Record<string, OptionValue> {
  const required = Object.entries(options).filter(([, { required }]) => required);
  return Object.fromEntries(required.map(([name, declaration]) => [name, leastValue(declaration)]));
}

function leastValue(declaration: OptionDeclaration): OptionValue {
  switch (declaration.type) {
    case 'text':
      return 'x';
    case 'choice':
      return declaration.choices[0]?.value ?? '';
    case 'flag':
      return true;
    case 'number':
      return declaration.minimum ?? 1;
    case 'file':
      return {
        name: 'tune.mp3',
        contentType: 'audio/mpeg',
        url: 'https://cdn.example/tune.mp3',
        attached: true,
      };
    default:
      return declaration satisfies never;
  }
}

test.each(ROWS)('$source: above $limit, $above', ({ exceed }) => exceed());

test('SECURITY.md has this table', () => {
  const lines = ROWS.map(({ source, limit, above }) => `| ${source} | ${limit} | ${above} |`);
  expect(readFileSync('SECURITY.md', 'utf8')).toContain(
    ['| input | limit | above it |', '|---|---|---|', ...lines, ''].join('\n'),
  );
});
