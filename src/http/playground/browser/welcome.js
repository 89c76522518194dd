/** The welcome screen of an empty channel: all commands with examples. */
import { html } from 'htm/preact/standalone';
import { Icon } from './icon.js';

/** @import { BrowserChannel, BrowserCommand } from '../../../core/web/browser-chat.ts' */

/** Example lines by command. Commands without an example open their form. */
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

/** The large buttons at the top. */
const FIRST = [
  {
    name: 'song',
    icon: /** @type {const} */ ('note'),
    label: 'Create a song',
    hint: 'Two takes with cover art',
  },
  {
    name: 'image',
    icon: /** @type {const} */ ('picture'),
    label: 'Create an image',
    hint: 'From a short description',
  },
  {
    name: 'ask',
    icon: /** @type {const} */ ('talk'),
    label: 'Ask a question',
    hint: 'The answer appears as it is written',
  },
];

const GROUPS = [
  { title: 'Music', names: ['song', 'lyrics', 'remix', 'stems', 'voices', 'party'] },
  { title: 'Images, videos and answers', names: ['image', 'video', 'ask'] },
  { title: 'Jobs and help', names: ['jobs', 'minstrel'] },
];

/** @param {readonly BrowserCommand[]} commands */
function groupCommands(commands) {
  const grouped = new Set(GROUPS.flatMap(({ names }) => names));
  return [
    ...GROUPS.map(({ title, names }) => ({
      title,
      all: commands.filter(({ name }) => names.includes(name)),
    })),
    {
      title: 'More',
      all: commands.filter(({ name, moderatorsOnly }) => !grouped.has(name) && !moderatorsOnly),
    },
    {
      title: 'For moderators',
      all: commands.filter(({ name, moderatorsOnly }) => !grouped.has(name) && moderatorsOnly),
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
      <h2>${channel.direct ? 'Chat with Minstrel' : `Welcome to #${channel.name}`}</h2>
      <p>
        ${
          channel.direct
            ? 'Ask anything, or use any command.'
            : 'Try Minstrel the way it works in Discord and Slack. Pick an example, or write @Minstrel and a question.'
        }
      </p>
    </header>
    <ul class="first">
      ${first.map(
        ({ name, icon, label, hint }) =>
          html`<li key=${name}>
            <button type="button" onClick=${() => onSend(EXAMPLES.get(name) ?? '')}>
              <span class="sign" aria-hidden="true"><${Icon} name=${icon} /></span>
              <strong>${label}</strong>
              <span class="small">${hint}</span>
              <code>${EXAMPLES.get(name)}</code>
            </button>
          </li>`,
      )}
    </ul>
    ${groupCommands(commands).map(
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
  const [label, line] = example === undefined ? ['Form', `/${name}`] : ['Try', example];
  return html`<li>
    <button type="button" class="command" onClick=${() => onWrite(`/${name} `)}>
      <code>/${name}</code> <span>${description}</span>
    </button>
    <button type="button" class="try" aria-label=${`${label}: ${line}`} title=${line} onClick=${() => onSend(line)}>
      ${label}
    </button>
  </li>`;
}
