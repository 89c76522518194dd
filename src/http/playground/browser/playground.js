/** Starts the page. */
import { html, render } from 'htm/preact/standalone';
import { App } from './app.js';

const root = document.getElementById('app');
if (root) {
  root.replaceChildren();
  render(html`<${App} />`, root);
}
