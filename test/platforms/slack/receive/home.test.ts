import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HomeSection } from '../../../../src/core/message.ts';
import { homeView } from '../../../../src/platforms/slack/render/home.ts';
import { asList } from '../../../servers/slack/json.ts';
import { readableText } from '../../../servers/slack/mentions.ts';
import { viewProblems } from '../../../servers/slack/view-problems.ts';
import { type Harness, startHarness } from '../harness.ts';

let harness: Harness;

beforeEach(async () => {
  harness = await startHarness();
});

afterEach(async () => {
  expect(harness.server.refused).toEqual([]);
  await harness.stop();
});

/** The current content of Ada's Home tab. */
const content = () => JSON.stringify(harness.server.homeOf('U0ADA')?.view.blocks ?? []);
const home = () => harness.server.until(() => harness.server.homeOf('U0ADA'));

const SETTINGS: HomeSection = {
  title: 'Settings here',
  startsChannel: true,
  fields: [{ name: 'Answers', value: 'chat-small' }],
  forms: [
    {
      command: 'models',
      subcommand: 'set',
      label: 'Answers…',
      initial: { family: 'ask', model: 'chat-small' },
    },
    { command: 'models', subcommand: 'prompt', label: 'Prompt…', initial: {} },
  ],
};
const RUNNING: HomeSection = {
  title: 'Your running jobs',
  actions: [{ type: 'action', id: 'song.cancel:j1:0', label: 'Cancel 1' }],
};

describe('the Home tab', () => {
  it("shows the bot's sections, initially for the person's direct messages", async () => {
    const { server, bot } = harness;
    bot.sections = [SETTINGS, RUNNING];
    await server.openHome();
    await home();
    expect(content()).toContain('Settings here');
    expect(content()).toContain('Cancel 1');
    expect(bot.homeRequests).toMatchObject([
      { address: { channel: 'D0ADA', guild: 'T0MINSTREL' }, person: { id: 'U0ADA' } },
    ]);
  });

  it('is not published when the messages tab is opened', async () => {
    const { server, bot } = harness;
    await server.sendEvent({ type: 'app_home_opened', user: 'U0ADA', channel: 'D0ADA', tab: 'messages' });
    await server.mention('hello');
    await server.until(() => bot.started === 1);
    expect(bot.homeRequests).toEqual([]);
  });

  it('switches to the selected channel, and keeps it', async () => {
    const { server, bot } = harness;
    await server.openHome();
    await server.pressInView(await home(), 'home-channel', { value: 'C0MUSIC' });
    await server.until(() => content().includes('<#C0MUSIC>'));
    await server.openHome();
    await server.until(() => bot.homeRequests.length === 3);
    expect(bot.homeRequests.map(({ address }) => address.channel)).toEqual(['D0ADA', 'C0MUSIC', 'C0MUSIC']);
  });

  it('opens forms with the current values, and shows the answer', async () => {
    const { server, bot } = harness;
    bot.sections = [SETTINGS];
    await server.openHome();
    await server.pressInView(await home(), 'home-channel', { value: 'C0MUSIC' });
    await server.until(() => content().includes('<#C0MUSIC>'));
    await server.pressInView(await home(), 'Answers…');
    const form = await server.until(() => server.openView());
    expect(JSON.stringify(form.view)).toContain('chat-small');
    bot.answer = () => ({
      type: 'message',
      visibility: 'person',
      message: { text: 'Answers now use chat-large.' },
    });
    await server.submitView(form, { model: 'chat-large' });
    await server.until(() => content().includes('Answers now use chat-large.'));
    expect(bot.invocations).toMatchObject([
      {
        command: 'models',
        subcommand: 'set',
        options: { family: 'ask', model: 'chat-large' },
        address: { channel: 'C0MUSIC', person: 'U0ADA' },
      },
    ]);
    expect(server.ephemeralsOf()).toEqual([]);
    expect(server.botMessages('D0ADA')).toEqual([]);
  });

  it('shows an error at its field', async () => {
    const { server, bot } = harness;
    bot.sections = [SETTINGS];
    await server.openHome();
    await server.pressInView(await home(), 'Answers…');
    const form = await server.until(() => server.openView());
    bot.answer = () => ({
      type: 'message',
      visibility: 'person',
      message: { text: 'This account has no such model.' },
      option: 'model',
    });
    const { ack } = await server.submitView(form, { model: 'nonsense' });
    expect(ack).toMatchObject({
      response_action: 'errors',
      errors: { model: 'This account has no such model.' },
    });
  });

  it('opens the form of an answer', async () => {
    const { server, bot } = harness;
    bot.sections = [SETTINGS];
    await server.openHome();
    bot.answer = () => ({
      type: 'form',
      form: {
        id: 'models prompt',
        title: 'Prompt',
        submitLabel: 'Save',
        options: { text: { type: 'text', description: 'Text' } },
        initial: { text: 'as it is now' },
      },
    });
    await server.pressInView(await home(), 'Prompt…');
    const form = await server.until(() => server.openView());
    expect(JSON.stringify(form.view)).toContain('as it is now');
    bot.answer = () => ({ type: 'message', visibility: 'person', message: { text: 'Saved.' } });
    await server.submitView(form, {});
    await server.until(() => content().includes('Saved.'));
  });

  it('cancels a job, and shows a moment later that it ended', async () => {
    const { server, bot } = harness;
    bot.sections = [RUNNING];
    await server.openHome();
    bot.answer = () => ({ type: 'message', visibility: 'person', message: { text: 'Cancelling.' } });
    const press = server.pressInView(await home(), 'Cancel 1');
    await server.until(() => content().includes('Cancelling.'));
    bot.sections = [{ title: 'Your running jobs', footer: 'Nothing.' }];
    await server.until(() => content().includes('Nothing.'));
    expect((await press).acknowledged).toBe(true);
    expect(bot.invocations).toMatchObject([
      { action: { name: 'cancel', job: 'j1' }, address: { person: 'U0ADA' } },
    ]);
  });

  it('keeps a channel that was selected while an answer settles', async () => {
    const { server, bot } = harness;
    bot.sections = [SETTINGS, RUNNING];
    await server.openHome();
    bot.answer = () => ({ type: 'message', visibility: 'person', message: { text: 'Cancelling.' } });
    const press = server.pressInView(await home(), 'Cancel 1');
    await server.until(() => content().includes('Cancelling.'));
    await server.pressInView(await home(), 'home-channel', { value: 'C0MUSIC' });
    await server.until(() => content().includes('C0MUSIC'));
    await press;
    await server.until(() => server.callsOf('views.publish').length === 4);
    expect(content()).toContain('C0MUSIC');
  });

  it('is published at the next opening after a failure', async () => {
    const { server } = harness;
    server.faults.next('views.publish', { type: 'error', error: 'internal_error' }, 4);
    await server.openHome();
    await server.until(() => server.callsOf('views.publish').length === 4);
    await server.openHome();
    await home();
  });
});

const OPTIONS = { person: 'U0ADA' };

describe('the Home view', () => {
  it('is valid for any content', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 4000 });
    const section = fc.record(
      {
        title: text,
        text,
        footer: text,
        fields: fc.array(fc.record({ name: text, value: text }), { maxLength: 30 }),
        actions: fc.array(
          fc.nat(1e6).map((id) => ({ type: 'action' as const, id: `song.cancel:j${id}:0`, label: 'Cancel' })),
          { maxLength: 40 },
        ),
        forms: fc.array(
          fc.record({ command: fc.constant('song'), label: text, initial: fc.dictionary(fc.string(), text) }),
          {
            maxLength: 40,
          },
        ),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(section, { maxLength: 6 }),
        fc.option(fc.constant('C0MUSIC'), { nil: undefined }),
        async (sections, channel) => {
          const view = await homeView({
            sections,
            shown: { direct: 'D0ADA', ...(channel && { channel }) },
            answer: { text: 'Done.' },
            options: OPTIONS,
          });
          expect(viewProblems(JSON.parse(JSON.stringify(view)))).toEqual([]);
        },
      ),
    );
  });

  it('separates the sections, and shows the menu of channels below its title', async () => {
    const { blocks } = await homeView({
      sections: [{ title: 'Create something' }, { title: 'Settings', text: 'Models', startsChannel: true }],
      shown: { direct: 'D0ADA' },
      answer: undefined,
      options: OPTIONS,
    });
    expect(asList(blocks)).toMatchObject([
      { type: 'header' },
      { type: 'divider' },
      { type: 'header' },
      { type: 'section', block_id: 'home-channel' },
      { text: { text: 'Models' } },
    ]);
  });

  it('mentions no one', async () => {
    const view = await homeView({
      sections: [
        {
          title: '<!channel>',
          text: '<!here> <@U0BOB>',
          fields: [{ name: '<@U0BOB>', value: '<!everyone>' }],
        },
      ],
      shown: { direct: 'D0ADA' },
      answer: undefined,
      options: OPTIONS,
    });
    const mrkdwn = asList(view.blocks)
      .map((block) => JSON.stringify(block))
      .join('\n');
    expect(mrkdwn.match(/"type":"mrkdwn","text":"[^"]*<[!@]/g)).toBeNull();
    expect(
      readableText({ text: '', blocks: asList(JSON.parse(JSON.stringify(view.blocks))) } as never),
    ).toContain('@U0BOB');
  });
});
