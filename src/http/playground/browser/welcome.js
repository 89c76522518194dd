/** The welcome screen of an empty channel: examples to try, and all commands. */
import { html } from 'htm/preact/standalone';
import { Icon } from './icon.js';

/** @import { BrowserChannel, BrowserCommand } from '../../../core/web/browser-chat.ts' */

const EXAMPLES = /** @type {const} */ ([
  {
    name: 'song',
    icon: 'note',
    label: 'Make a song',
    line: 'A tune for evening rain --style lofi, soft piano',
  },
  { name: 'image', icon: 'cover', label: 'Make an image', line: 'A fox reading under a street lamp' },
  { name: 'ask', icon: 'talk', label: 'Ask a question', line: 'Write a haiku about rain' },
]);

/**
 * `onWrite` writes a line into the message input, and `onSend` sends it.
 * @param {{ channel: BrowserChannel, commands: readonly BrowserCommand[], onWrite: (line: string) => void, onSend: (line: string) => void }} props
 */
export function Welcome({ channel, commands, onWrite, onSend }) {
  const examples = EXAMPLES.filter(({ name }) => commands.some((command) => command.name === name));
  return html`<section class="welcome" aria-label="Welcome">
    <header>
      <h2>${channel.direct ? 'Chat with Minstrel' : `Welcome to #${channel.name}`}</h2>
      <p>
        ${
          channel.direct
            ? 'Ask anything, or use a command.'
            : 'Everything works just like on Discord and Slack. Pick an example, or mention @Minstrel.'
        }
      </p>
    </header>
    <ul class="first">
      ${examples.map(
        ({ name, icon, label, line }) =>
          html`<li key=${name}>
            <button type="button" onClick=${() => onSend(`/${name} ${line}`)}>
              <span class="sign" aria-hidden="true"><${Icon} name=${icon} /></span>
              <strong>${label}</strong>
              <span class="small">${line.replace(/ --\w+/, ',')}</span>
            </button>
          </li>`,
      )}
    </ul>
    <div>
      <h3>All commands</h3>
      <ul class="commands">
        ${commands.map(
          ({ name, description }) =>
            html`<li key=${name}>
              <button type="button" title=${description} onClick=${() => onWrite(`/${name} `)}>
                <code>/${name}</code> <span>${description}</span>
              </button>
            </li>`,
        )}
      </ul>
    </div>
  </section>`;
}
