/**
 * `npm run pictures`: renders the README's pictures from the bot's real messages in a browser, and writes them, a song and
 * the bot's mark to docs/pictures/. The fonts of the terminal and of emoji are Debian's fonts-dejavu-core and
 * fonts-noto-color-emoji.
 */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { printedHelp } from '../../src/app/process.ts';
import { markSvg } from '../../src/core/brand.ts';
import { noBrowser, startBrowser, type TestBrowser } from '../servers/browser.ts';
import { capture, type SlackMessage } from './capture.ts';
import { discordPage } from './discord.ts';
import type { Html } from './html.ts';
import { capturePlayground } from './playground.ts';
import { slackPage } from './slack.ts';
import { drawStates } from './states.ts';
import { terminalPage } from './terminal.ts';

const FOLDER = 'docs/pictures';
/** Slack accepts icons from 512 to 2000 pixels. */
const AVATAR_PIXELS = 1024;
const MONOSPACED = '/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf';
const EMOJI = '/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf';

const AVATAR = `data:image/svg+xml,${encodeURIComponent(markSvg({ corner: 0 }))}`;

/** Shared by all pictures. */
const STYLE = `
body { margin: 0; font-family: 'Open Sans', Emoji, Mono, sans-serif; } main { display: inline-block; box-sizing: border-box; }
.avatar { position: absolute; background: url("${AVATAR}") center / cover; }
.bar { display: flex; align-items: center; gap: 10px; border-radius: 6px; padding: 7px 11px; margin-top: 6px; font-size: 12px; }
.play { border: 7px solid transparent; border-right: 0; border-left: 11px solid; }
.wave { flex: 1; display: flex; align-items: center; gap: 2.5px; height: 22px; } .wave i { flex: 1; border-radius: 2px; }
.menu i { display: inline-block; border: 4px solid transparent; border-bottom: 0; border-top: 5px solid #80848e; align-self: center; vertical-align: middle; }
`;

async function main(): Promise<void> {
  if (noBrowser !== undefined) throw new Error(`The pictures were ${noBrowser}.`);
  const font = await readFont(MONOSPACED, 'fonts-dejavu-core');
  const emoji = await readFont(EMOJI, 'fonts-noto-color-emoji');
  const { discord, song: sound, slack, slackFile, terminal } = await capture();
  await using browser = await startBrowser();
  const { animation, still, mixer } = await capturePlayground(browser);
  const [song, answer] = discord;
  if (!song || !answer) throw new TypeError('Discord shows two messages');
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, 'mark.svg'), markSvg());
  await writeFile(join(FOLDER, 'avatar.png'), await avatar());
  await writeFile(join(FOLDER, 'a-tune-for-evening-rain.mp3'), sound);
  const faces = `${face('Emoji', emoji)}${face('Mono', font)}`;
  const discordMessages = await discordPage([
    { by: 'song', message: song },
    { by: 'ask', message: answer },
  ]);
  await writePicture('discord.png', await screenshot(browser, discordMessages, faces));
  const inThread = ({ ts }: SlackMessage) =>
    slack.filter(({ threadTs }) => threadTs === ts).flatMap(({ files }) => files);
  const slackMessages = slack
    .filter(({ threadTs }) => threadTs === undefined)
    .map((message) => ({ blocks: message.blocks, replies: inThread(message) }));
  await writePicture(
    'slack.png',
    await screenshot(browser, await slackPage(slackMessages, slackFile), faces),
  );
  await writePicture('playground.webp', animation);
  await writePicture('playground.png', await smaller(still));
  await writePicture('mixer.png', await smaller(mixer));
  await writePicture('terminal.png', await screenshot(browser, terminalPage(terminal, fontUrl(font))));
}

/** Draws every state of every message into a folder, to judge how they look. */
async function drawAll(folder: string, groups: readonly string[]): Promise<void> {
  const faces = `${face('Emoji', await readFont(EMOJI, 'fonts-noto-color-emoji'))}${face('Mono', await readFont(MONOSPACED, 'fonts-dejavu-core'))}`;
  await using browser = await startBrowser();
  await drawStates(folder, groups, (html) => screenshot(browser, html, faces));
}

const face = (name: string, font: Buffer): string =>
  `@font-face { font-family: ${name}; src: url(${fontUrl(font)}); }`;

const fontUrl = (font: Buffer): string => `data:font/ttf;base64,${font.toString('base64')}`;

/** The picture to upload as the icon of the Discord application and the Slack app. */
export async function avatar(): Promise<Buffer> {
  const svg = Buffer.from(markSvg({ corner: 0 }));
  return sharp(svg, { density: 72 * 32 })
    .resize(AVATAR_PIXELS)
    .png({ compressionLevel: 9 })
    .toBuffer();
}

/** Chromium includes neither of the fonts. Throws an error that names the package to install. */
export async function readFont(file: string, name: string): Promise<Buffer> {
  return readFile(file).catch((cause: unknown) => {
    const sentence = `There is no font at ${file}. On Debian: sudo apt-get install ${name}`;
    throw new Error(sentence, { cause });
  });
}

/** @param faces fonts that are loaded before the page, because text that comes first keeps its fallbacks */
async function screenshot(browser: TestBrowser, { html }: Html, faces = ''): Promise<Buffer> {
  const { page, problems, leave } = await browser.visit('about:blank', { deviceScaleFactor: 2 });
  await page.setContent(`<!doctype html><style>${STYLE}${faces}</style>`);
  await page.evaluate('Promise.all([...document.fonts].map((font) => font.load()))');
  await page.evaluate(`document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(html)})`);
  await page.evaluate('Promise.all([...document.images].map((image) => image.decode()))');
  await page.evaluate('document.fonts.ready');
  const shot = await page.locator('main').first().screenshot();
  if (problems.length > 0) throw new Error(problems.join('; '));
  leave();
  return smaller(shot);
}

/** 256 colours are enough for text and a cover, and halve the size. */
const smaller = (picture: Buffer): Promise<Buffer> =>
  sharp(picture).png({ palette: true, colours: 256, compressionLevel: 9 }).toBuffer();

async function writePicture(name: string, picture: Buffer): Promise<void> {
  const file = join(FOLDER, name);
  await writeFile(file, picture);
  process.stdout.write(`${file}: ${Math.ceil(picture.length / 1000)} kB\n`);
}

const usage = `Usage: npm run pictures [-- --states FOLDER [GROUP…]]
Renders the pictures of the README into ${FOLDER}, or every state of every message into FOLDER.`;
if (import.meta.main && !printedHelp(usage)) {
  const { values, positionals } = parseArgs({
    options: { states: { type: 'string' } },
    allowPositionals: true,
  });
  await (values.states === undefined ? main() : drawAll(values.states, positionals));
}
