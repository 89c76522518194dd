/** Renders the Markdown tree from the listener. Only the element names in this file are used. */
import { h } from 'htm/preact/standalone';
import { Code } from './code.js';

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
  const renderChildren = () => children.map(element);
  switch (node.type) {
    case 'text':
      return value;
    case 'paragraph':
      return h('p', { dir: 'auto' }, renderChildren());
    case 'heading':
      // The page and the message title use the first two levels.
      return h(`h${Math.min(6, (node.depth ?? 1) + 2)}`, null, renderChildren());
    case 'strong':
      return h('strong', null, renderChildren());
    case 'emphasis':
      return h('em', null, renderChildren());
    case 'delete':
      return h('del', null, renderChildren());
    case 'inlineCode':
      return h('code', null, value);
    case 'code':
      return h(Code, { language: node.language, value });
    case 'blockquote':
      return h('blockquote', null, renderChildren());
    case 'list':
      return node.start === undefined
        ? h('ul', null, renderChildren())
        : h('ol', { start: node.start }, renderChildren());
    case 'listItem':
      return h(
        'li',
        node.checked === undefined ? null : { class: 'task' },
        task(node.checked),
        renderChildren(),
      );
    case 'table':
      return h('div', { class: 'table', tabIndex: 0, role: 'group', 'aria-label': 'Table' }, table(children));
    case 'link':
      return h('a', linkTo(node.url ?? ''), renderChildren());
    case 'break':
      return h('br', null);
    case 'thematicBreak':
      return h('hr', null);
    default:
      return value || renderChildren();
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
        // An empty header cell is not a heading.
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

/** The attributes of a link. Links to messages stay on this page. @param {string} url */
export const linkTo = (url) =>
  url.startsWith('#') ? { href: url } : { href: url, target: '_blank', rel: 'noopener noreferrer nofollow' };
