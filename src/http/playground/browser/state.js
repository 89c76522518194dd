/** The page's state and its reducer. */

/** @import { BrowserChannel, BrowserCommand, BrowserEvent, BrowserMessage } from '../../../core/web/browser-chat.ts' */
/** @import { Person } from '../../../core/invocation.ts' */

/**
 * @typedef {{ person: string, people: readonly Person[], channels: readonly BrowserChannel[], commands: readonly BrowserCommand[], messages: ReadonlyMap<string, BrowserMessage>,
 *   unread: ReadonlySet<string>, isLoaded: boolean }} Chat
 */

/** @type {Chat} */
export const EMPTY = {
  person: '',
  people: [],
  channels: [],
  commands: [],
  messages: new Map(),
  unread: new Set(),
  isLoaded: false,
};

/**
 * @param {Chat} chat
 * @param {{ event: BrowserEvent, channel: string } | { read: string }} change an event with the visible channel, or a channel
 *   that was just opened
 * @returns {Chat}
 */
export function reduce(chat, change) {
  if ('read' in change) return { ...chat, unread: without(chat.unread, change.read) };
  const { event, channel } = change;
  switch (event.type) {
    case 'all': {
      const messages = new Map(event.messages.map((message) => [message.id, message]));
      return { ...event, messages, unread: new Set(), isLoaded: true };
    }
    case 'message': {
      const { message } = event;
      const messages = new Map(chat.messages).set(message.id, message);
      const unread = message.channel === channel ? chat.unread : new Set(chat.unread).add(message.channel);
      return { ...chat, messages, unread };
    }
    case 'removed': {
      const messages = new Map(chat.messages);
      for (const id of event.ids) messages.delete(id);
      return { ...chat, messages };
    }
    default:
      return chat;
  }
}

/** @param {ReadonlySet<string>} set @param {string} item */
function without(set, item) {
  const rest = new Set(set);
  rest.delete(item);
  return rest;
}

/** The person is stored per tab. The channel is in the page's address. */
const KEY = 'who';

/** @returns {{ person: string, channel: string }} */
export function restoreView() {
  const channel = new URLSearchParams(location.search).get('channel') ?? 'general';
  return { person: sessionStorage.getItem(KEY) ?? 'mo', channel };
}

/** Adds an entry to the browser's history if the channel changed. @param {{ person: string, channel: string }} view */
export function saveView({ person, channel }) {
  sessionStorage.setItem(KEY, person);
  const current = new URLSearchParams(location.search).get('channel');
  if (current === channel) return;
  const address = `${location.pathname}?${new URLSearchParams({ channel })}`;
  if (current === null) history.replaceState(null, '', `${address}${location.hash}`);
  else history.pushState(null, '', address);
}
