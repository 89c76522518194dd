/** The playground page: sidebar, messages and composer. */
import { html, useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'htm/preact/standalone';
import { nameOf } from './avatar.js';
import { Composer } from './composer.js';
import { createSender, send, watch } from './connection.js';
import { FormDialog } from './form.js';
import { Icon } from './icon.js';
import { MessageRow } from './message.js';
import { Messages } from './messages.js';
import { Sidebar } from './sidebar.js';
import { EMPTY, reduce, restoreView, saveView } from './state.js';
import { Toast } from './toast.js';
import { Welcome } from './welcome.js';

/** @import { BrowserAnswer, BrowserButton, BrowserCommand, BrowserMessage } from '../../../core/web/browser-chat.ts' */
/** @import { OpenForm } from './form.js' */
/** @import { Goal } from './messages.js' */
/** @import { Notice } from './toast.js' */

export function App() {
  const [view, setView] = useState(restoreView);
  const [chat, dispatch] = useReducer(reduce, EMPTY);
  const [isOnline, setOnline] = useState(true);
  const [draft, setDraft] = useState('');
  const [form, setForm] = useState(/** @type {OpenForm | undefined} */ (undefined));
  const [replyTo, setReplyTo] = useState(/** @type {BrowserMessage | undefined} */ (undefined));
  const [sentence, setSentence] = useState('');
  const [notice, setNotice] = useState(/** @type {Notice | undefined} */ (undefined));
  const [goal, setGoal] = useState(/** @type {Goal} */ ({}));
  const [isListOpen, setListOpen] = useState(false);
  const [dropped, setDropped] = useState(/** @type {File[]} */ ([]));
  const [isDropping, setDropping] = useState(false);
  const latestView = useRef(view);
  latestView.current = view;
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));

  const channel = chat.channels.find(({ id }) => id === view.channel);
  const messages = useMemo(
    () =>
      [...chat.messages.values()]
        .filter((message) => message.channel === view.channel)
        // Messages that were brought back arrive after newer ones.
        .toSorted((left, right) => left.at - right.at),
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
    if (channel) document.title = `${channel.direct ? '' : '#'}${channel.name} · Minstrel playground`;
  }, [channel]);
  useEffect(() => {
    saveView(view);
    dispatch({ read: view.channel });
    setGoal({});
    setReplyTo(undefined);
    setSentence('');
    setNotice(undefined);
  }, [view]);
  useEffect(() => {
    const onBack = () => setView((current) => ({ ...current, channel: restoreView().channel }));
    window.addEventListener('popstate', onBack);
    return () => window.removeEventListener('popstate', onBack);
  }, []);
  // An unknown channel, such as another person's direct messages, leaves no entry in the browser's history.
  useEffect(() => {
    const [first] = chat.channels;
    if (!first || channel || chat.person !== view.person) return;
    history.replaceState(null, '', location.pathname);
    setView(({ person }) => ({ person, channel: first.id }));
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
  const onWrite = useCallback((/** @type {string} */ line) => {
    setDraft(line);
    field.current?.focus();
  }, []);
  const onAnswer = useCallback((/** @type {BrowserAnswer} */ answer) => {
    setSentence(answer.type === 'refused' ? answer.sentence : '');
    setNotice(undefined);
    if (answer.type === 'form') setForm(answer);
    if (answer.type === 'done' && answer.shown !== undefined) setGoal({ message: answer.shown });
    if (answer.type !== 'notice') return;
    const { sentence: text, draft: better } = answer;
    const action = better === undefined ? {} : { label: 'Mention Minstrel', onAct: () => onWrite(better) };
    setNotice({ sentence: text, ...action });
  }, []);

  const onClear = async () => {
    const answer = await send({ type: 'clear', ...view });
    onAnswer(answer);
    field.current?.focus();
    if (answer.type === 'refused') return;
    const onAct = async () => onAnswer(await send({ type: 'restore', ...view }));
    setNotice({ sentence: 'Cleared.', label: 'Undo', onAct });
  };

  const [sendOnce] = useState(createSender);
  /** @param {string} line */
  const onSend = async (line) => {
    field.current?.focus();
    setGoal({});
    onAnswer(await sendOnce({ type: 'line', ...view, line, uploads: [] }));
  };

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
        <div>
          <p class="away small" role="status">${isOnline ? '' : 'Reconnecting…'}</p>
          <span class="small">as ${nameOf(view.person, chat.people)}</span>
          <button type="button" class="button quiet" onClick=${onClear} disabled=${messages.length === 0}>Clear chat</button>
        </div>
      </header>
      <${Messages} messages=${messages} goal=${goal}>
        ${
          messages.length === 0 &&
          channel &&
          html`<${Welcome} channel=${channel} commands=${chat.commands} onWrite=${onWrite} onSend=${onSend} />`
        }
        ${messages.map((message, index) => html`<${MessageRow} key=${message.id} message=${message} previous=${messages[index - 1]?.id} tools=${messageTools} />`)}
      <//>
      <${Toast} notice=${notice} onClose=${() => setNotice(undefined)} />
      ${sentence && html`<p class="refused" role="alert">${sentence}</p>`}
      <${Composer}
        key=${view.person}
        view=${view}
        field=${field}
        onSending=${() => setGoal({})}
        placeholder=${channel?.direct ? 'Ask, or type / for commands' : 'Message, or type / for commands'}
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
