/** Connects the page to the listener: one WebSocket for events, and one HTTP request per action. */

/** @import { BrowserAnswer, BrowserEvent } from '../../../core/web/browser-chat.ts' */

/** The page's path, which contains the token. */
const BASE = location.pathname.replace(/\/$/, '');
const RECONNECT_MS = 1000;

/**
 * Subscribes to one person's events, and reconnects after an outage. Returns a function that unsubscribes.
 * @param {string} person
 * @param {{ onEvent: (event: BrowserEvent) => void, onOnline: (online: boolean) => void }} on
 */
export function watch(person, { onEvent, onOnline }) {
  /** @type {WebSocket} */
  let socket;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const open = () => {
    socket = new WebSocket(`ws://${location.host}${BASE}/events?as=${encodeURIComponent(person)}`);
    socket.onopen = () => onOnline(true);
    socket.onmessage = ({ data }) => onEvent(JSON.parse(data));
    socket.onclose = () => {
      onOnline(false);
      timer = setTimeout(open, RECONNECT_MS);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  };
}

const NO_RESPONSE = "Minstrel didn't respond. Try again.";

/**
 * Never rejects: failures resolve to a refusal with a sentence.
 * @param {object} request
 * @returns {Promise<BrowserAnswer>}
 */
export async function send(request) {
  try {
    const response = await fetch(`${BASE}/requests`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    if (response.ok) return await response.json();
    const sentence =
      response.status === 413 ? 'That message is too long. Shorten it and send it again.' : NO_RESPONSE;
    return { type: 'refused', sentence };
  } catch {
    return { type: 'refused', sentence: NO_RESPONSE };
  }
}

/** Requests with the same id take effect once. */
const newRequestId = () => crypto.randomUUID().replaceAll('-', '').slice(0, 20);

/**
 * Returns a `send` function for requests with side effects. A refused request may have been processed anyway, so a retry reuses its
 * id. After any other answer, the next request gets a new id. `identity` is the part of the request that identifies a retry.
 */
export function createSender() {
  /** @type {Map<string, string>} */
  const refused = new Map();
  /**
   * @param {object} request
   * @param {object} identity
   * @returns {Promise<BrowserAnswer>}
   */
  return async (request, identity = request) => {
    const key = JSON.stringify(identity);
    const id = refused.get(key) ?? newRequestId();
    const answer = await send({ ...request, id });
    if (answer.type === 'refused') refused.set(key, id);
    else refused.delete(key);
    return answer;
  };
}

/**
 * Resolves to the id of the uploaded file, or to an error sentence.
 * @param {File} file
 * @returns {Promise<{ id: string } | { sentence: string }>}
 */
export async function upload(file) {
  try {
    const query = new URLSearchParams({ name: file.name.slice(-300), type: file.type });
    const response = await fetch(`${BASE}/uploads?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: file,
    });
    if (response.ok) return await response.json();
    const isTooLarge = response.status === 413;
    return {
      sentence: isTooLarge ? `${file.name} is too large.` : `${file.name} couldn't be attached. Try again.`,
    };
  } catch {
    return { sentence: `${file.name} couldn't be attached. It may be too large.` };
  }
}
