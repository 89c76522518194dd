/** What a channel shows before anything was said in it: all commands, from their declarations, each with a line to try. */
import { html } from 'htm/preact/standalone';
import { Icon } from './icon.js';

/** @import { BrowserChannel, BrowserCommand } from '../../../core/browser-chat.ts' */

/** What can be sent as it is, by the command that it needs. Other commands open their form. */
const EXAMPLES = new Map([
  ['song', '/song a tune for evening rain --style lofi, soft piano'],
  ['image', '/image a fox reading under a street lamp'],
  ['ask', '/ask Write a haiku about rain'],
  ['lyrics', '/lyrics a lighthouse in winter'],
  ['video', '/video the tide comes in at dusk'],
  ['voices', '/voices'],
  ['jobs', '/jobs --all'],
  ['minstrel', '/minstrel'],
  ['models', '/models show'],
  ['limits', '/limits show'],
  ['pages', '/pages'],
]);

/** What is offered first, in large. */
const FIRST = [
  {
    name: 'song',
    icon: /** @type {const} */ ('note'),
    words: 'Make a song',
    hint: 'Two takes, with a cover',
  },
  {
    name: 'image',
    icon: /** @type {const} */ ('picture'),
    words: 'Paint a picture',
    hint: 'From a few words',
  },
  {
    name: 'ask',
    icon: /** @type {const} */ ('talk'),
    words: 'Ask a question',
    hint: 'Answered while you read',
  },
];

const GROUPS = [
  { title: 'Music', names: ['song', 'lyrics', 'remix', 'stems', 'voices', 'party'] },
  { title: 'Pictures, films and answers', names: ['image', 'video', 'ask'] },
  { title: 'About this chat', names: ['jobs', 'minstrel'] },
];

/** @param {readonly BrowserCommand[]} commands */
function grouped(commands) {
  const known = new Set(GROUPS.flatMap(({ names }) => names));
  return [
    ...GROUPS.map(({ title, names }) => ({
      title,
      all: commands.filter(({ name }) => names.includes(name)),
    })),
    {
      title: 'More',
      all: commands.filter(({ name, moderatorsOnly }) => !known.has(name) && !moderatorsOnly),
    },
    {
      title: 'For moderators',
      all: commands.filter(({ name, moderatorsOnly }) => !known.has(name) && moderatorsOnly),
    },
  ].filter(({ all }) => all.length > 0);
}

/**
 * @param {{ channel: BrowserChannel, commands: readonly BrowserCommand[], onWrite: (line: string) => void, onSend: (line: string) => void }} props
 */
export function Welcome({ channel, commands, onWrite, onSend }) {
  const first = FIRST.filter(({ name }) => commands.some((command) => command.name === name));
  return html`<section class="welcome" aria-label="Welcome">
    <header>
      <h2>${channel.direct ? 'Talk with Minstrel' : `Welcome to #${channel.name}`}</h2>
      <p>
        ${
          channel.direct
            ? 'Ask anything here. Every command works too.'
            : 'This is Minstrel as people meet it in Discord and Slack. Press a line to try it, or write @Minstrel and a question.'
        }
      </p>
    </header>
    <ul class="first">
      ${first.map(
        ({ name, icon, words, hint }) =>
          html`<li key=${name}>
            <button type="button" onClick=${() => onSend(EXAMPLES.get(name) ?? '')}>
              <span class="sign" aria-hidden="true"><${Icon} name=${icon} /></span>
              <strong>${words}</strong>
              <span class="small">${hint}</span>
              <code>${EXAMPLES.get(name)}</code>
            </button>
          </li>`,
      )}
    </ul>
    ${grouped(commands).map(
      ({ title, all }) =>
        html`<div key=${title} class="group">
          <h3>${title}</h3>
          <ul>
            ${all.map((command) => html`<${Row} key=${command.name} command=${command} onWrite=${onWrite} onSend=${onSend} />`)}
          </ul>
        </div>`,
    )}
  </section>`;
}

/** @param {{ command: BrowserCommand, onWrite: (line: string) => void, onSend: (line: string) => void }} props */
function Row({ command: { name, description }, onWrite, onSend }) {
  const example = EXAMPLES.get(name);
  const [words, line] = example === undefined ? ['Form', `/${name}`] : ['Try', example];
  return html`<li>
    <button type="button" class="command" onClick=${() => onWrite(`/${name} `)}>
      <code>/${name}</code> <span>${description}</span>
    </button>
    <button type="button" class="try" aria-label=${`${words}: ${line}`} title=${line} onClick=${() => onSend(line)}>
      ${words}
    </button>
  </li>`;
}
