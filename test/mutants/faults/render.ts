import type { Fault } from '../fault.ts';

export const RENDER_FAULTS = [
  {
    name: 'Slack’s notation is not escaped',
    file: 'src/platforms/slack/render/escape.ts',
    text: "return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');",
    replacement: 'return text;',
    tests: {
      'test/platforms/slack/contract.test.ts': 'reach no one by what people and models wrote',
      'test/platforms/slack/render/escape.test.ts': 'is undone exactly once, whatever was typed',
    },
  },
  {
    name: 'Slack makes links and mentions of plain words',
    file: 'src/platforms/slack/render/escape.ts',
    text: "({ type: 'mrkdwn', text, verbatim: true })",
    replacement: "({ type: 'mrkdwn', text, verbatim: false })",
    tests: {
      'test/platforms/slack/render/render.test.ts':
        'lets Slack make no link and no mention of words by itself',
    },
  },
  {
    name: 'mentions on Discord are left alive',
    file: 'src/platforms/discord/render/inline.ts',
    text: 'const escaped = deadenMentions(text).replace',
    replacement: 'const escaped = text.replace',
    tests: { 'test/platforms/discord/render/render.test.ts': 'and no mention alive' },
  },
  {
    name: 'Discord may ping whoever a text names',
    file: 'src/platforms/discord/deliver/payload.ts',
    text: 'attachments, allowed_mentions: { parse: [] } }, files };',
    replacement:
      "attachments, allowed_mentions: { parse: ['users', 'roles', 'everyone'] as unknown as [] } }, files };",
    tests: { 'test/platforms/discord/deliver/payload.test.ts': 'lets Discord ping no one' },
  },
  {
    name: 'Markdown that people wrote is Markdown on Discord',
    file: 'src/platforms/discord/render/inline.ts',
    text: "deadenMentions(text).replace(/[\\\\*_~|`[\\]]/g, '\\\\$&')",
    replacement: 'deadenMentions(text)',
    tests: {
      'test/platforms/discord/render/render.test.ts': 'writes ',
    },
  },
  {
    name: 'code that holds a fence ends it on Discord',
    file: 'src/platforms/discord/render/inline.ts',
    text: '(/`(?=``)/g, ',
    replacement: '(/`{999}/g, ',
    tests: { 'test/platforms/discord/render/render.test.ts': 'writes ' },
  },
  {
    name: 'a link of Discord leads to a program',
    file: 'src/platforms/discord/render/inline.ts',
    text: "if (protocol !== 'https:' && protocol !== 'http:') return undefined;",
    replacement: '',
    tests: { 'test/platforms/discord/render/render.test.ts': 'writes ' },
  },
  {
    name: 'the text for screen readers leaves out the facts and the pictures',
    file: 'src/platforms/slack/render/text.ts',
    text: 'stageToSay(message), text, ...fields, ...media, message.footer',
    replacement: 'stageToSay(message), text, message.footer',
    tests: {
      'test/commands/accessibility.test.ts': 'says all that it shows in the text that screen readers get',
    },
  },
  {
    name: 'buttons of one name cannot be told apart',
    file: 'src/core/message.ts',
    text: "return targets.size === 1 || label === '' ? button",
    replacement: 'return true ? button',
    tests: { 'test/commands/accessibility.test.ts': 'numbers buttons of one name' },
  },
  {
    name: 'a form of the terminal forgets what was right when one answer is wrong',
    file: 'src/platforms/terminal/receive/session.ts',
    text: 'return fillIn([wrong], { form, filled }, target);',
    replacement: 'return fillIn([wrong], { form, filled: {} }, target);',
    tests: { 'test/platforms/terminal/receive/session.test.ts': 'of a form that the bot refuses' },
  },
] as const satisfies readonly Fault[];
