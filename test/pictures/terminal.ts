/** Renders terminal output with colours as HTML. */
import { z } from 'zod';
import { type Html, html } from './html.ts';

/** Class names by the codes that start a format, and the codes that end one: https://en.wikipedia.org/wiki/ANSI_escape_code#SGR */
const BEGINS: Readonly<Record<string, string>> = {
  1: 'bold',
  2: 'dim',
  4: 'line',
  35: 'magenta',
  36: 'cyan',
};
const ENDS: Readonly<Record<string, readonly string[]>> = {
  22: ['bold', 'dim'],
  24: ['line'],
  39: ['magenta', 'cyan'],
};

/** @param font a monospaced font as a data URL */
export function terminalPage(shown: string, font: string): Html {
  const face = `@font-face { font-family: Terminal; src: url(${z.url().parse(font)}); }`;
  const { html: lines } = coloured(shown.trim());
  return html`<style>${{ html: face + STYLE }}</style><main class="terminal"><header><i></i><i></i><i></i>npm start</header><pre>${{ html: lines }}</pre></main>`;
}

/** Throws TypeError for unsupported colours. */
function coloured(text: string): Html {
  const active = new Set<string>();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is read.
  const pieces = text.split(/\u001b\[(\d+)m/);
  const rendered = pieces.map((piece, index) => {
    if (index % 2 === 0) return html`<span class="${[...active].join(' ')}">${piece}</span>`;
    const [begins, ends] = [BEGINS[piece], ENDS[piece]];
    if (begins === undefined && ends === undefined) throw new TypeError(`The format ${piece} is not drawn`);
    if (begins !== undefined) active.add(begins);
    for (const name of ends ?? []) active.delete(name);
    return undefined;
  });
  return html`${rendered}`;
}

const STYLE = `
.terminal { width: 860px; background: #1b1d23; color: #d6d9e0; padding-bottom: 14px; }
.terminal header { background: #2a2d35; color: #9aa0ad; padding: 9px 14px; font-size: 13px; text-align: center; position: relative; }
.terminal header i { float: left; width: 11px; height: 11px; border-radius: 50%; background: #565b68; margin: 3px 7px 0 0; }
.terminal pre { font: 13px/1.45 Terminal; margin: 14px 18px 0; white-space: pre-wrap; }
.bold { font-weight: 700; color: #fff; } .dim { color: #8b90a0; } .line { text-decoration: underline; }
.magenta { color: #d6a1f0; } .cyan { color: #7bd1e6; }
`;
