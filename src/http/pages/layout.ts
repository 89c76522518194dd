/** The document layout shared by all pages. */
import { BRAND_COLOUR } from '../../core/brand.ts';
import { type Html, html } from '../../core/web/html.ts';

export interface PageLayout {
  readonly title: string;
  /** Relative path to the listener's root, such as `../../`, which works behind any proxy. */
  readonly root: string;
  /** Returns the path of an asset from the root. */
  readonly asset: (name: string) => string;
  /** The modules to run. */
  readonly modules?: readonly string[];
  /** Modules that those import, to load at the same time. */
  readonly imports?: readonly string[];
  /** Additional head elements. */
  readonly head?: Html | undefined;
  /** The class of the body. */
  readonly kind: 'song' | 'album' | 'sentence';
  /** Buttons next to the mark. */
  readonly tools?: Html | undefined;
  readonly main: Html;
  /** Dialogs and bars above the page. */
  readonly after?: Html | undefined;
}

export function documentOf({
  title,
  root,
  asset,
  modules = [],
  imports = [],
  head,
  kind,
  tools,
  main,
  after,
}: PageLayout): string {
  const path = (name: string) => `${root}${asset(name).slice(1)}`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="${BRAND_COLOUR}">
<link rel="icon" href="${path('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${path('styles.css')}">
${imports.map((name) => html`<link rel="modulepreload" href="${path(name)}">\n`)}${modules.map((name) => html`<script type="module" src="${path(name)}"></script>\n`)}${head}</head>
<body class="${kind}">
<header class="top"><p class="brand"><img src="${path('icon.svg')}" alt="" width="28" height="28">Minstrel</p>${tools}</header>
<main>
${main}
</main>
${after}</body>
</html>
`;
  return page.markup;
}

/** A page with only a title and a sentence. */
export function sentencePage(
  { title, sentence }: { readonly title: string; readonly sentence: string },
  context: Pick<PageLayout, 'root' | 'asset'>,
): string {
  return documentOf({ ...context, title, kind: 'sentence', main: html`<h1>${title}</h1><p>${sentence}</p>` });
}
