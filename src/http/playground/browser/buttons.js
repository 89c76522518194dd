/** The buttons of a message. */
import { html } from 'htm/preact/standalone';
import { Icon } from './icon.js';
import { linkTo } from './markdown.js';
import { Menu } from './menu.js';

/** @import { BrowserButton, BrowserMessage } from '../../../core/web/browser-chat.ts' */

/** @param {{ button: BrowserButton, onPress: (button: BrowserButton) => void }} props */
export function PressButton({ button, onPress }) {
  const { label, spoken, url, emphasis = '' } = button;
  return url
    ? html`<a class="button" aria-label=${spoken} ...${linkTo(url)}>${label}<${Icon} name="open" /></a>`
    : html`<button type="button" aria-label=${spoken} class=${`button ${emphasis}`} onClick=${() => onPress(button)}>${label}</button>`;
}

/** @param {{ message: BrowserMessage, onPress: (button: BrowserButton) => void }} props */
export function Buttons({ message: { buttons = [], more = [] }, onPress }) {
  if (buttons.length + more.length === 0) return null;
  return html`<div class="buttons">
    ${buttons.map((button) => html`<${PressButton} key=${button.id ?? button.url} button=${button} onPress=${onPress} />`)}
    ${
      more.length > 0 &&
      html`<${Menu}
      label="More buttons"
      sign="More"
      entries=${more.map((button) => ({ label: button.label, onChoose: () => onPress(button) }))}
    />`
    }
  </div>`;
}
