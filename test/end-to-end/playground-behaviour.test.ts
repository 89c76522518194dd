import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { noBrowser, startBrowser, type TestBrowser, type Visit } from '../servers/browser.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** The page's behaviour around messages: scrolling, focus, notices, addresses. Each test starts in an empty channel. */
describe.skipIf(noBrowser)('The playground', () => {
  let folder: string;
  let emulator: Emulator;
  let running: RunningMinstrel;
  let browser: TestBrowser;
  let visit: Visit;
  let page: Page;

  const start = (port: string) =>
    startMinstrel({ DATA_DIR: folder, PORT: port, TOOL_MODEL: 'facet-tools' }, { emulator });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'minstrel-playground-'));
    emulator = await startEmulator({ speed: 0.05, songSeconds: 3, studio: createSampleStudio() });
    running = await start('0');
    browser = await startBrowser();
    visit = await browser.visit(running.minstrel.playgroundUrl ?? '');
    ({ page } = visit);
  });

  beforeEach(async () => {
    await page.goto(running.minstrel.playgroundUrl ?? '');
    await composer().waitFor();
    const clear = page.getByRole('button', { name: 'Clear' });
    if (await clear.isEnabled()) await clear.click();
    await page.getByRole('heading', { name: /^Welcome/ }).waitFor();
  });

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await running?.[Symbol.asyncDispose]();
    await emulator?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const composer = () => page.getByRole('textbox', { name: /type \/ for commands/ });
  const articles = () => page.getByRole('article');
  const newest = () => articles().last();
  /** Resolves when the page has the answer to the line, because it scrolls to it. */
  const say = async (line: string) => {
    await composer().fill(line);
    const answer = page.waitForResponse((response) =>
      Boolean(response.request().postData()?.includes('"type":"line"')),
    );
    await page.keyboard.press('Enter');
    await answer;
  };
  const answered = () => newest().getByRole('button', { name: 'Again' }).waitFor();
  /** Sends messages between people until the channel has to scroll. */
  const chat = async (messages: number) => {
    for (let number = 1; number <= messages; number += 1) {
      await say(`note ${number}`);
      await newest().getByText(`note ${number}`, { exact: true }).waitFor();
    }
  };
  /** Scrolls after the page has shown what arrived. */
  const scrollUp = async () => {
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await page.evaluate("document.querySelector('.messages').scrollTo({ top: 0 })");
  };
  const isComposerFocused = () =>
    page.evaluate("document.activeElement === document.querySelector('.composer textarea')");
  const boxOf = async (element: Locator) => {
    const box = await element.boundingBox();
    if (!box) throw new TypeError('The element is not visible');
    return box;
  };
  /** Whether a message is visible as a whole. */
  const isInView = async (message: Locator) => {
    const [frame, box] = [await boxOf(page.getByRole('log')), await boxOf(message)];
    return box.y >= frame.y - 1 && box.y + box.height <= frame.y + frame.height + 1;
  };

  test('scrolls to the result of a line and of a button, private or not', async () => {
    await say('/ask Write a haiku about rain');
    await answered();
    await chat(14);
    for (const line of ['a note to all', '/jobs', '/nothing']) {
      const before = await articles().count();
      await scrollUp();
      expect(await isInView(newest())).toBe(false);
      await say(line);
      await expect.poll(() => articles().count()).toBeGreaterThan(before);
      await expect.poll(() => isInView(newest())).toBe(true);
    }
    await scrollUp();
    const count = await articles().count();
    await articles().nth(1).getByRole('button', { name: 'Again' }).click();
    await expect.poll(() => articles().count()).toBe(count + 1);
    await answered();
    await expect.poll(() => isInView(newest())).toBe(true);
  });

  test('shows the beginning of a result that is taller than the window', async () => {
    await page.setViewportSize({ width: 1280, height: 420 });
    await chat(6);
    await say('/song --help');
    await newest().getByRole('heading', { name: '/song' }).waitFor();
    const top = async () => (await boxOf(newest())).y - (await boxOf(page.getByRole('log'))).y;
    await expect.poll(top).toBeGreaterThanOrEqual(0);
    expect(await top()).toBeLessThan(40);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('restores cleared messages in order, and removes the button for new ones', async () => {
    await chat(16);
    await scrollUp();
    const other = await browser.visit(page.url());
    await other.page.getByRole('textbox').fill('from another tab');
    await other.page.keyboard.press('Enter');
    const isBelow = page.getByRole('button', { name: 'New messages' });
    await isBelow.waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await isBelow.waitFor({ state: 'detached' });
    await expect.poll(isComposerFocused).toBe(true);
    await say('later');
    await newest().getByText('later').waitFor();
    expect(await articles().count()).toBe(1);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('Cleared.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await newest().getByText('later').waitFor();
    await chat(1);
    await page.getByRole('button', { name: 'Clear' }).click();
    await other.page.getByRole('textbox').fill('while it was empty');
    await other.page.keyboard.press('Enter');
    await newest().getByText('while it was empty').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect
      .poll(async () => (await articles().allInnerTexts()).map((text) => text.split('\n').at(-1)))
      .toEqual(['later', 'note 1', 'while it was empty']);
    await other.page.context().close();
  });

  test('moves the focus to the message after an example', async () => {
    await page.getByRole('button', { name: /^Ask a question Write/ }).click();
    await answered();
    expect(await isComposerFocused()).toBe(true);
  });

  test('keeps the channel in the address', async () => {
    await page.getByRole('button', { name: 'songs', exact: true }).click();
    await page.getByRole('heading', { name: '#songs', exact: true }).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('channel')).toBe('songs');
    await page.reload();
    await page.getByRole('heading', { name: '#songs', exact: true }).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(page.url());
    await tab.getByRole('heading', { name: '#songs', exact: true }).waitFor();
    await tab.close();
    await page.goBack();
    await page.getByRole('heading', { name: '#general', exact: true }).waitFor();
    await page.goForward();
    await page.getByRole('heading', { name: '#songs', exact: true }).waitFor();
    await page.goto(`${running.minstrel.playgroundUrl}?channel=nowhere`);
    await page.getByRole('heading', { name: '#general', exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: '#songs', exact: true }).waitFor();
  });

  test('stays in direct messages when the person changes', async () => {
    const tab = await page.context().newPage();
    await tab.goto(page.url());
    await tab.getByRole('button', { name: 'Minstrel', exact: true }).click();
    await tab.waitForURL(/channel=direct-mo$/);
    await tab.getByRole('radio', { name: 'Ada' }).check();
    await tab.waitForURL(/channel=direct-ada$/);
    await tab.getByRole('heading', { name: 'Chat with Minstrel' }).waitFor();
    await tab.goBack();
    await tab.waitForURL(/channel=general$/);
    await tab.close();
  });

  test('stops an answer without changing its width or adding a message', async () => {
    await page.evaluate(`window.widths = new Set();
      new MutationObserver(() => {
        const card = document.querySelector('.of-bot .card');
        if (card) window.widths.add(card.getBoundingClientRect().width);
      }).observe(document.querySelector('.messages'), { subtree: true, childList: true, characterData: true });`);
    await say('/ask Write a long story about rain in 60 paragraphs');
    await newest()
      .getByRole('heading', { name: /^Rain in/ })
      .waitFor();
    await newest().getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('status').getByText('Cancelling.').waitFor();
    await newest()
      .getByText(/stopped/i)
      .waitFor();
    await answered();
    expect(await articles().count()).toBe(2);
    expect(await page.evaluate('window.widths.size')).toBe(1);
  });

  test('replaces the progress of a song with its players in place, without motion if people prefer that', async () => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.evaluate(`window.heights = new Set(); window.animations = 0;
      new MutationObserver(() => {
        const card = document.querySelector('.of-bot .card');
        if (card) window.heights.add(Math.round(card.getBoundingClientRect().height));
        window.animations += document.getAnimations().filter(({ effect }) => effect.target.closest('.messages')).length;
      }).observe(document.querySelector('.messages'), { subtree: true, childList: true, characterData: true });`);
    await say('/song a tune for rain');
    await page.locator('.progress').waitFor();
    await newest().getByRole('group', { name: 'Lyrics' }).waitFor();
    await newest().locator('audio').nth(1).waitFor({ state: 'attached' });
    await newest().getByText('Requested by').waitFor();
    expect(await page.evaluate('Math.max(...window.heights) - Math.min(...window.heights)')).toBeLessThan(10);
    expect(await page.evaluate('window.animations')).toBe(0);
    await page.emulateMedia({ reducedMotion: null });
  });

  test.each([375, 1280])('replaces progress with an image in place, %d pixels wide', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(`window.heights = new Set();
      new MutationObserver(() => {
        for (const card of document.querySelectorAll('.of-bot .card')) window.heights.add(Math.round(card.getBoundingClientRect().height));
      }).observe(document.querySelector('.messages'), { subtree: true, childList: true, characterData: true });`);
    await say('/image a fox');
    await newest().getByRole('button', { name: 'Again' }).waitFor();
    expect(await page.evaluate('Math.max(...window.heights) - Math.min(...window.heights)')).toBeLessThan(10);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test.each([375, 1280])(
    'shows lyrics whole from their beginning, with their buttons in view, %d pixels wide',
    async (width) => {
      await page.setViewportSize({ width, height: 600 });
      await say('/lyrics a lighthouse');
      const first = newest().getByRole('listitem').first();
      await first.waitFor();
      const log = await boxOf(page.getByRole('log'));
      await expect.poll(async () => (await boxOf(first)).height).toBeGreaterThan(log.height);
      await expect.poll(async () => (await boxOf(newest())).y).toBeGreaterThanOrEqual(log.y);
      const button = await boxOf(first.getByRole('button'));
      expect(button.y + button.height).toBeLessThan(log.y + log.height);
      expect(await page.getByRole('button', { name: 'New messages' }).count()).toBe(0);
      await page.setViewportSize({ width: 1280, height: 900 });
    },
  );

  test('shows a mistyped command as it was typed', async () => {
    await say('/sogn a tune for rain');
    await newest().getByText('Did you mean /song?').waitFor();
    expect(await articles().first().innerText()).toContain('/sogn a tune for rain');
    await say('/models sett');
    await newest().getByText('Did you mean').waitFor();
    await expect.poll(() => articles().count()).toBe(4);
    expect(await articles().nth(2).innerText()).toContain('/models sett');
    expect(await articles().nth(2).innerText()).toContain('Only Mo can see this');
  });

  test('explains to people who greet a channel that a mention is needed', async () => {
    await say('hello');
    await page.getByText('Here, I only answer messages that mention me.').waitFor();
    expect(await visit.accessibilityProblems()).toEqual([]);
    await page.getByRole('button', { name: 'Mention Minstrel' }).click();
    expect(await composer().inputValue()).toBe('@Minstrel hello');
    await page.keyboard.press('Enter');
    await answered();
    expect(await newest().innerText()).toContain('Hello!');
    await say('/models answers talk:on');
    await newest().getByText('Only Mo can see this').waitFor();
    await say('hello');
    await answered();
    await say('/models answers talk:off');
  });

  test('answers the first things that people try', async () => {
    await say('@Minstrel what can you do?');
    await answered();
    expect(await newest().innerText()).toContain('/minstrel');
    await say('@Minstrel make me a song about rain');
    await answered();
    await newest().getByRole('button', { name: 'Make this song' }).click();
    await newest().locator('audio').nth(1).waitFor({ state: 'attached' });
    expect(await newest().innerText()).toMatch(/rain/i);
    // With the assistant on, the model runs the command itself.
    await say('/models answers assistant:on');
    await newest().getByText('Only Mo can see this').waitFor();
    await say('@Minstrel make me a song about snow');
    await page.getByText('/song: started').waitFor();
    await newest().locator('audio').nth(1).waitFor({ state: 'attached' });
    await say('/models answers assistant:off');
    await newest().getByText('Only Mo can see this').waitFor();
  });

  test('reconnects without moving or covering anything', async () => {
    await chat(2);
    const places = async () => [await boxOf(newest()), await boxOf(composer())];
    const before = await places();
    const { port } = new URL(running.minstrel.url);
    await running[Symbol.asyncDispose]();
    const notice = page.getByText('Reconnecting…');
    await notice.waitFor();
    expect(await places()).toEqual(before);
    const box = await boxOf(notice);
    expect(box.y + box.height).toBeLessThanOrEqual((await boxOf(page.getByRole('log'))).y);
    running = await start(port);
    await notice.waitFor({ state: 'detached' });
    expect(visit.problems.filter((problem) => !/WebSocket|ERR_/.test(problem))).toEqual([]);
  });
});
