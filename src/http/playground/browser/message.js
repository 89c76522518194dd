/** A chat message. */
import { html, useMemo } from 'htm/preact/standalone';
import { Avatar, nameOf } from './avatar.js';
import { Buttons, PressButton } from './buttons.js';
import { Data } from './data.js';
import { Icon } from './icon.js';
import { linkTo, Markdown } from './markdown.js';
import { MediaList } from './media.js';
import { Menu } from './menu.js';
import { ProgressLine } from './progress.js';

/** @import { BrowserButton, BrowserCommand, BrowserMessage } from '../../../core/web/browser-chat.ts' */
/** @import { Person } from '../../../core/invocation.ts' */

/**
 * @typedef {{ people: readonly Person[], menus: readonly BrowserCommand[], find: (id: string) => BrowserMessage | undefined,
 *   onPress: (message: BrowserMessage, button: BrowserButton) => void, onReply: (message: BrowserMessage) => void,
 *   onMenu: (message: BrowserMessage, command: BrowserCommand) => void }} MessageTools
 */

/** @param {{ message: BrowserMessage, previous: string | undefined, tools: MessageTools }} props */
export function MessageRow({ message, previous, tools }) {
  // Don't render unchanged messages again while another one streams.
  return useMemo(() => renderMessage(message, previous, tools), [message, previous, tools]);
}

/** A reply to the message above needs no quote. @param {BrowserMessage} message @param {string | undefined} previous @param {MessageTools} tools */
function renderMessage(message, previous, tools) {
  const { id, author, at, to, line, attached } = message;
  const name = nameOf(author, tools.people);
  const repliedTo = message.replyTo === previous ? undefined : tools.find(message.replyTo ?? '');
  return html`<article
    id=${`message-${id}`}
    class=${['message', author ? 'of-person' : 'of-bot', to ? 'private' : ''].join(' ')}
    aria-label=${`${name}, ${timeOf(at)}`}
  >
    <${Avatar} id=${author} name=${name} />
    <div class="content">
      <header>
        <strong dir="auto">${name}</strong>
        <time class="small" datetime=${new Date(at).toISOString()}>${timeOf(at)}</time>
        ${to && html`<span class="only-you small">Only ${nameOf(to, tools.people)} can see this</span>`}
        <${Tools} message=${message} tools=${tools} />
      </header>
      ${repliedTo && html`<${Quote} message=${repliedTo} people=${tools.people} />`}
      ${line && html`<p class="line"><code dir="auto">${line}</code></p>`}
      ${author ? html`<${Markdown} nodes=${message.body} />` : html`<${Card} message=${message} tools=${tools} />`}
      ${attached && html`<p class="attached">${attached.map((file) => html`<span class="chip" key=${file} dir="auto">${file}</span>`)}</p>`}
    </div>
  </article>`;
}

/** Answers in a conversation have no frame. @param {{ message: BrowserMessage, tools: MessageTools }} props */
function Card({ message, tools }) {
  const {
    title,
    titleUrl,
    mention,
    body,
    media = [],
    fields = [],
    variants = [],
    progress,
    footer,
  } = message;
  const isAnswer = progress === undefined || progress.result === 'answer';
  // The words of a song stand where its players will be. Then its button Lyrics shows them.
  const isSong = progress?.result === 'song';
  const hasPlayers = media.some(({ kind, part, bytes }) => kind === 'audio' && !part && bytes !== undefined);
  const isFramed = Boolean(title) || media.length + fields.length > 0 || !isAnswer;
  const onPress = (/** @type {BrowserButton} */ button) => tools.onPress(message, button);
  const { takes, buttons, more } = splitButtons(message);
  return html`<div class=${isFramed ? 'card framed' : 'card'}>
    ${mention && html`<p class="mention">@${nameOf(mention, tools.people)}</p>`}
    ${title && html`<h2 dir="auto">${titleUrl ? html`<a ...${linkTo(titleUrl)}>${title}</a>` : title}</h2>`}
    ${isSong || hasPlayers || html`<${Markdown} nodes=${body} />`}
    <${MediaList} media=${media} result=${progress?.result} title=${title} words=${isSong ? body : []} takes=${takes} onPress=${onPress} />
    ${message.data && html`<${Data} data=${message.data} />`}
    ${
      variants.length > 0 &&
      html`<ul class="variants">
      ${variants.map(
        (variant) =>
          html`<li key=${variant.button.id}>
            <h3 dir="auto">${variant.title}</h3>
            <${Markdown} nodes=${variant.body} />
            <${PressButton} button=${{ ...variant.button, emphasis: 'primary' }} onPress=${onPress} />
          </li>`,
      )}
    </ul>`
    }
    <div class="facts">
      ${
        fields.length > 0 &&
        // They appear where the progress was.
        !isSong &&
        html`<dl class="fields">
        ${fields.map(({ name, value }) => html`<div key=${name}><dt dir="auto">${name}</dt><dd dir="auto">${value}</dd></div>`)}
      </dl>`
      }
      ${progress && html`<${ProgressLine} progress=${progress} />`}
      ${footer && html`<p class="footer small" dir="auto">${footer}</p>`}
    </div>
    <${Buttons} buttons=${buttons} more=${more} onPress=${onPress} />
  </div>`;
}

/**
 * The buttons of each recording, by its place, and those of the whole message.
 * @param {BrowserMessage} message
 */
function splitButtons({ buttons = [], more = [], media = [] }) {
  const recordings = media.filter(({ kind, part }) => kind === 'audio' && !part).length;
  const groups = Map.groupBy([...buttons, ...more], ({ group = '' }) => group);
  groups.delete('');
  // Buttons without a player, as for an earlier song, stay below the message.
  if (groups.size === 0 || groups.size !== recordings) return { takes: [], buttons, more };
  const isWhole = (/** @type {BrowserButton} */ { group }) => group === undefined;
  return { takes: [...groups.values()], buttons: buttons.filter(isWhole), more: more.filter(isWhole) };
}

/** Such as `2:05 PM`, and on later days `Tue 2:05 PM`, as people write it in their language. @param {number} at */
function timeOf(at) {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return new Date(at).toLocaleString([], {
    weekday: isToday ? undefined : 'short',
    hour: 'numeric',
    minute: '2-digit',
  });
}

/** @param {{ message: BrowserMessage, tools: MessageTools }} props */
function Tools({ message, tools }) {
  if (message.to) return null;
  const entries = tools.menus.map((command) => ({
    label: command.messageMenu ?? command.name,
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
