import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Address, Invocation } from '../../src/core/invocation.ts';
import { type Message, parseActionId } from '../../src/core/message.ts';
import { PlatformError } from '../../src/platforms/platform.ts';
import { RecordingPlatform } from '../jobs/recording-platform.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';

const PUBLIC: Address = {
  platform: 'terminal',
  guild: 'g1',
  channel: 'music',
  channelName: 'music',
  public: true,
  person: 'ada',
};
const PRIVATE: Address = { platform: 'terminal', guild: 'g1', channel: 'secret', person: 'ada' };
const ADA = { id: 'ada', displayName: 'Ada', moderator: false, roles: [] };
const BOB = { id: 'bob', displayName: 'Bob', moderator: false, roles: [] };
const MODERATOR = { id: 'mo', displayName: 'Mo', moderator: true, roles: [] };

let running: RunningMinstrel;
let platform: RecordingPlatform;
let chat: RecordingPlatform;
let events = 0;

beforeAll(async () => {
  platform = new RecordingPlatform('terminal');
  chat = new RecordingPlatform('discord');
  running = await startMinstrel({}, { platforms: [platform, chat] });
});
afterAll(() => running?.[Symbol.asyncDispose]());

type Asked = Pick<Invocation, 'command'> & Partial<Invocation>;

/** Resolves to the id of the job, or the reply. */
async function ask(request: Asked): Promise<string | Message> {
  events += 1;
  const invocation = { id: `event${events}`, options: {}, address: PUBLIC, person: ADA, ...request };
  const outcome = await running.minstrel.bot.run(invocation);
  if (outcome.type === 'form') throw new TypeError('a form');
  if (outcome.type === 'message') return outcome.message;
  outcome.begin();
  return outcome.job;
}

async function read(request: Asked): Promise<Message> {
  const message = await ask(request);
  if (typeof message === 'string') throw new TypeError('a job');
  return message;
}

/** Resolves to the result once it is shown. */
async function make(request: Asked, where = platform): Promise<{ id: string; message: Message }> {
  const id = await ask(request);
  if (typeof id !== 'string') throw new TypeError(JSON.stringify(id));
  await expect.poll(async () => (await running.minstrel.job(id))?.state).toBe('delivered');
  const result = where.history.findLast(({ actions = [] }) =>
    actions.some((action) => action.type === 'action' && parseActionId(action.id)?.job === id),
  );
  if (!result) throw new TypeError('nothing was shown');
  return { id, message: result };
}

const makeSong = (changes: Partial<Invocation> = {}) =>
  make({ command: 'song', options: { prompt: 'a tune for rain' }, ...changes });

const press = (job: string, name: string, changes: Partial<Invocation> = {}) =>
  ({ command: 'song', action: { name, job, index: 0 }, ...changes }) satisfies Asked;

const linkIn = ({ actions = [] }: Message, label: string) =>
  actions.flatMap((action) => (action.type === 'link' && action.label === label ? [action.url] : []))[0];

async function visit(url = ''): Promise<{ status: number; text: string }> {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
}

const pages = (subcommand: string, options: Invocation['options'] = {}) =>
  read({ command: 'pages', subcommand, options, person: MODERATOR });

it('a song from a public channel has a page with playable takes; other songs have none', async () => {
  const { message } = await makeSong();
  const url = linkIn(message, 'Open page');
  const { status, text } = await visit(url);
  expect(status).toBe(200);
  const takes = [...text.matchAll(/<audio data-take[^>]* src="([^"]+)"/g)].map(([, src = '']) => src);
  expect(takes).toHaveLength(2);
  for (const take of takes) {
    const audio = await fetch(new URL(take.replaceAll('&amp;', '&'), url));
    expect([audio.status, audio.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
  }
  expect(text).toMatch(/<img class="cover" src="..\/..\/files\//);
  expect(text).toContain('Requested by <bdi>Ada</bdi>');

  expect(linkIn((await makeSong({ address: PRIVATE })).message, 'Open page')).toBeUndefined();
  // People in a chat cannot open URLs of this machine.
  const far = { ...PUBLIC, platform: 'discord' };
  const song = await make({ command: 'song', options: { prompt: 'far' }, address: far }, chat);
  expect(linkIn(song.message, 'Open page')).toBeUndefined();
  const request = await read(press(song.id, 'page', { address: far }));
  expect(request.text).toContain('Songs here have no pages.');
});

it('the progress of a song links to its page, which shows the progress on the cover', async () => {
  const visits: string[] = [];
  const show = platform.show.bind(platform);
  platform.show = async (address, message, options) => {
    const url = message.progress && linkIn(message, 'Open page');
    if (url !== undefined) visits.push((await visit(url)).text);
    return show(address, message, options);
  };
  const { message } = await makeSong();
  platform.show = show;
  expect(visits[0]).toContain('data-elapsed=');
  expect(visits[0]).toContain('>Composing</p>');
  expect((await visit(linkIn(message, 'Open page'))).text).not.toContain('data-elapsed=');
});

it('a page includes synced lyrics, stems, WAV, video and derived songs', async () => {
  const { id, message } = await makeSong();
  const url = linkIn(message, 'Open page') ?? '';
  expect((await visit(url)).text).not.toContain('data-mixer');
  await make(press(id, 'karaoke'));
  await make(press(id, 'wav'));
  await make(press(id, 'video'));
  const split = {
    action: { name: 'stems', job: id, index: 0 },
    isForm: true,
    options: { split: 'separate_vocal' },
  };
  const stems = await make({ command: 'song', ...split });
  expect(linkIn(stems.message, 'Open mixer')).toBe(`${url}#mixer`);
  const at = {
    action: { name: 'extend', job: id, index: 0 },
    isForm: true,
    options: { style: 'slower' },
  };
  const extended = await make({ command: 'song', ...at });
  const { text } = await visit(url);
  expect(text).toContain('data-mixer="1"');
  expect(text.match(/data-stem="(vocals|instrumental)"/g)).toHaveLength(2);
  for (const name of ['>WAV<', '>Synced lyrics<', '>Video<', '>vocals<']) expect(text).toContain(name);
  expect(text).toMatch(/<li data-start="\d/);
  expect((await visit(url)).text).toContain(`songs/${extended.id}/`);
});

it('a song created with a button has a page if the platform says that the channel is public', async () => {
  const { public: _, ...unspecified } = PUBLIC;
  const { id } = await makeSong();
  platform.isPublic = async () => true;
  expect(
    linkIn((await make(press(id, 'again', { address: unspecified }))).message, 'Open page'),
  ).toBeDefined();
  platform.isPublic = async () => false;
  expect(
    linkIn((await make(press(id, 'again', { address: unspecified }))).message, 'Open page'),
  ).toBeUndefined();
  delete platform.isPublic;
});

it('asks the platform once whether a channel is public, and shows no page without an answer', async () => {
  const { public: _, ...unspecified } = { ...PUBLIC, guild: 'g2' };
  const request: string[] = [];
  const answers = new Map([
    ['open', true],
    ['closed', false],
  ]);
  platform.isPublic = async ({ channel }) => {
    request.push(channel);
    if (channel === 'broken') throw new PlatformError('unavailable', 'away');
    return answers.get(channel);
  };
  const songIn = (channel: string) => makeSong({ address: { ...unspecified, channel } });
  const open = await songIn('open');
  expect((await visit(linkIn(open.message, 'Open page'))).status).toBe(200);
  for (const channel of ['closed', 'unknown', 'broken'])
    expect(linkIn((await songIn(channel)).message, 'Open page')).toBeUndefined();
  expect((await running.minstrel.job(open.id))?.address.public).toBe(true);
  expect(request).toEqual(['open', 'closed', 'unknown', 'broken']);
  delete platform.isPublic;
});

it('the requester can remove and restore the page; others cannot', async () => {
  const { id, message } = await makeSong();
  const url = linkIn(message, 'Open page');
  const page = await read(press(id, 'page'));
  expect(linkIn(page, 'Open page')).toBe(url);
  const [, path = ''] = /src="([^"]*\/files\/[^"]*)"/.exec((await visit(url)).text) ?? [];
  const file = new URL(path.replaceAll('&amp;', '&'), url);
  const fileStatus = async () => (await fetch(file, { method: 'HEAD' })).status;
  expect(await fileStatus()).toBe(200);
  expect((await read(press(id, 'page', { person: BOB }))).actions).toHaveLength(1);
  expect((await read(press(id, 'withdraw', { person: BOB }))).text).toContain(
    'Only a moderator or the person',
  );
  expect((await visit(url)).status).toBe(200);
  await read(press(id, 'withdraw'));
  expect(await visit(url)).toMatchObject({
    status: 410,
    text: expect.stringContaining('removed this page'),
  });
  expect(await fileStatus()).toBe(404);
  expect((await read(press(id, 'publish', { person: BOB }))).text).toContain(
    'Only a moderator or the person',
  );
  await read(press(id, 'publish', { person: MODERATOR }));
  expect((await visit(url)).status).toBe(200);
  expect(await fileStatus()).toBe(200);
});

it('moderators turn pages off and on, including shared links', async () => {
  const { message } = await makeSong();
  const url = linkIn(message, 'Open page');
  await pages('set', { songs: 'off', where: 'server' });
  expect(await visit(url)).toMatchObject({
    status: 410,
    text: expect.stringContaining('moderators turned off'),
  });
  expect(linkIn((await makeSong()).message, 'Open page')).toBeUndefined();
  await pages('set', { songs: 'on' });
  expect((await visit(url)).status).toBe(200);
  expect((await pages('reset', { where: 'channel' })).text).toContain('Pages are off, set for this server.');
  await pages('reset', { where: 'server' });
  expect((await read({ command: 'pages', options: {}, person: MODERATOR })).text).toBe(
    'Pages are on because everyone can read this channel.',
  );
  expect((await visit(url)).status).toBe(200);
  const refusal = await read({ command: 'pages', subcommand: 'set', options: { songs: 'off' }, person: BOB });
  expect(refusal.text).toMatch(/moderators/i);
});

it('an album lists the channel’s songs and opens only with the newest link', async () => {
  const { id } = await makeSong();
  const withdrawn = await makeSong();
  await read(press(withdrawn.id, 'withdraw'));
  const url = linkIn(await pages('album'), 'Open album');
  const { status, text } = await visit(url);
  expect(status).toBe(200);
  expect(text).toContain('Songs from #music');
  expect(text).toContain(`songs/${id}/`);
  expect(text).not.toContain(withdrawn.id);
  expect(linkIn(await pages('album'), 'Open album')).toBe(url);
  await pages('album', { withdraw: true });
  expect((await visit(url)).status).toBe(410);
  const next = linkIn(await pages('album'), 'Open album');
  expect(next).not.toBe(url);
  expect((await visit(next)).status).toBe(200);
  expect((await visit(url)).status).toBe(410);
});

it('erased songs have no page', async () => {
  const eve = { ...PUBLIC, person: 'eve' };
  const { message } = await makeSong({ address: eve, person: { ...ADA, id: 'eve' } });
  const url = linkIn(message, 'Open page');
  expect((await visit(url)).status).toBe(200);
  await read({
    command: 'minstrel',
    subcommand: 'forget',
    options: { confirm: true },
    address: eve,
    person: { ...ADA, id: 'eve' },
  });
  expect(await visit(url)).toMatchObject({
    status: 410,
    text: expect.stringContaining('This song was deleted'),
  });
});
