/** The document layout shared by all pages. */
import { type Html, html } from '../../core/web/html.ts';

export interface PageLayout {
  readonly title: string;
  /** Relative path to the listener's root, such as `../../`, which works behind any proxy. */
  readonly root: string;
  /** Returns the path of an asset from the root. */
  readonly asset: (name: string) => string;
  /** Modules to load. */
  readonly modules?: readonly string[];
  /** Additional head elements. */
  readonly head?: Html;
  readonly body: Html;
}

export function documentOf({ title, root, asset, modules = [], head, body }: PageLayout): string {
  const path = (name: string) => `${root}${asset(name).slice(1)}`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${path('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${path('styles.css')}">
${modules.map((name) => html`<script type="module" src="${path(name)}"></script>\n`)}${head}</head>
${body}
</html>
`;
  return page.markup;
}

/** A page with only a title and a sentence. */
export function sentencePage(
  { title, sentence }: { readonly title: string; readonly sentence: string },
  context: Pick<PageLayout, 'root' | 'asset'>,
): string {
  const body = html`<body class="sentence"><main><h1>${title}</h1><p>${sentence}</p></main></body>`;
  return documentOf({ ...context, title, body });
}
