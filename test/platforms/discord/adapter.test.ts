import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LINKED_FILES_SENTENCE } from '../../../src/core/message.ts';
import { PATIENCE_MS } from '../../end-to-end/minstrel.ts';
import { buttonsOf, DISCORD } from '../../servers/discord/index.ts';
import { accept, COMMANDS, type Harness, StoredPost, startHarness } from './harness.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('the Discord adapter', () => {
  let harness: Harness;

  beforeEach(async () => {
    harness = await startHarness();
  });

  afterEach(async () => {
    await harness.close();
  });

  const expectNoRejections = () => expect(harness.discord.refused).toEqual([]);

  describe('commands', () => {
    it('pass options, person and address to the bot', async () => {
      const { discord, bot } = harness;
      const song = discord.command({
        name: 'song',
        options: {
          prompt: 'rain',
          instrumental: true,
          voice: 'f',
          start: 2.5,
          audio: { filename: 'a.mp3', contentType: 'audio/mpeg', bytes: bytes('abc') },
        },
        moderator: true,
      });
      await song.response();
      const [invocation] = bot.invocations;
      expect(invocation).toMatchObject({
        id: song.record.id,
        command: 'song',
        options: {
          prompt: 'rain',
          instrumental: true,
          voice: 'f',
          start: 2.5,
          audio: { name: 'a.mp3', contentType: 'audio/mpeg', bytes: 3 },
        },
        address: {
          platform: 'discord',
          guild: discord.guild.id,
          channel: discord.channel.id,
          person: discord.user.id,
        },
        person: { id: discord.user.id, displayName: 'Ada', moderator: true },
      });
      const url = (invocation?.options.audio as { url: string } | undefined)?.url ?? '';
      expect(await (await fetch(url)).text()).toBe('abc');
      expectNoRejections();
    });

    it('return autocomplete suggestions, or an empty list if they are late', async () => {
      const { discord, bot } = harness;
      bot.choices = async ({ typed }) => [
        { name: `${typed} one`, value: '1' },
        { name: 'x'.repeat(150), value: '2' },
        { name: 'too long', value: 'y'.repeat(101) },
      ];
      expect(await discord.autocomplete({ name: 'song', option: 'model', typed: 'V' })).toEqual([
        { name: 'V one', value: '1' },
        { name: `${'x'.repeat(99)}…`, value: '2' },
      ]);
      expect(bot.suggestions).toMatchObject([
        { command: 'song', option: 'model', typed: 'V', person: { id: discord.user.id } },
      ]);
      bot.choices = () => new Promise(() => {});
      expect(await discord.autocomplete({ name: 'song', option: 'model', typed: 'V' })).toEqual([]);
      expectNoRejections();
    });
  });

  it('supports subcommands', async () => {
    const { discord, bot } = harness;
    bot.choices = async ({ subcommand }) => [{ name: `for ${subcommand}`, value: 'V5' }];
    const typing = { name: 'models set', option: 'model', typed: 'V', options: { family: 'song' } };
    expect(await discord.autocomplete(typing)).toEqual([{ name: 'for set', value: 'V5' }]);
    expect(bot.suggestions.at(-1)?.options).toEqual({ family: 'song' });
    await discord.command({ name: 'models set', options: { model: 'V5' }, moderator: true }).response();
    expect(bot.invocations.at(-1)).toMatchObject({
      command: 'models',
      subcommand: 'set',
      options: { model: 'V5' },
    });
    expectNoRejections();
  });

  it('opens a form with the text of a message from its menu', async () => {
    const { discord, bot } = harness;
    const message = discord.say({ text: 'The rain\nfalls' });
    const form = discord.contextMenu({ name: 'Create a song from this', message });
    expect(await form.modal()).toMatchObject({ custom_id: 'song', title: 'Create a song from this' });
    await (await discord.submitModal(form, {})).response();
    expect(bot.invocations).toMatchObject([{ command: 'song', options: { prompt: 'The rain\nfalls' } }]);
    expectNoRejections();
  });

  it('explains why a message is too long for a form', async () => {
    const { discord, bot } = harness;
    const message = discord.say({ text: 'rain '.repeat(780) });
    const reply = await discord.contextMenu({ name: 'Create a song from this', message }).response();
    expect(reply).toMatchObject({ onlyFor: discord.user.id });
    expect(reply.content).toContain('The limit is 3,000');
    bot.answer = async () => ({
      type: 'form',
      form: {
        id: 'song',
        title: 'A song',
        submitLabel: 'Sing',
        options: { lyrics: { type: 'text', description: 'The words', maximumLength: 100 } },
        initial: { lyrics: 'la '.repeat(40) },
      },
    });
    const answer = await discord.command({ name: 'song', options: { prompt: 'x' } }).response();
    expect(answer.content).toContain('The limit is 100');
    expectNoRejections();
  });

  describe('immediate answers', () => {
    it('can be visible only to the requester', async () => {
      const { discord, bot } = harness;
      bot.answer = async () => ({
        type: 'message',
        visibility: 'person',
        message: { text: 'Your prompt is **empty**.' },
      });
      const song = discord.command({ name: 'song', options: { prompt: ' ' } });
      expect(await song.response()).toMatchObject({
        content: 'Your prompt is **empty**.',
        onlyFor: discord.user.id,
      });
      expectNoRejections();
    });

    it('can take several messages in the channel, with the buttons on the last', async () => {
      const { discord, bot } = harness;
      const text = Array.from({ length: 700 }, (_, n) => `word${n}`).join(' ');
      bot.answer = async () => ({
        type: 'message',
        visibility: 'channel',
        message: { text, actions: [{ type: 'action', id: 'ask.again:j:0', label: 'Again' }] },
      });
      const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
      await expect.poll(() => ask.messages.map((message) => message.content).join(' ')).toBe(text);
      expect(ask.messages.map((message) => buttonsOf(message).length)).toEqual([0, 0, 1]);
      expect(ask.messages.every((message) => message.onlyFor === null && message.pinged.length === 0)).toBe(
        true,
      );
      expectNoRejections();
    });

    it('can be a form, and submitting it invokes the command', async () => {
      const { discord, bot } = harness;
      const song = COMMANDS[0];
      bot.answer = async () => ({
        type: 'form',
        form: {
          id: 'song',
          title: 'A song',
          submitLabel: 'Sing',
          options: song?.options ?? {},
          initial: { prompt: 'rain', voice: 'm' },
        },
      });
      const form = discord.command({ name: 'song', options: { prompt: 'x' } });
      const modal = await form.modal();
      expect(modal).toMatchObject({ custom_id: 'song', title: 'A song' });
      expect(modal.components).toHaveLength(5);
      bot.answer = async () => ({ type: 'message', visibility: 'person', message: { text: 'ok' } });
      const sent = await discord.submitModal(form, { title: 'Rain', instrumental: true });
      await sent.response();
      expect(bot.invocations.at(-1)).toMatchObject({
        command: 'song',
        options: { title: 'Rain', prompt: 'rain', voice: 'm', instrumental: true },
      });
      expectNoRejections();
    });

    it('accept numbers and files from the form of a button', async () => {
      const { discord, bot } = harness;
      bot.answer = async ({ action }) =>
        action
          ? {
              type: 'form',
              form: {
                id: 'song.persona:job1:1',
                title: 'Save this voice, whose title is far too long for a form',
                submitLabel: 'Save',
                options: {
                  name: { type: 'text', description: 'Its name', required: true },
                  start: { type: 'number', description: 'Second' },
                  sample: { type: 'file', description: 'A sample', accept: ['audio'], maximumBytes: 10 },
                },
                initial: {},
              },
            }
          : {
              type: 'message',
              visibility: 'channel',
              message: {
                text: 'A song',
                actions: [{ type: 'action', id: 'song.persona:job1:1', label: 'Save voice' }],
              },
            };
      const message = await discord.command({ name: 'song', options: { prompt: 'x' } }).response();
      const form = discord.press('Save voice', message);
      await form.modal();
      expect(bot.invocations.at(-1)).toMatchObject({
        command: 'song',
        action: { name: 'persona', job: 'job1', index: 1 },
        options: {},
      });
      bot.answer = async () => ({ type: 'message', visibility: 'person', message: { text: 'Kept.' } });
      const sent = await discord.submitModal(form, {
        name: 'Rain',
        'start:number': '1.5',
        sample: [{ filename: 'v.wav', contentType: 'audio/wav', bytes: bytes('v') }],
      });
      expect((await sent.response()).content).toBe('Kept.');
      expect(bot.invocations.at(-1)).toMatchObject({
        action: { name: 'persona', job: 'job1', index: 1 },
        options: { name: 'Rain', start: 1.5, sample: { name: 'v.wav', bytes: 1 } },
      });
      expectNoRejections();
    });

    it('split a long text over several form fields and rejoin it', async () => {
      const { discord, bot } = harness;
      const words = Array.from({ length: 200 }, (_, line) => `Line ${line} of a long, long song`).join('\n');
      bot.answer = async () => ({
        type: 'form',
        form: {
          id: 'song',
          title: 'A song',
          submitLabel: 'Sing',
          options: {
            title: { type: 'text', description: 'Title' },
            lyrics: { type: 'text', description: 'The words', maximumLength: 8_000, multiline: true },
          },
          initial: { lyrics: words },
        },
      });
      const form = discord.command({ name: 'song', options: { prompt: 'x' } });
      await form.modal();
      bot.answer = async () => ({ type: 'message', visibility: 'person', message: { text: 'ok' } });
      await (await discord.submitModal(form, { title: 'Long' })).response();
      expect(words.length).toBeGreaterThan(4_000);
      expect(bot.invocations.at(-1)?.options).toEqual({ title: 'Long', lyrics: words });
      expectNoRejections();
    });

    it('can be a file', async () => {
      const { discord, bot, media } = harness;
      const file = media.keep('k', bytes('lrc'), 'text/plain');
      bot.answer = async () => ({
        type: 'message',
        visibility: 'person',
        message: { media: [{ kind: 'file', name: 'rain.lrc', source: { type: 'stored', file } }] },
      });
      const { attachments } = await discord.command({ name: 'song', options: { prompt: 'x' } }).response();
      expect(
        attachments.map(({ filename, bytes: sent }) => [filename, Buffer.from(sent).toString()]),
      ).toEqual([['rain.lrc', 'lrc']]);
      expectNoRejections();
    });
  });

  describe('accepted work', () => {
    it('starts for 500 simultaneous commands, each acknowledged', async () => {
      await harness.close();
      // The speed of the machine does not matter here.
      harness = await startHarness({ responseDeadlineMs: PATIENCE_MS });
      const { discord, bot } = harness;
      const started: number[] = [];
      bot.answer = async () => ({ type: 'accepted', job: 'job1', begin: () => void started.push(1) });
      const songs = Array.from({ length: 500 }, () =>
        discord.command({ name: 'song', options: { prompt: 'rain' } }),
      );
      const acknowledged = await Promise.all(songs.map((song) => song.acknowledged()));
      expect(new Set(acknowledged)).toEqual(new Set([5]));
      await expect.poll(() => started).toHaveLength(500);
      // On a slow machine an acknowledgement may be sent twice, and Discord rejects the second.
      expect(discord.refused.filter(({ code }) => code !== 40_060)).toEqual([]);
    });

    it('is acknowledged, then shown in one message from progress to result with its files', async () => {
      const { discord, bot, media, platform } = harness;
      const started = accept(bot);
      const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
      expect(await song.acknowledged()).toBe(5);
      const { address } = await started;
      const post = new StoredPost('job1');
      await platform.show(
        address,
        {
          title: 'Composing',
          progress: {
            stage: 'Waiting',
            startedAt: 1_000,
            queuePosition: 2,
            estimateMs: 120_000,
            until: 9_000,
          },
        },
        post,
      );
      expect(song.original?.embeds).toMatchObject([
        {
          title: 'Composing',
          description:
            '**Waiting**\n-# Requested <t:1:R> · until <t:9:T> · position 2 in the queue · usually takes about 2 min',
        },
      ]);

      const takes = ['one', 'two'].map((take) => media.keep(take, bytes(`take ${take}`)));
      await platform.show(
        address,
        {
          title: 'Rain',
          media: takes.map((file, n) => ({
            kind: 'audio',
            name: `rain-${n + 1}.mp3`,
            source: { type: 'stored', file },
            caption: `Take ${n + 1}`,
            alt: 'A song',
          })),
          actions: Array.from({ length: 7 }, (_, n) => ({
            type: 'action',
            id: `song.a:job1:${n}`,
            label: `Action ${n}`,
          })),
        },
        post,
      );
      expect(discord.botMessages()).toEqual([song.original]);
      expect(
        song.original?.attachments.map((a) => [a.filename, a.description, Buffer.from(a.bytes).toString()]),
      ).toEqual([
        ['rain-1.mp3', 'A song', 'take one'],
        ['rain-2.mp3', 'A song', 'take two'],
      ]);
      expect(song.original?.components.map((row) => row.type === 1 && row.components.length)).toEqual([4, 1]);
      expectNoRejections();
    });

    it("attaches files up to Discord's limit and links larger ones", async () => {
      const { discord, bot, media, platform } = harness;
      const started = accept(bot);
      discord.command({ name: 'song', options: { prompt: 'rain' } });
      const { address } = await started;
      const file = (name: string, size: number) => ({
        kind: 'audio' as const,
        name,
        source: { type: 'stored' as const, file: media.keep(name, new Uint8Array(size)) },
      });
      const files = [file('just.wav', DISCORD.fileBytes), file('over.wav', DISCORD.fileBytes + 1)];
      await platform.show(address, { title: 'Rain', media: files }, new StoredPost('j'));
      const [message] = discord.botMessages();
      expect(message?.attachments.map(({ filename }) => filename)).toEqual(['just.wav']);
      expect(message?.embeds[0]?.description).toContain('[Listen: over.wav]');
      expectNoRejections();
    });

    it('splits large files over several messages', async () => {
      const { discord, bot, media, platform } = harness;
      const started = accept(bot);
      discord.command({ name: 'song', options: { prompt: 'rain' } });
      const { address } = await started;
      const stems = Array.from({ length: 12 }, (_, stem) => ({
        kind: 'audio' as const,
        name: `stem-${stem}.mp3`,
        source: {
          type: 'stored' as const,
          file: media.keep(`stem ${stem}`, new Uint8Array(4 * 1024 * 1024)),
        },
      }));
      await platform.show(address, { title: 'Stems', media: stems }, new StoredPost('j'));
      expect(discord.botMessages().map(({ attachments }) => attachments.length)).toEqual([6, 6]);
      expectNoRejections();
    });

    it('uploads a file only once when a message is edited', async () => {
      const { discord, bot, media, platform } = harness;
      const started = accept(bot);
      discord.command({ name: 'song', options: { prompt: 'rain' } });
      const { address } = await started;
      const file = media.keep('one', bytes('one'));
      const post = new StoredPost('job1');
      const show = (text: string) =>
        platform.show(
          address,
          {
            title: 'Rain',
            text,
            media: [{ kind: 'audio', name: 'rain.mp3', source: { type: 'stored', file } }],
          },
          post,
        );
      await show('first');
      const before = discord.botMessages()[0]?.attachments[0]?.id;
      await show('second');
      expect(discord.botMessages()[0]?.attachments.map((a) => a.id)).toEqual([before]);
      expect(discord.world.attachments.size).toBe(1);
      expectNoRejections();
    });

    it('reads a file again for each upload attempt', async () => {
      const { discord, bot, media, platform } = harness;
      const started = accept(bot);
      discord.command({ name: 'song', options: { prompt: 'rain' } });
      const { address } = await started;
      const file = media.keep('one', bytes('the whole song'));
      const name = 'rain.mp3';
      discord.faults.fail(502, { times: 2, path: /^PATCH / });
      const song = { media: [{ kind: 'audio' as const, name, source: { type: 'stored' as const, file } }] };
      await platform.show(address, song, new StoredPost('job1'));
      expect(
        discord
          .botMessages()[0]
          ?.attachments.map((sent) => [sent.filename, Buffer.from(sent.bytes).toString()]),
      ).toEqual([[name, 'the whole song']]);
      expectNoRejections();
    });

    it('fails with the error of an unreadable file', async () => {
      const { discord, bot, platform } = harness;
      const started = accept(bot);
      discord.command({ name: 'song', options: { prompt: 'rain' } });
      const { address } = await started;
      const source = { type: 'stored' as const, file: { name: 'gone', bytes: 9, contentType: 'audio/mpeg' } };
      const song = { media: [{ kind: 'audio' as const, name: 'rain.mp3', source }] };
      await expect(platform.show(address, song, new StoredPost('job1'))).rejects.toThrow(
        'There is no file gone',
      );
    });

    it('edits the same message after the token expired', async () => {
      const { discord, bot, platform } = harness;
      const started = accept(bot);
      const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
      const { address } = await started;
      const post = new StoredPost('job1');
      await platform.show(address, { text: 'Working' }, post);
      discord.advance(16 * 60_000);
      await platform.show(address, { text: 'Here it is' }, post);
      expect(discord.botMessages()).toEqual([song.original]);
      expect(song.original?.content).toBe('Here it is');
      expectNoRejections();
    });

    it('is posted with the bot token if the interaction expired before the first message', async () => {
      const { discord, bot, platform } = harness;
      const started = accept(bot);
      discord.command({ name: 'song', options: { prompt: 'rain' } });
      const { address } = await started;
      discord.advance(16 * 60_000);
      await platform.show(address, { text: 'Here it is' }, new StoredPost('job1'));
      expect(discord.botMessages().at(-1)).toMatchObject({ content: 'Here it is', nonce: 'job1' });
      expectNoRejections();
    });

    it('is shown once, in its latest state, after a crash between posting and storing', async () => {
      const { discord, platform } = harness;
      const address = {
        platform: 'discord',
        channel: discord.channel.id,
        guild: discord.guild.id,
        person: discord.user.id,
      };
      const text = Array.from({ length: 400 }, (_, n) => `word${n}`).join(' ');
      const crashing = () => ({ key: 'job1', remember: async () => Promise.reject(new Error('killed')) });
      await expect(platform.show(address, { text: 'Working' }, crashing())).rejects.toThrow();
      await expect(platform.show(address, { text }, crashing())).rejects.toThrow();
      const post = new StoredPost('job1');
      await platform.show(address, { text }, post);
      expect(
        discord
          .botMessages()
          .map((message) => message.content)
          .join(' '),
      ).toBe(text);
      expect(discord.botMessages()).toHaveLength(2);
      expectNoRejections();
    });

    it('is posted again, once, if the message was deleted', async () => {
      const { discord, bot, platform } = harness;
      const started = accept(bot);
      const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
      const { address } = await started;
      const post = new StoredPost('job1');
      await platform.show(address, { text: 'Working' }, post);
      if (song.original) song.original.deleted = true;
      await platform.show(address, { text: 'Here it is' }, { ...post, remember: async () => {} });
      await platform.show(address, { text: 'Here it is' }, post);
      expect(discord.botMessages().map((message) => message.content)).toEqual(['Here it is']);
      expect(discord.refused.map((refused) => refused.code)).toEqual([10_008, 10_008]);
    });

    it('removes messages that are no longer needed', async () => {
      const { discord, platform } = harness;
      const address = {
        platform: 'discord',
        channel: discord.channel.id,
        guild: discord.guild.id,
        person: discord.user.id,
      };
      const post = new StoredPost('job1');
      await platform.show(address, { text: 'word '.repeat(900) }, post);
      expect(discord.botMessages()).toHaveLength(3);
      await platform.show(address, { text: 'Short.' }, post);
      expect(discord.botMessages().map((message) => message.content)).toEqual(['Short.']);
      expectNoRejections();
    });

    it('mentions only the requester, once', async () => {
      const { discord, bot, platform } = harness;
      const started = accept(bot);
      discord.command({ name: 'song', options: { prompt: 'rain' } });
      const { address } = await started;
      const other = discord.world.addUser('Bob');
      const post = new StoredPost('job1');
      for (let time = 0; time < 2; time += 1) {
        await platform.show(address, { text: `Hello <@${other.id}> and @everyone`, notify: 'ready' }, post);
      }
      const [result, ping, ...more] = discord.botMessages();
      expect(more).toEqual([]);
      expect(result?.pinged).toEqual([]);
      expect(ping).toMatchObject({ pinged: [discord.user.id], replyTo: result?.id });
      expectNoRejections();
    });
  });

  describe('files', () => {
    const song = (file: { name: string; bytes: number; contentType: string }) => ({
      title: 'Rain',
      media: [{ kind: 'audio' as const, name: 'rain.mp3', source: { type: 'stored' as const, file } }],
    });

    it("over the interaction's limit become links", async () => {
      const { discord, bot, media, platform } = harness;
      const started = accept(bot);
      const command = discord.command({ name: 'song', options: { prompt: 'rain' }, fileLimit: 4 });
      const { address } = await started;
      await platform.show(address, song(media.keep('one', bytes('12345'))), new StoredPost('job1'));
      expect(command.original?.attachments).toEqual([]);
      expect(command.original?.embeds[0]?.description).toBe(
        `[Listen: rain.mp3](<https://bot.example/files/one?signature=s>)\n\n-# ${LINKED_FILES_SENTENCE}`,
      );
      expectNoRejections();
    });

    it('have the limit of the boosted server after the interaction expired', async () => {
      const boosted = await startHarness({
        prepare: (server) => {
          server.guild.premiumTier = 2;
        },
      });
      const { discord, bot, media, platform } = boosted;
      const started = accept(bot);
      discord.command({ name: 'song', options: { prompt: 'rain' } });
      const { address } = await started;
      discord.advance(16 * 60_000);
      const large = media.keep('one', new Uint8Array(DISCORD.fileBytes + 1));
      await platform.show(address, song(large), new StoredPost('job1'));
      expect(discord.botMessages().at(-1)?.attachments).toHaveLength(1);
      expect(discord.refused).toEqual([]);
      await boosted.close();
    });

    it('become links if Discord reports that they are too large', async () => {
      const { discord, bot, media, platform } = harness;
      const started = accept(bot);
      const command = discord.command({ name: 'song', options: { prompt: 'rain' }, fileLimit: 4 });
      const { address } = await started;
      const withLargeLimit = { ...address, platformData: { ...address.platformData, fileBytes: 1_000 } };
      await platform.show(withLargeLimit, song(media.keep('one', bytes('12345'))), new StoredPost('job1'));
      expect(command.original?.embeds[0]?.description).toContain('https://bot.example/files/one');
      expect(new Set(discord.refused.map((refused) => refused.code))).toEqual(new Set([40_005]));
    });

    it('become links if Discord rejects them for another reason', async () => {
      const { discord, bot, media, platform } = harness;
      const started = accept(bot);
      const command = discord.command({ name: 'song', options: { prompt: 'rain' } });
      const { address } = await started;
      discord.faults.fail(400, { path: /^PATCH/ });
      await platform.show(address, song(media.keep('one', bytes('12345'))), new StoredPost('job1'));
      expect(command.original?.attachments).toEqual([]);
      expect(command.original?.embeds[0]?.description).toContain('https://bot.example/files/one');
      expectNoRejections();
    });

    it('over the limit are replaced by a smaller variant, with a link to the original', async () => {
      const { discord, bot, media, platform } = harness;
      const started = accept(bot);
      const command = discord.command({ name: 'song', options: { prompt: 'rain' }, fileLimit: 4 });
      const { address } = await started;
      const [whole] = song(media.keep('whole', bytes('12345'))).media;
      const smaller = {
        name: 'rain small.mp3',
        source: { type: 'stored' as const, file: media.keep('less', bytes('123')) },
      };
      const items = whole ? [{ ...whole, smaller, caption: 'Take 1' }] : [];
      await platform.show(address, { title: 'Rain', media: items }, new StoredPost('job1'));
      expect(command.original?.attachments.map(({ filename }) => filename)).toEqual(['rain_small.mp3']);
      expect(command.original?.embeds[0]?.description).toBe(
        `[Listen: rain.mp3](<https://bot.example/files/whole?signature=s>)\n\n-# ${LINKED_FILES_SENTENCE}`,
      );
      expectNoRejections();
    });
  });

  it('sends private messages in the channel until the interaction expires, then by direct message', async () => {
    const { discord, bot, platform } = harness;
    const started = accept(bot);
    const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
    const { address } = await started;
    await platform.sendPrivately(address, { text: 'Only for you' });
    expect(song.original).toBeNull();
    expect(song.followUps).toMatchObject([{ content: 'Only for you', onlyFor: discord.user.id }]);
    discord.advance(16 * 60_000);
    await platform.sendPrivately(address, { text: 'Still only for you' });
    expect(discord.botMessages(discord.directChannel())).toMatchObject([{ content: 'Still only for you' }]);
    expectNoRejections();
  });

  it('handles menu choices like buttons, and supports buttons of earlier versions', async () => {
    const { discord, bot } = harness;
    const button = (index: number) => ({ id: `song.take:job1:${index}`, label: `Take ${index}` });
    const actions = Array.from({ length: 9 }, (_, index) => ({ type: 'action' as const, ...button(index) }));
    bot.answer = async ({ action }) =>
      action
        ? { type: 'message', visibility: 'person', message: { text: `Take ${action.index} it is.` } }
        : { type: 'message', visibility: 'channel', message: { text: 'A song', actions } };
    const message = await discord.command({ name: 'song', options: { prompt: 'x' } }).response();
    expect(message.components.map((row) => row.type === 1 && row.components.map(({ type }) => type))).toEqual(
      [[2, 2, 2, 2], [3]],
    );
    // Discord's clients send nothing for a choice that is still selected.
    for (let time = 0; time < 3; time += 1) {
      const edits = message.history.length;
      expect((await discord.press('Take 7', message).response()).content).toBe('Take 7 it is.');
      await discord.until(() => message.history.length > edits, 'the menu to reset');
      expect(message.embeds).toEqual(message.history[0]?.embeds);
    }
    message.components = [
      { type: 1, components: [{ type: 2, style: 2, label: 'Take 8', custom_id: button(8).id }] },
    ];
    expect((await discord.press('Take 8', message).response()).content).toBe('Take 8 it is.');
    expectNoRejections();
  });

  it('explains that a button is unknown', async () => {
    const { discord } = harness;
    const message = discord.say({ text: 'x' });
    message.components = [
      { type: 1, components: [{ type: 2, style: 1, label: 'Old', custom_id: 'something else' }] },
    ];
    const answer = await discord.press('Old', message).response();
    expect(answer).toMatchObject({
      onlyFor: discord.user.id,
      content: expect.stringContaining('Use the command again'),
    });
    expectNoRejections();
  });
});
