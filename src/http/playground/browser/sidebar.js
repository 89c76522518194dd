/** The list of channels and people. */
import { html } from 'htm/preact/standalone';
import { Avatar } from './avatar.js';
import { Icon } from './icon.js';

/** @import { BrowserChannel } from '../../../core/web/browser-chat.ts' */
/** @import { Person } from '../../../core/invocation.ts' */

/**
 * @param {{ people: readonly Person[], channels: readonly BrowserChannel[], view: { person: string, channel: string }, unread: ReadonlySet<string>,
 *   onPerson: (id: string) => void, onChannel: (id: string) => void, isOpen: boolean, onClose: () => void }} props
 */
export function Sidebar({ people, channels, view, unread, onPerson, onChannel, isOpen, onClose }) {
  const directChannels = channels.filter((channel) => channel.direct);
  const serverChannels = channels.filter((channel) => !channel.direct);
  /** @param {BrowserChannel} channel */
  const entry = (channel) =>
    html`<li key=${channel.id}>
      <button
        type="button"
        class=${unread.has(channel.id) ? 'channel unread' : 'channel'}
        aria-current=${channel.id === view.channel ? 'page' : undefined}
        onClick=${() => onChannel(channel.id)}
      >
        <span aria-hidden="true">${channel.direct ? html`<${Icon} name="talk" />` : '#'}</span> ${channel.name}
        ${unread.has(channel.id) && html`<span class="unseen">, unread</span>`}
      </button>
    </li>`;
  return html`<nav id="sidebar" class=${isOpen ? 'sidebar open' : 'sidebar'} aria-label="People and channels" onKeyDown=${(/** @type {KeyboardEvent} */ { key }) => key === 'Escape' && onClose()}>
    <div class="brand">
      <${Avatar} name="Minstrel" />
      <p><strong>Minstrel</strong><span class="small">Playground</span></p>
      <button type="button" class="icon close" aria-label="Close channels" onClick=${onClose}><${Icon} name="cancel" /></button>
    </div>
    <h2>Channels</h2>
    <ul>${serverChannels.map(entry)}</ul>
    <h2>Direct messages</h2>
    <ul>${directChannels.map(entry)}</ul>
    <fieldset class="people">
      <legend>You are</legend>
      ${people.map(
        (person) =>
          html`<label key=${person.id}>
            <input
              type="radio"
              name="person"
              value=${person.id}
              checked=${person.id === view.person}
              onChange=${() => onPerson(person.id)}
            />
            <${Avatar} id=${person.id} name=${person.displayName} />
            <span>${person.displayName}<span class="small">${person.moderator ? 'moderator' : 'member'}</span></span>
          </label>`,
      )}
    </fieldset>
    <p class="small about">Only on this machine. Nothing here reaches Discord or Slack.</p>
  </nav>`;
}
