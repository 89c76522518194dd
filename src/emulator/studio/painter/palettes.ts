import type { Random } from '../../random.ts';
import { bestMatch } from '../../writing.ts';

/** Colours of the sky from top to bottom, the light, the far and the near land, and an accent. */
const palettes = [
  {
    words: 'sunset evening dusk warm orange autumn summer beach fire love',
    dark: false,
    colours: '#34205c #d65460 #ffbe76 #ffe8b2 #964268 #241436 #ff785c',
  },
  {
    words: 'night moon stars midnight dark dream sleep space lullaby galaxy rocket',
    dark: true,
    colours: '#06081e #161c4a #463e7a #f4f0d6 #2c3062 #080a1c #96beff',
  },
  {
    words: 'ocean sea water wave waves blue lake river fish boat whale island',
    dark: false,
    colours: '#2468aa #7ec4de #ecf6ec #fffade #2c80a0 #083258 #ffa86e',
  },
  {
    words: 'forest tree trees green garden spring mushroom meadow jungle leaf frog',
    dark: false,
    colours: '#84c4be #cee4b4 #fcf4ce #fffcd6 #629c76 #143e30 #ec6854',
  },
  {
    words: 'neon cyberpunk city synthwave robot arcade club electric future techno car',
    dark: true,
    colours: '#0e042c #580e78 #fc4698 #ffd65c #421274 #0a0422 #3aecee',
  },
  {
    words: 'rain rainy storm lofi sad grey gray november melancholy fog window',
    dark: true,
    colours: '#263448 #546a7e #98a8ac #e0e2ce #485e70 #141e2c #fac468',
  },
  {
    words: 'snow winter ice white cold christmas arctic mountain mountains penguin',
    dark: false,
    colours: '#7094c4 #c0d4ea #fcf0ec #fffaf0 #9ab2d4 #46608e #e86068',
  },
  {
    words: 'rose pink flower flowers cherry blossom heart candy cute cat kitten',
    dark: false,
    colours: '#946cb4 #f29eb6 #ffdece #fff6e8 #c474a0 #582a60 #fff8b4',
  },
  {
    words: 'desert sand dune dunes gold golden cactus camel west western cowboy mars',
    dark: false,
    colours: '#4a86aa #f0c894 #fee4b8 #fff6ce #da9660 #743a2c #3c7e6e',
  },
] as const;

export type Palette = ReturnType<typeof choosePalette>;

/** Returns the palette whose words the prompt uses most, or a random one. */
export function choosePalette(words: readonly string[], random: Random) {
  const { dark, colours } = bestMatch(palettes, words) ?? random.pick(palettes);
  const [top = '', middle = '', bottom = '', light = '', far = '', near = '', accent = ''] =
    colours.split(' ');
  return { dark, sky: [top, middle, bottom] as const, light, far, near, accent };
}

/** Mixes two colours as `#rrggbb`. The amount is 0 to 1. */
export function mix(from: string, to: string, amount: number): string {
  const channels = [1, 3, 5].map((at) => {
    const [start, end] = [from, to].map((colour) => Number.parseInt(colour.slice(at, at + 2), 16));
    return Math.round((start ?? 0) + ((end ?? 0) - (start ?? 0)) * amount);
  });
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
