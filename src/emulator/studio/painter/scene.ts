import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Resvg } from '@resvg/resvg-js';
import { createRandom, type Random } from '../../random.ts';
import { bestMatch, wordsOf } from '../../writing.ts';
import { choosePalette, mix, type Palette } from './palettes.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size of a drawing in units. The shorter side has 100. */
type Frame = Size;

/** Returns the frame at `time` seconds as SVG. Equal prompts give equal scenes. */
export type Scene = (frame: Frame, time: number) => string;

const SIGNATURE = 'drawn by the emulator';
/** In characters. More would not fit into a tall image. */
const LONGEST_CAPTION = 40;
const FONT = '@expo-google-fonts/oxygen/400Regular/Oxygen_400Regular.ttf';

interface Shot {
  /** In seconds. */
  readonly time?: number;
  /** Adds a signature in a corner. */
  readonly signed?: boolean;
}

/** Draws a scene at a size in pixels. */
export function drawScene(
  scene: Scene,
  width: number,
  height: number,
  { time = 0, signed = false }: Shot = {},
) {
  const unit = Math.min(width, height) / 100;
  const frame = { width: width / unit, height: height / unit };
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ' +
    `width="${width}" height="${height}" viewBox="0 0 ${frame.width} ${frame.height}">${scene(frame, time)}${signed ? signature(frame) : ''}</svg>`;
  const fontFiles = signed ? [fileURLToPath(import.meta.resolve(FONT))] : [];
  return new Resvg(svg, { font: { loadSystemFonts: false, fontFiles } }).render();
}

/** White with a dark edge, so that it is legible on any image. */
function signature({ width, height }: Frame): string {
  const edge = 'stroke="#000000" stroke-opacity=".55" stroke-width=".6" paint-order="stroke"';
  return (
    `<text x="${width - 2}" y="${height - 2.5}" text-anchor="end" font-family="Oxygen" font-size="3" ` +
    `fill="#ffffff" ${edge}>${SIGNATURE}</text>`
  );
}

const lands = [
  { name: 'sea', words: 'sea ocean boat ship fish whale wave waves beach island lake water sail lighthouse' },
  { name: 'city', words: 'city town neon street window rain robot club night skyline car train lamp' },
  { name: 'mountains', words: 'mountain mountains snow winter dragon epic ice castle' },
  { name: 'dunes', words: 'desert dune dunes sand mars camel cowboy western' },
  { name: 'hills', words: 'forest tree trees garden flower meadow cat dog fox farm house mushroom' },
] as const;
const weathers = [
  { draw: drawRain, words: 'rain rainy storm raindrops drizzle thunder' },
  { draw: drawSnow, words: 'snow winter christmas blizzard snowy' },
] as const;

/** Plans a scene from the words of a prompt, without the words of the negative prompt. */
export function planScene(prompt: string, avoid = ''): Scene {
  const avoided = wordsOf(avoid);
  const words = wordsOf(prompt).filter((word) => !avoided.includes(word));
  const seed = JSON.stringify([prompt, avoid]);
  const random = createRandom(seed);
  const palette = choosePalette(words, random);
  const land = (bestMatch(lands, words) ?? random.pick(lands)).name;
  const drawWeather = bestMatch(weathers, words)?.draw;
  const figures = figuresFor(words);
  const lightX = random.between(0.2, 0.8);
  const lightY = random.between(0.18, 0.42);
  const lightSize = random.between(6, 12);
  const figureX = random.between(0.3, 0.7);
  const drawLand = land === 'city' ? drawCity : drawRidges;
  return (frame, time) => {
    const { width, height } = frame;
    const part = (name: string): Random => createRandom(`${seed} ${name}`);
    const light = { x: lightX * width + 0.4 * time, y: lightY * height };
    const figureY = height * (land === 'sea' ? 0.78 : 0.9);
    const groups = placed(figures, { width, figureX, figureY, time });
    return [
      verticalGradient('sky', palette.sky),
      `<rect width="${width}" height="${height}" fill="url(#sky)"/>`,
      radialGradient('light', palette.light, 0.55),
      radialGradient('halo', mix(palette.light, palette.accent, 0.3), 0.4),
      radialGradient('cloud', mix(palette.sky[2], '#ffffff', palette.dark ? 0.05 : 0.5), 0.4),
      palette.dark ? drawStars(frame, time, part('stars'), palette.light) : '',
      glow('light', light.x, light.y, lightSize * 5),
      disc(light.x, light.y, lightSize, palette.light, 0.96),
      drawClouds(frame, time, part('clouds')),
      drawLand({ frame, time, land, palette, part }),
      `<g fill="${mix(palette.near, '#000000', 0.25)}" color="${palette.accent}">${groups}</g>`,
      drawWeather?.(frame, time, part('weather')) ?? '',
    ].join('');
  };
}

/** Changes an image as a prompt says: tints it in the prompt's colours, and adds its weather, its figures and its words. */
export function planChange(prompt: string, photo: string, photos: readonly string[]): Scene {
  const words = wordsOf(prompt);
  const random = createRandom(prompt);
  const palette = choosePalette(words, random);
  const drawWeather = bestMatch(weathers, words)?.draw;
  const figures = figuresFor(words);
  const figureX = random.between(0.3, 0.7);
  return (frame, time) => {
    const { width, height } = frame;
    return [
      photoElement(photo, frame),
      verticalGradient('tint', palette.sky),
      `<rect width="${width}" height="${height}" fill="url(#tint)" fill-opacity="${palette.dark ? 0.5 : 0.25}"/>`,
      radialGradient('halo', mix(palette.light, palette.accent, 0.3), 0.4),
      `<g fill="${mix(palette.near, '#000000', 0.25)}" color="${palette.accent}">${placed(figures, { width, figureX, figureY: height * 0.85, time })}</g>`,
      drawWeather?.(frame, time, createRandom(`${prompt} weather`)) ?? '',
      repeat(photos.length, (index) => framed(photos[index] ?? '', width - 22 * (photos.length - index))),
      caption(prompt, frame),
    ].join('');
  };
}

export function photoElement(data: string, { width, height }: Frame): string {
  return (
    `<image width="${width}" height="${height}" preserveAspectRatio="xMidYMid slice" ` +
    `xlink:href="data:image/png;base64,${data}"/>`
  );
}

/** A small copy of an image with a white frame, at the top. */
function framed(data: string, x: number): string {
  const side = { width: 18, height: 18 };
  return (
    `<g transform="translate(${x} 4)"><rect x="-.8" y="-.8" width="19.6" height="19.6" fill="#ffffff"/>` +
    `${photoElement(data, side)}</g>`
  );
}

/** The beginning of the words, on a band at the top. */
function caption(words: string, { width }: Frame): string {
  // Control characters and lone surrogates are not valid in XML.
  const text = words.replace(/[\p{C}<>&\s]+/gu, ' ').trim();
  const short = text.length > LONGEST_CAPTION ? `${text.slice(0, LONGEST_CAPTION).trim()}…` : text;
  return (
    `<rect width="${width}" height="9" fill="#101018"/>` +
    `<text x="3" y="6" font-family="Oxygen" font-size="4" fill="#ffffff">${short.toWellFormed()}</text>`
  );
}

/** Figures side by side. A single one stands at `figureX`, a part of the width. */
function placed(
  figures: ReturnType<typeof figuresFor>,
  at: { readonly width: number; readonly figureX: number; readonly figureY: number; readonly time: number },
): string {
  return repeat(figures.length, (index) => {
    const x = at.width * (figures.length === 1 ? at.figureX : 0.24 + (0.52 * index) / (figures.length - 1));
    const group = `<g transform="translate(${x} ${at.figureY}) scale(34 -34)">${figures[index]?.(at.time) ?? ''}</g>`;
    return glow('halo', x, at.figureY - 20, 42) + group;
  });
}

function disc(x: number, y: number, radius: number, colour: string, opacity: number): string {
  return `<circle cx="${x}" cy="${y}" r="${radius}" fill="${colour}" fill-opacity="${opacity}"/>`;
}

function verticalGradient(id: string, colours: readonly string[]): string {
  const stops = colours.map(
    (colour, at) => `<stop offset="${at / (colours.length - 1)}" stop-color="${colour}"/>`,
  );
  return `<linearGradient id="${id}" x2="0" y2="1">${stops.join('')}</linearGradient>`;
}

/** A soft light that fades out at its radius. Drawn by `glow`. */
export function radialGradient(id: string, colour: string, strength: number): string {
  const stops = [1, 0.56, 0].map(
    (level, at) => `<stop offset="${at / 2}" stop-color="${colour}" stop-opacity="${level * strength}"/>`,
  );
  return `<radialGradient id="${id}">${stops.join('')}</radialGradient>`;
}

export function glow(id: string, x: number, y: number, radius: number): string {
  return `<circle cx="${x}" cy="${y}" r="${radius}" fill="url(#${id})"/>`;
}

function repeat(count: number, draw: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => draw(index)).join('');
}

function drawStars({ width, height }: Frame, time: number, random: Random, colour: string): string {
  return repeat(110, (index) => {
    const twinkle = 0.55 + 0.45 * Math.sin(time * random.between(1, 4) + index);
    const y = random.next() ** 1.4 * height * 0.7;
    return disc(random.next() * width, y, random.between(0.1, 0.28), colour, twinkle);
  });
}

function drawClouds({ width, height }: Frame, time: number, random: Random): string {
  return repeat(2 + random.integer(3), () => {
    const x = ((random.next() + time * 0.006) % 1.2) * width - 0.1 * width;
    const y = random.between(0.12, 0.42) * height;
    return repeat(7, (puff) =>
      glow('cloud', x + (puff - 3) * 4.5, y + random.between(-1.2, 1.2), random.between(5, 9)),
    );
  });
}

interface LandPlan {
  readonly frame: Frame;
  readonly time: number;
  readonly land: (typeof lands)[number]['name'];
  readonly palette: Palette;
  part(name: string): Random;
}

/** Draws layers of mountains, hills, dunes or waves. Near layers are darker and lower. */
function drawRidges({ frame: { width, height }, time, land, palette, part }: LandPlan): string {
  const rough = { mountains: 0.3, hills: 0.12, dunes: 0.1, sea: 0.025, city: 0 }[land];
  return repeat(5, (layer) => {
    const nearness = layer / 4;
    const random = part(`ridge ${layer}`);
    const base = height * (0.52 + 0.3 * nearness);
    const isSea = land === 'sea';
    const waves = Array.from({ length: land === 'mountains' ? 6 : 3 }, (_, octave) => ({
      frequency: random.between(1.2, 2.2) * 1.9 ** octave * (isSea ? 9 : 1),
      phase: random.next() * 10 + (isSea ? time * (1.3 - 0.5 * octave) : 0),
      strength: 0.5 ** octave,
    }));
    const drift = time * 0.006 * (0.4 + nearness);
    // Mountains have sharp peaks. Other land rises slowly on one side.
    const profile = (angle: number): number =>
      land === 'mountains'
        ? 1 - Math.abs(Math.sin(angle))
        : 0.5 + 0.5 * Math.sin(angle + 0.4 * Math.sin(angle));
    const heightAt = (x: number): number => {
      const along = (x / Math.max(width, height) + drift) * Math.PI;
      return (
        waves.reduce((sum, wave) => sum + wave.strength * profile(along * wave.frequency + wave.phase), 0) / 2
      );
    };
    const reach = height * rough * (isSea ? 0.5 + nearness : 1.1 - 0.6 * nearness);
    const top = mix(palette.far, palette.near, nearness);
    const shine = isSea ? mix(top, palette.light, layer === 0 ? 0.25 : 0.05) : top;
    const edge = repeat(Math.ceil(width) + 2, (x) => `L${x} ${(base - reach * heightAt(x)).toFixed(2)}`);
    return (
      verticalGradient(`land${layer}`, [shine, mix(top, palette.near, 0.6)]) +
      `<path fill="url(#land${layer})" d="M0 ${height}${edge}V${height}Z"/>`
    );
  });
}

/** Draws three rows of houses with lit windows. */
function drawCity({ frame: { width, height }, time, palette, part }: LandPlan): string {
  return repeat(3, (layer) => {
    const nearness = layer / 2;
    const random = part(`city ${layer}`);
    const base = height * (0.52 + 0.3 * nearness);
    let walls = '';
    let windows = '';
    let x = -20 - time * 0.24 * (0.4 + nearness);
    while (x < width + 10) {
      const wide = random.between(6, 14) * (0.7 + 0.5 * nearness);
      const roof = base - random.between(10, 42) * (1.05 - 0.45 * nearness);
      walls += `M${x} ${height}V${roof}h${wide}V${height}Z`;
      for (let row = roof + 1.2; row < height * 0.95; row += 2.9) {
        for (let column = x + 1.2; column < x + wide - 1.7; column += 2.6) {
          if (!random.chance(palette.dark ? 0.34 : 0.16)) continue;
          const lit = random.chance(0.2) ? palette.accent : palette.light;
          windows += `<rect x="${column}" y="${row}" width="1.2" height="1.6" fill="${lit}"/>`;
        }
      }
      x += wide + random.between(0, 3);
    }
    return (
      `<path fill="${mix(palette.far, palette.near, nearness)}" d="${walls}"/>` +
      `<g fill-opacity="${0.35 + 0.45 * nearness}">${windows}</g>`
    );
  });
}

function drawRain({ width, height }: Frame, time: number, random: Random): string {
  const drops = repeat(130, () => {
    const speed = random.between(1.1, 1.9);
    const length = random.between(2, 5);
    return `M${random.next() * width} ${((random.next() + time * speed) % 1) * height}l${-0.16 * length} ${length}`;
  });
  return `<path d="${drops}" stroke="#d6e2f0" stroke-width=".2" stroke-opacity=".5"/>`;
}

function drawSnow({ width, height }: Frame, time: number, random: Random): string {
  return repeat(130, (index) => {
    const x = ((random.next() + 0.02 * Math.sin(time + index)) % 1) * width;
    const y = ((random.next() + time * random.between(0.11, 0.2)) % 1) * height;
    return disc(x, y, random.between(0.2, 0.6), '#ffffff', 0.85);
  });
}

/** SVG transforms of moving figures, `time` seconds after the start of the scene. */
const motions: Readonly<Record<string, (time: number) => string>> = {
  sway: (time) => `rotate(${2.5 * Math.sin(time * 1.6)})`,
  bob: (time) => `translate(0 ${0.03 * Math.sin(time * 1.7)}) rotate(${2 * Math.sin(time * 1.3)})`,
  beat: (time) => `scale(${1 + 0.06 * Math.sin(time * 5)})`,
  rise: (time) => `translate(0 ${0.4 + 0.08 * time})`,
  leap: (time) => `translate(0 ${0.3 + 0.12 * Math.sin(time * 2)}) rotate(${14 * Math.cos(time * 2)})`,
  fly: (time) => `translate(${0.06 * time} ${0.04 * Math.sin(time * 3)})`,
};

/** Returns up to three figures named in a prompt, in its order, as SVG by the time in seconds. */
function figuresFor(words: readonly string[]): ((time: number) => string)[] {
  const figuresSvg = readFileSync(new URL('figures.svg', import.meta.url), 'utf8');
  const symbol = /<symbol id="\w+" data-words="([^"]+)" data-motion="(\w+)">(.*)/s;
  const figures = figuresSvg.split('</symbol>').map((text) => {
    const [, names = '', motion = '', shapes = ''] = symbol.exec(text) ?? [];
    const move = motions[motion] ?? (() => '');
    return { names: names.split(' '), draw: (time: number) => `<g transform="${move(time)}">${shapes}</g>` };
  });
  const matching = words.flatMap((word) => figures.filter(({ names }) => names.includes(word)));
  return [...new Set(matching)].slice(0, 3).map(({ draw }) => draw);
}
