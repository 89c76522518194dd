import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { elementsOf } from '../../../servers/slack/blocks.ts';
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
    it('becomes an invocation, is acknowledged without a word, and begins its job', async () => {
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

    it('tells whether everybody can read there', async () => {
      const { server, bot } = harness;
      server.workspace.addChannel({ id: 'C0SECRET', name: 'secret', kind: 'group' });
      server.workspace.addChannel({ id: 'G0FEW', name: 'mpdm-ada--bob-1', kind: 'mpim' });
      for (const channel of ['C0SECRET', 'G0FEW', 'D0ADA']) await server.slash('/song', 'rain', { channel });
      await server.until(() => bot.started === 3);
      expect(bot.invocations.map(({ address }) => address.public)).toEqual([false, false, false]);
      noRefusals();
    });

    it('that the bot no longer has is answered with one that it has', async () => {
      const { server, bot } = harness;
      expect((await server.slash('/songs', 'rain')).acknowledged).toBe(true);
      expect(server.ephemeralsOf().map(readableText).join()).toContain('Did you mean /song?');
      expect(bot.invocations).toEqual([]);
      noRefusals();
    });

    it('is stored before it is acknowledged', async () => {
      const { server, bot } = harness;
      // The second is asked while the first is stored, and is acknowledged before it.
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

    it('that costs nothing is acknowledged in time when it takes long, and is answered afterwards', async () => {
      const { server, bot } = harness;
      let answer = (_: string) => {};
      bot.answer = () =>
        new Promise((resolve) => {
          answer = (text) => resolve({ type: 'message', visibility: 'person', message: { text } });
        });
      const { acknowledged } = await server.slash('/jobs');
      expect(acknowledged).toBe(true);
      answer('Late, but here.');
      const [said] = await server.until(
        () => server.ephemeralsOf('U0ADA').length > 0 && server.ephemeralsOf('U0ADA'),
      );
      expect(said).toMatchObject({ via: 'response_url', channel: 'C0MUSIC' });
      noRefusals();
    });

    it('tells the person alone what is wrong, in the acknowledgement', async () => {
      const { server, bot } = harness;
      await server.slash('/song', 'rain --stlye lofi');
      const [said] = server.ephemeralsOf('U0ADA');
      expect(said && readableText(said)).toContain('Did you mean --style?');
      expect(bot.invocations).toEqual([]);
      expect(server.messages('C0MUSIC')).toEqual([]);
      noRefusals();
    });

    it('says to the person alone what the bot says to the person alone, and to the channel what is for the channel', async () => {
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
      const said = await server.until(() => server.botMessages()[0]);
      expect(readableText(said)).toBe('Everybody');
      noRefusals();
    });

    it('says how to invite the bot where it is not in the channel, to the person alone', async () => {
      const { server, bot } = harness;
      bot.answer = () => ({ type: 'message', visibility: 'channel', message: { text: 'Everybody' } });
      await server.slash('/jobs', '', { channel: 'C0QUIET' });
      const said = await server.until(() => server.ephemeralsOf('U0ADA')[0]);
      expect(readableText(said)).toContain('/invite @minstrel');
      expect(server.refused.map(({ error }) => error)).toEqual(['not_in_channel']);
    });
  });

  describe('the form of a command', () => {
    it.each(['', '?'])(
      'opens from the declaration when nothing is typed (%j), and comes back as the same invocation',
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
      ['that fits takes its place', 'Ada', { response_action: 'update' }, []],
      [
        'that a text does not fit into gives its place to the reason',
        'Ada '.repeat(20),
        undefined,
        [expect.stringContaining('The text is too long for “name”: 80 characters, the limit is 40')],
      ],
    ])('answered by another form %s', async (_, name, acknowledged, said) => {
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
      await server.until(() => server.ephemeralsOf().length === said.length);
      expect(server.ephemeralsOf().map(readableText)).toEqual(said);
      noRefusals();
    });

    it('shows a sentence next to the field it is about, and stays open', async () => {
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

    it('says privately what belongs to no field', async () => {
      const { server, bot } = harness;
      await server.slash('/song');
      const form = await server.until(() => server.openView());
      bot.answer = () => ({ type: 'message', visibility: 'person', message: { text: 'No credit left.' } });
      await server.submitView(form, { prompt: 'rain' });
      const said = await server.until(() => server.ephemeralsOf()[0]);
      expect(readableText(said)).toBe('No credit left.');
      expect(server.openView()).toBeUndefined();
      noRefusals();
    });

    it('offers completions while somebody types, and what was typed itself', async () => {
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

    it('asks for another try when Slack does not open it in time', async () => {
      const { server } = harness;
      server.faults.next('views.open', { type: 'error', error: 'expired_trigger_id' });
      await server.slash('/song');
      const said = await server.until(() => server.ephemeralsOf()[0]);
      expect(readableText(said)).toContain('Try again.');
      noRefusals();
    });

    it('does not open with a message whose end it would lose, and says so', async () => {
      const { server } = harness;
      const { message } = await server.say('rain '.repeat(2_000), { user: 'U0BOB' });
      await server.messageShortcut('message-menu:song', message);
      const said = await server.until(() => server.ephemeralsOf()[0]);
      expect(readableText(said)).toContain('Use the command with a shorter text');
      noRefusals();
    });

    it('opens from a message’s menu with the message in it, and from the global shortcut', async () => {
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

  it.each(['help', '--help', 'HELP'])(
    '/song %s tells what the command takes, and runs nothing',
    async (text) => {
      const { server, bot } = harness;
      await server.slash('/song', text);
      const said = await server.until(() => server.ephemeralsOf()[0]);
      expect(readableText(said)).toContain('**--prompt** Describe the song (required)');
      expect(bot.invocations).toEqual([]);
      noRefusals();
    },
  );

  describe('a button', () => {
    const withButtons = () =>
      harness.show({
        title: 'Rain',
        actions: [
          { type: 'action', id: 'song.again:j1:2', label: 'Again', emphasis: 'primary' },
          { type: 'link', url: 'https://x.example', label: 'Open' },
        ],
      });

    it('becomes an invocation of its action, where it belongs', async () => {
      const { server, bot } = harness;
      await withButtons();
      const [message] = server.botMessages();
      if (message === undefined) throw new Error('nothing was shown');
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

    it.each([7, 16])('of %s that did not fit is chosen from a menu, and means the same', async (count) => {
      const { server, bot } = harness;
      const actions = Array.from({ length: count }, (_, index) => ({
        type: 'action' as const,
        id: `song.take:j1:${index}`,
        label: `Take ${index}`,
      }));
      await harness.show({ title: 'Rain', actions });
      const [message] = server.botMessages();
      if (message === undefined) throw new Error('nothing was shown');
      await server.press(message, 'Take 6');
      await server.until(() => bot.started === 1);
      expect(bot.invocations).toMatchObject([
        { command: 'song', action: { name: 'take', job: 'j1', index: 6 } },
      ]);
      const shown = message.blocks.flatMap(elementsOf).map(({ type }) => type);
      expect(shown).toEqual([...Array(4).fill('button'), count === 7 ? 'overflow' : 'static_select']);
      noRefusals();
    });

    it('can open a form, which comes back as the action', async () => {
      const { server, bot } = harness;
      await withButtons();
      const [message] = server.botMessages();
      if (message === undefined) throw new Error('nothing was shown');
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
      bot.answer = () => ({ type: 'message', visibility: 'person', message: { text: 'Kept.' } });
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

  describe('talk', () => {
    it('answers a mention in its thread, with what was said before and the picture', async () => {
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

    it('is acknowledged when what it asks for is stored, and not before', async () => {
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

    it('knows whose answers its own messages are', async () => {
      const { server, bot, show } = harness;
      const { message } = await server.mention('tell me everything');
      await server.until(() => bot.started === 1);
      const address = bot.invocations[0]?.address;
      if (address === undefined) throw new Error('nothing was asked');
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

    it('answers direct messages without a thread', async () => {
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

    it('answers an event once that Slack sends again', async () => {
      const { server, bot } = harness;
      const said = await server.mention('once');
      await server.until(() => bot.started === 1);
      await server.repeat(said);
      await server.mention('twice');
      await server.until(() => bot.started === 2);
      expect(bot.invocations.map(({ options }) => options.question)).toEqual(['once', 'twice']);
      noRefusals();
    });

    it('does not answer itself', async () => {
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
