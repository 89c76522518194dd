/** What every platform promises, run through its real client against a place that behaves like the real one. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Address } from '../../src/command.ts';
import { type KeptFile, type MediaItem, type Message, plain } from '../../src/message.ts';
import { type Platform, PlatformError, type Posted } from '../../src/platforms/platform.ts';

/** A message as people see it. */
export interface SeenMessage {
  /** All of its words: title, text, fields, footer, and the labels of its buttons. */
  readonly text: string;
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
}

/** A platform with a place to look at. */
export interface PlatformHarness {
  /** Started. */
  readonly platform: Platform;
  readonly address: Address;
  /** A place that the bot cannot reach (any more). */
  readonly goneAddress: Address;
  /** Puts a file where the platform's MediaReader finds it. */
  keep(bytes: Uint8Array, contentType: string): Promise<KeptFile>;
  /** What stands for everybody, oldest first. Progress that is over does not count. */
  standing(): Promise<readonly SeenMessage[]>;
  /** What the person was told alone, oldest first. */
  whispered(): Promise<readonly SeenMessage[]>;
  /** Ids of everybody who was pinged; `everyone` for a whole place. */
  pinged(): Promise<readonly string[]>;
  /** A platform made anew, as after a restart: it knows only what is handed to it. */
  restart(): Promise<Platform>;
  close(): Promise<void>;
}

const STARTED_AT = 1_700_000_000_000;

/** Remembers like a job does: a copy, so that nothing is shared with the platform but what is JSON. */
function memory() {
  const remembered: Posted[] = [];
  return {
    remembered,
    remember: async (posted: Posted) => {
      // By way of JSON, as storage keeps it.
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
      return harness;
    };
    afterEach(async () => {
      await harness?.close();
      harness = undefined;
    });

    describe('show', () => {
      test('posts a message with all of its words', async () => {
        const { platform, address, standing } = await setUp();
        const message: Message = {
          title: 'Rain on the roof',
          text: 'A **slow** tune',
          fields: [{ name: 'Style', value: 'lofi' }],
          footer: 'Made in a minute',
          actions: [{ type: 'action', id: 'song.again:job:0', label: 'Once more' }],
        };
        await platform.show(address, message, { key: 'a', ...memory() });
        const seen = await standing();
        expect(seen).toHaveLength(1);
        for (const words of ['Rain on the roof', 'slow', 'Style', 'lofi', 'Made in a minute', 'Once more'])
          expect(seen[0]?.text).toContain(words);
      });

      test('edits what stands', async () => {
        const { platform, address, standing } = await setUp();
        const { remember } = memory();
        const posted = await platform.show(address, { text: 'before' }, { key: 'a', remember });
        await platform.show(address, { text: 'after' }, { key: 'a', posted, remember });
        const seen = await standing();
        expect(seen).toHaveLength(1);
        expect(seen[0]?.text).toContain('after');
        expect(seen[0]?.text).not.toContain('before');
      });

      test('of other keys posts other messages', async () => {
        const { platform, address, standing } = await setUp();
        await platform.show(address, { text: 'first' }, { key: 'a', ...memory() });
        await platform.show(address, { text: 'second' }, { key: 'b', ...memory() });
        expect((await standing()).map(({ text }) => text)).toEqual([
          expect.stringContaining('first'),
          expect.stringContaining('second'),
        ]);
      });

      test('with the same key leaves one message, even when nothing could be remembered', async () => {
        const { platform, address, standing } = await setUp();
        const full = async () => {
          throw new Error('the disk is full');
        };
        const message = { text: 'only once' };
        await expect(platform.show(address, message, { key: 'a', remember: full })).rejects.toThrow('full');
        await platform.show(address, message, { key: 'a', ...memory() });
        expect(await standing()).toHaveLength(1);
      });

      test('remembers enough for another process to go on', async () => {
        const { platform, address, standing, restart } = await setUp();
        const { remember, last } = memory();
        await platform.show(
          address,
          { progress: { stage: 'Composing', startedAt: STARTED_AT } },
          { key: 'a', remember },
        );
        const next = await restart();
        await next.show(address, { text: 'the song' }, { key: 'a', posted: last(), remember });
        const seen = await standing();
        expect(seen).toHaveLength(1);
        expect(seen[0]?.text).toContain('the song');
        expect(seen[0]?.text).not.toContain('Composing');
      });

      test('of what stands already changes nothing', async () => {
        const { platform, address, standing, restart } = await setUp();
        const { remember } = memory();
        const message = { title: 'Rain', text: 'as it was', actions: [] };
        const posted = await platform.show(address, message, { key: 'a', remember });
        const before = await standing();
        await (await restart()).show(address, message, { key: 'a', posted, remember });
        expect(await standing()).toEqual(before);
      });

      test('delivers files whole, under their names, and once', async () => {
        const { platform, address, standing, keep, restart } = await setUp();
        const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 251);
        const media: MediaItem[] = [
          {
            kind: 'audio',
            name: 'Rain on the roof.mp3',
            source: { type: 'kept', file: await keep(bytes, 'audio/mpeg') },
          },
        ];
        const { remember } = memory();
        const posted = await platform.show(address, { title: 'Rain', media }, { key: 'a', remember });
        await (await restart()).show(address, { title: 'Rain', media }, { key: 'a', posted, remember });
        const files = (await standing()).flatMap((message) => message.files);
        expect(files).toHaveLength(1);
        expect(files[0]?.name).toBe('Rain on the roof.mp3');
        expect(Buffer.compare(files[0]?.bytes ?? new Uint8Array(), bytes)).toBe(0);
      });

      test('loses no word of a long text', async () => {
        const { platform, address, standing } = await setUp();
        const words = Array.from({ length: 3000 }, (_, index) => `word${index}`);
        const text = Array.from({ length: 30 }, (_, part) =>
          words.slice(part * 100, part * 100 + 100).join(' '),
        ).join('\n\n');
        await platform.show(address, { text }, { key: 'a', ...memory() });
        const seen = await standing();
        const found = new Set(
          seen
            .flatMap((message) => [
              message.text,
              ...message.files.map((file) => Buffer.from(file.bytes).toString()),
            ])
            .join('\n')
            .match(/word\d+/g),
        );
        expect(words.filter((word) => !found.has(word))).toEqual([]);
      });

      test('still works after the platform was told to stop taking work', async () => {
        const { platform, address, standing } = await setUp();
        await platform.stop();
        await platform.show(address, { text: 'finished in time' }, { key: 'a', ...memory() });
        expect(await standing()).toHaveLength(1);
      });
    });

    describe('pings', () => {
      const hostile =
        '@everyone @here <@&1> <@123> <!channel> <!here> <!everyone> <@U024BE7LH> <!subteam^S1|all> <#C1>';

      test('reach nobody by what people and models wrote, as Markdown or plain', async () => {
        const { platform, address, standing, pinged } = await setUp();
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
        expect((await standing()).length).toBeGreaterThan(0);
        expect(await pinged()).toEqual([]);
      });

      test('reach nobody but the person who asked', async () => {
        const { platform, address, pinged } = await setUp();
        await platform.show(address, { text: hostile, notify: true }, { key: 'a', ...memory() });
        expect((await pinged()).filter((id) => id !== address.person)).toEqual([]);
      });
    });

    describe('a stream', () => {
      test('leaves its last state in one message', async () => {
        const { platform, address, standing } = await setUp();
        const stream = platform.stream(address, { key: 'a', ...memory() });
        const words = Array.from({ length: 60 }, (_, index) => `word${index}`);
        for (let count = 1; count <= words.length; count += 1)
          stream.update({ text: words.slice(0, count).join(' ') });
        await stream.close({ text: `${words.join(' ')} end` });
        const seen = await standing();
        expect(seen).toHaveLength(1);
        expect(seen[0]?.text.replace(/\s+/g, ' ')).toContain(`${words.join(' ')} end`);
      });

      test('shows its text while it grows', async () => {
        const { platform, address, standing } = await setUp();
        const stream = platform.stream(address, { key: 'a', ...memory() });
        stream.update({ text: 'The first paragraph is there.\n\nThe second has only' });
        await vi.waitFor(
          async () => expect((await standing())[0]?.text).toContain('The first paragraph is there.'),
          5_000,
        );
        await stream.close({ text: 'The first paragraph is there.\n\nThe second has only begun.' });
      });

      test('goes on with the message that stands', async () => {
        const { platform, address, standing } = await setUp();
        const { remember } = memory();
        const posted = await platform.show(
          address,
          { progress: { stage: 'Thinking', startedAt: STARTED_AT } },
          { key: 'a', remember },
        );
        const stream = platform.stream(address, { key: 'a', posted, remember });
        await stream.close({ text: 'An answer' });
        expect(await standing()).toHaveLength(1);
      });

      test('returns what an edit after it needs', async () => {
        const { platform, address, standing, restart } = await setUp();
        const { remember } = memory();
        const stream = platform.stream(address, { key: 'a', remember });
        stream.update({ text: 'An' });
        const posted = await stream.close({ text: 'An answer' });
        await (await restart()).show(address, { text: 'Another answer' }, { key: 'a', posted, remember });
        const seen = await standing();
        expect(seen).toHaveLength(1);
        expect(seen[0]?.text).toContain('Another answer');
      });

      test('is not moved by an update that comes after its end', async () => {
        const { platform, address, standing } = await setUp();
        const { remember } = memory();
        const stream = platform.stream(address, { key: 'a', remember });
        const posted = await stream.close({ text: 'the end' });
        stream.update({ text: 'too late' });
        await platform.show(address, { text: 'the end' }, { key: 'a', posted, remember });
        const seen = await standing();
        expect(seen).toHaveLength(1);
        expect(seen[0]?.text).not.toContain('too late');
      });
    });

    describe('whisper', () => {
      test('reaches the person and nobody else', async () => {
        const { platform, address, standing, whispered } = await setUp();
        await platform.whisper(address, { text: 'only for your ears' });
        expect(await standing()).toEqual([]);
        expect((await whispered()).map(({ text }) => text)).toEqual([
          expect.stringContaining('only for your ears'),
        ]);
      });
    });

    describe('a place that is gone', () => {
      const isGone = (error: unknown) =>
        error instanceof PlatformError && (error.code === 'gone' || error.code === 'not-invited');

      test('is told apart from trouble that passes', async () => {
        const { platform, goneAddress } = await setUp();
        await expect(
          platform.show(goneAddress, { text: 'hello' }, { key: 'a', ...memory() }),
        ).rejects.toSatisfy(isGone);
      });

      test('makes a stream fail at its end, and not before', async () => {
        const { platform, goneAddress } = await setUp();
        const stream = platform.stream(goneAddress, { key: 'a', ...memory() });
        stream.update({ text: 'hel' });
        await expect(stream.close({ text: 'hello' })).rejects.toSatisfy(isGone);
      });
    });

    test('says that it is ready', async () => {
      const { platform } = await setUp();
      await vi.waitFor(() => expect(platform.status()).toEqual({ ready: true }), 5_000);
    });
  });
}
