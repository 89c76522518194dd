import { afterAll, beforeAll, expect, it } from 'vitest';
import { readableText } from '../servers/slack/mentions.ts';
import { type BothChats, startOnBothChats } from './both-chats.ts';

/** A contest from the theme to the winner, through the real discord.js and Bolt. */
let world: BothChats;

beforeAll(async () => {
  world = await startOnBothChats(() => ({}));
});
afterAll(() => world?.[Symbol.asyncDispose]());

it('holds a contest on Discord', async () => {
  const { discord } = world;
  const bob = discord.world.addUser('Bob');
  const command = (name: string, options = {}) => discord.command({ name, options, moderator: true });
  const embedOf = (words: string) => () =>
    discord.messages().find(({ embeds }) => JSON.stringify(embeds).includes(words));

  await command('contest start', { theme: 'Rain', ends: 'in 3 hours' }).response();
  const contest = await discord.until(embedOf('Enter a song about this theme'), 'the announcement');
  expect(JSON.stringify(contest.embeds)).toMatch(/<t:\d+:F>/);

  const form = discord.press('Enter', contest, { user: bob });
  expect(await form.acknowledged()).toBe(9);
  const entered = await discord.submitModal(form, { prompt: 'a tune for rain' });
  const reply = await entered.message(({ content }) => content !== '');
  expect([entered.ephemeral, reply.content]).toEqual([
    true,
    "Your entry is being made. I'll send it to you in a direct message.",
  ]);
  const ownSong = await discord.until(
    () =>
      [...discord.world.messages.values()].find(
        ({ channelId, attachments }) =>
          channelId === discord.directChannel(bob).id && attachments.length >= 2,
      ),
    'the entry',
  );
  expect(JSON.stringify(ownSong.components)).toContain('Withdraw entry');
  const chosen = discord.press('Enter take 2', ownSong, { user: bob });
  expect((await chosen.response()).content).toBe('Take 2 is your entry.');

  await command('contest end').response();
  const ballot = await discord.until(embedOf('Song contest: Rain: 1 entry'), 'the ballot');
  expect(ballot.attachments.map(({ filename }) => filename)).toEqual(['Entry_1.mp3']);
  // Tags have two bytes for each character.
  const tags = Buffer.from(ballot.attachments[0]?.bytes ?? [])
    .toString('latin1')
    .slice(0, 1_000)
    .replaceAll('\0', '');
  expect([tags.includes('Entry 1'), tags.includes('Rain'), tags.includes('Bob')]).toEqual([
    true,
    false,
    false,
  ]);
  const poll = await discord.until(() => discord.messages().find((message) => message.poll), 'the poll');
  expect(poll.poll?.answers.map(({ text }) => text)).toEqual(['Entry 1']);
  discord.vote('Entry 1', poll);

  await command('contest end').response();
  const result = await discord.until(embedOf('wins with 1 vote'), 'the result');
  expect(JSON.stringify(result)).toContain('Bob');
  expect(result.attachments).toHaveLength(1);
  expect(discord.refused).toEqual([]);
});

it('holds a contest on Slack', async () => {
  const { slack } = world;
  const ADA = 'U0ADA';
  const BOB = 'U0BOB';
  const messageWith = (words: string, channel = 'C0MUSIC') =>
    slack.until(() => slack.botMessages(channel).find((message) => readableText(message).includes(words)));
  const ephemeralWith = (user: string, words: string) =>
    slack.until(() => slack.ephemeralsOf(user).find((message) => readableText(message).includes(words)));

  await slack.slash('/contest', 'start Rain --ends in 3 hours', { user: BOB });
  const contest = await messageWith('Enter a song about this theme');
  expect(JSON.stringify(contest.blocks)).toMatch(/<!date\^\d+\^/);

  await slack.slash('/song', 'a tune for rain', { user: ADA });
  await ephemeralWith(ADA, "Your entry is being made. I'll send it to you in a direct message.");
  const direct = slack.workspace.directChannel(ADA).id;
  const entry = await slack.until(() =>
    slack.botMessages(direct).find(({ blocks }) => JSON.stringify(blocks).includes('Withdraw entry')),
  );
  await slack.press(entry, 'Enter take 2', { user: ADA });
  await slack.until(
    () =>
      JSON.stringify(slack.botMessages(direct)).includes('Take 2 is your entry.') ||
      slack.ephemeralsOf(ADA).some((message) => readableText(message).includes('Take 2 is your entry.')),
  );
  expect(slack.botMessages().filter((message) => readableText(message).includes('Composing'))).toEqual([]);

  await slack.slash('/contest', 'end', { user: BOB });
  const ballot = await messageWith('Song contest: Rain: 1 entry');
  await slack.until(() =>
    slack.thread(ballot).some(({ files }) => files.some(({ name }) => name === 'Entry 1.mp3')),
  );
  await slack.press(ballot, 'Vote for entry 1', { user: BOB });
  await ephemeralWith(BOB, 'Your vote: entry 1.');

  await slack.slash('/contest', 'end', { user: BOB });
  const result = await messageWith('wins with 1 vote');
  expect(readableText(result)).toContain('by **ada** wins');
  expect(slack.refused).toEqual([]);
});
