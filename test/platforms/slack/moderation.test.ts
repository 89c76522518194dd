import { describe, expect, test } from 'vitest';
import { commands } from '../../../commands/index.ts';
import { formOptions, formView } from '../../../src/platforms/slack/modal.ts';
import { readTyped } from '../../../src/platforms/slack/slash.ts';

/** What moderators type on Slack, by place and by flags. */
function command(name: string) {
  const found = commands.find((one) => one.name === name);
  if (!found) throw new TypeError(`There is no /${name}`);
  return found;
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
    ['models', 'prompt Be brief. channel', { text: 'Be brief.', where: 'channel' }],
    ['models', 'answers --assistant --no-footer', { assistant: true, footer: false }],
    ['limits', 'set person song 5 hour', { scope: 'person', family: 'song', most: 5, per: 'hour' }],
    [
      'limits',
      'set person 5 day &lt;@U0ADA|ada&gt;'.replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
      { scope: 'person', most: 5, per: 'day', who: '<@U0ADA|ada>' },
    ],
    ['limits', 'set server --most 0 --of units', { scope: 'server', most: 0, of: 'units' }],
    ['limits', 'block <@U0ADA>', { who: '<@U0ADA>' }],
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
    const typed = readTyped(command(name), text);
    expect(typed).toMatchObject({ type: 'invocation', subcommand: text.split(' ')[0] });
    if (typed.type === 'invocation') expect(typed.options).toMatchObject(options);
  });

  test('without anything behind it, the command itself answers; a part asks by a form', () => {
    expect(readTyped(command('models'), '')).toEqual({
      type: 'invocation',
      subcommand: undefined,
      options: {},
    });
    expect(readTyped(command('limits'), 'set')).toEqual({ type: 'form', subcommand: 'set' });
  });
});

test('a form offers Slack’s own list of people, and what was picked comes as a mention', () => {
  const part = command('limits').subcommands?.block;
  if (!part) throw new TypeError('There is no /limits block');
  const form = { id: 'limits block', title: 'x', submitLabel: 'Go', options: part.options, initial: {} };
  const view = formView(form, { platform: 'slack', guild: 'T', channel: 'C', person: 'U' });
  expect(view.blocks).toMatchObject([{ block_id: 'who', element: { type: 'users_select' } }]);
  const state = { who: { who: { type: 'users_select', selected_user: 'U0ADA' } } };
  expect(formOptions(state)).toEqual({ who: '<@U0ADA>' });
});
