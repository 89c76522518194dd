/** What a channel shows before anything was said in it: all commands, from their declarations. */
import { html } from './html.js';

/** @import { Channel, Command } from './types.js' */

/** What can be sent as it is, by the command that it needs. */
const EXAMPLES = [
  ['song', '/song a tune for evening rain --style lofi, soft piano'],
  ['image', '/image a fox reading under a street lamp'],
  ['ask', '/ask Write a haiku about rain'],
];

/** @param {{ channel: Channel, commands: Command[], onWrite: (line: string) => void }} props */
export function Welcome({ channel, commands, onWrite }) {
  const examples = EXAMPLES.filter(([name]) => commands.some((command) => command.name === name));
  return html`<section class="welcome" aria-label="Welcome">
    <h2>${channel.direct ? 'Talk with Minstrel' : `Welcome to #${channel.name}`}</h2>
    <p>
      ${
        channel.direct
          ? 'Ask anything here; a command works too.'
          : 'This is Minstrel as people meet it in Discord and Slack. Try a command, or write @Minstrel and a question.'
      }
    </p>
    <ul class="examples">
      ${examples.map(
        ([name, line = '']) =>
          html`<li key=${name}><button type="button" onClick=${() => onWrite(line)}><code>${line}</code></button></li>`,
      )}
    </ul>
    <h3>Every command</h3>
    <ul class="commands">
      ${commands.map(
        ({ name, description, moderatorsOnly }) =>
          html`<li key=${name}>
            <button type="button" onClick=${() => onWrite(`/${name} `)}>
              <code>/${name}</code>
              <span>${description}</span>
              ${moderatorsOnly && html`<span class="tag">moderators</span>`}
            </button>
          </li>`,
      )}
    </ul>
  </section>`;
}
