/** The tree that the listener made of Markdown, as elements. Names of elements come from here alone. */
import { h } from 'htm/preact/standalone';

/** @import { MarkdownNode } from '../../../core/web/browser-chat.ts' */
/** @import { ComponentChildren } from 'preact' */

/** @param {{ nodes?: readonly MarkdownNode[] }} props */
export const Markdown = ({ nodes = [] }) => h('div', { class: 'markdown', dir: 'auto' }, nodes.map(element));

/**
 * @param {MarkdownNode} node
 * @returns {ComponentChildren}
 */
function element(node) {
  const { value = '', children = [] } = node;
  const within = () => children.map(element);
  switch (node.type) {
    case 'text':
      return value;
    case 'paragraph':
      return h('p', { dir: 'auto' }, within());
    case 'heading':
      // The page and the message have the levels above.
      return h(`h${Math.min(6, (node.depth ?? 1) + 2)}`, null, within());
    case 'strong':
      return h('strong', null, within());
    case 'emphasis':
      return h('em', null, within());
    case 'delete':
      return h('del', null, within());
    case 'inlineCode':
      return h('code', null, value);
    case 'code':
      return h(
        'pre',
        { tabIndex: 0, 'aria-label': node.language ?? 'Code', role: 'group' },
        h('code', null, value),
      );
    case 'blockquote':
      return h('blockquote', null, within());
    case 'list':
      return node.start === undefined ? h('ul', null, within()) : h('ol', { start: node.start }, within());
    case 'listItem':
      return h('li', node.checked === undefined ? null : { class: 'task' }, task(node.checked), within());
    case 'table':
      return h('div', { class: 'table', tabIndex: 0, role: 'group', 'aria-label': 'Table' }, table(children));
    case 'link':
      return h('a', linkTo(node.url ?? ''), within());
    case 'break':
      return h('br', null);
    case 'thematicBreak':
      return h('hr', null);
    default:
      return value || within();
  }
}

/** @param {boolean | undefined} checked */
const task = (checked) => (checked === undefined ? null : h('span', { class: 'box' }, checked ? '☑ ' : '☐ '));

/** @param {readonly MarkdownNode[]} rows */
function table([head, ...rows]) {
  /** @param {'td' | 'th'} name @param {MarkdownNode | undefined} row */
  const cells = (name, row) =>
    h(
      'tr',
      null,
      (row?.children ?? []).map(({ children = [] }) =>
        // An empty header row is left out.
        h(children.length > 0 ? name : 'td', { dir: 'auto' }, children.map(element)),
      ),
    );
  return h(
    'table',
    null,
    h('thead', null, cells('th', head)),
    h(
      'tbody',
      null,
      rows.map((row) => cells('td', row)),
    ),
  );
}

/** The attributes of a link: a message of this chat is on this page. @param {string} url */
export const linkTo = (url) =>
  url.startsWith('#') ? { href: url } : { href: url, target: '_blank', rel: 'noopener noreferrer nofollow' };
