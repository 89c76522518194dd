/** How the page talks with the listener: events come in by one stream, requests go out one by one. */

/** @import { BrowserAnswer, BrowserEvent } from '../../../core/web/browser-chat.ts' */

/** The address with its token. */
const BASE = location.pathname.replace(/\/$/, '');
const AGAIN_AFTER_MS = 1000;

/**
 * Reads the events for one person, and reconnects after an outage. Returns a function that stops it.
 * @param {string} person
 * @param {{ onEvent: (event: BrowserEvent) => void, onOnline: (online: boolean) => void }} on
 */
export function watch(person, { onEvent, onOnline }) {
  /** @type {EventSource} */
  let source;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const open = () => {
    source = new EventSource(`${BASE}/events?as=${encodeURIComponent(person)}`);
    source.onopen = () => onOnline(true);
    source.onmessage = ({ data }) => onEvent(JSON.parse(data));
    source.onerror = () => {
      onOnline(false);
      // A browser tries again by itself, except after an answer that is no stream, as while the listener starts.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN_AFTER_MS);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

const AWAY = "Minstrel didn't respond. Try again.";

/**
 * Never rejects: what failed is a refusal with a sentence.
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
      response.status === 413 ? 'That message is too long. Shorten it and send it again.' : AWAY;
    return { type: 'refused', sentence };
  } catch {
    return { type: 'refused', sentence: AWAY };
  }
}

/** Requests with the same id take effect once. */
const newRequestId = () => crypto.randomUUID().replaceAll('-', '').slice(0, 20);

/**
 * Returns a `send` for requests that act. One that was refused may have been taken all the same, so the same request has the same
 * id when it is sent again. After any other answer it is a new one. `same`: what makes requests the same, if that is not all of them.
 */
export function createSender() {
  /** @type {Map<string, string>} */
  const refused = new Map();
  /**
   * @param {object} request
   * @param {object} same
   * @returns {Promise<BrowserAnswer>}
   */
  return async (request, same = request) => {
    const what = JSON.stringify(same);
    const id = refused.get(what) ?? newRequestId();
    const answer = await send({ ...request, id });
    if (answer.type === 'refused') refused.set(what, id);
    else refused.delete(what);
    return answer;
  };
}

/**
 * Resolves to the id by which a request names the file, or to a sentence.
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
    return { sentence: isTooLarge ? `${file.name} is too large.` : `${file.name} could not be attached.` };
  } catch {
    return { sentence: `${file.name} couldn't be attached. It may be too large.` };
  }
}
