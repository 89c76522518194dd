import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chatEvent, chatStream, events, type Reply, type Upstream } from '../jobs/ask/upstream.ts';
import type { DiscordServer } from '../servers/discord/index.ts';
import type { SlackServer } from '../servers/slack/server.ts';
import { startOnUpstream } from './both-chats.ts';

/** Streaming answers as people see them, on platforms that limit edits. */
const CHAT = '/chat/completions';
let world: Awaited<ReturnType<typeof startOnUpstream>>;
let discord: DiscordServer;
let slack: SlackServer;
let upstream: Upstream;

beforeAll(async () => {
  world = await startOnUpstream();
  ({ discord, slack, upstream } = world);
  // Discord's limit. Further edits get 429, and edits before Retry-After count as the bot's fault.
  discord.faults.limitEdits(5, 5_000);
});

afterEach(() => {
  expect(discord.refused).toEqual([]);
  expect(slack.refused).toEqual([]);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

/** Three blocks of numbered code, each longer than a Discord message. */
const LINES = Array.from({ length: 240 }, (_, index) => `line_${String(index).padStart(3, '0')} = ${index}`);
const CODE = [0, 80, 160]
  .map((from) => `Part ${from / 80}:\n\n\`\`\`py\n${LINES.slice(from, from + 80).join('\n')}\n\`\`\``)
  .join('\n\n');
const PIECES = CODE.match(/[\s\S]{1,60}/g) ?? [];

const slowly =
  (pieces: readonly string[], end: string, pauseMs: number): Reply =>
  async (response) => {
    events(response);
    for (const piece of pieces) {
      response.write(chatEvent(piece));
      await sleep(pauseMs);
    }
    response.end(end);
  };

/** Returns the line numbers shown in a text, in order. */
const linesIn = (text: string) => [...text.matchAll(/line_(\d{3})/g)].map(([, number]) => Number(number));
const isBalanced = (text: string) => (text.match(/```/g) ?? []).length % 2 === 0;
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('a long answer with code', () => {
  it('is complete and in order on Discord, and every state closes its fences', async () => {
    upstream.next(CHAT, slowly(PIECES, chatStream([]), 25));
    discord.mention({ text: 'Write code.' });
    await discord.until(
      () => discord.botMessages().some((m) => JSON.stringify(m.components).includes('Again')),
      'the end',
    );
    const pages = discord.botMessages().filter(({ deleted }) => !deleted);
    const text = pages
      .map(({ content, embeds }) => content + embeds.map((embed) => embed.description ?? '').join(''))
      .join('\n');
    expect(linesIn(text)).toEqual(upTo(240));
    for (const page of pages) expect(isBalanced(page.content)).toBe(true);

    const states = pages.flatMap(({ history }) => history);
    expect(states.length).toBeGreaterThan(3);
    for (const state of states) {
      const visible = state.content + JSON.stringify(state.embeds);
      expect(isBalanced(visible)).toBe(true);
      const numbers = linesIn(visible);
      expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    }
  });

  it('is complete and in order on Slack despite rate limits', async () => {
    slack.faults.every(4, 'chat.update', { type: 'ratelimited', retryAfter: 1 });
    upstream.next(CHAT, slowly(PIECES, chatStream([]), 25));
    const { message } = await slack.mention('Write code.');
    await slack.until(() => slack.thread(message).find((m) => JSON.stringify(m.blocks).includes('Again')));
    slack.faults.clear();
    const replies = slack.thread(message).filter(({ user }) => user === slack.workspace.botUser);
    const texts = (blocks: readonly unknown[]) =>
      blocks.flatMap((block) =>
        JSON.stringify(block).includes('"markdown"') ? [JSON.stringify(block)] : [],
      );
    expect(linesIn(replies.flatMap(({ blocks }) => texts(blocks)).join('\n'))).toEqual(upTo(240));
    for (const { revisions } of replies) {
      for (const { blocks } of revisions) {
        for (const text of texts(blocks)) expect(isBalanced(text)).toBe(true);
      }
    }
  });
});

describe('a stream that breaks inside a fence', () => {
  const beginning = PIECES.slice(0, 12);
  const breakOff: Reply = async (response) => {
    events(response);
    for (const piece of beginning) response.write(chatEvent(piece));
    await sleep(50);
    response.destroy();
  };

  it('closes the fence, marks the break on both platforms and offers Again', async () => {
    upstream.next(CHAT, breakOff, breakOff);
    const interaction = discord.command({ name: 'ask', options: { question: 'Write code, please.' } });
    const broken = await interaction.message((m) => JSON.stringify(m.components).includes('Again'));
    const visible = broken.content + JSON.stringify(broken.embeds);
    expect(visible).toContain('The answer was cut off here. Press Again for a complete one.');
    expect(isBalanced(visible)).toBe(true);
    expect(linesIn(visible).at(-1)).toBeLessThan(79);

    await slack.slash('/ask', 'Write code, please.');
    const reply = await slack.until(() =>
      slack
        .botMessages('C0MUSIC')
        .find((m) =>
          JSON.stringify(m.blocks).includes('The answer was cut off here. Press Again for a complete one.'),
        ),
    );
    expect(isBalanced(JSON.stringify(reply.blocks))).toBe(true);

    upstream.next(CHAT, (response) => void events(response).end(chatStream(['All ', 'of it.'])));
    const again = discord.press('Again', broken);
    await again.message(
      (m) =>
        JSON.stringify(m.embeds).includes('All of it.') &&
        !JSON.stringify(m.embeds).includes('The answer was cut off here. Press Again for a complete one.'),
    );
  });
});

describe('an answer that is hard to parse', () => {
  it.each([
    ['with a thousand nested lists', `there\n\n${'- '.repeat(996)}deep`],
    ['with nested quotes', `there\n\n${'> '.repeat(6_600)}deep`],
    ['with open brackets', `there ${'['.repeat(20_000)}`],
    ['with unclosed emphasis', `there ${'*a_ '.repeat(5_000)}`],
  ])('%s is shown on both platforms without delaying other commands', async (_, text) => {
    upstream.next(CHAT, ...Array<Reply>(2).fill((response) => void events(response).end(chatStream([text]))));
    const interaction = discord.command({ name: 'ask', options: { question: 'Go deep.' } });
    await slack.slash('/ask', 'Go deep.');
    expect(JSON.stringify(await discord.command({ name: 'minstrel help' }).response())).toContain('/song');
    const shown = await interaction.message((m) => JSON.stringify(m.components).includes('Again'));
    expect(JSON.stringify([shown.content, shown.embeds, shown.attachments.length])).toMatch(/there|,1\]$/);
    await slack.until(() =>
      slack.botMessages('C0MUSIC').find((m) => /there.*Again/.test(JSON.stringify(m.blocks))),
    );
  });
});

describe('Stop', () => {
  it('works only for the requester and moderators, and marks the text', async () => {
    upstream.next(CHAT, (response) => void events(response).write(chatEvent('I was about to say')));
    const interaction = discord.command({ name: 'ask', options: { question: 'Speak.' } });
    const streaming = await interaction.message((m) => JSON.stringify(m.embeds).includes('about to say'));
    const bob = discord.world.addUser('Bob');
    const before = upstream.abandoned;
    const refusal = discord.press('Stop', streaming, { user: bob });
    expect(JSON.stringify(await refusal.response())).toContain('Only a moderator or the person');
    expect(upstream.abandoned).toBe(before);
    discord.press('Stop', streaming, { user: bob, moderator: true });
    await discord.until(
      () => JSON.stringify(discord.world.messages.get(streaming.id)?.embeds).includes('Stopped'),
      'the mark',
    );
    await expect.poll(() => upstream.abandoned).toBe(before + 1);
  });

  it('also happens if the question is deleted', async () => {
    upstream.next(CHAT, (response) => void events(response).write(chatEvent('Well, as I see it')));
    const question = discord.mention({ text: 'What do you think of Bob?' });
    const answer = await discord.until(
      () => discord.botMessages().find((m) => JSON.stringify(m).includes('as I see it')),
      'the first words',
    );
    const before = upstream.abandoned;
    discord.remove(question);
    await discord.until(
      () => JSON.stringify(discord.world.messages.get(answer.id)).includes('Stopped'),
      'the mark',
    );
    await expect.poll(() => upstream.abandoned).toBe(before + 1);
  });
});
