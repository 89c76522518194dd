import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  noBrowser,
  startBrowser,
  type TestBrowser,
  type Visit,
  type VisitOptions,
} from '../../servers/browser.ts';
import { openSongSite } from './open-song-site.ts';
import { Files, type SongSite, sampleSong, serveSong } from './song-site.ts';

/** Measures what the mixer plays from then on. */
const MEASURE = `(() => {
  const { connect } = AudioNode.prototype;
  AudioNode.prototype.connect = function (to, ...rest) {
    if (to === this.context.destination && this.context instanceof AudioContext)
      connect.call(this, (globalThis.meter ??= new AnalyserNode(this.context)));
    return connect.call(this, to, ...rest);
  };
})()`;
/** Loudest sample that the mixer plays now. */
const METER = `(() => {
  const samples = new Float32Array(meter.fftSize);
  meter.getFloatTimeDomainData(samples);
  return Math.max(...samples.map(Math.abs));
})()`;
/** Looks at the mix twenty times a second for five seconds of it: promises the loudest sample, and how often a lane was drawn. */
const LISTEN_TO_MIX = `(() => {
  const { deck } = document.querySelector('[data-mixer]');
  const samples = new Float32Array(meter.fftSize);
  const heard = { loudest: 0, looks: 0, drawn: 0 };
  const pen = CanvasRenderingContext2D.prototype;
  const { clearRect } = pen;
  pen.clearRect = function (...area) {
    heard.drawn += 1;
    clearRect.apply(this, area);
  };
  globalThis.listened = new Promise((resolve) => {
    const look = setInterval(() => {
      if (!deck.playing || deck.position() < 0.1) return;
      meter.getFloatTimeDomainData(samples);
      heard.loudest = Math.max(heard.loudest, ...samples.map(Math.abs));
      heard.looks += 1;
      if (deck.position() <= 5) return;
      clearInterval(look);
      // As it is now: the mix goes on.
      resolve({ ...heard });
    }, 50);
  });
})()`;
const MIX_POSITION = `document.querySelector('[data-mixer]').deck.position()`;

/** Presses the button of the mix faster than its clock goes on. */
const PRESS_TWICE =
  "for (let time = 0; time < 2; time += 1) document.querySelector('[data-mixer] .play').click()";
/** Counts how often a clock is told to go on while it is being stopped. */
const COUNT_HASTY = `(() => {
  const clock = AudioContext.prototype;
  const { suspend, resume } = clock;
  let stopping = 0;
  globalThis.hasty = 0;
  clock.suspend = async function () {
    stopping += 1;
    await suspend.call(this);
    stopping -= 1;
  };
  clock.resume = function () {
    if (stopping > 0) hasty += 1;
    return resume.call(this);
  };
})()`;
/** Keeps what was started and not stopped. */
const COUNT_SOUNDS = `(() => {
  const source = AudioBufferSourceNode.prototype;
  const { start, stop } = source;
  globalThis.sounding = new Set();
  source.start = function (...when) {
    sounding.add(this);
    start.apply(this, when);
  };
  source.stop = function (...when) {
    sounding.delete(this);
    stop.apply(this, when);
  };
})()`;

/** How many colours the middle of the first waveform has. */
const COLOURS = `(() => {
  const canvas = document.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, canvas.height / 2, canvas.width, 1);
  const opaque = Array.from({ length: data.length / 4 }, (_, index) => [...data.subarray(4 * index, 4 * index + 4)])
    .filter(([, , , alpha]) => alpha === 255);
  return new Set(opaque.map(String)).size;
})()`;

/** Makes the sound of the first player measurable. */
const LISTEN = `(() => {
  const context = new AudioContext();
  const analyser = new AnalyserNode(context);
  context.createMediaElementSource(document.querySelector('audio')).connect(analyser).connect(context.destination);
  globalThis.loudest = () => {
    const samples = new Float32Array(analyser.fftSize);
    analyser.getFloatTimeDomainData(samples);
    return Math.max(...samples.map(Math.abs));
  };
})()`;

const HOSTILE = `"><script>document.title = 'attacked'</script><img src=x onerror="document.title = 'attacked'">\u202Eexe.`;

/** Whether a page has to be scrolled sideways, and whether it is dark. */
const SIGHT = `({
  overflow: document.documentElement.scrollWidth - innerWidth,
  isDark: getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((part) => part < 60),
})`;
const sightSchema = z.object({ overflow: z.number(), isDark: z.boolean() });

const SCREENS = [
  [360, 'light'],
  [360, 'dark'],
  [1280, 'light'],
  [1280, 'dark'],
] as const;

describe.skipIf(noBrowser)('the page of a song in a browser', () => {
  let browser: TestBrowser;
  /** One that plays its stems from before the other tests until the last one. */
  let mixing: Visit;
  let longSite: SongSite;
  let site: SongSite;
  const files = new Files();
  const sample = sampleSong(files);
  beforeAll(async () => {
    browser = await startBrowser();
    site = await serveSong({ song: sample, files });
    const longFiles = new Files();
    longSite = await serveSong({ song: sampleSong(longFiles, 64), files: longFiles });
    mixing = await browser.visit(longSite.songUrl);
    await openMixer(mixing);
    await mixing.page.evaluate(LISTEN_TO_MIX);
    await mixing.page.getByRole('button', { name: 'Play the mix' }).click();
  });
  afterAll(() => longSite?.[Symbol.asyncDispose]());
  afterAll(() => site?.[Symbol.asyncDispose]());
  afterAll(() => browser?.[Symbol.asyncDispose]());

  const open = (options?: VisitOptions): Promise<Visit> => browser.visit(site.songUrl, options);

  async function openMixer({ page }: Visit): Promise<void> {
    await page.evaluate(MEASURE);
    await page.getByRole('button', { name: 'Open mixer' }).click();
    await page.getByRole('button', { name: 'Play the mix' }).waitFor();
  }

  async function expectGoodOnScreens({ page, accessibilityProblems }: Visit): Promise<void> {
    for (const [width, colorScheme] of SCREENS) {
      const screen = `${width} pixels wide, ${colorScheme}`;
      await page.setViewportSize({ width, height: 740 });
      await page.emulateMedia({ colorScheme });
      expect(await accessibilityProblems(), screen).toEqual([]);
      const { overflow, isDark } = sightSchema.parse(await page.evaluate(SIGHT));
      expect(overflow, screen).toBeLessThanOrEqual(0);
      expect(isDark, screen).toBe(colorScheme === 'dark');
    }
  }

  test('on no screen anything of a song or its player is wrong, cut off or hard to reach', async () => {
    const visit = await open();
    await openMixer(visit);
    await visit.page.getByText('Download', { exact: true }).first().click();
    await expectGoodOnScreens(visit);
    expect(visit.problems).toEqual([]);
    visit.leave();
  });

  test('on no screen anything is wrong with an album, with what is gone and with what was never there', async () => {
    const { title, person, cover } = sample;
    const long = { title: `${HOSTILE}${'W'.repeat(5_000)}`, person: 'W'.repeat(5_000), path: 'songs/x/y' };
    const songs = [{ title, person, path: 'songs/x/y', seconds: 151, ...(cover && { cover }) }, long];
    const { songUrl, albumUrl, url } = await openSongSite({ song: 'erased', album: { songs }, files });
    for (const address of [albumUrl, songUrl, `${url}/songs/x/y`]) {
      const visit = await browser.visit(address);
      await expectGoodOnScreens(visit);
      // Its own status is the one thing that a console may tell.
      expect(visit.problems.filter((line) => !/status of 4(04|10) /.test(line))).toEqual([]);
      visit.leave();
    }
  });

  test('a cover, a title and sung lines stay together where the words run from right to left', async () => {
    const text = 'שיר על גשם';
    const takes = sample.takes.map((take) => ({
      ...take,
      lines: take.lines.map((line) => ({ ...line, text })),
    }));
    const { songUrl } = await openSongSite({ song: { ...sample, title: text, style: text, takes }, files });
    const { page, leave } = await browser.visit(songUrl);
    const edges = (selector: string) =>
      page.evaluate(`(() => {
        const range = document.createRange();
        range.selectNodeContents(document.querySelector('${selector}'));
        const { left, right } = range.getBoundingClientRect();
        return [left, right].map(Math.round);
      })()`);
    const byline = z.array(z.number()).parse(await edges('.by'));
    for (const beside of ['h1', '.style'])
      expect(z.array(z.number()).parse(await edges(beside))[0]).toBe(byline[0]);
    const card = z.array(z.number()).parse(await edges('.timed'));
    const [left = 0, right = 0] = z.array(z.number()).parse(await edges('.line'));
    expect((card[1] ?? 0) - right).toBeLessThan(40);
    expect(left).toBeGreaterThan(card[0] ?? 0);
    leave();
  });

  test('on paper a page is its words, dark on white, whatever is shown and sung', async () => {
    const visit = await open({ colorScheme: 'dark' });
    const { page, problems, leave } = visit;
    await openMixer(visit);
    const before = await page.evaluate('getComputedStyle(document.querySelector(".line")).fontSize');
    await page.getByRole('button', { name: 'Karaoke' }).click();
    await page.emulateMedia({ media: 'print' });
    const printed = z.array(z.array(z.number())).parse(
      await page.evaluate(`[...document.querySelectorAll('html, body, .words, li[aria-current] .line')]
        .map((part) => getComputedStyle(part).backgroundColor.match(/[\\d.]+/g).map(Number))`),
    );
    expect(printed).toHaveLength(4);
    for (const [red, green, blue, alpha = 1] of printed)
      expect(alpha === 0 || Math.min(red ?? 0, green ?? 0, blue ?? 0) > 240).toBe(true);
    const lightest = `Math.max(...[...document.querySelectorAll('h1, .by, .line, .part')]
      .flatMap((part) => getComputedStyle(part).color.match(/\\d+/g).map(Number)))`;
    expect(await page.evaluate(lightest)).toBeLessThan(128);
    expect(await page.evaluate('getComputedStyle(document.querySelector(".line")).fontSize')).toBe(before);
    expect(await page.getByText('And I read it once more').isVisible()).toBe(true);
    expect(await page.getByRole('button').count()).toBe(0);
    expect(problems).toEqual([]);
    leave();
  });

  test('sound plays, the words follow it, and a pressed line goes on from there', async () => {
    const { page, problems, leave } = await open();
    await page.evaluate(LISTEN);
    await page.getByRole('button', { name: 'Play Take 1' }).click();
    await expect
      .poll(() => page.evaluate('document.querySelector("audio").currentTime'))
      .toBeGreaterThan(0.2);
    await expect.poll(() => page.evaluate('loudest()')).toBeGreaterThan(0.3);
    expect(await page.locator('li[aria-current]').textContent()).toContain('Rain on the window');
    await page.getByText('And I read it once more').click();
    await expect
      .poll(() => page.evaluate('document.querySelector("audio").currentTime'))
      .toBeGreaterThanOrEqual(4.5);
    await expect
      .poll(() => page.locator('li[aria-current]').textContent())
      .toContain('And I read it once more');
    // One player at a time.
    await page.getByRole('button', { name: 'Play Take 2' }).click();
    await page.getByRole('button', { name: 'Play Take 1' }).waitFor();
    expect(
      await page.evaluate('[...document.querySelectorAll("audio")].map(({ paused }) => paused)'),
    ).toEqual(expect.arrayContaining([true, false]));
    await page.getByLabel('Speed of Take 2').selectOption('2×');
    expect(
      await page.evaluate(
        '(({ playbackRate, preservesPitch }) => [playbackRate, preservesPitch])(document.querySelectorAll("audio")[1])',
      ),
    ).toEqual([2, true]);
    expect(problems).toEqual([]);
    leave();
  });

  test('the keyboard alone reaches and works everything', async () => {
    const { page, problems, leave } = await open();
    const reached: string[] = [];
    const press: Readonly<Record<string, string>> = {
      'Play Take 1': 'Space',
      'Position in Take 1': 'ArrowRight',
      Download: 'Enter',
      'Mute vocals': 'Space',
      'Solo vocals': 'Enter',
      'Volume of vocals': 'ArrowLeft',
    };
    const focused = `(({ activeElement: { ariaLabel, textContent, tagName } }) => tagName === 'BODY' ? '' : ariaLabel ?? textContent)(document)`;
    for (let tab = 0; tab < 60; tab += 1) {
      await page.keyboard.press('Tab');
      const label = String(await page.evaluate(focused));
      if (label === '') break;
      reached.push(label);
      const key = press[label];
      if (key !== undefined) await page.keyboard.press(key);
      if (!label.startsWith('Open mixer')) continue;
      await page.keyboard.press('Enter');
      await expect.poll(() => page.evaluate(focused)).toBe('Play the mix');
      reached.push('Play the mix');
    }
    expect(reached).toEqual(
      expect.arrayContaining([
        'Copy link',
        ...['Play Take 1', 'Position in Take 1', 'Speed of Take 1', 'Download', 'Play Take 2'],
        ...['Play the mix', 'Position in the mix', 'Karaoke', 'Download mix'],
        ...['Mute vocals', 'Solo vocals', 'Volume of vocals', 'Mute instrumental'],
        'Rain on the Window, part two',
      ]),
    );
    expect(await page.getByRole('button', { name: 'Pause Take 1' }).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Mute vocals', pressed: true }).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Solo vocals', pressed: true }).count()).toBe(1);
    expect(await page.getByLabel('Volume of vocals').inputValue()).toBe('0.99');
    expect(await page.getByRole('link', { name: 'WAV' }).first().isVisible()).toBe(true);
    expect(problems).toEqual([]);
    leave();
  });

  test('the space bar and arrows play, the system shows what plays, and the address is handed on', async () => {
    const { page, problems, leave } = await open();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const audio = (what: string) => page.evaluate(`document.querySelector('audio').${what}`);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => audio('currentTime')).toBe(5);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => audio('currentTime')).toBe(0);
    await page.keyboard.press('Space');
    await expect.poll(() => audio('paused')).toBe(false);
    const shown =
      'Object.assign({}, ...["title", "artist", "album"].map((key) => ({ [key]: navigator.mediaSession.metadata[key] })))';
    await expect.poll(() => page.evaluate('navigator.mediaSession.metadata !== null')).toBe(true);
    expect(await page.evaluate(shown)).toEqual({
      title: 'Take 1',
      artist: 'Ada',
      album: 'Rain on the Window',
    });
    expect(await page.evaluate('navigator.mediaSession.metadata.artwork[0].src')).toContain(
      '/files/cover.svg',
    );
    await page.keyboard.press('Space');
    await expect.poll(() => audio('paused')).toBe(true);
    // A button keeps its own keys.
    await page.getByRole('button', { name: 'Copy link' }).press('Space');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await audio('paused')).toBe(true);
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^https:\/\/bot\.example\/minstrel\/songs\/song1\//,
    );
    expect(problems).toEqual([]);
    leave();
  });

  test('stems play in step to the sample after seeking, too, and are muted and soloed', async () => {
    const visit = await browser.visit(longSite.songUrl);
    const { page, problems, leave } = visit;
    await openMixer(visit);
    // The stems are opposites: a sample of difference would be heard.
    const isSilent = async () => {
      const from = Number(await page.evaluate(MIX_POSITION));
      for (let look = 0; look < 5; look += 1) {
        await expect
          .poll(async () => Number(await page.evaluate(MIX_POSITION)) - from)
          .toBeGreaterThan(0.05 * (look + 1));
        expect(Number(await page.evaluate(METER))).toBeLessThan(0.005);
      }
    };
    await page.getByRole('button', { name: 'Play the mix' }).click();
    await isSilent();
    const position = page.getByLabel('Position in the mix');
    for (const seconds of ['61', '30.123']) {
      await position.fill(seconds);
      await position.dispatchEvent('change');
      await expect.poll(() => page.evaluate(MIX_POSITION)).toBeGreaterThan(Number(seconds));
      await isSilent();
    }
    // What was played is drawn in another colour than what comes.
    expect(await page.evaluate(COLOURS)).toBe(2);
    // A slider that is held stays in the hand while the mix goes on.
    await position.scrollIntoViewIfNeeded();
    const { x = 0, y = 0, width = 0, height = 0 } = (await position.boundingBox()) ?? {};
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.75, y + height / 2);
    const held = await position.inputValue();
    const from = Number(await page.evaluate(MIX_POSITION));
    await expect.poll(() => page.evaluate(MIX_POSITION)).toBeGreaterThan(from + 0.5);
    expect(await position.inputValue()).toBe(held);
    await page.mouse.up();
    await expect.poll(() => page.evaluate(MIX_POSITION)).toBeGreaterThanOrEqual(Number(held));
    await expect.poll(() => position.inputValue()).not.toBe(held);
    const muteVocals = page.getByRole('button', { name: 'Mute vocals' });
    await muteVocals.click();
    await expect.poll(async () => Number(await page.evaluate(METER))).toBeCloseTo(0.5, 1);
    await muteVocals.click();
    await expect.poll(async () => Number(await page.evaluate(METER))).toBeLessThan(0.005);
    await page.getByRole('button', { name: 'Solo instrumental' }).click();
    await expect.poll(async () => Number(await page.evaluate(METER))).toBeCloseTo(0.5, 1);
    await page.getByLabel('Volume of instrumental').fill('0.5');
    await expect.poll(async () => Number(await page.evaluate(METER))).toBeCloseTo(0.25, 1);
    await page.getByRole('button', { name: 'Pause the mix' }).click();
    const paused = await page.evaluate(MIX_POSITION);
    expect(await page.evaluate(MIX_POSITION)).toBe(paused);
    expect(problems).toEqual([]);
    leave();
  });

  test('the mix plays once however quickly its button is pressed, and is silent when it is paused', async () => {
    const visit = await open();
    const { page, leave } = visit;
    await openMixer(visit);
    await page.evaluate(COUNT_SOUNDS);
    const sounding = () => page.evaluate('sounding.size');
    await page.evaluate(COUNT_HASTY);
    await page.evaluate(PRESS_TWICE);
    await page.getByRole('button', { name: 'Play the mix' }).click();
    await page.getByRole('button', { name: 'Pause the mix' }).waitFor();
    await expect.poll(() => page.evaluate(MIX_POSITION)).toBeGreaterThan(0.1);
    expect(await sounding()).toBe(2);
    await page.getByRole('button', { name: 'Pause the mix' }).click();
    await page.getByRole('button', { name: 'Play the mix' }).waitFor();
    expect(await sounding()).toBe(0);
    // Of these the last one counts.
    await page.evaluate(`${PRESS_TWICE};document.querySelector('[data-mixer] .play').click()`);
    const from = Number(await page.evaluate(MIX_POSITION));
    await expect.poll(() => page.evaluate(MIX_POSITION)).toBeGreaterThan(from + 0.1);
    expect(await sounding()).toBe(2);
    expect(await page.evaluate('hasty')).toBe(0);
    leave();
  });

  test('karaoke takes the voice away and makes the words large; the mix is downloaded as it is heard', async () => {
    const visit = await open();
    const { page, problems, leave } = visit;
    await openMixer(visit);
    const before = await page.evaluate('getComputedStyle(document.querySelector(".line")).fontSize');
    await page.getByRole('button', { name: 'Karaoke' }).click();
    expect(await page.getByRole('button', { name: 'Mute vocals', pressed: true }).count()).toBe(1);
    const large = await page.evaluate('getComputedStyle(document.querySelector(".line")).fontSize');
    expect(parseFloat(String(large))).toBeGreaterThan(1.4 * parseFloat(String(before)));

    const wavOfMix = async () => {
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download mix' }).click();
      const download = await downloading;
      expect(download.suggestedFilename()).toBe('Rain on the Window - mix.wav');
      return readFile(await download.path());
    };
    const loudestOf = (wav: Buffer) => {
      const samples = new Int16Array(wav.buffer, wav.byteOffset + 44, (wav.length - 44) / 2);
      return samples.reduce((loudest, sample) => Math.max(loudest, Math.abs(sample)), 0) / 32_767;
    };
    const band = await wavOfMix();
    expect(loudestOf(band)).toBeCloseTo(0.5, 1);
    expect((band.length - 44) / 4 / 44_100).toBeCloseTo(6, 2);
    await page.getByRole('button', { name: 'Karaoke' }).click();
    expect(loudestOf(await wavOfMix())).toBeLessThan(0.001);
    expect(problems).toEqual([]);
    leave();
  });

  test('without scripts there are players, words, stems and downloads', async () => {
    const { page, leave } = await open({ javaScriptEnabled: false, width: 360 });
    expect(await page.locator('audio[controls]').count()).toBe(4);
    expect(await page.getByText('And I read it once more').isVisible()).toBe(true);
    expect(await page.locator('.lane').getByText('vocals').isVisible()).toBe(true);
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.locator('.share').isVisible()).toBe(false);
    await page.getByText('Download', { exact: true }).first().click();
    expect(await page.getByRole('link', { name: 'WAV' }).first().isVisible()).toBe(true);
    leave();
  });

  test('what people wrote runs nothing and breaks no layout', async () => {
    const long = `${HOSTILE}${'W'.repeat(5_000)}`;
    const lines = Array.from({ length: 40 }, (_, startSeconds) => ({
      startSeconds,
      text: HOSTILE,
      section: HOSTILE,
    }));
    const texts = { title: long, person: long, style: long, lyrics: long, madeFrom: { title: long } };
    const song = { ...sample, ...texts, takes: sample.takes.map((take) => ({ ...take, lines })) };
    const { songUrl } = await openSongSite({ song, files });
    const { page, problems, accessibilityProblems, leave } = await browser.visit(songUrl, { width: 360 });
    expect(await page.title()).toContain('<script>');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('<script>');
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(problems).toEqual([]);
    expect(await accessibilityProblems()).toEqual([]);
    leave();
  });

  test('after five seconds of playing, stems are in step to the sample', async () => {
    const { page, problems } = mixing;
    const { loudest, looks, drawn } = z
      .object({ loudest: z.number(), looks: z.number(), drawn: z.number() })
      .parse(await page.evaluate('listened'));
    // The stems are opposites all along, and a millisecond of difference would be loud.
    expect(loudest).toBeLessThan(0.005);
    expect(looks).toBeGreaterThan(40);
    // Two lanes of 240 bars for 64 seconds: none is drawn again before its next bar is played.
    expect(drawn).toBeGreaterThan(10);
    expect(drawn).toBeLessThanOrEqual(40);
    await page.getByRole('button', { name: 'Mute vocals' }).click();
    const play = page.getByRole('button', { name: 'Play the mix' });
    const level = async () => {
      // The song ends soon.
      if (await play.isVisible()) await play.click();
      return Number(await page.evaluate(METER));
    };
    await expect.poll(level).toBeCloseTo(0.5, 1);
    expect(problems).toEqual([]);
  });

  test('a shift of a millisecond between two stems would be heard', async () => {
    const { page } = mixing;
    const shifted = `(async () => {
      const { buffers: [one, other], duration } = document.querySelector('[data-mixer]').deck;
      const context = new OfflineAudioContext(1, 44100, 44100);
      [one, other].forEach((buffer, index) => {
        const source = new AudioBufferSourceNode(context, { buffer });
        source.connect(context.destination);
        source.start(index * SHIFT);
      });
      const samples = (await context.startRendering()).getChannelData(0).subarray(4410);
      return samples.reduce((loudest, sample) => Math.max(loudest, Math.abs(sample)), 0);
    })()`;
    expect(Number(await page.evaluate(shifted.replace('SHIFT', '0')))).toBeLessThan(0.005);
    expect(Number(await page.evaluate(shifted.replace('SHIFT', '0.001')))).toBeGreaterThan(0.3);
  });

  test('a file that is gone says so', async () => {
    const takes = sample.takes.map((take) => ({ ...take, audio: { ...take.audio, path: 'files/gone' } }));
    const { songUrl } = await openSongSite({ song: { ...sample, takes } });
    const { page, leave } = await browser.visit(songUrl);
    await page.getByText("This file can't be played. Reload the page and try again.").first().waitFor();
    await page.getByRole('button', { name: 'Open mixer' }).click();
    await page.getByText("Couldn't load the stems.").waitFor();
    leave();
  });
});
