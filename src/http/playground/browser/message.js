/** A chat message. */
import { html, useEffect, useMemo, useState } from 'htm/preact/standalone';
import { Icon } from './icon.js';
import { linkTo, Markdown } from './markdown.js';
import { clock, MediaList } from './media.js';
import { Menu } from './menu.js';

/** @import { BrowserButton, BrowserCommand, BrowserMessage } from '../../../core/web/browser-chat.ts' */
/** @import { Person } from '../../../core/invocation.ts' */
/** @import { Progress } from '../../../core/message.ts' */

/**
 * @typedef {{ people: readonly Person[], menus: readonly BrowserCommand[], find: (id: string) => BrowserMessage | undefined,
 *   onPress: (message: BrowserMessage, button: BrowserButton) => void, onReply: (message: BrowserMessage) => void,
 *   onMenu: (message: BrowserMessage, command: BrowserCommand) => void }} MessageTools
 */

/** @param {{ message: BrowserMessage, tools: MessageTools }} props */
export function MessageRow({ message, tools }) {
  // Don't render unchanged messages again while another one streams.
  return useMemo(() => renderMessage(message, tools), [message, tools]);
}

/** @param {BrowserMessage} message @param {MessageTools} tools */
function renderMessage(message, tools) {
  const { id, author, at, to, line, title, mention, body, fields, media, progress, footer, attached } =
    message;
  const name = nameOf(author, tools.people);
  const repliedTo = message.replyTo === undefined ? undefined : tools.find(message.replyTo);
  return html`<article
    id=${`message-${id}`}
    class=${['message', author ? 'of-person' : 'of-bot', to ? 'private' : ''].join(' ')}
    aria-label=${`${name}, ${timeOf(at)}`}
  >
    <${Avatar} id=${author} name=${name} />
    <div class="content">
      <header>
        <strong dir="auto">${name}</strong>
        ${author ? null : html`<span class="tag">bot</span>`}
        <time class="small" datetime=${new Date(at).toISOString()}>${timeOf(at)}</time>
        ${to && html`<span class="only-you small">Only ${nameOf(to, tools.people)} can see this</span>`}
        <${Tools} message=${message} tools=${tools} />
      </header>
      ${repliedTo && html`<${Quote} message=${repliedTo} people=${tools.people} />`}
      ${line && html`<p class="line"><code dir="auto">${line}</code></p>`}
      ${
        author
          ? html`<${Markdown} nodes=${body} />`
          : html`<div class="card">
            ${mention && html`<p class="mention">@${nameOf(mention, tools.people)}</p>`}
            ${title && html`<h2 dir="auto">${title}</h2>`}
            <${Markdown} nodes=${body} />
            <${MediaList} media=${media} />
            <${Fields} fields=${fields} />
            ${progress && html`<${ProgressLine} progress=${progress} />`}
            ${footer && html`<p class="footer small" dir="auto">${footer}</p>`}
            <${Buttons} message=${message} onPress=${tools.onPress} />
          </div>`
      }
      ${attached && html`<p class="attached">${attached.map((file) => html`<span class="chip" key=${file} dir="auto">${file}</span>`)}</p>`}
    </div>
  </article>`;
}

/** @param {string | undefined} id @param {readonly Person[]} people */
export function nameOf(id, people) {
  return id === undefined ? 'Minstrel' : (people.find((person) => person.id === id)?.displayName ?? id);
}

/** @param {number} at */
const timeOf = (at) => new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });

/** @param {{ id?: string, name: string }} props */
export function Avatar({ id, name }) {
  if (id !== undefined)
    return html`<span class=${`avatar avatar-${id}`} aria-hidden="true">${name.slice(0, 1)}</span>`;
  return html`<span class="avatar avatar-bot" aria-hidden="true">
    <${Icon} name="note" />
  </span>`;
}

/** @param {{ message: BrowserMessage, tools: MessageTools }} props */
function Tools({ message, tools }) {
  if (message.to) return null;
  const entries = tools.menus.map((command) => ({
    label: command.messageMenu?.label ?? command.name,
    onChoose: () => tools.onMenu(message, command),
  }));
  return html`<span class="message-tools">
    <${Menu} label="Message actions" icon="more" entries=${[
      { label: 'Reply', onChoose: () => tools.onReply(message) },
      ...entries,
    ]} />
  </span>`;
}

/** @param {{ message: BrowserMessage, people: readonly Person[] }} props */
function Quote({ message, people }) {
  const text = message.title ?? message.line ?? message.body.map(textOf).join(' ');
  return html`<a class="quote small" href=${`#message-${message.id}`}>
    <${Icon} name="reply" /> ${nameOf(message.author, people)}: <span dir="auto">${text.slice(0, 90) || '…'}</span>
  </a>`;
}

/** @param {import('../../../core/web/browser-chat.ts').MarkdownNode} node @returns {string} */
const textOf = ({ value = '', children = [] }) => value + children.map(textOf).join(' ');

/** @param {{ fields: BrowserMessage['fields'] }} props */
function Fields({ fields = [] }) {
  if (fields.length === 0) return null;
  return html`<dl class="fields">
    ${fields.map(
      ({ name, value }) =>
        html`<div key=${name}><dt dir="auto">${name}</dt><dd dir="auto">${value}</dd></div>`,
    )}
  </dl>`;
}

/** @param {{ progress: Progress }} props */
function ProgressLine({ progress: { stage, startedAt, queuePosition, estimateMs, until } }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const elapsed = Math.max(0, now - startedAt);
  // Never show 100 %: only the result means completion.
  const part = estimateMs ? Math.min(0.95, elapsed / estimateMs) : undefined;
  const facts = [
    queuePosition === undefined ? '' : `position ${queuePosition} in the queue`,
    clock(elapsed / 1000),
    until === undefined ? '' : `${clock((until - now) / 1000)} left`,
    estimateMs === undefined ? '' : `usually about ${clock(estimateMs / 1000)}`,
  ];
  return html`<div class="progress">
    <p><span dir="auto">${stage}</span> <span class="small">${facts.filter(Boolean).join(' · ')}</span></p>
    <div class=${part === undefined ? 'bar unknown' : 'bar'}>
      <span style=${part === undefined ? {} : { width: `${part * 100}%` }}></span>
    </div>
  </div>`;
}

/** @param {{ message: BrowserMessage, onPress: MessageTools['onPress'] }} props */
function Buttons({ message, onPress }) {
  const { buttons = [], more = [] } = message;
  if (buttons.length + more.length === 0) return null;
  return html`<div class="buttons">
    ${buttons.map((button) =>
      button.url
        ? html`<a class="button" key=${button.url} aria-label=${button.spoken} ...${linkTo(button.url)}>${button.label}</a>`
        : html`<button type="button" key=${button.id} aria-label=${button.spoken} class=${`button ${button.emphasis ?? ''}`} onClick=${() => onPress(message, button)}>
            ${button.label}
          </button>`,
    )}
    ${
      more.length > 0 &&
      html`<${Menu}
      label="More buttons"
      sign="More"
      entries=${more.map((button) => ({ label: button.label, onChoose: () => onPress(message, button) }))}
    />`
    }
  </div>`;
}
