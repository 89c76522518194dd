/** Renders a form from option declarations. */
import { html, useEffect, useRef, useState } from 'htm/preact/standalone';
import { createSender, send, upload } from './connection.js';
import { Icon } from './icon.js';
import { Markdown } from './markdown.js';

/** @import { BrowserAnswer, MarkdownNode } from '../../../core/web/browser-chat.ts' */
/** @import { FileOption, Form, OptionDeclaration } from '../../../core/options.ts' */

/**
 * @typedef {string | number | boolean | { upload: string }} Value
 * @typedef {{ form: Form, about: string }} OpenForm
 */

/**
 * @param {{ open: OpenForm, view: { person: string, channel: string }, onClose: () => void,
 *   onAnswer: (answer: BrowserAnswer) => void, showError: (sentence: string) => void }} props
 */
export function FormDialog({ open: { form, about }, view, onClose, onAnswer, showError }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [sendOnce] = useState(createSender);
  const [values, setValues] = useState(() => initialOf(form));
  const [wrong, setWrong] = useState(
    /** @type {{ option: string, sentence: readonly MarkdownNode[] } | undefined} */ (undefined),
  );
  const [isBusy, setBusy] = useState(false);

  useEffect(() => {
    dialog.current?.showModal();
    const first = dialog.current?.querySelector('input, select, textarea');
    if (first instanceof HTMLElement) first.focus();
  }, []);
  useEffect(() => {
    const field = wrong && dialog.current?.querySelector(`[name="${CSS.escape(wrong.option)}"]`);
    if (field instanceof HTMLElement) field.focus();
  }, [wrong]);

  async function submit() {
    setBusy(true);
    const filled = Object.fromEntries(
      Object.entries(values).filter(([, value]) => value !== '' && value !== false),
    );
    const answer = await sendOnce({ type: 'form', ...view, form: form.id, options: filled });
    setBusy(false);
    if (answer.type === 'wrong') return setWrong(answer);
    if (answer.type === 'refused') return showError(answer.sentence);
    onClose();
    onAnswer(answer);
  }

  /** @param {[string, OptionDeclaration]} entry */
  const field = ([option, declaration]) =>
    html`<${Field}
              key=${option}
              name=${option}
              option=${declaration}
              value=${values[option]}
              wrong=${wrong?.option === option ? wrong.sentence : undefined}
              onChange=${(/** @type {Value} */ value) => setValues((current) => ({ ...current, [option]: value }))}
              complete=${async (/** @type {string} */ typed) => {
                const request = { type: 'suggest', ...view, form: form.id, option, typed, options: values };
                const answer = await send(request);
                return answer.type === 'choices' ? answer.choices : [];
              }}
              showError=${showError}
            />`;
  const entries = Object.entries(form.options);
  const isRare = (/** @type {[string, OptionDeclaration]} */ [option, { rare, required }]) =>
    rare === true && !required && form.initial[option] === undefined;
  const rare = entries.filter(isRare);
  const usual = entries.filter((entry) => !isRare(entry));
  const isRareUsed = rare.some(([option]) => option === wrong?.option);

  return html`<dialog class="form" ref=${dialog} aria-labelledby="form-title" onClose=${onClose}>
    <form
      method="dialog"
      onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault();
        if (!isBusy) void submit();
      }}
    >
      <header>
        <p class="small" dir="auto">${about}</p>
        <h2 id="form-title" dir="auto">${form.title}</h2>
      </header>
      <div class="form-fields">
        ${usual.map(field)}
        ${rare.length > 0 && html`<details open=${isRareUsed}><summary>More options</summary><div class="form-more">${rare.map(field)}</div></details>`}
      </div>
      <footer>
        <button type="button" class="button" onClick=${() => dialog.current?.close()}>Cancel</button>
        <button type="submit" class="button primary" disabled=${isBusy}>${form.submitLabel}</button>
      </footer>
    </form>
  </dialog>`;
}

/** @param {Form} form @returns {Record<string, Value>} */
function initialOf({ options, initial }) {
  return Object.fromEntries(
    Object.keys(options).flatMap((name) => {
      const value = initial[name];
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
        ? [[name, value]]
        : [];
    }),
  );
}

/**
 * @param {{ name: string, option: OptionDeclaration, value: Value | undefined, wrong: readonly MarkdownNode[] | undefined,
 *   onChange: (value: Value) => void, complete: (typed: string) => Promise<{ name: string, value: string }[]>,
 *   showError: (sentence: string) => void }} props
 */
function Field({ name, option, value, wrong, onChange, complete, showError }) {
  const id = `field-${name}`;
  const attributes = {
    id,
    name,
    required: option.required,
    'aria-invalid': wrong ? true : undefined,
    'aria-describedby': `${id}-about`,
  };
  return html`<div class=${option.type === 'flag' ? 'field flag' : 'field'}>
    <label for=${id}>${labelOf(name, option)}${option.required ? html` <span class="needed">required</span>` : null}</label>
    ${input(option, attributes, { value, onChange, complete, showError })}
    <div id=${`${id}-about`} class="small">
      ${option.help ?? option.description}
      ${wrong && html`<div class="wrong" role="alert"><${Markdown} nodes=${wrong} /></div>`}
    </div>
  </div>`;
}

/** @param {string} name @param {OptionDeclaration} option */
const labelOf = (name, { label }) => label ?? capitalised(name.replaceAll('-', ' '));

/** @param {string} text */
const capitalised = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/**
 * @param {OptionDeclaration} option
 * @param {Record<string, unknown>} attributes
 * @param {Pick<Parameters<typeof Field>[0], 'value' | 'onChange' | 'complete' | 'showError'>} field
 */
function input(option, attributes, { value = '', onChange, complete, showError }) {
  /** @param {Event} event */
  const typed = ({ target }) => {
    if (
      target instanceof HTMLInputElement ||
      target instanceof HTMLTextAreaElement ||
      target instanceof HTMLSelectElement
    )
      onChange(target.value);
  };
  switch (option.type) {
    case 'choice':
      return html`<div class="select"><select ...${attributes} value=${value} onChange=${typed}>
        <option value="">–</option>
        ${option.choices?.map((choice) => html`<option key=${choice.value} value=${choice.value}>${capitalised(choice.name)}</option>`)}
      </select><${Icon} name="chevron" /></div>`;
    case 'flag':
      return html`<input type="checkbox" ...${{ ...attributes, required: undefined }} checked=${value === true}
        onChange=${(/** @type {Event} */ { target }) => target instanceof HTMLInputElement && onChange(target.checked)} />`;
    case 'number':
      return html`<input type="text" inputmode="decimal" ...${attributes} value=${value} onInput=${typed} />`;
    case 'file':
      return html`<${FileInput} option=${option} attributes=${attributes} onChange=${onChange} showError=${showError} />`;
    default:
      if (option.autocomplete || option.mention)
        return html`<${CompletedInput} attributes=${attributes} value=${value} onInput=${typed} complete=${complete} />`;
      return option.multiline
        ? html`<textarea rows="3" dir="auto" ...${attributes} value=${value} onInput=${typed}></textarea>`
        : html`<input type="text" dir="auto" autocomplete="off" ...${attributes} value=${value} onInput=${typed} />`;
  }
}

/** @param {{ option: FileOption, attributes: object, onChange: (value: Value) => void, showError: (sentence: string) => void }} props */
function FileInput({ option, attributes, onChange, showError }) {
  const accept = option.accept
    .map((kind) => (kind === 'text' ? 'text/*,.md,.csv,.json' : `${kind}/*`))
    .join(',');
  return html`<input
    type="file"
    accept=${accept}
    ...${attributes}
    onChange=${async (/** @type {Event} */ { target }) => {
      const file = target instanceof HTMLInputElement ? target.files?.[0] : undefined;
      if (!file) return onChange('');
      const uploaded = await upload(file);
      if ('id' in uploaded) onChange({ upload: uploaded.id });
      else showError(uploaded.sentence);
    }}
  />`;
}

/**
 * @param {{ attributes: { id?: unknown }, value: Value, onInput: (event: Event) => void,
 *   complete: (typed: string) => Promise<{ name: string, value: string }[]> }} props
 */
function CompletedInput({ attributes, value, onInput, complete }) {
  const [choices, setChoices] = useState(/** @type {{ name: string, value: string }[]} */ ([]));
  useEffect(() => {
    let isLatest = true;
    const timer = setTimeout(async () => {
      const found = await complete(String(value));
      if (isLatest) setChoices(found);
    }, 100);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [value]);
  const list = `${attributes.id}-choices`;
  return html`<input type="text" dir="auto" autocomplete="off" list=${list} ...${attributes} value=${value} onInput=${onInput} />
    <datalist id=${list}>
      ${choices.map((choice) => html`<option key=${choice.value} value=${choice.value}>${choice.name}</option>`)}
    </datalist>`;
}
