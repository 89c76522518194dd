import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/core/message.ts';
import type { MarkdownNode } from '../../../../src/core/web/browser-chat.ts';
import { renderPages } from '../../../../src/platforms/discord/render/pages.ts';
import { render } from '../../../../src/platforms/slack/render/parts.ts';
import { renderForWeb } from '../../../../src/platforms/web/render/convert.ts';

const TARGET = 'https://evil.example/x';

/** What people see of each link: `[label](…)`, `<…|label>` or the bare address. */
const shown = (texts: readonly (string | undefined)[]): string[] =>
  [
    ...texts
      .join('\n')
      .matchAll(/\[([^\]\n]+)\]\(<?https:[^)\n]+\)|<https:[^|>\s]+\|([^>\n]+)>|(https:[^>\s"]+)/g),
  ].map(([, label, name, url]) => label ?? name ?? url ?? '');

const discordLinks = async (message: Message): Promise<string[]> =>
  shown((await renderPages(message, { fileBytes: 1, link: () => TARGET })).map(({ content }) => content));

async function slackLinks(message: Message): Promise<string[]> {
  const { parts } = await render(message, { person: 'U0ASKED', pictures: new Map() });
  return shown(parts.flatMap(({ blocks }) => blocks.map((block) => JSON.stringify(block))));
}

const labelOf = ({ value = '', children = [] }: MarkdownNode): string =>
  value + children.map(labelOf).join('');
const linksIn = (node: MarkdownNode): string[] =>
  node.type === 'link' ? [labelOf(node)] : (node.children ?? []).flatMap(linksIn);

const playgroundLinks = async (message: Message): Promise<string[]> =>
  ((await renderForWeb(message, '1')).content.body ?? []).flatMap(linksIn);

describe.each([
  ['Discord', discordLinks],
  ['Slack', slackLinks],
  ['the playground', playgroundLinks],
])('links on %s', (_, labels) => {
  it.each([
    'paypal.com/login',
    'Log in at paypal.com',
    'www.paypal.com',
    'paypal\u200b.com',
    'ｐａｙｐａｌ．ｃｏｍ',
    '192.0.2.1',
    'ada@paypal.com',
    '\u202emoc.lapyap',
    '**paypal**.com',
  ])('show where they lead under the label %j', async (label) => {
    expect(await labels({ text: `Please [${label}](${TARGET}) now` })).toEqual([TARGET]);
  });

  it('show where they lead under another whole address', async () => {
    // The chats make a link of the label too, to the address that it shows.
    const found = await labels({ text: `[https://paypal.com](${TARGET})` });
    expect(found.filter((label) => label !== 'https://paypal.com')).toEqual([TARGET]);
  });

  it.each(['the docs', 'index.ts', 'Rain.mp3', 'Version 1.2', 'e.g. this', 'Wait…what'])(
    'keep the label %j',
    async (label) => {
      expect(await labels({ text: `Please [${label}](${TARGET}) now` })).toEqual([label]);
    },
  );

  it('drop direction overrides, which would reverse the address', async () => {
    const text = `\u202e${TARGET} [docs\u202e](${TARGET})`;
    expect(await labels({ text })).toEqual([TARGET, 'docs']);
  });
});

it('links to files on both chats show where they lead', async () => {
  const source = { type: 'remote', url: TARGET } as const;
  const message: Message = { media: [{ kind: 'audio', name: 'paypal.com/login', source }] };
  expect(await discordLinks(message)).toEqual([TARGET]);
  expect(await slackLinks(message)).toEqual([TARGET]);
});

it.each([
  ['Rain', TARGET],
  ['paypal.com/login', undefined],
])('the title %j opens %j', async (title, url) => {
  const source = { type: 'stored', file: { name: 'a.png', bytes: 1, contentType: 'image/png' } } as const;
  const message: Message = {
    title,
    titleUrl: TARGET,
    media: [{ kind: 'image', name: 'a.png', cover: true, source }],
  };
  const [page] = await renderPages(message, { fileBytes: 1, link: () => TARGET });
  expect(page?.embeds[0]?.url).toBe(url);
  const pictures = new Map([['a.png', 'F1']]);
  const { parts } = await render(message, { person: 'U0ASKED', hasCards: true, pictures });
  const [card] = parts[0]?.blocks ?? [];
  expect(card).toMatchObject({ title: { text: url === undefined ? title : `<${url}|${title}>` } });
  expect((await renderForWeb(message, '1')).content.titleUrl).toBe(url);
});
