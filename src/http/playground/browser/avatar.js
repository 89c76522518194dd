/** Names and pictures of people and of the bot. */
import { html } from 'htm/preact/standalone';

/** @import { Person } from '../../../core/invocation.ts' */

/** @param {string | undefined} id @param {readonly Person[]} people */
export function nameOf(id, people) {
  return id === undefined ? 'Minstrel' : (people.find((person) => person.id === id)?.displayName ?? id);
}

/** The page's icon is the bot's mark. */
const MARK = document.querySelector('link[rel="icon"]')?.getAttribute('href') ?? '';

/** @param {{ id?: string, name: string }} props */
export const Avatar = ({ id, name }) =>
  id === undefined
    ? html`<img class="avatar" src=${MARK} alt="" />`
    : html`<span class=${`avatar avatar-${id}`} aria-hidden="true">${name.slice(0, 1)}</span>`;
