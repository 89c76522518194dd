/** The playground page: sidebar, messages and composer. */
import { html, useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'htm/preact/standalone';
import { Composer } from './composer.js';
import { createSender, send, watch } from './connection.js';
import { FormDialog } from './form.js';
import { Icon } from './icon.js';
import { MessageRow } from './message.js';
import { Sidebar } from './sidebar.js';
import { EMPTY, reduce, restoreView, saveView } from './state.js';
import { Welcome } from './welcome.js';

/** @import { BrowserAnswer, BrowserButton, BrowserCommand, BrowserMessage } from '../../../core/web/browser-chat.ts' */
/** @import { OpenForm } from './form.js' */

/** In CSS pixels. A reader this close to the end follows new messages. */
const NEAR_END = 120;

export function App() {
  const [view, setView] = useState(restoreView);
  const [chat, dispatch] = useReducer(reduce, EMPTY);
  const [isOnline, setOnline] = useState(true);
  const [draft, setDraft] = useState('');
  const [form, setForm] = useState(/** @type {OpenForm | undefined} */ (undefined));
  const [replyTo, setReplyTo] = useState(/** @type {BrowserMessage | undefined} */ (undefined));
  const [sentence, setSentence] = useState('');
  const [isListOpen, setListOpen] = useState(false);
  const [dropped, setDropped] = useState(/** @type {File[]} */ ([]));
  const [isDropping, setDropping] = useState(false);
  const latestView = useRef(view);
  latestView.current = view;

  const channel = chat.channels.find(({ id }) => id === view.channel);
  const messages = useMemo(
    () => [...chat.messages.values()].filter((message) => message.channel === view.channel),
    [chat.messages, view.channel],
  );

  useEffect(
    () =>
      watch(view.person, {
        onEvent: (event) => dispatch({ event, channel: latestView.current.channel }),
        onOnline: setOnline,
      }),
    [view.person],
  );
  useEffect(() => {
    saveView(view);
    dispatch({ read: view.channel });
    setReplyTo(undefined);
    setSentence('');
  }, [view]);
  // Each person has different direct messages.
  useEffect(() => {
    const [first] = chat.channels;
    if (first && !channel) setView(({ person }) => ({ person, channel: first.id }));
  }, [chat.channels, channel]);

  /** @param {string} person */
  const onPerson = (person) => {
    const isDirect = view.channel.startsWith('direct-');
    setView({ person, channel: isDirect ? `direct-${person}` : view.channel });
    setListOpen(false);
  };
  /** @param {string} id */
  const onChannel = (id) => {
    setView(({ person }) => ({ person, channel: id }));
    setListOpen(false);
  };
  const onAnswer = useCallback((/** @type {BrowserAnswer} */ answer) => {
    setSentence(answer.type === 'refused' ? answer.sentence : '');
    if (answer.type === 'form') setForm(answer);
  }, []);

  const [sendOnce] = useState(createSender);
  /** @param {string} line */
  const onSend = async (line) => onAnswer(await sendOnce({ type: 'line', ...view, line, uploads: [] }));

  const latest = useRef(chat.messages);
  latest.current = chat.messages;
  const messageTools = useMemo(
    () => ({
      people: chat.people,
      menus: chat.commands.filter(({ messageMenu }) => messageMenu),
      find: (/** @type {string} */ id) => latest.current.get(id),
      onPress: async (/** @type {BrowserMessage} */ message, /** @type {BrowserButton} */ { id: action }) =>
        onAnswer(await sendOnce({ type: 'press', ...view, message: message.id, action })),
      onReply: setReplyTo,
      onMenu: async (/** @type {BrowserMessage} */ message, /** @type {BrowserCommand} */ command) =>
        onAnswer(await send({ type: 'menu', ...view, message: message.id, command: command.name })),
    }),
    [chat.people, chat.commands, view],
  );

  if (!chat.isLoaded)
    return html`<p class="loading" role="status">
      ${isOnline ? 'Opening the chat…' : "Minstrel isn't running. Connecting…"}
    </p>`;

  const people = chat.people.filter(({ id }) => id === view.person);
  const name = channel?.direct ? 'Minstrel' : `#${channel?.name ?? ''}`;
  return html`<div
    class="layout"
    onDragOver=${(/** @type {DragEvent} */ event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setDropping(true);
    }}
    onDragLeave=${(/** @type {DragEvent} */ { relatedTarget }) => relatedTarget === null && setDropping(false)}
    onDrop=${(/** @type {DragEvent} */ event) => {
      event.preventDefault();
      setDropping(false);
      setDropped([...(event.dataTransfer?.files ?? [])]);
    }}
  >
    <${Sidebar}
      people=${chat.people}
      channels=${chat.channels}
      view=${view}
      unread=${chat.unread}
      onPerson=${onPerson}
      onChannel=${onChannel}
      isOpen=${isListOpen}
      onClose=${() => setListOpen(false)}
    />
    ${isListOpen && html`<div class="scrim" onClick=${() => setListOpen(false)}></div>`}
    <main>
      <header class="bar">
        <button type="button" class="icon open-list" aria-label="Open channels" aria-controls="sidebar" onClick=${() => setListOpen(true)}><${Icon} name="list" /></button>
        <h1>${name}</h1>
        <p class="small topic">${channel?.topic}</p>
        <span class="small acting">as ${people[0]?.displayName}</span>
        <button
          type="button"
          class="button quiet"
          onClick=${async () => onAnswer(await send({ type: 'clear', ...view }))}
          disabled=${messages.length === 0}
        >
          Clear
        </button>
      </header>
      ${!isOnline && html`<p class="away" role="status">Disconnected. Reconnecting…</p>`}
      <${Messages} messages=${messages} channel=${view.channel}>
        ${
          messages.length === 0 &&
          channel &&
          html`<${Welcome} channel=${channel} commands=${chat.commands} onWrite=${setDraft} onSend=${onSend} />`
        }
        ${messages.map((message) => html`<${MessageRow} key=${message.id} message=${message} tools=${messageTools} />`)}
      <//>
      ${sentence && html`<p class="refused" role="alert">${sentence}</p>`}
      <${Composer}
        key=${view.person}
        view=${view}
        placeholder=${channel?.direct ? 'Ask a question, or type / for commands' : 'Write a message, or type / for commands'}
        commands=${chat.commands}
        people=${chat.people}
        draft=${draft}
        setDraft=${setDraft}
        replyTo=${replyTo}
        onCancelReply=${() => setReplyTo(undefined)}
        dropped=${dropped}
        onDropHandled=${() => setDropped([])}
        onAnswer=${onAnswer}
        showError=${setSentence}
      />
    </main>
    ${
      form &&
      html`<${FormDialog}
      key=${form.form.id}
      open=${form}
      view=${view}
      onClose=${() => setForm(undefined)}
      onAnswer=${onAnswer}
      showError=${setSentence}
    />`
    }
    ${isDropping && html`<div class="dropping">Drop files here to attach them</div>`}
  </div>`;
}

/**
 * Follows new messages, unless the reader has scrolled up.
 * @param {{ messages: readonly BrowserMessage[], channel: string, children?: import('preact').ComponentChildren }} props
 */
function Messages({ messages, channel, children }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const isAtEnd = useRef(true);
  const top = useRef(0);
  const [isBelow, setBelow] = useState(false);

  // The welcome screen starts at the top.
  const isEmpty = useRef(true);
  isEmpty.current = messages.length === 0;
  const toEnd = () => frame.current?.scrollTo({ top: isEmpty.current ? 0 : frame.current.scrollHeight });
  useEffect(() => {
    isAtEnd.current = true;
    toEnd();
  }, [channel]);
  useEffect(() => {
    if (isAtEnd.current) toEnd();
    else setBelow(true);
  }, [messages]);
  // Images and players load later and make the list longer.
  useEffect(() => {
    const inner = frame.current?.firstElementChild;
    if (!inner) return;
    const observer = new ResizeObserver(() => isAtEnd.current && toEnd());
    observer.observe(inner);
    return () => observer.disconnect();
  }, []);

  return html`<div
    class="messages"
    ref=${frame}
    tabindex="0"
    role="log"
    aria-label="Messages"
    onScroll=${() => {
      const area = frame.current;
      if (!area) return;
      const isNear = area.scrollHeight - area.scrollTop - area.clientHeight < NEAR_END;
      // New content moves the end down; only the reader moves up.
      if (isNear || area.scrollTop < top.current) isAtEnd.current = isNear;
      top.current = area.scrollTop;
      if (isNear) setBelow(false);
    }}
  >
    <div class="messages-inner">${children}</div>
    ${isBelow && html`<button type="button" class="button primary to-end" onClick=${toEnd}>New messages <${Icon} name="down" /></button>`}
  </div>`;
}
