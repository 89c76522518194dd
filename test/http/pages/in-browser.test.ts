import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { SongPage } from '../../../src/http/pages/content.ts';
import {
  noBrowser,
  startBrowser,
  type TestBrowser,
  type Visit,
  type VisitOptions,
} from '../../servers/browser.ts';
import { openSongSite } from './open-song-site.ts';
import { Files, type SongSite, sampleAlbum, sampleSong, serveSong } from './song-site.ts';

/** Attaches a meter to the mixer's output. */
const ATTACH_METER = `(() => {
  const { connect } = AudioNode.prototype;
  AudioNode.prototype.connect = function (to, ...rest) {
    if (to === this.context.destination && this.context instanceof AudioContext)
      connect.call(this, (globalThis.meter ??= new AnalyserNode(this.context)));
    return connect.call(this, to, ...rest);
  };
})()`;
/** The loudest sample of the mixer's current output. */
const METER = `(() => {
  const samples = new Float32Array(meter.fftSize);
  meter.getFloatTimeDomainData(samples);
  return Math.max(...samples.map(Math.abs));
})()`;
/** The part of the waveform that is drawn as played, from 0 to 1. */
const PLAYED = `(() => {
  const [, hidden] = /inset\\(\\S+ ([\\d.]+)%/.exec(getComputedStyle(document.querySelector('.bars.played')).clipPath);
  return 1 - hidden / 100;
})()`;
/** Samples the mix twenty times a second for five seconds. Promises the loudest sample, the number of redraws and the played part. */
const SAMPLE_MIX = `(() => {
  const { deck } = document.querySelector('[data-mixer]');
  const samples = new Float32Array(meter.fftSize);
  const result = { loudest: 0, looks: 0, drawn: 0 };
  const paths = SVGPathElement.prototype;
  const { setAttribute } = paths;
  paths.setAttribute = function (...change) {
    result.drawn += 1;
    setAttribute.apply(this, change);
  };
  globalThis.listened = new Promise((resolve) => {
    const look = setInterval(() => {
      if (!deck.playing || deck.position() < 0.1) return;
      meter.getFloatTimeDomainData(samples);
      result.loudest = Math.max(result.loudest, ...samples.map(Math.abs));
      result.looks += 1;
      if (deck.position() <= 5) return;
      clearInterval(look);
      // A copy, since the mix continues.
      resolve({ ...result, played: ${PLAYED} });
    }, 50);
  });
})()`;
/** Whether the player plays the stems: a mix has no speed. */
const IS_MIXED = "document.querySelector('.speed select').disabled";
const MIX_POSITION = `document.querySelector('[data-mixer]').deck.position()`;

/** Presses the play button faster than the mix's clock advances. */
const PRESS_TWICE = "for (let time = 0; time < 2; time += 1) document.querySelector('.play').click()";
/** Counts how often a clock is resumed while it is being suspended. */
const COUNT_EARLY_RESUMES = `(() => {
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
/** Tracks sources that were started and not stopped. */
const TRACK_SOURCES = `(() => {
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

/** Attaches a meter to the first player. */
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

/** Whether the page overflows horizontally, and whether it is dark. */
const LAYOUT = `({
  overflow: document.documentElement.scrollWidth - innerWidth,
  isDark: getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((part) => part < 60),
})`;
const layoutSchema = z.object({ overflow: z.number(), isDark: z.boolean() });

const SCREENS = [
  [360, 'light'],
  [360, 'dark'],
  [1280, 'light'],
  [1280, 'dark'],
] as const;

describe.skipIf(noBrowser)('the page of a song in a browser', () => {
  let browser: TestBrowser;
  /** A page that plays its stems during all tests. */
  let mixerVisit: Visit;
  let longSite: SongSite;
  let site: SongSite;
  const files = new Files();
  const sample = sampleSong(files);
  beforeAll(async () => {
    browser = await startBrowser();
    site = await serveSong({ song: sample, files });
    const longFiles = new Files();
    longSite = await serveSong({ song: sampleSong(longFiles, 64), files: longFiles });
    mixerVisit = await browser.visit(longSite.songUrl);
    await openMixer(mixerVisit);
    await mixerVisit.page.evaluate(SAMPLE_MIX);
    await mixerVisit.page.getByRole('button', { name: 'Play Take 1' }).click();
  });
  afterAll(() => longSite?.[Symbol.asyncDispose]());
  afterAll(() => site?.[Symbol.asyncDispose]());
  afterAll(() => browser?.[Symbol.asyncDispose]());

  const open = (options?: VisitOptions): Promise<Visit> => browser.visit(site.songUrl, options);

  async function openMixer({ page }: Visit): Promise<void> {
    await page.evaluate(ATTACH_METER);
    await page.getByRole('button', { name: 'Mixer' }).click();
    await page.locator('.speed select:disabled').waitFor();
  }

  async function expectAccessibleOnScreens({ page, accessibilityProblems }: Visit): Promise<void> {
    for (const [width, colorScheme] of SCREENS) {
      const screen = `${width} pixels wide, ${colorScheme}`;
      await page.setViewportSize({ width, height: 740 });
      await page.emulateMedia({ colorScheme });
      expect(await accessibilityProblems(), screen).toEqual([]);
      const { overflow, isDark } = layoutSchema.parse(await page.evaluate(LAYOUT));
      expect(overflow, screen).toBeLessThanOrEqual(0);
      expect(isDark, screen).toBe(colorScheme === 'dark');
    }
  }

  test('the song page fits and is accessible on every screen', async () => {
    const visit = await open();
    await openMixer(visit);
    await visit.page.getByText('Download take 1').click();
    await expectAccessibleOnScreens(visit);
    expect(visit.problems).toEqual([]);
    visit.leave();
  });

  test('on a phone, the song can be played without scrolling, and while its stems are mixed', async () => {
    const visit = await browser.visit(site.songUrl, { width: 375 });
    const { page, problems, leave } = visit;
    await page.setViewportSize({ width: 375, height: 600 });
    const bottomOf = `document.querySelector('.play').getBoundingClientRect().bottom`;
    expect(await page.evaluate(bottomOf)).toBeLessThan(600);
    await openMixer(visit);
    const lane = page.getByRole('listitem').filter({ has: page.getByLabel('Volume of vocals') });
    expect((await lane.boundingBox())?.height).toBeLessThan(60);
    await page.setViewportSize({ width: 375, height: 380 });
    await page.evaluate(`document.querySelector('.lane:last-child').scrollIntoView({ block: 'end' })`);
    expect(await page.evaluate(`document.querySelector('h1').getBoundingClientRect().bottom`)).toBeLessThan(
      0,
    );
    expect(await page.evaluate(bottomOf)).toBeGreaterThan(60);
    await page.getByRole('button', { name: 'Play Take 1' }).click();
    await page.getByRole('button', { name: 'Pause Take 1' }).waitFor();
    expect(problems).toEqual([]);
    leave();
  });

  test('all lyrics are shown until the song plays', async () => {
    const takes = sample.takes.map((take) => ({
      ...take,
      lines: Array.from({ length: 40 }, (_, index) => ({ startSeconds: index / 40, text: `Line ${index}.` })),
    }));
    const { songUrl } = await openSongSite({ song: { ...sample, takes }, files });
    const { page, leave } = await browser.visit(songUrl);
    const hidden = `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('.timed'))`;
    expect(await page.evaluate(hidden)).toBe(0);
    await page.getByText('Line 32.').first().click();
    await expect.poll(() => page.evaluate(hidden)).toBeGreaterThan(100);
    expect(await page.evaluate(`document.querySelector('.timed').getBoundingClientRect().bottom > 0`)).toBe(
      true,
    );
    await page.getByRole('button', { name: 'Pause Take 1' }).click();
    await expect.poll(() => page.evaluate(hidden)).toBe(0);
    leave();
  });

  test('the current line stays visible when a phone is turned', async () => {
    const takes = sample.takes.map((take) => ({
      ...take,
      lines: Array.from({ length: 40 }, (_, index) => ({
        startSeconds: index / 40,
        text: `Line ${index}. ${'A long line of words. '.repeat(3)}`,
      })),
    }));
    const { songUrl } = await openSongSite({ song: { ...sample, takes }, files });
    const { page, leave } = await browser.visit(songUrl);
    await page.getByText('Line 39.').first().click();
    const isVisible = `(() => {
      const [list, line] = ['.timed.playing', '[aria-current] .line'].map((part) => document.querySelector(part)?.getBoundingClientRect());
      return list && line && line.bottom > list.top && line.top < list.bottom;
    })()`;
    await expect.poll(() => page.evaluate(isVisible)).toBe(true);
    await page.setViewportSize({ width: 375, height: 740 });
    await expect.poll(() => page.evaluate(isVisible)).toBe(true);
    leave();
  });

  test('albums and error pages fit and are accessible on every screen', async () => {
    const albumFiles = new Files();
    const album = sampleAlbum(albumFiles, ['Rain', `${HOSTILE}${'W'.repeat(5_000)}`]);
    const songs = album.songs.map((song) => ({ ...song, person: 'W'.repeat(100) }));
    const { songUrl, albumUrl, url } = await openSongSite({
      song: 'erased',
      album: { ...album, songs },
      files: albumFiles,
    });
    for (const address of [albumUrl, songUrl, `${url}/songs/x/y`]) {
      const visit = await browser.visit(address);
      if (address === albumUrl) await visit.page.getByRole('button', { name: 'Play Rain' }).click();
      await expectAccessibleOnScreens(visit);
      // The console may only report the page's own status.
      expect(visit.problems.filter((line) => !/status of 4(04|10) /.test(line))).toEqual([]);
      visit.leave();
    }
  });

  test('an album plays its songs one after another, and skips one that is missing', async () => {
    const albumFiles = new Files();
    const { channel = '', songs } = sampleAlbum(albumFiles, ['Rain', 'Snow', 'Fog', 'Sun']);
    const album = {
      channel,
      songs: songs.map((song, index) =>
        index === 2 ? { ...song, audio: { ...song.audio, path: 'files/gone' } } : song,
      ),
    };
    const { albumUrl } = await openSongSite({ song: 'erased', album, files: albumFiles });
    const { page, leave } = await browser.visit(albumUrl);
    const bar = page.getByRole('region', { name: 'Player' });
    expect(await bar.isVisible()).toBe(false);
    await page.evaluate(`globalThis.played = [];
      document.querySelector('audio').addEventListener('playing', () => played.push(document.querySelector('.bar .title').textContent));`);
    await page.getByRole('button', { name: 'Play all' }).click();
    await bar.getByRole('button', { name: 'Pause Rain' }).waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    expect(await bar.getByRole('button', { name: 'Previous song' }).isDisabled()).toBe(true);
    // The length is the chat's.
    expect(await bar.locator('.length').textContent()).toBe('0:01');
    await expect.poll(() => page.evaluate('played')).toEqual(['Rain', 'Snow', 'Sun']);
    await bar.getByRole('button', { name: 'Play Sun' }).waitFor();
    expect(await bar.getByRole('button', { name: 'Next song' }).isDisabled()).toBe(true);
    await page.getByRole('listitem').getByRole('button', { name: 'Play Snow' }).click();
    await page.getByRole('listitem').getByRole('button', { name: 'Pause Snow' }).click();
    await bar.getByRole('button', { name: 'Play Snow' }).waitFor();
    expect(await bar.getByRole('link', { name: 'Snow' }).getAttribute('href')).toContain('/songs/song1/');
    expect(await page.evaluate('navigator.mediaSession.metadata.title')).toBe('Snow');
    leave();
  });

  test('a song that is being created shows its progress on the cover, and then the player', async () => {
    const { takes, cover, ...song } = sample;
    let shown: SongPage = {
      ...song,
      takes: [],
      progress: { stage: 'Composing', startedAt: song.createdAt, estimateMs: 4 * 3_600_000 },
    };
    const { songUrl } = await openSongSite({ song: sample, files, source: { song: async () => shown } });
    const visit = await browser.visit(songUrl);
    const { page, problems, leave } = visit;
    await page.getByText('Usually takes about 240 min').waitFor();
    // Three of four hours have passed. The usual time is nine tenths of the ring.
    const part = () => page.locator('.arc').getAttribute('stroke-dasharray');
    await expect.poll(async () => Number.parseFloat((await part()) ?? '')).toBeCloseTo(67.5, 0);
    await expectAccessibleOnScreens(visit);
    const look = () => page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    const [first] = takes;
    shown = { ...shown, takes: first ? [first] : [] };
    const isReloaded = page.waitForEvent('load');
    await look();
    await isReloaded;
    const play = page.getByRole('button', { name: 'Play Rain on the Window' });
    await play.click();
    await page.getByRole('button', { name: 'Pause Rain on the Window' }).waitFor();
    // The page does not load again while it plays.
    shown = sample;
    await look();
    await page.getByRole('button', { name: 'Pause Rain on the Window' }).click();
    await expect(page.getByText('Take 1 is ready. Composing…').isVisible()).resolves.toBe(true);
    await look();
    await page.getByRole('radio', { name: 'Take 2' }).waitFor();
    expect(await page.getByText('Composing').count()).toBe(0);
    expect(cover && (await page.getByRole('img', { name: 'Cover of Rain on the Window' }).isVisible())).toBe(
      true,
    );
    expect(problems).toEqual([]);
    leave();
  });

  test('right-to-left titles and lyrics are aligned with the cover', async () => {
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

  test('prints only text, dark on white, even in karaoke', async () => {
    const visit = await open({ colorScheme: 'dark' });
    const { page, problems, leave } = visit;
    await openMixer(visit);
    const before = await page.evaluate('getComputedStyle(document.querySelector(".line")).fontSize');
    await page.getByRole('button', { name: 'Karaoke' }).click();
    await page.locator('li[aria-current]').waitFor();
    await page.evaluate('dispatchEvent(new Event("beforeprint"))');
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

  test('plays audio, highlights the current line and seeks to a clicked line', async () => {
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
    await expect.poll(() => page.evaluate(PLAYED)).toBeGreaterThan(0.7);
    // The other take continues to play, alone and without a highlighted line, since its words have no times.
    await page.getByRole('radio', { name: 'Take 2' }).check();
    await page.getByRole('button', { name: 'Pause Take 2' }).waitFor();
    const paused = '[...document.querySelectorAll("audio")].map(({ paused }) => paused)';
    await expect.poll(() => page.evaluate(paused)).toEqual([true, false]);
    expect(await page.getByText('And I read it once more').isVisible()).toBe(true);
    expect(await page.locator('li[aria-current]').count()).toBe(0);
    await page.getByLabel('Speed').selectOption('2×');
    expect(
      await page.evaluate(
        '(({ playbackRate, preservesPitch }) => [playbackRate, preservesPitch])(document.querySelectorAll("audio")[1])',
      ),
    ).toEqual([2, true]);
    expect(problems).toEqual([]);
    leave();
  });

  test('all controls work by keyboard', async () => {
    const { page, problems, leave } = await open();
    const focusedLabels: string[] = [];
    const press: Readonly<Record<string, string>> = {
      'Play Take 1': 'Space',
      'Position in Take 1': 'ArrowRight',
      'Mute vocals': 'Space',
      'Solo vocals': 'Enter',
      'Volume of vocals': 'ArrowLeft',
    };
    const focused = `(({ activeElement: { ariaLabel, labels, textContent, tagName } }) => tagName === 'BODY' ? '' : ariaLabel ?? (labels?.[0] ?? { textContent }).textContent)(document)`;
    for (let tab = 0; tab < 60; tab += 1) {
      await page.keyboard.press('Tab');
      const label = String(await page.evaluate(focused));
      if (label === '') break;
      focusedLabels.push(label);
      const key = press[label];
      if (key !== undefined) await page.keyboard.press(key);
      if (label !== 'Mixer') continue;
      await page.keyboard.press('Enter');
      await expect.poll(() => page.evaluate(IS_MIXED)).toBe(true);
    }
    expect(focusedLabels).toEqual(
      expect.arrayContaining([
        'Copy link',
        ...[
          'Take 1',
          'Play Take 1',
          'Position in Take 1',
          'Karaoke',
          'Mixer',
          'Download take 1',
          'Download mix',
        ],
        ...['Mute vocals', 'Solo vocals', 'Volume of vocals', 'Mute instrumental'],
        'Rain on the Window, part two',
      ]),
    );
    expect(await page.getByRole('button', { name: 'Pause Take 1' }).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Mute vocals', pressed: true }).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Solo vocals', pressed: true }).count()).toBe(1);
    expect(await page.getByLabel('Volume of vocals').inputValue()).toBe('0.99');
    await page.getByText('Download take 1').press('Enter');
    expect(await page.getByRole('link', { name: 'WAV' }).first().isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('link', { name: 'WAV' }).first().isVisible()).toBe(false);
    await page.getByRole('radio', { name: 'Take 1' }).press('ArrowRight');
    await page.getByRole('button', { name: 'Pause Take 2' }).waitFor();
    await page.getByLabel('Speed').press('ArrowDown');
    expect(await page.evaluate('document.querySelectorAll("audio")[1].playbackRate')).toBe(1.25);
    expect(problems).toEqual([]);
    leave();
  });

  test('the lengths agree with the chat, whatever the file says', async () => {
    // The file has 6 seconds.
    const takes = sample.takes.map((take) => ({ ...take, seconds: 6.6 }));
    const { songUrl } = await openSongSite({ song: { ...sample, takes }, files });
    const { page, problems, leave } = await browser.visit(songUrl);
    await expect.poll(() => page.evaluate('document.querySelector("audio").duration')).toBe(6);
    const shown = () => page.locator('.time, .length').allTextContents();
    expect(await shown()).toEqual(['0:00', '0:07']);
    const position = page.getByLabel('Position in Take 1');
    await position.fill('6');
    await expect.poll(shown).toEqual(['0:07', '0:07']);
    expect(await position.getAttribute('aria-valuetext')).toBe('0:07 of 0:07');
    expect(problems).toEqual([]);
    leave();
  });

  test('draws the waveform of the chosen take, and follows reduced motion', async () => {
    const { page, problems, leave } = await open();
    // A bar of full height, which a flat waveform does not have.
    const isDrawn = `document.querySelector('.bars path').getAttribute('d').includes('v88.0')`;
    await expect.poll(() => page.evaluate(isDrawn)).toBe(true);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const durations =
      '[...document.querySelectorAll("*")].map((part) => getComputedStyle(part).transitionDuration)';
    expect(new Set(z.array(z.string()).parse(await page.evaluate(durations)))).toEqual(new Set(['0s']));
    await page.emulateMedia({ reducedMotion: null });
    expect(problems).toEqual([]);
    leave();
  });

  test('the space bar and arrow keys control playback, the system shows the song, and the link is copied', async () => {
    const { page, problems, leave } = await open();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const audio = (property: string) => page.evaluate(`document.querySelector('audio').${property}`);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => audio('currentTime')).toBe(5);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => audio('currentTime')).toBe(0);
    await page.keyboard.press('Space');
    await expect.poll(() => audio('paused')).toBe(false);
    const sessionMetadata =
      'Object.assign({}, ...["title", "artist", "album"].map((key) => ({ [key]: navigator.mediaSession.metadata[key] })))';
    await expect.poll(() => page.evaluate('navigator.mediaSession.metadata !== null')).toBe(true);
    expect(await page.evaluate(sessionMetadata)).toEqual({
      title: 'Take 1',
      artist: 'Ada',
      album: 'Rain on the Window',
    });
    expect(await page.evaluate('navigator.mediaSession.metadata.artwork[0].src')).toContain(
      '/files/cover.svg',
    );
    await page.keyboard.press('Space');
    await expect.poll(() => audio('paused')).toBe(true);
    // Buttons handle their own keys.
    await page.getByRole('button', { name: 'Copy link' }).press('Space');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await audio('paused')).toBe(true);
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^https:\/\/bot\.example\/minstrel\/songs\/song1\//,
    );
    expect(problems).toEqual([]);
    leave();
  });

  test('stems stay in sync after seeking, and can be muted and soloed', async () => {
    const visit = await browser.visit(longSite.songUrl);
    const { page, problems, leave } = visit;
    await openMixer(visit);
    // The stems cancel each other out: an offset of one sample would be audible.
    const isSilent = async () => {
      const from = Number(await page.evaluate(MIX_POSITION));
      for (let look = 0; look < 5; look += 1) {
        await expect
          .poll(async () => Number(await page.evaluate(MIX_POSITION)) - from)
          .toBeGreaterThan(0.05 * (look + 1));
        expect(Number(await page.evaluate(METER))).toBeLessThan(0.005);
      }
    };
    await page.getByRole('button', { name: 'Play Take 1' }).click();
    await isSilent();
    const position = page.getByLabel('Position in Take 1');
    for (const seconds of ['61', '30.123']) {
      await position.fill(seconds);
      await position.dispatchEvent('change');
      await expect.poll(() => page.evaluate(MIX_POSITION)).toBeGreaterThan(Number(seconds));
      await isSilent();
    }
    expect(await page.evaluate(PLAYED)).toBeCloseTo(30 / 64, 1);
    // A slider does not move while it is being dragged.
    await position.scrollIntoViewIfNeeded();
    const { x = 0, y = 0, width = 0, height = 0 } = (await position.boundingBox()) ?? {};
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.75, y + height / 2);
    const draggedValue = await position.inputValue();
    const from = Number(await page.evaluate(MIX_POSITION));
    await expect.poll(() => page.evaluate(MIX_POSITION)).toBeGreaterThan(from + 0.5);
    expect(await position.inputValue()).toBe(draggedValue);
    await page.mouse.up();
    await expect.poll(() => page.evaluate(MIX_POSITION)).toBeGreaterThanOrEqual(Number(draggedValue));
    await expect.poll(() => position.inputValue()).not.toBe(draggedValue);
    const muteVocals = page.getByRole('button', { name: 'Mute vocals' });
    await muteVocals.click();
    await expect.poll(async () => Number(await page.evaluate(METER))).toBeCloseTo(0.5, 1);
    await muteVocals.click();
    await expect.poll(async () => Number(await page.evaluate(METER))).toBeLessThan(0.005);
    await page.getByRole('button', { name: 'Solo instrumental' }).click();
    await expect.poll(async () => Number(await page.evaluate(METER))).toBeCloseTo(0.5, 1);
    await page.getByLabel('Volume of instrumental').fill('0.5');
    await expect.poll(async () => Number(await page.evaluate(METER))).toBeCloseTo(0.25, 1);
    await page.getByRole('button', { name: 'Pause Take 1' }).click();
    const paused = await page.evaluate(MIX_POSITION);
    expect(await page.evaluate(MIX_POSITION)).toBe(paused);
    expect(problems).toEqual([]);
    leave();
  });

  test('the mix plays once even if its button is pressed quickly, is silent when paused, and stops at its end', async () => {
    const visit = await open();
    const { page, leave } = visit;
    await openMixer(visit);
    await page.evaluate(TRACK_SOURCES);
    const sounding = () => page.evaluate('sounding.size');
    await page.evaluate(COUNT_EARLY_RESUMES);
    await page.evaluate(PRESS_TWICE);
    await page.getByRole('button', { name: 'Play Take 1' }).click();
    await page.getByRole('button', { name: 'Pause Take 1' }).waitFor();
    await expect.poll(() => page.evaluate(MIX_POSITION)).toBeGreaterThan(0.1);
    expect(await sounding()).toBe(2);
    await page.getByRole('button', { name: 'Pause Take 1' }).click();
    await page.getByRole('button', { name: 'Play Take 1' }).waitFor();
    expect(await sounding()).toBe(0);
    // The last press counts.
    await page.evaluate(`${PRESS_TWICE};document.querySelector('.play').click()`);
    const from = Number(await page.evaluate(MIX_POSITION));
    await expect.poll(() => page.evaluate(MIX_POSITION)).toBeGreaterThan(from + 0.1);
    expect(await sounding()).toBe(2);
    expect(await page.evaluate('hasty')).toBe(0);
    // The mix stops at its end, and can be played again.
    const position = page.getByLabel('Position in Take 1');
    await position.fill('5.8');
    await position.dispatchEvent('change');
    await page.getByRole('button', { name: 'Play Take 1' }).click();
    await page.getByRole('button', { name: 'Pause Take 1' }).waitFor();
    expect(Number(await page.evaluate(MIX_POSITION))).toBeLessThan(5);
    leave();
  });

  test('karaoke fills the screen with large lyrics and the player, without vocals', async () => {
    const visit = await open();
    const { page, problems, accessibilityProblems, leave } = visit;
    await page.evaluate(ATTACH_METER);
    const before = await page.evaluate('getComputedStyle(document.querySelector(".line")).fontSize');
    await page.getByRole('button', { name: 'Karaoke' }).click();
    const stage = page.getByRole('dialog', { name: 'Karaoke' });
    const { width, height } = page.viewportSize() ?? {};
    expect(await stage.boundingBox()).toMatchObject({ x: 0, y: 0, width, height });
    const large = await page.evaluate('getComputedStyle(document.querySelector(".stage .line")).fontSize');
    expect(parseFloat(String(large))).toBeGreaterThan(1.4 * parseFloat(String(before)));
    await stage.getByRole('button', { name: 'Pause Take 1' }).waitFor();
    await stage.getByRole('button', { name: 'Vocals', pressed: false }).waitFor();
    // Without vocals, the stems no longer cancel each other out.
    await expect.poll(async () => Number(await page.evaluate(METER))).toBeGreaterThan(0.3);
    expect(await accessibilityProblems()).toEqual([]);
    await stage.getByRole('button', { name: 'Vocals' }).click();
    await stage.getByRole('button', { name: 'Vocals', pressed: true }).waitFor();
    await expect.poll(async () => Number(await page.evaluate(METER))).toBeLessThan(0.005);
    await page.keyboard.press('Escape');
    await stage.waitFor({ state: 'hidden' });
    const focused = 'document.activeElement.textContent';
    await expect.poll(() => page.evaluate(focused)).toBe('Karaoke');
    // The take plays on as a file.
    await expect.poll(() => page.evaluate(IS_MIXED)).toBe(false);
    expect(await page.locator('main').getByRole('button', { name: 'Pause Take 1' }).isVisible()).toBe(true);
    expect(await page.locator('main').getByText('And I read it once more').isVisible()).toBe(true);
    // Closed before the screen is full.
    await page.evaluate('document.querySelector(".sing").click(); document.querySelector("dialog").close()');
    await expect.poll(() => page.evaluate(focused)).toBe('Karaoke');
    await expect.poll(() => page.evaluate('document.fullscreenElement')).toBe(null);
    expect(problems).toEqual([]);
    leave();
  });

  test('karaoke of a song with a long title fits a phone', async () => {
    const { songUrl } = await openSongSite({ song: { ...sample, title: 'W'.repeat(200) }, files });
    const { page, leave } = await browser.visit(songUrl, { width: 375 });
    await page.getByRole('button', { name: 'Karaoke' }).click();
    const boxes = await Promise.all(
      ['.leave', '.controls .wave'].map((part) => page.locator(`.stage ${part}`).boundingBox()),
    );
    for (const box of boxes) expect((box?.x ?? 375) + (box?.width ?? 0)).toBeLessThan(375);
    leave();
  });

  test('a link from the chat opens the mixer', async () => {
    const { page, problems, leave } = await browser.visit(`${site.songUrl}#mixer`);
    await page.getByRole('button', { name: 'Mute vocals' }).waitFor();
    expect(await page.getByRole('button', { name: 'Mixer', expanded: true }).count()).toBe(1);
    // The other take has no stems.
    await page.getByRole('radio', { name: 'Take 2' }).check();
    expect(await page.getByRole('button', { name: 'Mixer' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Mute vocals' }).isVisible()).toBe(false);
    expect(problems).toEqual([]);
    leave();
  });

  test('stems that load after another take was chosen do not change its mix', async () => {
    const takes = sample.takes.map((take) => ({
      ...take,
      stems: (sample.takes[0]?.stems ?? []).map(({ name, file }) => ({
        name,
        file: { ...file, path: `${file.path}?take=${take.number}` },
      })),
    }));
    const { songUrl } = await openSongSite({ song: { ...sample, takes }, files });
    const { page, problems, leave } = await browser.visit(songUrl);
    const loaded = Promise.withResolvers<void>();
    await page.route('**/vocals.wav?take=1', async (route) => {
      await loaded.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Mixer' }).click();
    await page.getByRole('radio', { name: 'Take 2' }).check();
    await expect.poll(() => page.evaluate(IS_MIXED)).toBe(true);
    loaded.resolve();
    const first = page.getByRole('region', { name: 'Mixer · take 1', includeHidden: true });
    await first
      .getByRole('button', { name: 'Mute vocals', includeHidden: true })
      .waitFor({ state: 'attached' });
    expect(await page.evaluate(IS_MIXED)).toBe(true);
    await page.getByRole('radio', { name: 'Take 1' }).check();
    await expect.poll(() => page.evaluate(IS_MIXED)).toBe(true);
    expect(problems).toEqual([]);
    leave();
  });

  test('the downloaded mix matches the mixer', async () => {
    const visit = await open();
    const { page, problems, leave } = visit;
    await openMixer(visit);
    await page.getByRole('button', { name: 'Mute vocals' }).click();
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
    await page.getByRole('button', { name: 'Mute vocals' }).click();
    expect(loudestOf(await wavOfMix())).toBeLessThan(0.001);
    expect(problems).toEqual([]);
    leave();
  });

  test('players, lyrics and downloads work without scripts', async () => {
    const { page, leave } = await open({ javaScriptEnabled: false, width: 360 });
    expect(await page.locator('audio[controls]:visible').count()).toBe(2);
    expect(await page.getByText('And I read it once more').isVisible()).toBe(true);
    for (const role of ['button', 'slider', 'radio', 'combobox'] as const)
      expect(await page.getByRole(role).count(), role).toBe(0);
    await page.getByText('Download take 1').click();
    expect(await page.getByRole('link', { name: 'WAV' }).last().isVisible()).toBe(true);
    expect(await page.getByRole('link', { name: 'vocals' }).isVisible()).toBe(true);
    leave();
  });

  test('text from people runs no scripts and breaks no layout', async () => {
    const long = `${HOSTILE}${'W'.repeat(5_000)}`;
    const lines = Array.from({ length: 40 }, (_, startSeconds) => ({
      startSeconds,
      text: HOSTILE,
      section: HOSTILE,
    }));
    const texts = { title: long, person: long, style: long, lyrics: long, basedOn: { title: long } };
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

  test('stems are still in sync after five seconds', async () => {
    const { page, problems } = mixerVisit;
    const { loudest, looks, drawn, played } = z
      .object({ loudest: z.number(), looks: z.number(), drawn: z.number(), played: z.number() })
      .parse(await page.evaluate('listened'));
    // The stems cancel each other out, and an offset of a millisecond would be loud.
    expect(loudest).toBeLessThan(0.005);
    expect(looks).toBeGreaterThan(40);
    // Waveforms are not drawn again while they play.
    expect(drawn).toBe(0);
    expect(played).toBeCloseTo(5 / 64, 1);
    await page.getByRole('button', { name: 'Mute vocals' }).click();
    const play = page.getByRole('button', { name: 'Play Take 1' });
    const level = async () => {
      // The song may have ended.
      if (await play.isVisible()) await play.click();
      return Number(await page.evaluate(METER));
    };
    await expect.poll(level).toBeCloseTo(0.5, 1);
    expect(problems).toEqual([]);
  });

  test('an offset of a millisecond between two stems would be audible', async () => {
    const { page } = mixerVisit;
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

  test('reports a missing file', async () => {
    const takes = sample.takes.map((take) => ({ ...take, audio: { ...take.audio, path: 'files/gone' } }));
    const { songUrl } = await openSongSite({ song: { ...sample, takes } });
    const { page, leave } = await browser.visit(songUrl);
    await page.getByText("This file can't be played. Reload the page and try again.").first().waitFor();
    await page.getByRole('button', { name: 'Mixer' }).click();
    await page.getByText("Couldn't load the stems.").waitFor();
    leave();
  });
});
