import { describe, expect, test } from 'vitest';
import { commands } from '../../../../commands/index.ts';
import { readSlashLine, readTyped } from '../../../../src/platforms/slack/receive/commands.ts';
import { formOptions, formView } from '../../../../src/platforms/slack/render/modal.ts';

/** Parses a moderator's command, with positional words or flags. */
function typed(name: string, text: string) {
  return readTyped(readSlashLine(`/${name} ${text}`, commands));
}

describe('the arguments of moderator commands', () => {
  test.each([
    [
      'models',
      'set ask chat:chat-small channel',
      { family: 'ask', model: 'chat:chat-small', where: 'channel' },
    ],
    ['models', 'set ask chat:chat-small', { family: 'ask', model: 'chat:chat-small' }],
    [
      'models',
      'set --family ask --model chat:chat-small --where server',
      { family: 'ask', model: 'chat:chat-small', where: 'server' },
    ],
    ['models', 'set song V4_5 --where server', { family: 'song', model: 'V4_5', where: 'server' }],
    ['models', 'reset image server', { what: 'image', where: 'server' }],
    ['models', 'answers Be kind to all of this server', { prompt: 'Be kind to all of this server' }],
    ['models', 'answers Be brief. --where server', { prompt: 'Be brief.', where: 'server' }],
    ['models', 'answers', {}],
    ['limits', 'set all --most 1,000', { what: 'all', most: 1000 }],
    ['limits', 'set all 1,000 day', { what: 'all', most: 1000, per: 'day' }],
    [
      'limits',
      'set all 9 day server --together',
      { what: 'all', most: 9, per: 'day', where: 'server', together: true },
    ],
    ['models', 'answers --assistant --no-footer', { assistant: true, footer: false }],
    ['limits', 'set song 5 hour', { what: 'song', most: 5, per: 'hour' }],
    [
      'limits',
      'set all 5 day &lt;@U0ADA|ada&gt; server'.replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
      { what: 'all', most: 5, per: 'day', who: '<@U0ADA|ada>', where: 'server' },
    ],
    ['limits', 'set all --most 0 --of units', { what: 'all', most: 0, of: 'units' }],
    ['limits', 'deny all <@U0ADA>', { what: 'all', who: '<@U0ADA>' }],
    ['limits', 'deny all <!everyone>', { what: 'all', who: '@everyone' }],
    ['limits', 'allow all visitors server', { what: 'all', who: 'visitors', where: 'server' }],
    ['limits', 'deny all who:@everyone', { what: 'all', who: '@everyone' }],
    ['limits', 'deny what:image who:<@U0ADA|ada>', { what: 'image', who: '<@U0ADA|ada>' }],
    [
      'limits',
      'allow song --who <@U0ADA|ada> server',
      { what: 'song', who: '<@U0ADA|ada>', where: 'server' },
    ],
    ['limits', 'allow song <@U0ADA|ada> server', { what: 'song', who: '<@U0ADA|ada>', where: 'server' }],
    ['limits', 'allow all server', { what: 'all', where: 'server' }],
    ['limits', 'deny image Bob', { what: 'image', who: 'Bob' }],
    ['limits', 'report 7', { days: 7 }],
    ['minstrel', 'forget --confirm', { confirm: true }],
  ])('/%s %s', (name, text, options) => {
    expect(typed(name, text)).toMatchObject({ subcommand: text.split(' ')[0], options });
  });

  test.each([
    ['models', '', undefined],
    ['jobs', '', undefined],
    ['stems', '', undefined],
    ['pages', 'album', 'album'],
    ['limits', 'report', 'report'],
  ])('/%s %s runs at once, because it needs no input', (name, text, subcommand) => {
    expect(typed(name, text)).toEqual({ subcommand, options: {} });
  });

  test.each([
    ['song', ''],
    ['video', ''],
    ['ask', ''],
    ['limits', 'set'],
    ['jobs', '?'],
    ['pages', 'album ?'],
  ])('/%s %s opens a form', (name, text) => {
    expect(typed(name, text).options).toBe('form');
  });
});

test("a form has Slack's user menu, and the choice is sent as a mention", () => {
  const part = commands.find(({ name }) => name === 'limits')?.subcommands?.deny;
  if (!part) throw new TypeError('There is no /limits deny');
  const form = { id: 'limits deny', title: 'x', submitLabel: 'Go', options: part.options, initial: {} };
  const view = formView(form, { address: { platform: 'slack', guild: 'T', channel: 'C', person: 'U' } });
  expect(view.blocks).toContainEqual(
    expect.objectContaining({ block_id: 'who', element: expect.objectContaining({ type: 'users_select' }) }),
  );
  const state = { who: { who: { type: 'users_select', selected_user: 'U0ADA' } } };
  expect(formOptions(state)).toEqual({ who: '<@U0ADA>' });
});
