import { createRandom } from '../random.ts';
import { wordsOf } from '../words.ts';
import {
  type Canvas,
  createCanvas,
  drawLine,
  fillBelow,
  fillDisc,
  fillPolygon,
  fillSky,
  glow,
  mix,
} from './canvas.ts';
import { figuresNamed } from './figures/named.ts';
import { choosePalette, type Palette } from './palette.ts';

/** A picture that can be painted at any size and any moment; the same prompt always gives the same scene. */
export interface Scene {
  /** Paints the scene as it looks `time` seconds after it began. */
  paint(canvas: Canvas, time: number): void;
}

type Land = 'mountains' | 'hills' | 'sea' | 'city' | 'dunes';
const landWords: readonly (readonly [Land, readonly string[]])[] = [
  [
    'sea',
    [
      'sea',
      'ocean',
      'boat',
      'ship',
      'fish',
      'whale',
      'wave',
      'waves',
      'beach',
      'island',
      'lake',
      'water',
      'sail',
    ],
  ],
  [
    'city',
    ['city', 'town', 'neon', 'street', 'window', 'rain', 'robot', 'club', 'night', 'skyline', 'car', 'train'],
  ],
  ['mountains', ['mountain', 'mountains', 'snow', 'winter', 'dragon', 'epic', 'ice', 'castle']],
  ['dunes', ['desert', 'dune', 'dunes', 'sand', 'mars', 'camel', 'cowboy', 'western']],
  [
    'hills',
    ['forest', 'tree', 'trees', 'garden', 'flower', 'meadow', 'cat', 'dog', 'farm', 'house', 'mushroom'],
  ],
];
const rainWords = ['rain', 'rainy', 'storm', 'raindrops', 'drizzle', 'thunder'];
const snowWords = ['snow', 'winter', 'christmas', 'blizzard', 'snowy'];

/** Plans a scene from the words of a prompt; words of the second text (negative prompt) are left out. */
export function planScene(prompt: string, avoid = ''): Scene {
  const avoided = new Set(wordsOf(avoid));
  const words = wordsOf(prompt).filter((word) => !avoided.has(word));
  const seed = JSON.stringify([prompt, avoid]);
  const random = createRandom(seed);
  const palette = choosePalette(words, random);
  const byChance = random.pick<Land>(['mountains', 'hills', 'sea', 'city', 'dunes']);
  const land = landWords.find(([, known]) => words.some((word) => known.includes(word)))?.[0] ?? byChance;
  const lightX = random.between(0.2, 0.8);
  const lightY = random.between(0.18, 0.42);
  const lightSize = random.between(0.06, 0.12);
  const figures = figuresNamed(words);
  const figureX = random.between(0.3, 0.7);
  const weather = words.some((word) => rainWords.includes(word))
    ? 'rain'
    : words.some((word) => snowWords.includes(word))
      ? 'snow'
      : 'clear';
  return {
    paint(canvas, time) {
      const { width, height } = canvas;
      const unit = Math.min(width, height);
      fillSky(canvas, palette.sky);
      if (palette.dark) paintStars(canvas, seed, time, palette);
      const light = { x: lightX * width + time * unit * 0.004, y: lightY * height };
      glow(canvas, light, unit * lightSize * 5, palette.light, 0.55);
      fillDisc(canvas, light, unit * lightSize, palette.light, 0.96);
      paintClouds(canvas, seed, time, palette);
      paintLand(canvas, land, seed, time, palette);
      figures.forEach((draw, index) => {
        const x = width * (figures.length === 1 ? figureX : 0.24 + (0.52 * index) / (figures.length - 1));
        const y = height * (land === 'sea' ? 0.78 : 0.9);
        glow(canvas, { x, y: y - unit * 0.2 }, unit * 0.42, mix(palette.light, palette.accent, 0.3), 0.4);
        draw(canvas, { x, y }, unit * 0.34, mix(palette.near, [0, 0, 0], 0.25), palette.accent, time);
      });
      if (weather !== 'clear') paintWeather(canvas, seed, time, weather);
    },
  };
}

/** A scene at one size and moment, as a picture. */
export function paintScene(scene: Scene, width: number, height: number, time = 0): Canvas {
  const canvas = createCanvas(width, height);
  scene.paint(canvas, time);
  return canvas;
}

function paintStars(canvas: Canvas, seed: string, time: number, palette: Palette): void {
  const random = createRandom(`${seed} stars`);
  const { width, height } = canvas;
  for (let index = 0; index < 110; index++) {
    const centre = { x: random.next() * width, y: random.next() ** 1.4 * height * 0.7 };
    const size = random.between(0.0008, 0.0026) * Math.min(width, height);
    const twinkle = 0.55 + 0.45 * Math.sin(time * random.between(1, 4) + index);
    fillDisc(canvas, centre, Math.max(0.6, size), palette.light, twinkle);
  }
}

function paintClouds(canvas: Canvas, seed: string, time: number, palette: Palette): void {
  const random = createRandom(`${seed} clouds`);
  const { width, height } = canvas;
  const unit = Math.min(width, height);
  const colour = mix(palette.sky[2], [255, 255, 255], palette.dark ? 0.05 : 0.5);
  const count = 2 + random.integer(3);
  for (let cloud = 0; cloud < count; cloud++) {
    const middle = ((random.next() + time * 0.006) % 1.2) * width - 0.1 * width;
    const level = random.between(0.12, 0.42) * height;
    for (let puff = 0; puff < 7; puff++) {
      const centre = {
        x: middle + (puff - 3) * unit * 0.045,
        y: level + random.between(-0.012, 0.012) * unit,
      };
      glow(canvas, centre, unit * random.between(0.05, 0.09), colour, 0.4);
    }
  }
}

function paintLand(canvas: Canvas, land: Land, seed: string, time: number, palette: Palette): void {
  const random = createRandom(`${seed} land`);
  const { width, height } = canvas;
  const layers = land === 'city' ? 3 : 5;
  for (let layer = 0; layer < layers; layer++) {
    const nearness = layer / (layers - 1);
    const top = mix(palette.far, palette.near, nearness);
    const bottom = mix(top, palette.near, 0.6);
    const base = height * (0.52 + 0.3 * nearness);
    const drift = time * width * 0.006 * (0.4 + nearness);
    switch (land) {
      case 'city':
        paintCity(canvas, `${seed} ${layer}`, base, drift, palette, top, nearness);
        break;
      case 'sea':
        paintSea(canvas, base, layer, time, top, bottom, palette, random.next() * 7);
        break;
      case 'mountains':
      case 'hills':
      case 'dunes': {
        const profile = ridge(`${seed} ${layer}`, land);
        const rough = land === 'mountains' ? 0.3 : land === 'hills' ? 0.12 : 0.1;
        const scale = Math.max(width, height);
        fillBelow(
          canvas,
          (x) => base - height * rough * (1.1 - 0.6 * nearness) * profile((x + drift) / scale),
          top,
          bottom,
        );
        break;
      }
      default:
        land satisfies never;
    }
  }
}

/** A skyline's height, 0 to 1, at a place along it; mountains have sharp tops, dunes one slow side. */
function ridge(seed: string, land: Land): (place: number) => number {
  const random = createRandom(`${seed} ridge`);
  const waves = Array.from({ length: land === 'mountains' ? 6 : 3 }, (_, index) => ({
    frequency: random.between(1.2, 2.2) * 1.9 ** index,
    phase: random.next() * 10,
    strength: 0.5 ** index,
  }));
  const total = waves.reduce((sum, wave) => sum + wave.strength, 0);
  return (place) => {
    let height = 0;
    for (const { frequency, phase, strength } of waves) {
      const angle = place * frequency * Math.PI + phase;
      const wave =
        land === 'mountains'
          ? 1 - Math.abs(Math.sin(angle))
          : 0.5 + 0.5 * Math.sin(angle + 0.4 * Math.sin(angle));
      height += strength * wave;
    }
    return height / total;
  };
}

type Rgb = readonly [number, number, number];

function paintSea(
  canvas: Canvas,
  base: number,
  layer: number,
  time: number,
  top: Rgb,
  bottom: Rgb,
  palette: Palette,
  phase: number,
): void {
  const { width, height } = canvas;
  const swell = height * 0.0035 * (layer + 1);
  const frequency = 14 / (layer + 2) / width;
  fillBelow(
    canvas,
    (x) =>
      base +
      swell *
        (Math.sin(x * frequency * 6.28 + time * 1.3 + phase) + 0.4 * Math.sin(x * frequency * 15 - time * 2)),
    mix(top, palette.light, layer === 0 ? 0.25 : 0.05),
    bottom,
  );
}

function paintCity(
  canvas: Canvas,
  seed: string,
  base: number,
  drift: number,
  palette: Palette,
  colour: Rgb,
  nearness: number,
): void {
  const random = createRandom(`${seed} city`);
  const { width, height } = canvas;
  const unit = Math.min(width, height);
  let x = -unit * 0.2 - drift * 0.4;
  while (x < width + unit * 0.1) {
    const wide = unit * random.between(0.06, 0.14) * (0.7 + 0.5 * nearness);
    const high = unit * random.between(0.1, 0.42) * (1.05 - 0.45 * nearness);
    const roof = base - high;
    const corners = [
      { x, y: height },
      { x, y: roof },
      { x: x + wide, y: roof },
      { x: x + wide, y: height },
    ];
    fillPolygon(canvas, corners, colour);
    const pane = unit * 0.012;
    for (let row = roof + pane; row < height * 0.95; row += pane * 2.4) {
      for (let column = x + pane; column < x + wide - pane * 1.4; column += pane * 2.2) {
        if (!random.chance(palette.dark ? 0.34 : 0.16)) continue;
        const lit = random.chance(0.2) ? palette.accent : palette.light;
        const window = [
          { x: column, y: row },
          { x: column + pane, y: row },
          { x: column + pane, y: row + pane * 1.3 },
          { x: column, y: row + pane * 1.3 },
        ];
        fillPolygon(canvas, window, lit, 0.35 + 0.45 * nearness);
      }
    }
    x += wide + unit * random.between(0, 0.03);
  }
}

function paintWeather(canvas: Canvas, seed: string, time: number, weather: 'rain' | 'snow'): void {
  const random = createRandom(`${seed} weather`);
  const { width, height } = canvas;
  const unit = Math.min(width, height);
  for (let index = 0; index < 130; index++) {
    const speed = random.between(0.7, 1.2) * (weather === 'rain' ? 1.6 : 0.16);
    const x = ((random.next() + (weather === 'snow' ? 0.02 * Math.sin(time + index) : 0)) % 1) * width;
    const y = ((random.next() + time * speed) % 1) * height;
    if (weather === 'snow')
      fillDisc(canvas, { x, y }, unit * random.between(0.002, 0.006), [255, 255, 255], 0.85);
    else {
      const length = unit * random.between(0.02, 0.05);
      drawLine(
        canvas,
        { x, y },
        { x: x - length * 0.16, y: y + length },
        Math.max(0.8, unit * 0.0016),
        [214, 226, 240],
        0.4,
      );
    }
  }
}
