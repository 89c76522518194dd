/** Code with highlighting and a button that copies it. */
import { html, useEffect, useState } from 'htm/preact/standalone';
import { Icon } from './icon.js';

/** Longer code stays plain, because highlighting runs on each update of a growing answer. */
const MOST_CHARACTERS = 20_000;
const COPIED_MS = 2000;

/** @typedef {Parameters<typeof import('sugar-high/core').parse>[1]} Grammar */

/** Loaded when code in the language appears. @type {Record<string, () => Promise<object>>} */
const GRAMMARS = {
  c: () => import('sugar-high/lang/c'),
  cpp: () => import('sugar-high/lang/cpp'),
  csharp: () => import('sugar-high/lang/csharp'),
  css: () => import('sugar-high/lang/css'),
  go: () => import('sugar-high/lang/go'),
  html: () => import('sugar-high/lang/html'),
  java: () => import('sugar-high/lang/java'),
  javascript: () => import('sugar-high/lang/javascript'),
  json: () => import('sugar-high/lang/json'),
  kotlin: () => import('sugar-high/lang/kotlin'),
  php: () => import('sugar-high/lang/php'),
  python: () => import('sugar-high/lang/python'),
  ruby: () => import('sugar-high/lang/ruby'),
  rust: () => import('sugar-high/lang/rust'),
  shell: () => import('sugar-high/lang/shell'),
  sql: () => import('sugar-high/lang/sql'),
  swift: () => import('sugar-high/lang/swift'),
  toml: () => import('sugar-high/lang/toml'),
  typescript: () => import('sugar-high/lang/typescript'),
  yaml: () => import('sugar-high/lang/yaml'),
};

/** @type {Record<string, string>} */
const ALIASES = {
  'c#': 'csharp',
  'c++': 'cpp',
  bash: 'shell',
  cs: 'csharp',
  golang: 'go',
  js: 'javascript',
  jsx: 'javascript',
  kt: 'kotlin',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'shell',
  ts: 'typescript',
  tsx: 'typescript',
  xml: 'html',
  yml: 'yaml',
  zsh: 'shell',
};

/** @param {{ language?: string | undefined, value: string }} props */
export function Code({ language = '', value }) {
  const [highlighter, setHighlighter] = useState(
    /** @type {{ parse: typeof import('sugar-high/core').parse, grammar: Grammar } | undefined} */ (
      undefined
    ),
  );
  const [isCopied, setCopied] = useState(false);
  const name = language.toLowerCase();
  useEffect(() => {
    const key = ALIASES[name] ?? name;
    const load = Object.hasOwn(GRAMMARS, key) ? GRAMMARS[key] : undefined;
    let isCurrent = true;
    setHighlighter(undefined);
    if (load)
      void Promise.all([import('sugar-high/core'), load()])
        // Sound because the package pairs them, although its types of some grammars miss a parameter.
        .then(
          ([{ parse }, grammar]) =>
            isCurrent && setHighlighter({ parse, grammar: /** @type {Grammar} */ (grammar) }),
        )
        // Without the network, the code stays plain.
        .catch(() => undefined);
    return () => {
      isCurrent = false;
    };
  }, [name]);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);

  const lines =
    highlighter && value.length <= MOST_CHARACTERS
      ? highlighter.parse(value, highlighter.grammar).lines
      : undefined;
  return html`<figure class="code">
    <figcaption>
      <span class="small">${language || 'Text'}</span>
      <button
        type="button"
        class="button quiet"
        onClick=${async () => {
          await navigator.clipboard.writeText(value);
          setCopied(true);
        }}
      >
        <${Icon} name=${isCopied ? 'check' : 'copy'} /><span>${isCopied ? 'Copied' : 'Copy'}</span>
      </button>
      <span class="unseen" role="status">${isCopied ? 'Copied' : ''}</span>
    </figcaption>
    <pre tabindex="0" role="group" aria-label=${language || 'Code'}><code>${
      lines
        ? lines.map(
            ({ tokens }, index) =>
              html`${index > 0 && '\n'}${tokens.map(({ type, value: text }) =>
                type === 'identifier' || type === 'space'
                  ? text
                  : html`<span class=${`token-${type}`}>${text}</span>`,
              )}`,
          )
        : value
    }</code></pre>
  </figure>`;
}
