import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { noBrowser, startBrowser, type TestBrowser, type Visit } from '../servers/browser.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** The playground in a real browser with the real bot. Tests share them and build on each other. */
describe.skipIf(noBrowser)('The playground', () => {
  let folder: string;
  let emulator: Emulator;
  let running: RunningMinstrel;
  let browser: TestBrowser;
  let visit: Visit;
  let page: Page;

  const start = (port: string) => startMinstrel({ DATA_DIR: folder, PORT: port }, { emulator });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'minstrel-playground-'));
    // Slow enough to see progress.
    emulator = await startEmulator({ speed: 0.05, songSeconds: 3, studio: createSampleStudio() });
    running = await start('0');
    browser = await startBrowser();
    visit = await browser.visit(running.minstrel.playgroundUrl ?? '');
    ({ page } = visit);
    await composer().waitFor();
  });

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await running?.[Symbol.asyncDispose]();
    await emulator?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const composer = () => page.getByRole('textbox', { name: /type \/ for commands/ });
  const newest = () => page.getByRole('article').last();
  const say = async (line: string) => {
    await composer().fill(line);
    await page.keyboard.press('Enter');
  };
  /** Sends a line and waits for the bot's reply. */
  const ask = async (line: string) => {
    const before = await page.getByRole('article').count();
    await say(line);
    await page
      .getByRole('article')
      .nth(before + 1)
      .waitFor();
  };
  const be = (name: string) => page.getByRole('radio', { name }).check();
  const shows = (text: string | RegExp) =>
    page.getByRole('article').filter({ hasText: text }).last().waitFor();

  test('shows every command to a newcomer, without problems that axe can find', async () => {
    await page.getByRole('heading', { name: 'Welcome to #general' }).waitFor();
    // The page starts scrolled to the top.
    expect(await page.evaluate("document.querySelector('.messages').scrollTop")).toBe(0);
    for (const { name, description } of running.minstrel.bot.commands) {
      await page.getByRole('button', { name: `/${name} ${description}` }).waitFor();
    }
    expect(await visit.accessibilityProblems()).toEqual([]);
    const fits =
      "document.querySelector('.messages').scrollHeight <= document.querySelector('.messages').clientHeight";
    for (const size of [
      { width: 1440, height: 900 },
      { width: 1280, height: 720 },
      { width: 375, height: 667 },
    ]) {
      await page.setViewportSize(size);
      expect(await page.evaluate(fits)).toBe(true);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    const loaded = `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/'))
      .reduce((sum, { decodedBodySize }) => sum + decodedBodySize, performance.getEntriesByType('navigation')[0].decodedBodySize)`;
    const bytes = Number(await page.evaluate(loaded));
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(150_000);
  });

  test('works in more tabs than a browser opens connections', async () => {
    const tabs = await Promise.all(Array.from({ length: 7 }, () => page.context().newPage()));
    for (const tab of tabs) {
      await tab.goto(page.url());
      await tab.getByRole('heading', { name: 'Welcome to #general' }).waitFor();
    }
    await Promise.all(tabs.map((tab) => tab.close()));
  });

  test('completes a command with the keyboard, shows progress and plays the song', async () => {
    await composer().focus();
    // Without a match, the command that explains the others is offered.
    await page.keyboard.type('/help');
    await page.getByRole('option', { name: '/minstrel' }).waitFor();
    await composer().fill('/so');
    await page.getByRole('option', { name: '/song' }).waitFor();
    expect(await page.getByRole('option').count()).toBe(1);
    expect(await visit.accessibilityProblems()).toEqual([]);
    await page.keyboard.press('Enter');
    expect(await composer().inputValue()).toBe('/song ');
    await page.keyboard.type('a tune for rain --');
    await page.getByRole('option', { name: '--style' }).waitFor();
    // Completions for the rest of the word arrive late.
    await page.evaluate('window.truly = window.fetch; window.fetch = () => new Promise(() => {})');
    await page.keyboard.type('st');
    await page.keyboard.press('Tab');
    expect(await composer().inputValue()).toBe('/song a tune for rain --style ');
    await page.evaluate('window.fetch = window.truly');
    await page.keyboard.type('lofi');
    await page.keyboard.press('Enter');
    await page.locator('.progress').waitFor();
    await page.locator('audio').nth(1).waitFor({ state: 'attached' });
    expect(await page.locator('.progress').count()).toBe(0);
    expect(await newest().innerText()).toContain('lofi');
    const audio = (index: number, what: string) =>
      page.evaluate(`document.querySelectorAll('audio')[${index}].${what}`);
    const press = (name: RegExp) => newest().getByRole('button', { name }).click();
    await press(/^Play .* Take 1$/);
    await expect.poll(() => audio(0, 'currentTime')).toBeGreaterThan(0.2);
    await newest().getByRole('slider').first().press('Home');
    await expect.poll(() => audio(0, 'currentTime')).toBeLessThan(0.2);
    // The same length for eyes and ears.
    const valueText = await newest().getByRole('slider').first().getAttribute('aria-valuetext');
    expect(await newest().locator('.time').first().textContent()).toBe(valueText?.replace('of', '/'));
    await press(/^Play .* Take 2$/);
    await expect.poll(() => audio(0, 'paused')).toBe(true);
    await press(/^Pause .* Take 2$/);
    await expect.poll(() => audio(1, 'paused')).toBe(true);
  });

  test('presses buttons, including those in the menu', async () => {
    await newest()
      .getByRole('button', { name: /^Stems take 1/ })
      .click();
    const form = page.getByRole('dialog');
    await form.getByText('A tune for rain').waitFor();
    await form.getByLabel('split').selectOption('separate_vocal');
    await page.keyboard.press('Enter');
    await form.getByRole('button', { name: 'Split' }).click();
    const mixer = newest().getByRole('group', { name: /^Mixer/ });
    const solo = mixer.getByRole('button', { name: 'Solo vocals' });
    await solo.click();
    // The other lane is silent, so it looks as if it were muted.
    expect(await mixer.locator('.lane.silent').allInnerTexts()).toEqual([
      expect.stringMatching(/instrumental/i),
    ]);
    await solo.click();
    // The length is known before the stems are loaded.
    await mixer.getByText(/^0:00 \/ 0:\d\d$/).waitFor();
    await mixer.getByRole('button', { name: 'Mute vocals' }).click();
    expect(await mixer.locator('.lane.silent').allInnerTexts()).toEqual([expect.stringMatching(/vocals/i)]);
    await mixer.getByRole('button', { name: 'Play all stems' }).click();
    await mixer.getByRole('button', { name: 'Pause all stems' }).waitFor();
    const position = () => mixer.getByRole('slider', { name: 'Position in the mix' }).inputValue();
    await expect.poll(async () => Number(await position())).toBeGreaterThan(0.2);
    // Another player stops it.
    await page
      .getByRole('button', { name: /^Play .* Take 1$/ })
      .first()
      .click();
    await mixer.getByRole('button', { name: 'Play all stems' }).waitFor();
    await page
      .getByRole('button', { name: /^Pause .* Take 1$/ })
      .first()
      .click();
    expect(await visit.accessibilityProblems()).toEqual([]);
    const song = page.getByRole('article').filter({ hasText: 'Take 1' }).first();
    await song.getByRole('button', { name: 'Actions: Take 1' }).press('Enter');
    const outside = `(() => {
      const frame = document.querySelector('.messages').getBoundingClientRect();
      const list = document.querySelector('.menu-entries');
      const { top, bottom } = list.getBoundingClientRect();
      return [list.children.length > 4, top >= frame.top, bottom <= frame.bottom].join();
    })()`;
    expect(await page.evaluate(outside)).toBe('true,true,true');
    // The title of the menu names the take, so only screen readers repeat it.
    await song.getByRole('button', { name: /^WAV take 1/ }).waitFor();
    expect(await song.locator('.menu-entries .unseen').allInnerTexts()).toContain('take 1');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Escape');
    expect(await page.locator('.menu-entries').count()).toBe(0);
  });

  test('opens forms, shows errors next to fields, and prefills values', async () => {
    await say('/limits report ?');
    const form = page.getByRole('dialog');
    await form.getByLabel('days').fill('many');
    expect(await visit.accessibilityProblems()).toEqual([]);
    await page.keyboard.press('Enter');
    await form.getByRole('alert').filter({ hasText: 'must be a number' }).waitFor();
    await form.getByLabel('days').fill('7');
    await page.keyboard.press('Enter');
    await form.waitFor({ state: 'detached' });
    await newest().getByRole('img', { name: /^Jobs/ }).waitFor();
    await newest().getByRole('table', { name: 'By kind' }).waitFor();
    await ask('/lyrics a lighthouse');
    const versions = newest().getByRole('listitem');
    await versions.nth(1).waitFor();
    const [first, second] = await Promise.all([0, 1].map((index) => versions.nth(index).boundingBox()));
    expect(first?.y).toBe(second?.y);
    expect(await visit.accessibilityProblems()).toEqual([]);
    await versions
      .nth(1)
      .getByRole('button', { name: /^Sing this/ })
      .click();
    const chosen = await versions.nth(1).getByRole('heading').innerText();
    await expect.poll(() => form.getByLabel('lyrics').inputValue()).toContain('\n');
    expect(await form.getByLabel('title').inputValue()).toBe(chosen);
    await page.keyboard.press('Escape');
  });

  test('streams an answer with code and tables as elements', async () => {
    await page.evaluate(`window.states = new Set();
      new MutationObserver(() => window.states.add(document.querySelector('article:last-of-type .card .markdown')?.innerText.length))
        .observe(document.querySelector('.messages'), { subtree: true, childList: true, characterData: true });`);
    await ask('/ask Write a long story about rain in many paragraphs');
    await newest().getByRole('button', { name: 'Again' }).waitFor();
    expect(await page.evaluate('window.states.size')).toBeGreaterThan(2);
    await ask('/ask Write a function that adds numbers in TypeScript');
    await newest().locator('pre code').waitFor();
    await newest().getByRole('button', { name: 'Again' }).waitFor();
    await newest().locator('.token-keyword', { hasText: 'const' }).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await newest().getByRole('button', { name: 'Copy' }).click();
    await newest().getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      await newest().locator('pre code').textContent(),
    );
    expect(await visit.accessibilityProblems()).toEqual([]);
    await ask('/ask Compare three fruits in a table');
    await newest().getByRole('button', { name: 'Again' }).waitFor();
    expect(await newest().locator('tbody tr').count()).toBe(4);
  });

  test('answers mentions, replies and direct messages', async () => {
    await ask('@Minstrel What is the capital of France?');
    await newest().getByRole('button', { name: 'Again' }).waitFor();
    await newest().hover();
    await newest().getByRole('button', { name: 'Message actions' }).click();
    await page.getByRole('button', { name: 'Reply' }).click();
    await ask('And what did I ask before?');
    await newest().getByRole('button', { name: 'Again' }).waitFor();
    expect(await newest().innerText()).toContain('You said: “What is the capital of France?”');
    await page.getByRole('button', { name: 'Minstrel', exact: true }).click();
    await ask('Good morning');
    await newest().getByRole('button', { name: 'Again' }).waitFor();
    await page.getByRole('button', { name: 'general' }).click();
  });

  describe('a request whose response was lost', () => {
    /** Delivers the next action but loses its response. */
    const loseAnswer = () =>
      page.evaluate(`window.truly = window.fetch; window.fetch = async (...args) => {
        const answer = await window.truly(...args);
        if (!/"id":/.test(args[1]?.body)) return answer;
        window.fetch = window.truly;
        throw new TypeError('lost');
      }`);
    const isRefused = () => page.getByRole('alert').filter({ hasText: "Minstrel didn't respond" }).waitFor();
    const count = (text: string) => page.getByRole('article').filter({ hasText: text }).count();

    test('is posted once when resent, and again when typed later', async () => {
      await loseAnswer();
      await say('good morning to all');
      await isRefused();
      expect(await composer().inputValue()).toBe('good morning to all');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor({ state: 'detached' });
      expect(await count('good morning to all')).toBe(1);
      await say('good morning to all');
      await expect.poll(() => count('good morning to all')).toBe(2);
    });

    test('runs once when its form is resubmitted', async () => {
      const before = await page.getByRole('article').count();
      await say('/lyrics');
      const form = page.getByRole('dialog');
      await form.getByLabel('topic').fill('a ferry that comes twice');
      await loseAnswer();
      await form.getByRole('button', { name: 'Write lyrics' }).click();
      await isRefused();
      await form.getByRole('button', { name: 'Write lyrics' }).click();
      await form.waitFor({ state: 'detached' });
      await newest()
        .getByRole('button', { name: /Sing this/ })
        .first()
        .waitFor();
      expect(await page.getByRole('article').count()).toBe(before + 2);
    });
  });

  test('shows moderators’ settings to moderators only', async () => {
    await say('/models set ask chat:chat-large channel');
    await shows('Answers in this channel now use chat:chat-large');
    await be('Ada');
    await composer().waitFor();
    await expect.poll(() => page.getByText('now use chat:chat-large').count()).toBe(0);
    await ask('/models set ask chat:chat-small channel');
    await shows(/moderator/i);
    expect(await newest().innerText()).toContain('Only Ada can see this');
    await be('Mo');
    await shows('Answers in this channel now use chat:chat-large');
  });

  test('uploads an attached file and shows the resulting video', async () => {
    const attach = page.getByLabel('Attach files');
    await attach.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('words') });
    await page.getByRole('button', { name: 'Remove notes.txt' }).click();
    const buffer = PNG.sync.write(new PNG({ width: 640, height: 480 }));
    await attach.setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer });
    await page.getByRole('button', { name: 'Remove dot.png' }).waitFor();
    // A preview.
    await expect.poll(() => page.evaluate("document.querySelector('.chip img').naturalWidth")).toBe(640);
    await ask('/video it grows');
    await newest().locator('video').waitFor();
    await page.evaluate("Object.assign(document.querySelector('video'), { loop: true }).play()");
    const song = page.getByRole('article').filter({ hasText: 'Take 1' }).first();
    await song.getByRole('button', { name: /^Play .* Take 1$/ }).click();
    await expect.poll(() => page.evaluate("document.querySelector('video').paused")).toBe(true);
    const videoRequest = emulator.requests.findLast(
      ({ method, url }) => method === 'POST' && url.includes('video'),
    );
    expect(JSON.stringify(videoRequest?.body)).toContain('/files/');
  });

  test('tries a command with one press, opens another’s form, and clears the chat', async () => {
    await page.getByRole('button', { name: 'quiet' }).click();
    await page.getByRole('button', { name: /^\/remix / }).click();
    expect(await composer().inputValue()).toBe('/remix ');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Ask a question Write a haiku about rain' }).click();
    await newest().getByRole('button', { name: 'Again' }).waitFor();
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const colours = `['backgroundColor', 'color'].map((name) => getComputedStyle(document.body)[name].match(/\\d+/)[0] > 128)`;
    expect(await page.evaluate(colours)).toEqual([true, false]);
    expect(await page.getByRole('button').count()).toBe(0);
    // All of it, not just the visible part.
    expect(await page.evaluate("getComputedStyle(document.querySelector('.messages')).overflowY")).toBe(
      'visible',
    );
    await page.emulateMedia({ media: null, colorScheme: null });
    await page.getByRole('button', { name: 'Clear' }).click();
    for (const line of ['/jobs', '/voices', '/minstrel', '/models', '/limits', '/pages']) {
      await page.getByRole('button', { name: `${line} ` }).click();
      await page.keyboard.press('Enter');
      await newest().getByText('Only Mo can see this').waitFor();
      await page.getByRole('button', { name: 'Clear' }).click();
    }
    await page.getByRole('heading', { name: 'Welcome to #quiet' }).waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
    await page.reload();
    await page.getByRole('heading', { name: 'Welcome to #quiet' }).waitFor();
    await page.getByRole('button', { name: 'general' }).click();
  });

  test('accepts dropped and pasted files', async () => {
    const give = (name: string, event: string, target: string) =>
      page.evaluate(`(() => {
        const data = new DataTransfer();
        data.items.add(new File(['words'], '${name}', { type: 'text/plain' }));
        const init = { bubbles: true, cancelable: true };
        const event = '${event}' === 'paste'
          ? new ClipboardEvent('paste', { ...init, clipboardData: data })
          : new DragEvent('${event}', { ...init, dataTransfer: data });
        document.querySelector('${target}').dispatchEvent(event);
      })()`);
    await give('dropped.txt', 'dragover', '.layout');
    await page.getByText('Drop').waitFor();
    await give('dropped.txt', 'drop', '.layout');
    await page.getByRole('button', { name: 'Remove dropped.txt' }).click();
    await give('pasted.txt', 'paste', 'textarea');
    await page.getByRole('button', { name: 'Remove pasted.txt' }).click();
  });

  test('shows hostile texts and names as text', async () => {
    const markup =
      '<img src=x onerror="window.taken=1"><script>window.taken=1</script><style>*{display:none}</style>';
    const link = '[click](javascript:window.taken=1) [data](data:text/html,x) \u202egnp.evil';
    await say(`${markup} ${link}`);
    await newest().getByText('onerror').waitFor();
    await ask(`/song --title "<img src=x onerror=window.taken=1><script>x" --lyrics "${link}" --style "x"`);
    await newest().locator('audio').nth(1).waitFor({ state: 'attached' });
    expect(await newest().getByRole('heading').first().textContent()).toContain('<script>');
    await attachByName('"><img src=x onerror=window.taken=1>.txt');
    expect(
      await page.evaluate(
        "[window.taken, document.querySelectorAll('main :is(script, style, img[src=x], a[href^=j], a[href^=d])').length].join()",
      ),
    ).toBe(',0');
  });

  test('shows the same chat after a reload, on a phone and to others', async () => {
    const before = await page.getByRole('article').count();
    await page.reload();
    await expect.poll(() => page.getByRole('article').count()).toBe(before);
    // An empty first header cell in the table labels no column.
    expect(await page.locator('.markdown tbody tr').count()).toBe(4);
    expect(await visit.accessibilityProblems()).toEqual([]);
    const phone = await browser.visit(page.url(), { width: 360, colorScheme: 'dark' });
    await phone.page.getByRole('article').first().waitFor();
    expect(await phone.accessibilityProblems()).toEqual([]);
    expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    const linesOfCharm = `(() => {
      const range = document.createRange();
      range.selectNodeContents([...document.querySelectorAll('td')].find(({ textContent }) => textContent === 'Charm'));
      return range.getClientRects().length;
    })()`;
    expect(await phone.page.evaluate(linesOfCharm)).toBe(1);
    await phone.page.getByRole('button', { name: 'Open channels' }).click();
    await phone.page.getByRole('radio', { name: 'Bob' }).check();
    await expect.poll(() => phone.page.getByText('Only Mo can see this').count()).toBe(0);
    await phone.page.getByRole('textbox').fill('Hello from a phone');
    await phone.page.keyboard.press('Enter');
    await shows('Hello from a phone');
    expect(phone.problems).toEqual([]);
    expect(visit.problems).toEqual([]);
    await phone.page.context().close();
  });

  test('continues after a restart and shows the pending result', async () => {
    await ask('/video the tide comes in');
    await page.locator('.progress').waitFor();
    const { port } = new URL(running.minstrel.url);
    await running[Symbol.asyncDispose]();
    await page.getByText('Reconnecting…').waitFor();
    running = await start(port);
    await newest().locator('video').waitFor();
    expect(await page.getByRole('article').count()).toBe(1);
    await say('/minstrel');
    await shows('Only Mo can see this');
  });

  async function attachByName(name: string): Promise<void> {
    await page
      .getByLabel('Attach files')
      .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('x') });
    await page.getByRole('button', { name: /^Remove / }).click();
  }
});
