/** `/minstrel verify`: the origin of a file, and of files that other people requested. */
import { expect, onTestFinished, test } from 'vitest';
import { createReadOrigin } from '../../src/app/origins.ts';
import type { Invocation } from '../../src/core/invocation.ts';
import type { FileReference } from '../../src/core/options.ts';
import { MediaError } from '../../src/media/errors.ts';
import type { Inspected } from '../../src/media/media.ts';
import { createBotOn } from '../core/bot-on-world.ts';
import { createWorld } from '../jobs/world.ts';
import { songJob } from '../storage/jobs.ts';

const NOTHING: Inspected = { isStored: false, hasManifest: false, isGenerated: false, isReadable: true };
const MARK = { job: 'song-1', model: 'V5', day: '2026-01-31' };
const HERE = { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' } as const;
const BOB = { id: 'bob', displayName: 'Bob', moderator: false, roles: [] };
const file = (name: string): FileReference => ({ name, url: `https://cdn.example/${name}`, attached: true });

/** The reply to a person who verifies files. The song is Ada's, in the channel {@link HERE}. */
async function verify(
  found: Readonly<Record<string, Inspected | MediaError>>,
  { readable = false, ...request }: Partial<Invocation> & { readonly readable?: boolean } = {},
): Promise<string> {
  const world = await createWorld();
  onTestFinished(() => world[Symbol.asyncDispose]());
  const job = songJob({
    id: 'song-1',
    title: 'Composing “rain”',
    address: HERE,
    person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
  });
  const readOrigin = createReadOrigin({
    media: {
      inspect: async (url) => {
        const origin = found[url.split('/').at(-1) ?? ''];
        if (!origin || origin instanceof Error) throw origin ?? new TypeError(url);
        return origin;
      },
    },
    platform: () => world.platform,
    find: async (id) => (id === job.id ? job : undefined),
    canRead: () => readable,
  });
  const outcome = await createBotOn(world, { readOrigin }).run({
    id: 'event',
    command: 'minstrel',
    subcommand: 'verify',
    options: {},
    files: Object.keys(found).map(file),
    address: { ...HERE, person: 'bob' },
    person: BOB,
    ...request,
  });
  if (outcome.type !== 'message') throw new TypeError(outcome.type);
  expect(outcome.visibility).toBe('person');
  return outcome.message.text ?? '';
}

const own = { 'song.mp3': { ...NOTHING, mark: MARK, isGenerated: true, isStored: true } };
const ELSEWHERE = { ...HERE, channel: 'another', person: 'bob' };

test('the request is shown in its channel, to its requester, and where the person can read it', async () => {
  const shown = 'Ada requested it: Composing “rain”.';
  expect(await verify(own)).toContain(shown);
  expect(await verify(own, { address: ELSEWHERE, readable: true })).toContain(shown);
  const ada = { ...BOB, id: 'ada' };
  expect(await verify(own, { address: { ...ELSEWHERE, person: 'ada' }, person: ada })).toContain(shown);
});

test.each([
  ['in a channel that the person cannot read', { address: ELSEWHERE }],
  ['on another chat', { address: { ...HERE, platform: 'slack', person: 'bob' }, readable: true }],
])('the request is not shown %s', async (_where, request) => {
  const text = await verify(own, request);
  expect(text).toContain('I generated this with AI on 31 Jan 2026, with V5.');
  expect(text).not.toMatch(/Ada|rain/);
});

test('a deleted request is not shown', async () => {
  const text = await verify({
    'a.mp3': { ...NOTHING, mark: { ...MARK, job: 'deleted' }, isGenerated: true },
  });
  expect(text).toMatch(/I generated this.*the job was deleted.*It doesn't match any file/s);
});

test.each([
  [
    'a manifest',
    { hasManifest: true },
    /Another service.*Content Credentials.*contentcredentials\.org\/verify/,
  ],
  ['the word of a standard', { isGenerated: true }, /Another service.*AI generated/],
  ['no mark', {}, /I found no mark in this file.*doesn't prove/],
  ['a type that is not read', { isReadable: false }, /I can't read marks in files of this type/],
  ['a stored file', { isStored: true }, /I posted or received this file/],
])('a file with %s is explained', async (_what, origin, expected) => {
  expect(await verify({ 'a.png': { ...NOTHING, ...origin } })).toMatch(expected);
});

test('a file that cannot be read does not hide the others, and names are escaped', async () => {
  const text = await verify({
    'a.png': new MediaError('type', 'not an image'),
    '*b*.png': { ...NOTHING, hasManifest: true },
  });
  expect(text).toMatch(/a\\?\.png isn't an image, audio or video file/);
  expect(text).toContain('\\*b\\*');
});

test('ten files are verified, one after the other', async () => {
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`${n}.png`, NOTHING]));
  expect((await verify(many)).match(/I found no mark/g)).toHaveLength(10);
});
