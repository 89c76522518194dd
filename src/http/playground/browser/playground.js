/** Starts the page. */
import { h, render } from 'preact';
import { App } from './app.js';

const root = document.getElementById('app');
if (root) {
  root.replaceChildren();
  render(h(App, null), root);
}
