/** The contract of every platform, tested with its real client against a server double. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Address } from '../../src/core/invocation.ts';
import { type MediaFile, type MediaItem, type Message, plain } from '../../src/core/message.ts';
import { type Platform, PlatformError, type PostState } from '../../src/platforms/platform.ts';
import { storing } from '../platforms/storing.ts';

/** A message as people see it. */
export interface VisibleMessage {
  /** All text: title, text, fields, footer and button labels. */
  readonly text: string;
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
}

/** A platform whose messages can be read back. */
export interface PlatformHarness {
  /** Already started. */
  readonly platform: Platform;
  readonly address: Address;
  /** A channel that the bot can no longer reach. */
  readonly goneAddress: Address;
  /** Puts a file where the platform's MediaReader finds it. */
  keep(bytes: Uint8Array, contentType: string): Promise<MediaFile>;
  /** Public messages, oldest first, without finished progress. */
  messages(): Promise<readonly VisibleMessage[]>;
  /** Messages only the person can see, oldest first. */
  privateMessages(): Promise<readonly VisibleMessage[]>;
  /** True if only one process writes to the platform and messages cannot be deleted. */
  readonly single?: true;
  /** True if there is only one person. */
  readonly alone?: true;
  /** True if messages do not outlive the process. */
  readonly forgets?: true;
  /** Ids of everyone who was mentioned; `everyone` for a whole channel. */
  pinged(): Promise<readonly string[]>;
  /** A person votes in the newest poll; absent if the platform has no polls. */
  vote?(answer: string): void;
  /** A moderator deletes the newest poll. */
  deletePoll?(): void;
  /** A new platform without any state, as after a restart. */
  restart(): Promise<Platform>;
  close(): Promise<void>;
}

const STARTED_AT = 1_700_000_000_000;

/** Stores state as a job does: a copy through JSON. */
function memory() {
  const remembered: PostState[] = [];
  return {
    remembered,
    remember: async (posted: PostState) => {
      remembered.push(JSON.parse(JSON.stringify(posted)));
    },
    last: () => remembered.at(-1),
  };
}

export function describePlatform(name: string, open: () => Promise<PlatformHarness>): void {
  describe(`${name}, as a platform`, () => {
    let harness: PlatformHarness | undefined;
    const setUp = async () => {
      harness = await open();
      return { ...harness, platform: storing(harness.platform) };
    };
    afterEach(async () => {
      await harness?.close();
      harness = undefined;
    });

    describe('show', () => {
      test('posts a message with all its text', async () => {
        const { platform, address, messages } = await setUp();
        const message: Message = {
          title: 'Rain on the roof',
          text: 'A **slow** tune',
          fields: [{ name: 'Style', value: 'lofi' }],
          footer: 'Made in a minute',
          actions: [{ type: 'action', id: 'song.again:job:0', label: 'Once more' }],
        };
        await platform.show(address, message, { key: 'a', ...memory() });
        const posts = await messages();
        expect(posts).toHaveLength(1);
        for (const words of ['Rain on the roof', 'slow', 'Style', 'lofi', 'Made in a minute', 'Once more'])
          expect(posts[0]?.text).toContain(words);
      });

      test('edits the earlier message', async () => {
        const { platform, address, messages } = await setUp();
        const { remember } = memory();
        const posted = await platform.show(address, { text: 'before' }, { key: 'a', remember });
        await platform.show(address, { text: 'after' }, { key: 'a', posted, remember });
        const posts = await messages();
        expect(posts).toHaveLength(1);
        expect(posts[0]?.text).toContain('after');
        expect(posts[0]?.text).not.toContain('before');
      });

      test('reports the current buttons of a message, even to another process', async () => {
        const { platform, address, restart } = await setUp();
        const { remember } = memory();
        const actions: Message['actions'] = [{ type: 'action', id: 'song.cancel:job:0', label: 'Cancel' }];
        const progress = { title: 'Rain', progress: { stage: 'Composing', startedAt: 0 }, actions };
        const posted = await platform.show(address, progress, { key: 'a', remember });
        const next = await restart();
        // Not supported if messages do not outlive the process.
        if (!next.offers) return;
        expect(await next.offers(address, posted, 'song.cancel:job:0')).toBe(true);
        expect(await next.offers(address, posted, 'song.cancel:jo')).toBe(false);
        const after = await next.show(address, { title: 'Rain' }, { key: 'a', posted, remember });
        expect(await next.offers(address, after, 'song.cancel:job:0')).toBe(false);
        expect(await next.offers(address, {}, 'song.cancel:job:0')).toBeUndefined();
      });

      test('posts separate messages for different keys', async () => {
        const { platform, address, messages } = await setUp();
        await platform.show(address, { text: 'first' }, { key: 'a', ...memory() });
        await platform.show(address, { text: 'second' }, { key: 'b', ...memory() });
        expect((await messages()).map(({ text }) => text)).toEqual([
          expect.stringContaining('first'),
          expect.stringContaining('second'),
        ]);
      });

      test('posts one message per key, even if the process died before storing it', async () => {
        const { platform, address, messages, restart } = await setUp();
        const full = async () => {
          throw new Error('the disk is full');
        };
        const message = { text: 'only once' };
        // Platforms with idempotent posts do not call `remember` and show the message.
        await platform.show(address, message, { key: 'a', remember: full }).catch((error: unknown) => {
          expect(error).toMatchObject({ message: 'the disk is full' });
        });
        const next = await restart();
        await next.show(address, message, { key: 'a', mayHavePosted: true, ...memory() });
        expect(await messages()).toHaveLength(1);
      });

      test('delivers files once, even if the process died before storing that', async () => {
        const { platform, address, messages, pinged, keep, restart } = await setUp();
        const visibleFiles = async () => (await messages()).flatMap(({ files }) => files);
        const file = await keep(Buffer.from('ID3 a tune'), 'audio/mpeg');
        const media: MediaItem[] = [{ kind: 'audio', name: 'Rain.mp3', source: { type: 'stored', file } }];
        const message = { title: 'Rain', media, notify: 'ready' as const };
        const posted = await platform.show(address, { title: 'Rain' }, { key: 'a', ...memory() });
        await platform.show(address, message, { key: 'a', posted, ...memory() });
        await expect.poll(visibleFiles).toHaveLength(1);
        const before = [(await messages()).length, await pinged()];
        const next = await restart();
        await next.show(address, message, { key: 'a', posted, mayHavePosted: true, ...memory() });
        expect(await visibleFiles()).toHaveLength(1);
        expect([(await messages()).length, await pinged()]).toEqual(before);
      });

      test('leaves one message after two replicas posted for one key', async () => {
        const { platform, address, messages, keep, restart, single } = await setUp();
        if (single) return;
        const file = await keep(Buffer.from('ID3 a tune'), 'audio/mpeg');
        const media: MediaItem[] = [{ kind: 'audio', name: 'Rain.mp3', source: { type: 'stored', file } }];
        const message = { title: 'Rain', text: 'the song', media };
        const current = await platform.show(address, message, { key: 'a', ...memory() });
        const frozen = await restart();
        const stray = await frozen.show(
          address,
          { title: 'Rain', text: 'older', media },
          { key: 'a', ...memory() },
        );
        await platform.retract(address, { key: 'a', stray, current });
        const options = { key: 'a', posted: current, mayHavePosted: true };
        await platform.show(address, message, { ...options, ...memory() });
        const posts = await messages();
        expect(posts.filter(({ text }) => text.includes('the song') || text.includes('older'))).toHaveLength(
          1,
        );
        expect(posts.map(({ text }) => text).join()).not.toContain('older');
        expect(posts.flatMap(({ files }) => files)).toHaveLength(1);
      });

      test('stores enough state for another process to continue', async () => {
        const { platform, address, messages, restart } = await setUp();
        const { remember, last } = memory();
        await platform.show(
          address,
          { progress: { stage: 'Composing', startedAt: STARTED_AT } },
          { key: 'a', remember },
        );
        const next = await restart();
        await next.show(address, { text: 'the song' }, { key: 'a', posted: last(), remember });
        const posts = await messages();
        expect(posts).toHaveLength(1);
        expect(posts[0]?.text).toContain('the song');
        expect(posts[0]?.text).not.toContain('Composing');
      });

      test('changes nothing if the message is the same', async () => {
        const { platform, address, messages, restart } = await setUp();
        const { remember } = memory();
        const message = { title: 'Rain', text: 'as it was', actions: [] };
        const posted = await platform.show(address, message, { key: 'a', remember });
        const before = await messages();
        await (await restart()).show(address, message, { key: 'a', posted, remember });
        expect(await messages()).toEqual(before);
      });

      test('delivers complete files once, under their names', async () => {
        const { platform, address, messages, keep, restart } = await setUp();
        const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 251);
        const media: MediaItem[] = [
          {
            kind: 'audio',
            name: 'Rain on the roof.mp3',
            source: { type: 'stored', file: await keep(bytes, 'audio/mpeg') },
          },
        ];
        const { remember } = memory();
        const posted = await platform.show(address, { title: 'Rain', media }, { key: 'a', remember });
        await (await restart()).show(address, { title: 'Rain', media }, { key: 'a', posted, remember });
        const files = (await messages()).flatMap((message) => message.files);
        expect(files).toHaveLength(1);
        expect(files[0]?.name).toBe('Rain on the roof.mp3');
        expect(Buffer.compare(files[0]?.bytes ?? new Uint8Array(), bytes)).toBe(0);
      });

      test('shows every word of a long text', async () => {
        const { platform, address, messages } = await setUp();
        const words = Array.from({ length: 3000 }, (_, index) => `word${index}`);
        const text = Array.from({ length: 30 }, (_, part) =>
          words.slice(part * 100, part * 100 + 100).join(' '),
        ).join('\n\n');
        await platform.show(address, { text }, { key: 'a', ...memory() });
        const posts = await messages();
        const found = new Set(
          posts
            .flatMap((message) => [
              message.text,
              ...message.files.map((file) => Buffer.from(file.bytes).toString()),
            ])
            .join('\n')
            .match(/word\d+/g),
        );
        expect(words.filter((word) => !found.has(word))).toEqual([]);
      });

      test('shows a result for the person alone in their direct messages, and edits it there', async () => {
        const { platform, address, messages, privateMessages, restart, alone } = await setUp();
        if (alone) return;
        const { remember } = memory();
        const toPerson = { ...address, toPerson: true };
        const progress = { title: 'Entry', progress: { stage: 'Composing', startedAt: STARTED_AT } };
        const posted = await platform.show(toPerson, progress, { key: 'a', remember });
        await (await restart()).show(toPerson, { text: 'your entry' }, { key: 'a', posted, remember });
        expect(await messages()).toEqual([]);
        const [entry, ...more] = await privateMessages();
        expect(more).toEqual([]);
        expect(entry?.text).toContain('your entry');
        expect(entry?.text).not.toContain('Composing');
      });

      test('still works after stop', async () => {
        const { platform, address, messages } = await setUp();
        await platform.stop();
        await platform.show(address, { text: 'finished in time' }, { key: 'a', ...memory() });
        expect(await messages()).toHaveLength(1);
      });
    });

    describe('pings', () => {
      const hostile =
        '@everyone @here <@&1> <@123> <!channel> <!here> <!everyone> <@U024BE7LH> <!subteam^S1|all> <#C1>';

      test('are never caused by text from people or models', async () => {
        const { platform, address, messages, pinged } = await setUp();
        await platform.show(
          address,
          {
            title: hostile,
            text: `${hostile}\n\n${plain(hostile)}`,
            fields: [{ name: hostile, value: hostile }],
            footer: hostile,
          },
          { key: 'a', ...memory() },
        );
        expect((await messages()).length).toBeGreaterThan(0);
        expect(await pinged()).toEqual([]);
      });

      test('only reach the requester', async () => {
        const { platform, address, pinged } = await setUp();
        await platform.show(address, { text: hostile, notify: 'ready' }, { key: 'a', ...memory() });
        expect((await pinged()).filter((id) => id !== address.person)).toEqual([]);
      });
    });

    describe('a stream', () => {
      test('ends with its final state in one message', async () => {
        const { platform, address, messages } = await setUp();
        const stream = platform.stream(address, { key: 'a', ...memory() });
        const words = Array.from({ length: 60 }, (_, index) => `word${index}`);
        for (let count = 1; count <= words.length; count += 1)
          stream.update(() => ({ text: words.slice(0, count).join(' ') }));
        await stream.close({ text: `${words.join(' ')} end` });
        const posts = await messages();
        expect(posts).toHaveLength(1);
        expect(posts[0]?.text.replace(/\s+/g, ' ')).toContain(`${words.join(' ')} end`);
      });

      test('shows its text while it grows', async () => {
        const { platform, address, messages } = await setUp();
        const stream = platform.stream(address, { key: 'a', ...memory() });
        stream.update(() => ({ text: 'The first paragraph is there.\n\nThe second has only' }));
        await expect.poll(async () => (await messages())[0]?.text).toContain('The first paragraph is there.');
        await stream.close({ text: 'The first paragraph is there.\n\nThe second has only begun.' });
      });

      test('continues an earlier message', async () => {
        const { platform, address, messages } = await setUp();
        const { remember } = memory();
        const posted = await platform.show(
          address,
          { progress: { stage: 'Thinking', startedAt: STARTED_AT } },
          { key: 'a', remember },
        );
        const stream = platform.stream(address, { key: 'a', posted, remember });
        await stream.close({ text: 'An answer' });
        expect(await messages()).toHaveLength(1);
      });

      test('returns the state for a later edit', async () => {
        const { platform, address, messages, restart } = await setUp();
        const { remember } = memory();
        const stream = platform.stream(address, { key: 'a', remember });
        stream.update(() => ({ text: 'An' }));
        const posted = await stream.close({ text: 'An answer' });
        await (await restart()).show(address, { text: 'Another answer' }, { key: 'a', posted, remember });
        const posts = await messages();
        expect(posts).toHaveLength(1);
        expect(posts[0]?.text).toContain('Another answer');
      });

      test('ignores updates after it is closed', async () => {
        const { platform, address, messages } = await setUp();
        const { remember } = memory();
        const stream = platform.stream(address, { key: 'a', remember });
        const posted = await stream.close({ text: 'the end' });
        stream.update(() => ({ text: 'too late' }));
        await platform.show(address, { text: 'the end' }, { key: 'a', posted, remember });
        const posts = await messages();
        expect(posts).toHaveLength(1);
        expect(posts[0]?.text).not.toContain('too late');
      });
    });

    describe('sendPrivately', () => {
      test('reaches the person and no one else', async () => {
        const { platform, address, messages, privateMessages } = await setUp();
        await platform.sendPrivately(address, { text: 'only for your ears' });
        expect(await messages()).toEqual([]);
        expect((await privateMessages()).map(({ text }) => text)).toEqual([
          expect.stringContaining('only for your ears'),
        ]);
      });
    });

    describe('a poll', () => {
      const poll = { question: 'Which one?', answers: ['Entry 1', 'Entry 2', 'Entry 3'], hours: 30 };

      test('is posted once for a key, and counts its votes when it is closed', async () => {
        const { platform, address, restart, vote } = await setUp();
        if (!platform.polls) return;
        const posted = await platform.polls.open(address, poll, 'a');
        const next = await restart();
        expect(await next.polls?.open(address, poll, 'a')).toEqual(posted);
        vote?.('Entry 3');
        vote?.('Entry 3');
        vote?.('Entry 1');
        const close = async () => next.polls?.close(address, posted);
        await expect.poll(close).toEqual({ votes: [1, 0, 2], isFinal: true });
        expect(() => vote?.('Entry 2')).toThrow();
      });

      test('that was deleted has no count', async () => {
        const { platform, address, deletePoll } = await setUp();
        if (!platform.polls) return;
        const posted = await platform.polls.open(address, poll, 'a');
        deletePoll?.();
        expect(await platform.polls.close(address, posted)).toBeUndefined();
      });

      test('has texts that fit', async () => {
        const { platform, address } = await setUp();
        if (!platform.polls) return;
        const answers = Array.from({ length: platform.polls.mostAnswers }, () => 'long '.repeat(50));
        const long = { question: 'Which? '.repeat(100), answers, hours: 10_000 };
        expect(await platform.polls.open(address, long, 'a')).toBeDefined();
      });

      test('in an unreachable channel is reported as permanent', async () => {
        const { platform, goneAddress } = await setUp();
        if (!platform.polls) return;
        await expect(platform.polls.open(goneAddress, poll, 'a')).rejects.toMatchObject({
          code: expect.stringMatching(/gone|not-invited/),
        });
      });
    });

    describe('an unreachable channel', () => {
      const isUnreachable = (error: unknown) =>
        error instanceof PlatformError && (error.code === 'gone' || error.code === 'not-invited');

      test('is reported as permanent', async () => {
        const { platform, goneAddress } = await setUp();
        await expect(
          platform.show(goneAddress, { text: 'hello' }, { key: 'a', ...memory() }),
        ).rejects.toSatisfy(isUnreachable);
      });

      test('makes a stream fail when it is closed, not before', async () => {
        const { platform, goneAddress } = await setUp();
        const stream = platform.stream(goneAddress, { key: 'a', ...memory() });
        stream.update(() => ({ text: 'hel' }));
        await expect(stream.close({ text: 'hello' })).rejects.toSatisfy(isUnreachable);
      });
    });

    test('reports that it is ready', async () => {
      const { platform } = await setUp();
      await expect.poll(() => platform.status()).toEqual({ ready: true });
    });
  });
}
