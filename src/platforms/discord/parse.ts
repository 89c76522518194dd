import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

export type Root = ReturnType<typeof fromMarkdown>;
export type Content = Root['children'][number];
export type PhrasingContent = Extract<Content, { type: 'paragraph' }>['children'][number];
export type Table = Extract<Content, { type: 'table' }>;
export type List = Extract<Content, { type: 'list' }>;

/** Reads CommonMark with GitHub's tables, strikethrough, task lists, footnotes and bare links. Never throws. */
export const parseMarkdown = (markdown: string): Root =>
  fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
