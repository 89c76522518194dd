import { describe, expect, test } from 'vitest';
import { commands } from '../../../../commands/index.ts';
import { readSlashLine, readTyped } from '../../../../src/platforms/slack/receive/commands.ts';
import { formOptions, formView } from '../../../../src/platforms/slack/render/modal.ts';

/** What moderators type on Slack, by position and by flags. */
function typed(name: string, text: string) {
  const command = commands.find((one) => one.name === name);
  if (!command) throw new TypeError(`There is no /${name}`);
  return readTyped(command, readSlashLine(command, text));
}

describe('what is typed behind a moderators’ command', () => {
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
    ['models', 'reset image server', { family: 'image', where: 'server' }],
    ['models', 'prompt Be kind to all of this server', { text: 'Be kind to all of this server' }],
    ['models', 'prompt Be brief. --where server', { text: 'Be brief.', where: 'server' }],
    ['models', 'prompt', {}],
    ['models', 'answers', {}],
    ['limits', 'set server --most 1,000', { scope: 'server', most: 1000 }],
    ['limits', 'set server 1 000 day', { scope: 'server', most: 1000, per: 'day' }],
    ['models', 'answers --assistant --no-footer', { assistant: true, footer: false }],
    ['limits', 'set person song 5 hour', { scope: 'person', family: 'song', most: 5, per: 'hour' }],
    [
      'limits',
      'set person 5 day &lt;@U0ADA|ada&gt;'.replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
      { scope: 'person', most: 5, per: 'day', who: '<@U0ADA|ada>' },
    ],
    ['limits', 'set server --most 0 --of units', { scope: 'server', most: 0, of: 'units' }],
    ['limits', 'block <@U0ADA>', { who: '<@U0ADA>' }],
    ['limits', 'block <!everyone>', { who: '@everyone' }],
    ['limits', 'block who:@everyone', { who: '@everyone' }],
    ['limits', 'forbid command:image who:<@U0ADA|ada>', { command: 'image', who: '<@U0ADA|ada>' }],
    [
      'limits',
      'allow song --who <@U0ADA|ada> server',
      { command: 'song', who: '<@U0ADA|ada>', where: 'server' },
    ],
    ['limits', 'allow song <@U0ADA|ada> server', { command: 'song', who: '<@U0ADA|ada>', where: 'server' }],
    ['limits', 'allow all server', { command: 'all', where: 'server' }],
    ['limits', 'report 7', { days: 7 }],
    ['minstrel', 'forget --confirm', { confirm: true }],
  ])('/%s %s', (name, text, options) => {
    expect(typed(name, text)).toMatchObject({ subcommand: text.split(' ')[0], options });
  });

  test('without anything behind it, the command itself answers; a part asks by a form', () => {
    expect(typed('models', '')).toEqual({ subcommand: undefined, options: {} });
    expect(typed('limits', 'set')).toEqual({ subcommand: 'set', options: 'form' });
  });
});

test('a form offers Slack’s own list of people, and what was picked comes as a mention', () => {
  const part = commands.find(({ name }) => name === 'limits')?.subcommands?.block;
  if (!part) throw new TypeError('There is no /limits block');
  const form = { id: 'limits block', title: 'x', submitLabel: 'Go', options: part.options, initial: {} };
  const view = formView(form, { platform: 'slack', guild: 'T', channel: 'C', person: 'U' });
  expect(view.blocks).toMatchObject([{ block_id: 'who', element: { type: 'users_select' } }]);
  const state = { who: { who: { type: 'users_select', selected_user: 'U0ADA' } } };
  expect(formOptions(state)).toEqual({ who: '<@U0ADA>' });
});
