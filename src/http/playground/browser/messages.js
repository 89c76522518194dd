/** The scrolling list of messages. Follows new messages, unless the reader has scrolled up. */
import { html, useEffect, useLayoutEffect, useRef, useState } from 'htm/preact/standalone';
import { Icon } from './icon.js';

/** @import { BrowserMessage } from '../../../core/web/browser-chat.ts' */

/** @typedef {{ message?: string }} Goal */

/** In CSS pixels. A reader this close to the end follows new messages. */
const NEAR_END = 120;
/** Space above a message that is scrolled to, in CSS pixels. */
const MARGIN = 12;

/**
 * Scrolls to each new goal: the message with the outcome of the person's latest action, once it arrives, or the end of the list.
 * @param {{ messages: readonly BrowserMessage[], goal: Goal, children?: import('preact').ComponentChildren }} props
 */
export function Messages({ messages, goal, children }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const isAtEnd = useRef(true);
  const top = useRef(0);
  const latest = useRef(/** @type {string | undefined} */ (undefined));
  const [isBelow, setBelow] = useState(false);

  // The welcome screen starts at the top.
  const isEmpty = useRef(true);
  isEmpty.current = messages.length === 0;
  const toEnd = () => {
    isAtEnd.current = true;
    setBelow(false);
    frame.current?.scrollTo({ top: isEmpty.current ? 0 : frame.current.scrollHeight });
  };
  useLayoutEffect(() => {
    if (isAtEnd.current || isEmpty.current) toEnd();
    else if (latest.current !== messages.at(-1)?.id) setBelow(true);
    latest.current = messages.at(-1)?.id;
  }, [messages]);
  const arrived = messages.find(({ id }) => id === goal.message);
  const hasVariants = (arrived?.variants ?? []).length > 0;
  useEffect(() => {
    if (goal.message === undefined) return toEnd();
    const area = frame.current;
    const row = document.getElementById(`message-${goal.message}`);
    if (!arrived || !area || !row) return;
    // They replace progress, and the reader may have moved on.
    if (hasVariants && !isAtEnd.current) return;
    const isLast = messages.at(-1)?.id === goal.message;
    if (isLast && row.clientHeight < area.clientHeight - 2 * MARGIN) return toEnd();
    // A long message is read from its beginning.
    isAtEnd.current = false;
    area.scrollTo({ top: row.offsetTop - MARGIN });
    top.current = area.scrollTop;
    setBelow(!isLast);
  }, [goal, arrived !== undefined, hasVariants]);
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
      if (!area || area.scrollTop === top.current) return;
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
