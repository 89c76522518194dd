import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { elementsOf } from '../../../servers/slack/blocks.ts';
import { asFields, asList } from '../../../servers/slack/json.ts';
import { pings, readableText } from '../../../servers/slack/mentions.ts';
import { type Harness, startHarness } from '../harness.ts';

let harness: Harness;

afterEach(async () => {
  await harness.stop();
});

const noRefusals = () => expect(harness.server.refused).toEqual([]);

describe.each(['socket', 'http'] as const)('over %s', (connection) => {
  beforeEach(async () => {
    harness = await startHarness({ connection });
  });

  describe('a slash command', () => {
    it('becomes an invocation, is acknowledged without a message, and starts its job', async () => {
      const { server, bot } = harness;
      const { ack } = await server.slash(
        '/song',
        'a tune for rain & sun --style “dark lofi” --instrumental',
        {
          user: 'U0BOB',
        },
      );
      expect(ack).toBeUndefined();
      await server.until(() => bot.started === 1);
      expect(bot.invocations).toMatchObject([
        {
          command: 'song',
          options: { prompt: 'a tune for rain & sun', style: 'dark lofi', instrumental: true },
          address: {
            platform: 'slack',
            guild: 'T0MINSTREL',
            channel: 'C0MUSIC',
            public: true,
            person: 'U0BOB',
          },
          person: { id: 'U0BOB', displayName: 'bob', moderator: true },
        },
      ]);
      noRefusals();
    });

    it('records whether the channel is public', async () => {
      const { server, bot } = harness;
      server.workspace.addChannel({ id: 'C0SECRET', name: 'secret', kind: 'group' });
      server.workspace.addChannel({ id: 'G0FEW', name: 'mpdm-ada--bob-1', kind: 'mpim' });
      for (const channel of ['C0SECRET', 'G0FEW', 'D0ADA']) await server.slash('/song', 'rain', { channel });
      await server.until(() => bot.started === 3);
      expect(bot.invocations.map(({ address }) => address.public)).toEqual([false, false, false]);
      noRefusals();
    });

    it('alone opens a form, which shows its rare fields on request and keeps what was typed', async () => {
      const { server, bot } = harness;
      await server.slash('/song', '');
      const form = await server.until(() => server.openView('U0ADA'));
      const fields = () => asList(form.view.blocks).map((block) => asFields(block).block_id);
      expect(fields()).toContain('more-options');
      expect(fields()).not.toContain('mood');
      await server.pressInView(form, 'More options', { values: { prompt: 'rain', instrumental: ['true'] } });
      await server.until(() => fields().includes('mood'));
      expect(form.view).toMatchObject({ title: { text: 'Song' }, submit: { text: 'Send' } });
      expect(fields()).not.toContain('more-options');
      await server.submitView(form, { style: 'lofi' });
      await server.until(() => bot.started === 1);
      expect(bot.invocations).toMatchObject([
        { command: 'song', options: { prompt: 'rain', instrumental: true, style: 'lofi' } },
      ]);
      noRefusals();
    });

    it('that no longer exists gets a suggestion', async () => {
      const { server, bot } = harness;
      expect((await server.slash('/songs', 'rain')).acknowledged).toBe(true);
      expect(server.ephemeralsOf().map(readableText).join()).toContain('Did you mean /song?');
      expect(bot.invocations).toEqual([]);
      noRefusals();
    });

    it('is stored before it is acknowledged', async () => {
      const { server, bot } = harness;
      // The second command arrives while the first is being stored, and is acknowledged first.
      const acknowledged: string[] = [];
      const ask = async (prompt: string) => {
        await server.slash('/song', prompt);
        acknowledged.push(prompt);
      };
      bot.answer = async ({ options }) => {
        if (options.prompt === 'first') await ask('second');
        return bot.accepted();
      };
      await ask('first');
      expect(acknowledged).toEqual(['second', 'first']);
      noRefusals();
    });

    it('that costs nothing is acknowledged in time, and answered later if it takes long', async () => {
      const { server, bot } = harness;
      let answer = (_: string) => {};
      bot.answer = () =>
        new Promise((resolve) => {
          answer = (text) => resolve({ type: 'message', visibility: 'person', message: { text } });
        });
      const { acknowledged } = await server.slash('/jobs');
      expect(acknowledged).toBe(true);
      answer('Late, but here.');
      const [ephemeral] = await server.until(
        () => server.ephemeralsOf('U0ADA').length > 0 && server.ephemeralsOf('U0ADA'),
      );
      expect(ephemeral).toMatchObject({ via: 'response_url', channel: 'C0MUSIC' });
      noRefusals();
    });

    it('reports errors privately in the acknowledgement', async () => {
      const { server, bot } = harness;
      await server.slash('/song', 'rain --stlye lofi');
      const [ephemeral] = server.ephemeralsOf('U0ADA');
      expect(ephemeral && readableText(ephemeral)).toContain('Did you mean --style?');
      expect(bot.invocations).toEqual([]);
      expect(server.messages('C0MUSIC')).toEqual([]);
      noRefusals();
    });

    it('shows private answers privately, and channel answers in the channel', async () => {
      const { server, bot } = harness;
      bot.answer = () => ({
        type: 'message',
        visibility: 'person',
        message: { text: 'Just <!channel> you' },
      });
      await server.slash('/jobs');
      const [alone] = server.ephemeralsOf('U0ADA');
      expect(alone && [alone.via, readableText(alone), pings(alone)]).toEqual([
        'ack',
        'Just <!channel> you',
        [],
      ]);
      bot.answer = () => ({ type: 'message', visibility: 'channel', message: { text: 'Everybody' } });
      await server.slash('/jobs');
      const message = await server.until(() => server.botMessages()[0]);
      expect(readableText(message)).toBe('Everybody');
      noRefusals();
    });

    it('explains privately how to invite the bot to the channel', async () => {
      const { server, bot } = harness;
      bot.answer = () => ({ type: 'message', visibility: 'channel', message: { text: 'Everybody' } });
      await server.slash('/jobs', '', { channel: 'C0QUIET' });
      const ephemeral = await server.until(() => server.ephemeralsOf('U0ADA')[0]);
      expect(readableText(ephemeral)).toContain('/invite @minstrel');
      expect(server.refused.map(({ error }) => error)).toEqual(['not_in_channel']);
    });
  });

  describe('the form of a command', () => {
    it.each(['', '?'])(
      'opens if nothing is typed (%j), and becomes an invocation when submitted',
      async (typed) => {
        const { server, bot } = harness;
        await server.slash('/song', typed, { user: 'U0BOB' });
        const form = await server.until(() => server.openView('U0BOB'));
        const tune = server.upload('tune.mp3', Buffer.from('ID3'), { mimetype: 'audio/mpeg' });
        await server.submitView(form, {
          prompt: 'rain',
          instrumental: ['true'],
          weight: '0.5',
          model: 'V5',
          audio: [tune],
        });
        await server.until(() => bot.started === 1);
        expect(bot.invocations).toMatchObject([
          {
            command: 'song',
            options: {
              prompt: 'rain',
              instrumental: true,
              weight: 0.5,
              model: 'V5',
              audio: {
                name: 'tune.mp3',
                contentType: 'audio/mpeg',
                bytes: 3,
                url: expect.stringContaining(tune.id),
              },
            },
            address: { channel: 'C0MUSIC', person: 'U0BOB' },
          },
        ]);
        noRefusals();
      },
    );

    it.each([
      ['that fits is shown in its place', 'Ada', { response_action: 'update' }, []],
      [
        'that is too small for its text is replaced by the reason',
        'Ada '.repeat(20),
        undefined,
        [expect.stringContaining('The text is too long for “Name”: 80 characters. The limit is 40')],
      ],
    ])('answered with another form %s', async (_, name, acknowledged, messages) => {
      const { server, bot } = harness;
      await server.slash('/song');
      const form = await server.until(() => server.openView());
      bot.answer = () => ({
        type: 'form',
        form: {
          id: 'song.keep-voice:j1:0',
          title: 'Save this voice for a long time',
          submitLabel: 'Save',
          options: { name: { type: 'text', description: 'Its name', maximumLength: 40 } },
          initial: { name },
        },
      });
      const sent = await server.submitView(form, { prompt: 'rain' });
      expect(sent.acknowledged).toBe(true);
      if (acknowledged === undefined) expect(sent.ack).toBeUndefined();
      else expect(sent.ack).toMatchObject(acknowledged);
      await server.until(() => server.ephemeralsOf().length === messages.length);
      expect(server.ephemeralsOf().map(readableText)).toEqual(messages);
      noRefusals();
    });

    it('shows an error at its field, and stays open', async () => {
      const { server, bot } = harness;
      await server.slash('/song');
      const form = await server.until(() => server.openView());
      bot.answer = () => ({
        type: 'message',
        visibility: 'person',
        message: { text: '“style” is <odd>.' },
        option: 'style',
      });
      const { ack } = await server.submitView(form, { prompt: 'rain', style: 'x' });
      expect(ack).toEqual({ response_action: 'errors', errors: { style: '“style” is <odd>.' } });
      expect(server.openView()).toBe(form);
      bot.answer = () => bot.accepted();
      await server.submitView(form, { prompt: 'rain', style: 'lofi' });
      await server.until(() => bot.started === 1);
      const [first, second] = bot.invocations;
      expect(first?.id).not.toBe(second?.id);
      noRefusals();
    });

    it('shows other errors privately', async () => {
      const { server, bot } = harness;
      await server.slash('/song');
      const form = await server.until(() => server.openView());
      bot.answer = () => ({ type: 'message', visibility: 'person', message: { text: 'No credit left.' } });
      await server.submitView(form, { prompt: 'rain' });
      const ephemeral = await server.until(() => server.ephemeralsOf()[0]);
      expect(readableText(ephemeral)).toBe('No credit left.');
      expect(server.openView()).toBeUndefined();
      noRefusals();
    });

    it('suggests choices for typed text, and the text itself', async () => {
      const { server, bot } = harness;
      bot.choices = [{ name: 'Ada’s voice', value: 'voice-1' }];
      await server.slash('/song');
      const form = await server.until(() => server.openView());
      expect(await server.suggest(form, 'voice', 'ad', { prompt: 'rain' })).toEqual([
        { text: 'Ada’s voice', value: 'voice-1' },
        { text: 'ad', value: 'ad' },
      ]);
      expect(bot.suggestions).toMatchObject([
        {
          command: 'song',
          option: 'voice',
          typed: 'ad',
          options: { prompt: 'rain' },
          address: { channel: 'C0MUSIC' },
        },
      ]);
      noRefusals();
    });

    it('asks the person to try again if Slack does not open it in time', async () => {
      const { server } = harness;
      server.faults.next('views.open', { type: 'error', error: 'expired_trigger_id' });
      await server.slash('/song');
      const ephemeral = await server.until(() => server.ephemeralsOf()[0]);
      expect(readableText(ephemeral)).toContain('Try again.');
      noRefusals();
    });

    it('explains privately that a message is too long for a field', async () => {
      const { server } = harness;
      const { message } = await server.say('rain '.repeat(2_000), { user: 'U0BOB' });
      await server.messageShortcut('message-menu:song', message);
      const ephemeral = await server.until(() => server.ephemeralsOf()[0]);
      expect(readableText(ephemeral)).toContain('Use the command with a shorter text');
      noRefusals();
    });

    it("opens from a message's menu with the message's text, and from the global shortcut", async () => {
      const { server, bot } = harness;
      const { message } = await server.say('clouds &amp; <@U0BOB|bob>', { user: 'U0BOB' });
      await server.messageShortcut('message-menu:song', message);
      const form = await server.until(() => server.openView());
      await server.submitView(form, {});
      await server.until(() => bot.invocations.length === 1);
      expect(bot.invocations[0]).toMatchObject({
        command: 'song',
        options: { prompt: 'clouds & @bob' },
        address: { channel: 'C0MUSIC' },
      });
      await server.shortcut('form:song');
      const global = await server.until(() => server.openView());
      await server.submitView(global, { prompt: 'rain' });
      await server.until(() => bot.invocations.length === 2);
      expect(bot.invocations[1]).toMatchObject({ address: { channel: 'D0ADA', person: 'U0ADA' } });
      noRefusals();
    });
  });

  it.each(['help', '--help', 'HELP'])('/song %s lists the options, and runs nothing', async (text) => {
    const { server, bot } = harness;
    await server.slash('/song', text);
    const ephemeral = await server.until(() => server.ephemeralsOf()[0]);
    expect(readableText(ephemeral)).toContain('**--prompt** Describe the song (required)');
    expect(bot.invocations).toEqual([]);
    noRefusals();
  });

  describe('a button', () => {
    const withButtons = () =>
      harness.show({
        title: 'Rain',
        actions: [
          { type: 'action', id: 'song.again:j1:2', label: 'Again', emphasis: 'primary' },
          { type: 'link', url: 'https://x.example', label: 'Open' },
        ],
      });

    it('becomes an invocation of its action in its channel', async () => {
      const { server, bot } = harness;
      await withButtons();
      const [message] = server.botMessages();
      if (message === undefined) throw new Error('no message was posted');
      await server.press(message, 'Again', { user: 'U0BOB' });
      await server.until(() => bot.started === 1);
      expect(bot.invocations).toMatchObject([
        {
          command: 'song',
          action: { name: 'again', job: 'j1', index: 2 },
          address: { channel: 'C0MUSIC', person: 'U0BOB' },
        },
      ]);
      expect(bot.invocations[0]?.address.thread).toBeUndefined();
      expect((await server.press(message, 'Open')).acknowledged).toBe(true);
      expect(bot.invocations).toHaveLength(1);
      noRefusals();
    });

    it.each([7, 16])('of %s that did not fit is in a menu and works the same', async (count) => {
      const { server, bot } = harness;
      const actions = Array.from({ length: count }, (_, index) => ({
        type: 'action' as const,
        id: `song.take:j1:${index}`,
        label: `Take ${index}`,
      }));
      await harness.show({ title: 'Rain', actions });
      const [message] = server.botMessages();
      if (message === undefined) throw new Error('no message was posted');
      await server.press(message, 'Take 6');
      await server.until(() => bot.started === 1);
      expect(bot.invocations).toMatchObject([
        { command: 'song', action: { name: 'take', job: 'j1', index: 6 } },
      ]);
      const shown = message.blocks.flatMap(elementsOf).map(({ type }) => type);
      expect(shown).toEqual([...Array(4).fill('button'), count === 7 ? 'overflow' : 'static_select']);
      noRefusals();
    });

    it('can open a form, which continues the action', async () => {
      const { server, bot } = harness;
      await withButtons();
      const [message] = server.botMessages();
      if (message === undefined) throw new Error('no message was posted');
      bot.answer = () => ({
        type: 'form',
        form: {
          id: 'song.keep-voice:j1:0',
          title: 'Save this voice for a long time',
          submitLabel: 'Save',
          options: { name: { type: 'text', description: 'Its name', required: true } },
          initial: { name: 'Ada' },
        },
      });
      await server.press(message, 'Again');
      const form = await server.until(() => server.openView());
      bot.answer = () => ({ type: 'message', visibility: 'person', message: { text: 'Saved.' } });
      await server.submitView(form, {});
      await server.until(() => server.ephemeralsOf().length === 1);
      expect(bot.invocations[1]).toMatchObject({
        command: 'song',
        action: { name: 'keep-voice', job: 'j1', index: 0 },
        options: { name: 'Ada' },
      });
      noRefusals();
    });
  });

  describe('a message', () => {
    it('that mentions the bot is answered in its thread, with the history and the image', async () => {
      const { server, bot } = harness;
      const { message } = await server.say('first words', { user: 'U0BOB' });
      const picture = server.upload('sky.png', Buffer.from('PNG'), { mimetype: 'image/png' });
      await server.mention('what is &lt;this&gt;?', { threadTs: message.ts, files: [picture] });
      await server.until(() => bot.started === 1);
      expect(bot.invocations).toMatchObject([
        {
          command: 'ask',
          options: { question: 'what is <this>?', image: { name: 'sky.png' } },
          address: { channel: 'C0MUSIC', thread: message.ts, person: 'U0ADA' },
          conversation: [{ author: 'person', name: 'bob', text: 'first words' }],
        },
      ]);
      noRefusals();
    });

    it('is acknowledged only after its job is stored', async () => {
      const { server, bot } = harness;
      const acknowledged: string[] = [];
      const mention = async (text: string) => {
        const { deliveries } = await server.mention(text);
        expect(deliveries).toMatchObject([{ acknowledged: true, attempts: 1 }]);
        acknowledged.push(text);
      };
      bot.answer = async ({ options }) => {
        if (options.question === 'first') await mention('second');
        return bot.accepted();
      };
      await mention('first');
      expect(acknowledged).toEqual(['second', 'first']);
      noRefusals();
    });

    it("links the bot's earlier messages to their jobs", async () => {
      const { server, bot, show } = harness;
      const { message } = await server.mention('tell me everything');
      await server.until(() => bot.started === 1);
      const address = bot.invocations[0]?.address;
      if (address === undefined) throw new Error('no invocation');
      const long = Array.from({ length: 300 }, (_, index) => `fact ${index}`).join(', ');
      await show({ text: long }, { address });
      await server.mention('more', { threadTs: message.ts });
      await server.until(() => bot.started === 2);
      expect(bot.invocations[1]?.conversation).toMatchObject([
        { author: 'person', text: 'tell me everything' },
        { author: 'bot', job: 'job-1' },
      ]);
      noRefusals();
    });

    it('in direct messages is answered without a thread', async () => {
      const { server, bot } = harness;
      await server.directMessage('hello');
      await server.until(() => bot.started === 1);
      expect(bot.invocations[0]).toMatchObject({
        command: 'ask',
        options: { question: 'hello' },
        address: { channel: 'D0ADA' },
      });
      expect(bot.invocations[0]?.address.thread).toBeUndefined();
      noRefusals();
    });

    it('is answered once if Slack resends its event', async () => {
      const { server, bot } = harness;
      const sent = await server.mention('once');
      await server.until(() => bot.started === 1);
      await server.repeat(sent);
      await server.mention('twice');
      await server.until(() => bot.started === 2);
      expect(bot.invocations.map(({ options }) => options.question)).toEqual(['once', 'twice']);
      noRefusals();
    });

    it('of the bot is not answered', async () => {
      const { server, bot, show } = harness;
      await show({ text: 'I am the bot' });
      const [own] = server.botMessages();
      await server.sendEvent({
        type: 'app_mention',
        user: server.workspace.botUser,
        channel: 'C0MUSIC',
        ts: own?.ts,
        text: 'hi',
        bot_id: server.workspace.botId,
      });
      await server.mention('somebody else');
      await server.until(() => bot.started === 1);
      expect(bot.invocations).toHaveLength(1);
      noRefusals();
    });
  });
});
