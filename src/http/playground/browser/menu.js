/** A button that opens a menu. */
import { html, useEffect, useLayoutEffect, useRef, useState } from 'htm/preact/standalone';
import { Icon } from './icon.js';

/** @import { IconName } from './icon.js' */

/**
 * `title` names the object of all entries. `implied` is the part of a label that the title shows. Quick entries are hidden
 * where there is a button for them next to the menu.
 * @param {{ label: string, sign?: string, icon?: IconName, title?: string,
 *   entries: { label: string, implied?: string, hint?: string, icon?: IconName, isQuick?: boolean, onChoose: () => void }[] }} props
 */
export function Menu({ label, sign, icon, title, entries }) {
  const [isOpen, setOpen] = useState(false);
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const list = useRef(/** @type {HTMLElement | null} */ (null));

  // Opens to the side with more space, and scrolls if needed.
  useLayoutEffect(() => {
    const area = frame.current?.closest('.messages')?.getBoundingClientRect();
    const at = button.current?.getBoundingClientRect();
    if (!list.current || !area || !at) return;
    const [above, below] = [at.top - area.top, area.bottom - at.bottom];
    list.current.classList.toggle('up', above > below);
    list.current.style.setProperty('--space', `${Math.max(above, below) - 12}px`);
  }, [isOpen]);

  useEffect(() => {
    if (!isOpen) return;
    /** @param {Event} event */
    const closeExternal = ({ target }) => {
      if (target instanceof Node && !frame.current?.contains(target)) setOpen(false);
    };
    document.addEventListener('pointerdown', closeExternal);
    document.addEventListener('focusin', closeExternal);
    return () => {
      document.removeEventListener('pointerdown', closeExternal);
      document.removeEventListener('focusin', closeExternal);
    };
  }, [isOpen]);

  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    if (event.key === 'Escape' && isOpen) {
      setOpen(false);
      button.current?.focus();
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const items = [...(frame.current?.querySelectorAll('button') ?? [])].filter((item) =>
      item.checkVisibility(),
    );
    const at = items.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    items.at((at + (event.key === 'ArrowDown' ? 1 : -1)) % items.length)?.focus();
    event.preventDefault();
  };

  return html`<span class="menu" ref=${frame} onKeyDown=${onKey}>
    <button
      type="button"
      class=${icon ? 'button quiet' : 'button'}
      ref=${button}
      aria-expanded=${isOpen}
      aria-label=${label}
      onClick=${() => setOpen(!isOpen)}
    >
      ${icon ? html`<${Icon} name=${icon} />` : html`${sign}<${Icon} name="chevron" />`}
    </button>
    ${
      isOpen &&
      html`<span class="menu-entries" ref=${list}>
      ${title && html`<strong class="small">${title}</strong>`}
      ${entries.map(
        (entry) =>
          html`<button
            type="button"
            key=${entry.label}
            class=${entry.isQuick ? 'quick' : undefined}
            onClick=${() => {
              setOpen(false);
              button.current?.focus();
              entry.onChoose();
            }}
          >
            ${entry.icon && html`<${Icon} name=${entry.icon} />`}
            <span>${entry.label}${entry.implied && html`<span class="unseen">${entry.implied}</span>`}${entry.hint && html`<span class="small">${entry.hint}</span>`}</span>
          </button>`,
      )}
    </span>`
    }
  </span>`;
}
