/** The message input, with completion of commands. */
import { html, useEffect, useRef, useState } from 'htm/preact/standalone';
import { nameOf } from './avatar.js';
import { createSender, send, upload } from './connection.js';
import { Icon } from './icon.js';

/** @import { BrowserAnswer, BrowserCommand, BrowserMessage, Candidate } from '../../../core/web/browser-chat.ts' */
/** @import { Person } from '../../../core/invocation.ts' */

/** Milliseconds to wait after a keystroke. */
const COMPLETE_AFTER_MS = 50;
const NO_COMPLETIONS = { line: '', typed: '', candidates: /** @type {readonly Candidate[]} */ ([]) };

/**
 * @param {{ view: { person: string, channel: string }, field: { current: HTMLTextAreaElement | null }, onSending: () => void, placeholder: string, commands: readonly BrowserCommand[], people: readonly Person[],
 *   draft: string, setDraft: (draft: string) => void, replyTo: BrowserMessage | undefined, onCancelReply: () => void,
 *   dropped: File[], onDropHandled: () => void, onAnswer: (answer: BrowserAnswer) => void, showError: (sentence: string) => void }} props
 */
export function Composer(props) {
  const { view, field, commands, draft, setDraft, replyTo, dropped, onDropHandled, showError } = props;
  const [offer, setOffer] = useState(NO_COMPLETIONS);
  const [active, setActive] = useState(-1);
  const [files, setFiles] = useState(
    /** @type {{ id: string, name: string, picture: string | undefined }[]} */ ([]),
  );
  const [sending, setSending] = useState(0);
  const [sendOnce] = useState(createSender);
  const lastLine = useRef('');
  const latestRequest = useRef(0);

  // The person may have typed more since the completions arrived.
  const base = offer.line.slice(0, offer.line.length - offer.typed.length);
  const word = draft.slice(base.length);
  const candidates =
    draft === offer.line
      ? offer.candidates
      : offer.candidates.filter(({ value }) => draft.startsWith(base) && value.startsWith(word));
  const isOpen = candidates.length > 0;
  const command = commandIn(draft, commands);
  const isEmpty = draft.trim() === '' && files.length === 0;

  useEffect(() => {
    field.current?.focus();
  }, [view.channel, view.person, replyTo?.id]);

  useEffect(() => {
    const area = field.current;
    if (!area) return;
    // Grows with its content, up to the maximum in the style sheet.
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight}px`;
  }, [draft]);

  // Completes the end of the line.
  useEffect(() => {
    latestRequest.current += 1;
    const request = latestRequest.current;
    if (!draft.startsWith('/') || draft.includes('\n')) {
      setOffer(NO_COMPLETIONS);
      return;
    }
    const timer = setTimeout(async () => {
      const answer = await send({ type: 'complete', ...view, line: draft });
      if (request !== latestRequest.current || answer.type !== 'candidates') return;
      const isWhole = answer.candidates.length === 1 && answer.candidates[0]?.value.trim() === draft.trim();
      const found = answer.candidates.length > 0 ? answer.candidates : helpFor(draft, commands);
      setOffer(
        isWhole && !draft.endsWith(' ') ? NO_COMPLETIONS : { ...answer, candidates: found, line: draft },
      );
      // Preselect names of commands. A typed value may already be complete, and a wrong name gets an explanation.
      setActive(/^\/\S+$/.test(draft) && answer.candidates.length > 0 ? 0 : -1);
    }, COMPLETE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [draft, view.person, view.channel]);

  useEffect(() => {
    if (dropped.length === 0) return;
    onDropHandled();
    void attach(dropped);
  }, [dropped]);

  /** @param {readonly File[]} selected */
  async function attach(selected) {
    for (const file of selected) {
      const uploaded = await upload(file);
      const picture = file.type.startsWith('image/') ? URL.createObjectURL(file) : undefined;
      if ('id' in uploaded)
        setFiles((current) => [...current, { id: uploaded.id, name: file.name, picture }]);
      else showError(uploaded.sentence);
    }
    field.current?.focus();
  }

  /** @param {Candidate} candidate */
  function accept({ value }) {
    setDraft(value.endsWith(' ') ? base + value : `${base}${value} `);
    setOffer(NO_COMPLETIONS);
    field.current?.focus();
  }

  async function submit() {
    if (isEmpty) return;
    const line = draft.trim();
    const reply = replyTo && !line.startsWith('/') ? { replyTo: replyTo.id } : {};
    const request = { type: 'line', ...view, line, uploads: files.map((file) => file.id) };
    lastLine.current = line;
    setDraft('');
    setFiles([]);
    setOffer(NO_COMPLETIONS);
    props.onCancelReply();
    props.onSending();
    setSending((count) => count + 1);
    // A line restored after a failure is no longer a reply.
    const answer = await sendOnce({ ...request, ...reply }, request);
    setSending((count) => count - 1);
    if (answer.type === 'refused') {
      setFiles((current) => [...files, ...current]);
      if (field.current?.value === '') setDraft(line);
    }
    props.onAnswer(answer);
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.isComposing) return;
    const selected = candidates[active];
    if (isOpen && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const next = active < 0 ? (step > 0 ? 0 : candidates.length - 1) : active + step;
      setActive((next + candidates.length) % candidates.length);
    } else if (isOpen && event.key === 'Tab' && !event.shiftKey) {
      accept(selected ?? candidates[0] ?? { value: '' });
    } else if (isOpen && event.key === 'Enter' && selected && selected.value.trim() !== draft.trim()) {
      accept(selected);
    } else if (event.key === 'Enter' && !event.shiftKey) {
      void submit();
    } else if (event.key === 'Escape' && (isOpen || replyTo)) {
      if (isOpen) setOffer(NO_COMPLETIONS);
      else props.onCancelReply();
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
    <${Completions} candidates=${candidates} active=${active} onChoose=${accept} />
    ${
      replyTo &&
      html`<p class="replying small">
      Replying to ${nameOf(replyTo.author, props.people)}
      <button type="button" class="link" onClick=${props.onCancelReply}>Cancel</button>
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
        ({ id, name, picture }) => html`<span class="chip" key=${id}>
          ${picture && html`<img src=${picture} alt="" />`}
          <span dir="auto">${name}</span>
          <button type="button" aria-label=${`Remove ${name}`} onClick=${() => setFiles(files.filter((file) => file.id !== id))}><${Icon} name="cancel" /></button>
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
      <button type="submit" class="icon send" aria-label="Send" aria-disabled=${isEmpty}>
        <${Icon} name="send" />
      </button>
    </div>
  </form>`;
}

/** An unknown name of a command gets the command that explains the others. @param {string} draft @param {readonly BrowserCommand[]} commands */
function helpFor(draft, commands) {
  const help = /^\/\S*$/.test(draft) && commands.find(({ name }) => name === 'minstrel');
  return help ? [{ value: `/${help.name} `, description: help.description }] : [];
}

/** @param {{ candidates: readonly Candidate[], active: number, onChoose: (candidate: Candidate) => void }} props */
function Completions({ candidates, active, onChoose }) {
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

/** The command or subcommand in the line. @param {string} draft @param {readonly BrowserCommand[]} commands */
function commandIn(draft, commands) {
  const [, name, part] = /^\/(\S+)\s+(?:(\S+)\s)?/.exec(draft) ?? [];
  const command = commands.find((candidate) => candidate.name === name);
  return command?.subcommands.find((candidate) => candidate.name === part) ?? command;
}

/** @param {{ command: Pick<BrowserCommand, 'description' | 'options'>, draft: string, onInsert: (text: string) => void }} props */
function Hints({ command: { description, options }, draft, onInsert }) {
  const unused = Object.entries(options).filter(([name]) => !draft.includes(`--${name}`));
  return html`<div class="hints small">
    <span>${description}</span>
    ${unused.map(
      ([name, option]) =>
        html`<button type="button" key=${name} title=${option.description} onClick=${() => onInsert(`--${name} `)}>
          ${name}${option.required ? ' *' : ''}
        </button>`,
    )}
  </div>`;
}
