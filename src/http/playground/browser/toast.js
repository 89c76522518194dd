/** A sentence above the composer, with at most one action. */
import { html, useEffect } from 'htm/preact/standalone';
import { Icon } from './icon.js';

/** How long a sentence without an action stays, in milliseconds. */
const SHOWN_MS = 5000;

/** @typedef {{ sentence: string, label?: string, onAct?: () => void }} Notice */

/** @param {{ notice: Notice | undefined, onClose: () => void }} props */
export function Toast({ notice, onClose }) {
  useEffect(() => {
    if (!notice || notice.onAct) return;
    const timer = setTimeout(onClose, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice]);
  // The live region exists before its text, so that screen readers announce it.
  return html`<div role="status">
    ${
      notice &&
      html`<p class="toast">
      <span dir="auto">${notice.sentence}</span>
      ${
        notice.onAct &&
        html`<button
          type="button"
          class="button"
          onClick=${() => {
            onClose();
            notice.onAct?.();
          }}
        >
          ${notice.label}
        </button>`
      }
      <button type="button" class="icon" aria-label="Dismiss" onClick=${onClose}><${Icon} name="cancel" /></button>
    </p>`
    }
  </div>`;
}
