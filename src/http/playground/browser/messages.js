/** The scrolling list of messages. Follows new messages, unless the reader has scrolled up. */
import { html, useEffect, useLayoutEffect, useRef, useState } from 'htm/preact/standalone';
import { Icon } from './icon.js';

/** @import { BrowserMessage } from '../../../core/web/browser-chat.ts' */

/** In CSS pixels. A reader this close to the end follows new messages. */
const NEAR_END = 120;
/** Space above a message that is scrolled to, in CSS pixels. */
const MARGIN = 12;

/**
 * `sent` counts the person's lines, each of which scrolls to the end. `result` is the id of the message with the outcome of their
 * latest action, which may arrive later.
 * @param {{ messages: readonly BrowserMessage[], channel: string, sent: number, result: { id: string } | undefined,
 *   children?: import('preact').ComponentChildren }} props
 */
export function Messages({ messages, channel, sent, result, children }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const isAtEnd = useRef(true);
  const top = useRef(0);
  /** Where a result begins that was scrolled to. It may be near the end. */
  const begin = useRef(-1);
  const [isBelow, setBelow] = useState(false);
  const shownResult = useRef(/** @type {{ id: string } | undefined} */ (undefined));

  // The welcome screen starts at the top.
  const isEmpty = useRef(true);
  isEmpty.current = messages.length === 0;
  const toEnd = () => {
    isAtEnd.current = true;
    frame.current?.scrollTo({ top: isEmpty.current ? 0 : frame.current.scrollHeight });
  };
  useEffect(() => {
    toEnd();
    setBelow(false);
  }, [channel, sent, messages.length === 0]);
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd();
    else setBelow(messages.length > 0);
  }, [messages]);
  useEffect(() => {
    if (!result || result === shownResult.current || !messages.some(({ id }) => id === result.id)) return;
    shownResult.current = result;
    const area = frame.current;
    const row = document.getElementById(`message-${result.id}`);
    if (!area || !row) return;
    const isLast = messages.at(-1)?.id === result.id;
    if (isLast && row.clientHeight < area.clientHeight - 2 * MARGIN) return toEnd();
    // Start to read a long result at its beginning.
    isAtEnd.current = false;
    area.scrollTo({ top: row.offsetTop - MARGIN });
    begin.current = area.scrollTop;
    if (isLast) setBelow(false);
  }, [messages, result]);
  // Images and players load later and make the list longer, and a notice makes its frame shorter.
  useEffect(() => {
    const area = frame.current;
    if (!area) return;
    const observer = new ResizeObserver(() => isAtEnd.current && toEnd());
    for (const element of [area, ...area.children]) observer.observe(element);
    return () => observer.disconnect();
  }, []);

  return html`<div
    class="messages"
    ref=${frame}
    tabindex="0"
    role="log"
    aria-label="Messages"
    onScroll=${() => {
      const area = frame.current;
      if (!area || area.scrollTop === begin.current) return;
      begin.current = -1;
      const isNear = area.scrollHeight - area.scrollTop - area.clientHeight < NEAR_END;
      // New content moves the end down; only the reader moves up.
      if (isNear || area.scrollTop < top.current) isAtEnd.current = isNear;
      top.current = area.scrollTop;
      if (isNear) setBelow(false);
    }}
  >
    <div class="messages-inner">${children}</div>
    ${isBelow && html`<button type="button" class="button primary to-end" onClick=${toEnd}>New messages <${Icon} name="down" /></button>`}
  </div>`;
}
