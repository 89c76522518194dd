import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RecordedRequest } from '../../src/emulator/options.ts';
import type { DiscordServer } from '../servers/discord/index.ts';
import type { Channel } from '../servers/discord/types.ts';
import type { SlackServer } from '../servers/slack/server.ts';
import { type BothChats, startOnBothChats } from './both-chats.ts';

/** The same conversation in every kind of channel, through the real clients, as the gateway receives it. */
const TALK = ['What is 6 times 7?', 'Is my `x * y` **right**, and _why_?', 'What did I just ask?'];

/** Posts in a channel and resolves when the bot's answer is complete. */
type Speaker = (text: string) => Promise<void>;

const DIALECTS = [
  {
    model: 'chat:chat-small',
    path: '/chat/v1/chat/completions',
    turn: (role: string, text: string) => ({ role: role === 'bot' ? 'assistant' : 'user', content: text }),
    body: (messages: readonly object[]) => ({
      model: 'chat-small',
      messages,
      max_tokens: 4096,
      stream: true,
      stream_options: { include_usage: true },
    }),
  },
  {
    model: 'msg:scribe-large',
    path: '/msg/v1/messages',
    turn: (role: string, text: string) => ({ role: role === 'bot' ? 'assistant' : 'user', content: text }),
    body: (messages: readonly object[]) => ({ model: 'scribe-large', max_tokens: 4096, messages }),
  },
  {
    model: 'gen:facet-text',
    path: '/gen/v1beta/models/facet-text:streamGenerateContent?alt=sse',
    turn: (role: string, text: string) => ({ role: role === 'bot' ? 'model' : 'user', parts: [{ text }] }),
    body: (contents: readonly object[]) => ({ contents, generationConfig: { maxOutputTokens: 4096 } }),
  },
];

describe.each(DIALECTS)('a conversation with $model', ({ model, path, turn, body }) => {
  let world: BothChats;
  let discord: DiscordServer;
  let slack: SlackServer;
  let thread: Channel;

  beforeAll(async () => {
    world = await startOnBothChats((chats) => {
      ({ discord, slack } = chats);
      thread = discord.world.addChannel('talk', {
        guildId: discord.guild.id,
        type: 11,
        parentId: discord.channel.id,
      });
      return { ASK_MODEL: model };
    });
  });

  afterEach(() => {
    expect(discord.refused).toEqual([]);
    expect(slack.refused).toEqual([]);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  const requestsSent = (): RecordedRequest[] =>
    world.running.emulator.requests.filter(({ url }) => url === path);

  function inDiscord(channel: Channel, mention: boolean): Speaker {
    let answers = 0;
    return async (text) => {
      if (mention) discord.mention({ text, channel });
      else discord.say({ text, channel });
      answers += 1;
      await discord.until(() => {
        const replies = discord.botMessages(channel);
        return replies.length === answers && JSON.stringify(replies.at(-1)?.components).includes('Again');
      }, 'an answer');
    };
  }

  function inSlack(channel: string, mention: boolean): Speaker {
    let threadTs: string | undefined;
    let answers = 0;
    return async (text) => {
      const { message } = await (mention
        ? slack.mention(text, { channel, ...(threadTs === undefined ? {} : { threadTs }) })
        : slack.directMessage(text));
      if (mention) threadTs ??= message.ts;
      answers += 1;
      await slack.until(() => {
        const replies = slack.botMessages(channel);
        return replies.length === answers && JSON.stringify(replies.at(-1)?.blocks).includes('Again')
          ? replies
          : undefined;
      });
    };
  }

  it('sends the same requests from threads and direct messages on both platforms', async () => {
    const speakers: Record<string, Speaker> = {
      'Discord thread': inDiscord(thread, true),
      'Slack thread': inSlack('C0MUSIC', true),
      'Discord direct message': inDiscord(discord.directChannel(), false),
      'Slack direct message': inSlack('D0ADA', false),
    };
    const requests = new Map<string, unknown[]>();
    for (const [name, say] of Object.entries(speakers)) {
      const before = requestsSent().length;
      for (const text of TALK) await say(text);
      requests.set(
        name,
        requestsSent()
          .slice(before)
          .map((request) => request.body),
      );
    }
    const [first, ...rest] = [...requests.values()];
    expect(first).toHaveLength(TALK.length);
    for (const other of rest) expect(other).toEqual(first);

    const answers = ['6 * 7 = **42**', expect.stringContaining('right')];
    const turns = TALK.flatMap((text, index) => [
      turn('person', text),
      ...(answers[index] ? [turn('bot', answers[index])] : []),
    ]);
    expect(first).toEqual(TALK.map((_, index) => body(turns.slice(0, 2 * index + 1))));
  });

  it('quotes the question if no message shows it', async () => {
    const question = '“What is 5 times 7?”';
    const isAnswer = (shown: unknown) => /35.*Again/s.test(JSON.stringify(shown));
    const { message } = await slack.mention('What is 5 times 7?');
    const answersInSlack = () =>
      slack.botMessages().filter((reply) => reply.threadTs === message.ts && isAnswer(reply.blocks));
    const [reply] = await slack.until(() => (answersInSlack().length === 1 ? answersInSlack() : undefined));
    expect(JSON.stringify(reply?.blocks)).not.toContain(question);
    if (reply === undefined) return;
    await slack.press(reply, 'Again');
    const again = await slack.until(() => (answersInSlack().length === 2 ? answersInSlack() : undefined));
    expect(JSON.stringify(again[1]?.blocks)).toContain(question);

    discord.command({ name: 'ask', options: { question: 'What is 5 times 7?' }, channel: thread });
    const answersInDiscord = () =>
      discord.botMessages(thread).filter(({ embeds, components }) => isAnswer([embeds, components]));
    await discord.until(() => answersInDiscord().length === 1, 'an answer');
    expect(JSON.stringify(answersInDiscord()[0]?.embeds)).toContain(question);
  });
});
