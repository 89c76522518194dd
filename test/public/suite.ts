/** Every command from chat to result, through the real discord.js and Bolt, over the services of a bot. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type BothChats, startOnBothChats } from '../end-to-end/both-chats.ts';
import { studioChain } from '../end-to-end/studio-chain.ts';
import { personOnDiscord } from '../end-to-end/studio-discord.ts';
import { personOnSlack } from '../end-to-end/studio-slack.ts';
import type { DiscordServer, StoredMessage } from '../servers/discord/index.ts';
import { anthropicError } from '../servers/public/anthropic.ts';
import { dashScopeError, taskIn } from '../servers/public/dashscope.ts';
import { pngFile } from '../servers/public/files.ts';
import { googleError, googleResponse } from '../servers/public/google.ts';
import { openAiError, openAiStream } from '../servers/public/openai.ts';
import { event } from '../servers/public/service.ts';
import { sunoAnswer } from '../servers/public/suno.ts';
import { readableText } from '../servers/slack/mentions.ts';
import type { SlackServer } from '../servers/slack/server.ts';
import type { Services } from './services.ts';

type Options = NonNullable<Parameters<DiscordServer['command']>[0]['options']>;

const QUESTION = 'What is 6 times 7?';
const FOX = { filename: 'fox.png', contentType: 'image/png', bytes: pngFile('fox') };

const textOf = ({ content, embeds }: Pick<StoredMessage, 'content' | 'embeds'>) =>
  `${content}${JSON.stringify(embeds)}`;
const has = (label: string) => (message: StoredMessage) => JSON.stringify(message.components).includes(label);
const startOf = (bytes: Uint8Array, from: number, to: number) =>
  Buffer.from(bytes).subarray(from, to).toString('latin1');
const KINDS = {
  png: (bytes: Uint8Array) => startOf(bytes, 1, 4) === 'PNG',
  mp4: (bytes: Uint8Array) => startOf(bytes, 4, 8) === 'ftyp',
};

export function describeServices(open: () => Promise<Services>): void {
  let services: Services;
  let world: BothChats;
  let discord: DiscordServer;
  let slack: SlackServer;

  beforeAll(async () => {
    services = await open();
    world = await startOnBothChats((chats) => {
      ({ discord, slack } = chats);
      const hosts = [
        services.settings.MEDIA_ALLOWED_HOSTS,
        new URL(discord.origin).host,
        new URL(slack.apiUrl).host,
      ];
      return { ...services.settings, MEDIA_ALLOWED_HOSTS: hosts.filter(Boolean).join(',') };
    }, services.options);
  });
  afterEach(() => {
    expect(discord.refused).toEqual([]);
    expect(slack.refused).toEqual([]);
    expect(services.refused()).toEqual([]);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await services?.[Symbol.asyncDispose]();
  });

  /** Runs a command on Discord, and resolves to its result with this number of files. */
  async function run(name: string, options: Options, files = 0): Promise<StoredMessage> {
    const interaction = discord.command({ name, options });
    return interaction.message((message) => has('Again')(message) && message.attachments.length >= files);
  }

  /** Types a command on Slack, and resolves to its result. */
  async function runOnSlack(line: string) {
    const before = slack.botMessages('C0MUSIC').length;
    const [, name = '', text = ''] = /^(\S+) ?(.*)$/.exec(line) ?? [];
    await slack.slash(name, text);
    return slack.until(() =>
      slack
        .botMessages('C0MUSIC')
        .slice(before)
        .find(({ blocks }) => JSON.stringify(blocks).includes('Again')),
    );
  }

  describe('answers', () => {
    it.each(['chat', 'msg', 'gen', 'thinking'] as const)('/ask works with a %s model', async (dialect) => {
      const model = services.models[dialect];
      expect(textOf(await run('ask', { question: QUESTION, model }))).toContain(services.answer);
      const onSlack = await runOnSlack(`/ask ${QUESTION} --model ${model}`);
      expect(readableText(onSlack)).toContain(services.answer);
    });

    it('/ask works without a model', async () => {
      expect(textOf(await run('ask', { question: QUESTION }))).toContain(services.answer);
    });

    it('/ask reads an attached image', async () => {
      const message = await run('ask', { question: 'What is this?', image: FOX });
      expect(textOf(message)).not.toContain('Reference');
      const requests = (['chat', 'msg', 'gen'] as const).map((family) => services.sent(family).at(-1));
      expect(JSON.stringify(requests)).toMatch(/iVBOR/);
    });

    it('/ask shows the image of a model that creates images, but no drafts', async () => {
      const message = await run('ask', { question: 'Show a fox.', model: services.models.drawing }, 1);
      expect(message.attachments.filter(({ bytes }) => KINDS.png(bytes))).toHaveLength(1);
    });

    const streams = {
      chat: (words: readonly string[]) => openAiStream(words),
      gen: (words: readonly string[]) => [
        ...words.map((text) => event(googleResponse([{ text }]))),
        event(googleResponse([{ text: '' }], { finishReason: 'STOP' })),
      ],
    } as const;
    const PATHS = { chat: '/chat/completions', gen: ':streamGenerateContent' } as const;

    it.each(['chat', 'gen'] as const)('a %s stream is shown while it arrives', async (family) => {
      const events = streams[family](['First half, ', 'second half.']);
      const shown = Promise.withResolvers<void>();
      const cut = family === 'chat' ? 2 : 1;
      async function* chunks() {
        yield* events.slice(0, cut);
        await shown.promise;
        yield* events.slice(cut);
      }
      services.script(family, PATHS[family], { chunks: chunks() });
      const model = services.models[family];
      const interaction = discord.command({ name: 'ask', options: { question: 'Go on.', model } });
      await interaction.message((message) => textOf(message).includes('First half,'));
      shown.resolve();
      expect(textOf(await interaction.message(has('Again')))).toContain('First half, second half.');
    });

    it.each(['chat', 'gen'] as const)('Stop ends a %s stream', async (family) => {
      const stopped = Promise.withResolvers<void>();
      const events = streams[family](['Half', ' an answer']);
      async function* chunks() {
        yield* events.slice(0, family === 'chat' ? 2 : 1);
        await stopped.promise;
      }
      services.script(family, PATHS[family], { chunks: chunks() });
      const model = services.models[family];
      const interaction = discord.command({ name: 'ask', options: { question: 'Go on.', model } });
      const streaming = await interaction.message((message) => textOf(message).includes('Half'));
      discord.press('Stop', streaming);
      const message = await interaction.message(has('Again'));
      stopped.resolve();
      expect(textOf(message)).toMatch(/Half.*Stopped/s);
    });

    it('a mention starts a conversation, on both chats', async () => {
      const thread = discord.world.addChannel('talk', {
        guildId: discord.guild.id,
        type: 11,
        parentId: discord.channel.id,
      });
      discord.mention({ text: QUESTION, channel: thread });
      const answered = (count: number) => () =>
        discord.botMessages(thread).filter(has('Again')).length >= count && discord.botMessages(thread);
      await discord.until(answered(1), 'an answer');
      discord.mention({ text: 'And times 8?', channel: thread });
      const [first, second] = await discord.until(answered(2), 'a second answer');
      expect(first && textOf(first)).toContain(services.answer);
      expect(second).toBeDefined();
      const hasRequestWith = (later: string) =>
        services.sent('chat').some((body) => {
          const text = JSON.stringify(body) ?? '';
          return text.includes(QUESTION) && text.includes(later);
        });
      expect(hasRequestWith('And times 8?')).toBe(true);

      const { message } = await slack.mention(QUESTION);
      const inThread = (count: number) => () =>
        slack.thread(message).filter(({ blocks }) => JSON.stringify(blocks).includes('Again')).length >=
        count;
      await slack.until(inThread(1));
      await slack.mention('And times 9?', { threadTs: message.ts });
      await slack.until(inThread(2));
      expect(hasRequestWith('And times 9?')).toBe(true);
    });

    it('a model runs commands', async () => {
      const settings = discord.command({
        name: 'models answers',
        options: { assistant: true },
        moderator: true,
      });
      await settings.response();
      const answer = await run('ask', { question: 'Call image: an image of a fox.' });
      expect(textOf(answer)).toContain('/image: started');
      await discord.until(
        () => discord.botMessages().some((one) => one.attachments.some(({ bytes }) => KINDS.png(bytes))),
        'the image',
      );
      const off = discord.command({ name: 'models answers', options: { assistant: false }, moderator: true });
      await off.response();
    });
  });

  describe('images and videos', () => {
    it('/image works with every kind of model, on both chats', async () => {
      const { drawing, painting } = services.models;
      const sized = { size: '1664*928', avoid: 'text' };
      for (const options of [{}, { model: painting, ...sized }, { model: drawing, ...sized }]) {
        const message = await run('image', { prompt: 'a fox', ...options }, 1);
        expect(message.attachments.filter(({ bytes }) => KINDS.png(bytes))).toHaveLength(1);
      }
      const onSlack = await runOnSlack('/image a fox');
      expect(JSON.stringify(onSlack.blocks)).toContain('a fox');
      expect(readableText(onSlack)).not.toContain('Reference');
    });

    it('/image accepts reference images, and Change accepts an image of a result', async () => {
      const referenced = await run('image', { prompt: 'the fox at sea', reference: FOX, reference2: FOX }, 1);
      expect(textOf(referenced)).toContain('fox.png, fox.png');
      const sentWith = (words: string) =>
        services
          .sent('gen')
          .map((body) => JSON.stringify(body))
          .findLast((body) => body.includes(words));
      expect(sentWith('the fox at sea')?.match(/iVBOR/g)).toHaveLength(2);
      const image = await run('image', { prompt: 'a fox', model: services.models.painting }, 1);
      const form = discord.press('Change', image);
      expect(JSON.stringify(await form.modal())).toContain('What should change?');
      const submitted = await discord.submitModal(form, { prompt: 'make it night' });
      const changed = await submitted.message((one) => has('Again')(one) && one.attachments.length === 1);
      expect(textOf(changed)).toContain('make it night');
      expect(changed.attachments.filter(({ bytes }) => KINDS.png(bytes))).toHaveLength(1);
      expect(sentWith('make it night')).toMatch(/iVBOR.*make it night/);
    });

    it.concurrent.each([
      ['text', { prompt: 'a fox', resolution: '720P', duration: '5' }],
      ['an image', { prompt: 'a fox', image: FOX, silent: true }],
    ])('/video works from %s', async (_, options) => {
      const message = await run('video', options, 1);
      expect(message.attachments.filter(({ bytes }) => KINDS.mp4(bytes))).toHaveLength(1);
    });

    it.concurrent('Animate creates a video from an image', async () => {
      const image = await run('image', { prompt: 'a fox', model: services.models.painting }, 1);
      const form = discord.press('Animate', image);
      await form.modal();
      const video = await discord.submitModal(form, { prompt: 'it runs' });
      const message = await video.message((one) => has('Again')(one) && one.attachments.length === 1);
      expect(message.attachments.every(({ bytes }) => KINDS.mp4(bytes))).toBe(true);
    });
  });

  describe('failures have a true text', () => {
    const chat = '/chat/completions';
    it.each([
      {
        family: 'chat',
        path: chat,
        words: 'rejected this bot',
        answer: openAiError(401, 'Incorrect API key.'),
      },
      {
        family: 'chat',
        path: chat,
        words: 'reported an error',
        answer: openAiError(500, 'Sorry about that!'),
      },
      {
        family: 'msg',
        path: '/messages',
        words: 'out of credits',
        answer: anthropicError(400, 'invalid_request_error', 'Your credit balance is too low.'),
      },
      {
        family: 'gen',
        path: ':streamGenerateContent',
        words: 'offer this model',
        answer: googleError(404, 'NOT_FOUND', 'models/x is not found.'),
      },
    ] as const)('/ask on $family: $words', async ({ family, path, answer, words }) => {
      services.script(family, path, answer);
      const message = await run('ask', { question: QUESTION, model: services.models[family] });
      expect(textOf(message)).toContain(words);
    });

    const image = '/multimodal-generation/';
    const failed = taskIn('FAILED', { code: 'IPInfringementSuspect', message: 'Unfit.' });
    it.each([
      ['image', 'content rules', image, dashScopeError(400, 'DataInspectionFailed', 'Unfit.')],
      ['image', 'out of credits', image, dashScopeError(400, 'Arrearage', 'Overdue.')],
      ['video', 'content rules', '/tasks/', { body: failed }],
    ] as const)('/%s: %s', async (command, words, path, answer) => {
      services.script('media', path, answer);
      const model = command === 'image' ? { model: services.models.painting } : {};
      expect(textOf(await run(command, { prompt: 'a fox', ...model }))).toContain(words);
    });

    it('a song that is refused', async () => {
      services.script('music', '/generate', sunoAnswer(429, 'The current credits are insufficient.'));
      expect(textOf(await run('song', { prompt: 'rain' }))).toContain('out of credits');
    });

    it('a song that fails later', async () => {
      services.failNextSong({ code: 400, msg: 'Song Description contained artist name: metallica' });
      expect(textOf(await run('song', { prompt: 'rain' }))).toContain('names an artist');
    });
  });

  const common = { reached: () => services.musicRoutes(), hasStages: () => services.hasStages };
  describe('the music studio on Discord, from a song to a remix', () => {
    studioChain({ ...common, person: () => personOnDiscord(discord), refused: () => discord.refused });
  });
  describe('the music studio on Slack, from a song to a remix', () => {
    studioChain({ ...common, person: () => personOnSlack(slack), refused: () => slack.refused });
  });

  it.each(['jobs', 'models show', 'limits show', 'minstrel help', 'voices show', 'minstrel usage'])(
    '/%s answers',
    async (name) => {
      const message = await discord.command({ name, moderator: true }).response();
      expect(textOf(message)).not.toContain('Reference');
    },
  );
}
