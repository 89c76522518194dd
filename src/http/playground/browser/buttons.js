/** The buttons of a message. */
import { html } from 'htm/preact/standalone';
import { Icon } from './icon.js';
import { linkTo } from './markdown.js';
import { Menu } from './menu.js';

/** @import { BrowserButton } from '../../../core/web/browser-chat.ts' */

/** @typedef {(button: BrowserButton) => void} OnPress */

/** @param {{ button: BrowserButton, onPress: OnPress }} props */
export function PressButton({ button, onPress }) {
  const { label, short = label, accessibleName, url, icon, emphasis = '' } = button;
  const content = html`${icon && html`<${Icon} name=${icon} />`}${short}`;
  return url
    ? html`<a class="button" aria-label=${accessibleName} ...${linkTo(url)}>${content}</a>`
    : html`<button type="button" aria-label=${accessibleName} class=${`button ${emphasis}`} onClick=${() => onPress(button)}>${content}</button>`;
}

/** Buttons shown next to a take instead of in its menu, except on phones. */
const QUICK = 2;

/** The actions of one take, in its player. @param {{ group: string, buttons: readonly BrowserButton[], onPress: OnPress }} props */
export function TakeButtons({ group, buttons, onPress }) {
  if (buttons.length === 0) return null;
  return html`<span class="take-buttons">
    ${buttons.slice(0, QUICK).map(
      (button) =>
        html`<button type="button" key=${button.id} class="icon quick" aria-label=${button.accessibleName} title=${button.hint ?? button.label} onClick=${() => onPress(button)}>
          <${Icon} name=${button.icon ?? 'more'} />
        </button>`,
    )}
    <${Menu} label=${`Actions: ${group}`} icon="more" title=${group} entries=${buttons.map((button, index) => ({ ...entryOf(button, onPress), ...splitLabel(button.label, group), isQuick: index < QUICK }))} />
  </span>`;
}

/** Splits `WAV take 1` of the group `Take 1`. @param {string} label @param {string} group */
function splitLabel(label, group) {
  const implied = ` ${group.toLowerCase()}`;
  return label.endsWith(implied) ? { label: label.slice(0, -implied.length), implied } : { label };
}

/** @param {BrowserButton} button @param {OnPress} onPress */
const entryOf = (button, onPress) => ({ ...button, onChoose: () => onPress(button) });

/** @param {{ buttons: readonly BrowserButton[], more: readonly BrowserButton[], onPress: OnPress }} props */
export function Buttons({ buttons, more, onPress }) {
  if (buttons.length + more.length === 0) return null;
  return html`<div class="buttons">
    ${buttons.map((button) => html`<${PressButton} key=${button.id ?? button.url} button=${button} onPress=${onPress} />`)}
    ${more.length > 0 && html`<${Menu} label="More buttons" sign="More" entries=${more.map((button) => entryOf(button, onPress))} />`}
  </div>`;
}
