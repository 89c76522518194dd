/** The line in which people write: commands are completed while they are typed. */
import { html, useEffect, useRef, useState } from 'htm/preact/standalone';
import { createSender, send, upload } from './connection.js';
import { Icon } from './icon.js';
import { nameOf } from './message.js';

/** @import { BrowserAnswer, BrowserCommand, BrowserMessage, Candidate } from '../../../core/web/browser-chat.ts' */
/** @import { Person } from '../../../core/invocation.ts' */

/** A pause in typing; in milliseconds. */
const COMPLETE_AFTER_MS = 50;
const NONE = { line: '', typed: '', candidates: /** @type {readonly Candidate[]} */ ([]) };

/**
 * @param {{ who: { person: string, channel: string }, placeholder: string, commands: readonly BrowserCommand[], people: readonly Person[],
 *   draft: string, setDraft: (draft: string) => void, replyTo: BrowserMessage | undefined, onNoReply: () => void,
 *   dropped: File[], onTaken: () => void, onAnswer: (answer: BrowserAnswer) => void, tell: (sentence: string) => void }} props
 */
export function Composer(props) {
  const { who, commands, draft, setDraft, replyTo, dropped, onTaken, tell } = props;
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const [offer, setOffer] = useState(NONE);
  const [active, setActive] = useState(-1);
  const [files, setFiles] = useState(/** @type {{ id: string, name: string }[]} */ ([]));
  const [sending, setSending] = useState(0);
  const [sendOnce] = useState(createSender);
  const lastLine = useRef('');
  const newest = useRef(0);

  // More may have been typed since it was offered.
  const kept = offer.line.slice(0, offer.line.length - offer.typed.length);
  const word = draft.slice(kept.length);
  const candidates =
    draft === offer.line
      ? offer.candidates
      : offer.candidates.filter(({ value }) => draft.startsWith(kept) && value.startsWith(word));
  const isOpen = candidates.length > 0;
  const command = commandIn(draft, commands);

  useEffect(() => {
    field.current?.focus();
  }, [who.channel, who.person, replyTo?.id]);

  useEffect(() => {
    const area = field.current;
    if (!area) return;
    // Grows with its lines; the style sheet sets where it ends.
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight}px`;
  }, [draft]);

  // Completion of the whole line: only where the cursor is at its end.
  useEffect(() => {
    newest.current += 1;
    const asked = newest.current;
    if (!draft.startsWith('/') || draft.includes('\n')) {
      setOffer(NONE);
      return;
    }
    const timer = setTimeout(async () => {
      const answer = await send({ type: 'complete', ...who, line: draft });
      if (asked !== newest.current || answer.type !== 'candidates') return;
      const isWhole = answer.candidates.length === 1 && answer.candidates[0]?.value.trim() === draft.trim();
      setOffer(isWhole && !draft.endsWith(' ') ? NONE : { ...answer, line: draft });
      // A name is meant to be completed; of values the typed one is as good.
      setActive(/^\/\S*$/.test(draft) && draft !== '/' ? 0 : -1);
    }, COMPLETE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [draft, who.person, who.channel]);

  useEffect(() => {
    if (dropped.length === 0) return;
    onTaken();
    void attach(dropped);
  }, [dropped]);

  /** @param {readonly File[]} chosen */
  async function attach(chosen) {
    for (const file of chosen) {
      const held = await upload(file);
      if ('id' in held) setFiles((before) => [...before, { id: held.id, name: file.name }]);
      else tell(held.sentence);
    }
    field.current?.focus();
  }

  /** @param {Candidate} candidate */
  function accept({ value }) {
    setDraft(value.endsWith(' ') ? kept + value : `${kept}${value} `);
    setOffer(NONE);
    field.current?.focus();
  }

  async function submit() {
    const line = draft.trim();
    if (line === '' && files.length === 0) return;
    const reply = replyTo && !line.startsWith('/') ? { replyTo: replyTo.id } : {};
    const request = { type: 'line', ...who, line, uploads: files.map((file) => file.id) };
    lastLine.current = line;
    setDraft('');
    setFiles([]);
    setOffer(NONE);
    props.onNoReply();
    setSending((count) => count + 1);
    // A line restored after a failure is no longer a reply.
    const answer = await sendOnce({ ...request, ...reply }, request);
    setSending((count) => count - 1);
    if (answer.type === 'refused') {
      setFiles((before) => [...files, ...before]);
      if (field.current?.value === '') setDraft(line);
    }
    props.onAnswer(answer);
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.isComposing) return;
    const chosen = candidates[active];
    if (isOpen && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const next = active < 0 ? (step > 0 ? 0 : candidates.length - 1) : active + step;
      setActive((next + candidates.length) % candidates.length);
    } else if (isOpen && event.key === 'Tab' && !event.shiftKey) {
      accept(chosen ?? candidates[0] ?? { value: '' });
    } else if (isOpen && event.key === 'Enter' && chosen && chosen.value.trim() !== draft.trim()) {
      accept(chosen);
    } else if (event.key === 'Enter' && !event.shiftKey) {
      void submit();
    } else if (event.key === 'Escape' && (isOpen || replyTo)) {
      if (isOpen) setOffer(NONE);
      else props.onNoReply();
    } else if (event.key === 'ArrowUp' && draft === '' && lastLine.current !== '') {
      setDraft(lastLine.current);
    } else {
      return;
    }
    event.preventDefault();
  }

  return html`<form
    class="composer"
    onSubmit=${(/** @type {Event} */ event) => {
      event.preventDefault();
      void submit();
    }}
  >
    <${Offer} candidates=${candidates} active=${active} onChoose=${accept} />
    ${
      replyTo &&
      html`<p class="replying small">
      Replying to ${nameOf(replyTo.author, props.people)}
      <button type="button" class="link" onClick=${props.onNoReply}>Cancel</button>
    </p>`
    }
    ${
      command &&
      html`<${Hints} command=${command} draft=${draft} onInsert=${(/** @type {string} */ text) => {
        setDraft(`${draft.trimEnd()} ${text}`);
        field.current?.focus();
      }} />`
    }
    ${
      files.length > 0 &&
      html`<p class="attached">
      ${files.map(
        ({ id, name }) => html`<span class="chip" key=${id}>
          <span dir="auto">${name}</span>
          <button type="button" aria-label=${`Remove ${name}`} onClick=${() => setFiles(files.filter((file) => file.id !== id))}><${Icon} name="close" /></button>
        </span>`,
      )}
    </p>`
    }
    ${sending > 0 && html`<p class="sending small" role="status">Sending…</p>`}
    <div class="writing">
      <label class="icon" title="Attach a file">
        <input
          type="file"
          class="unseen"
          multiple
          aria-label="Attach files"
          onChange=${(/** @type {Event} */ { currentTarget }) => {
            if (!(currentTarget instanceof HTMLInputElement)) return;
            void attach([...(currentTarget.files ?? [])]);
            currentTarget.value = '';
          }}
        />
        <${Icon} name="add" />
      </label>
      <textarea
        ref=${field}
        rows="1"
        dir="auto"
        value=${draft}
        placeholder=${props.placeholder}
        aria-label=${props.placeholder}
        aria-autocomplete="list"
        aria-controls="offer"
        aria-activedescendant=${isOpen && active >= 0 ? `offer-${active}` : undefined}
        autocomplete="off"
        spellcheck="false"
        onInput=${(/** @type {Event} */ { currentTarget }) =>
          currentTarget instanceof HTMLTextAreaElement && setDraft(currentTarget.value)}
        onKeyDown=${onKey}
        onPaste=${(/** @type {ClipboardEvent} */ event) => {
          const pasted = [...(event.clipboardData?.files ?? [])];
          if (pasted.length === 0) return;
          event.preventDefault();
          void attach(pasted);
        }}
      ></textarea>
      <button type="submit" class="icon send" aria-label="Send">
        <${Icon} name="send" />
      </button>
    </div>
  </form>`;
}

/** @param {{ candidates: readonly Candidate[], active: number, onChoose: (candidate: Candidate) => void }} props */
function Offer({ candidates, active, onChoose }) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return html`<div class="offer" hidden=${candidates.length === 0} ref=${list}>
    <p class="unseen" role="status">
      ${candidates.length > 0 ? `${candidates.length} completions. Use the arrow keys to choose and Tab to accept.` : ''}
    </p>
    <ul id="offer" role="listbox" tabindex="0" aria-label="Completions">
      ${candidates.map(
        (candidate, index) =>
          html`<li
            key=${candidate.value}
            id=${`offer-${index}`}
            role="option"
            aria-selected=${index === active}
            onPointerDown=${(/** @type {Event} */ event) => {
              event.preventDefault();
              onChoose(candidate);
            }}
          >
            <code dir="auto">${candidate.value.trim()}</code>
            <span class="small" dir="auto">${candidate.description}</span>
          </li>`,
      )}
    </ul>
  </div>`;
}

/** The command of the line, with the options that it takes. @param {string} draft @param {readonly BrowserCommand[]} commands */
function commandIn(draft, commands) {
  const [, name, part] = /^\/(\S+)\s+(?:(\S+)\s)?/.exec(draft) ?? [];
  const command = commands.find((candidate) => candidate.name === name);
  return command?.subcommands.find((candidate) => candidate.name === part) ?? command;
}

/** @param {{ command: Pick<BrowserCommand, 'description' | 'options'>, draft: string, onInsert: (text: string) => void }} props */
function Hints({ command: { description, options }, draft, onInsert }) {
  const left = Object.entries(options).filter(([name]) => !draft.includes(`--${name}`));
  return html`<div class="hints small">
    <span>${description}</span>
    ${left.map(
      ([name, option]) =>
        html`<button type="button" key=${name} title=${option.description} onClick=${() => onInsert(`--${name} `)}>
          ${name}${option.required ? ' *' : ''}
        </button>`,
    )}
  </div>`;
}
