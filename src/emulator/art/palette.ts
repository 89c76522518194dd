import type { Random } from '../random.ts';
import type { Colour } from './canvas.ts';

/** The colours of a scene: sky from top to bottom, the light in it, the far and the near land, and an accent. */
export interface Palette {
  readonly name: string;
  readonly words: readonly string[];
  readonly dark: boolean;
  readonly sky: readonly [Colour, Colour, Colour];
  readonly light: Colour;
  readonly far: Colour;
  readonly near: Colour;
  readonly accent: Colour;
}

const palettes: readonly Palette[] = [
  {
    name: 'sunset',
    words: ['sunset', 'evening', 'dusk', 'warm', 'orange', 'autumn', 'summer', 'beach', 'fire', 'love'],
    dark: false,
    sky: [
      [52, 32, 92],
      [214, 84, 96],
      [255, 190, 118],
    ],
    light: [255, 232, 178],
    far: [150, 66, 104],
    near: [36, 20, 54],
    accent: [255, 120, 92],
  },
  {
    name: 'night',
    words: [
      'night',
      'moon',
      'stars',
      'midnight',
      'dark',
      'dream',
      'sleep',
      'space',
      'lullaby',
      'galaxy',
      'rocket',
    ],
    dark: true,
    sky: [
      [6, 8, 30],
      [22, 28, 74],
      [70, 62, 122],
    ],
    light: [244, 240, 214],
    far: [44, 48, 98],
    near: [8, 10, 28],
    accent: [150, 190, 255],
  },
  {
    name: 'ocean',
    words: [
      'ocean',
      'sea',
      'water',
      'wave',
      'waves',
      'blue',
      'lake',
      'river',
      'fish',
      'boat',
      'whale',
      'island',
    ],
    dark: false,
    sky: [
      [36, 104, 170],
      [126, 196, 222],
      [236, 246, 236],
    ],
    light: [255, 250, 222],
    far: [44, 128, 160],
    near: [8, 50, 88],
    accent: [255, 168, 110],
  },
  {
    name: 'forest',
    words: [
      'forest',
      'tree',
      'trees',
      'green',
      'garden',
      'spring',
      'mushroom',
      'meadow',
      'jungle',
      'leaf',
      'frog',
    ],
    dark: false,
    sky: [
      [132, 196, 190],
      [206, 228, 180],
      [252, 244, 206],
    ],
    light: [255, 252, 214],
    far: [98, 156, 118],
    near: [20, 62, 48],
    accent: [236, 104, 84],
  },
  {
    name: 'neon',
    words: [
      'neon',
      'cyberpunk',
      'city',
      'synthwave',
      'robot',
      'arcade',
      'club',
      'electric',
      'future',
      'techno',
      'car',
    ],
    dark: true,
    sky: [
      [14, 4, 44],
      [88, 14, 120],
      [252, 70, 152],
    ],
    light: [255, 214, 92],
    far: [66, 18, 116],
    near: [10, 4, 34],
    accent: [58, 236, 238],
  },
  {
    name: 'rain',
    words: [
      'rain',
      'rainy',
      'storm',
      'lofi',
      'sad',
      'grey',
      'gray',
      'november',
      'melancholy',
      'fog',
      'window',
    ],
    dark: true,
    sky: [
      [38, 52, 72],
      [84, 106, 126],
      [152, 168, 172],
    ],
    light: [224, 226, 206],
    far: [72, 94, 112],
    near: [20, 30, 44],
    accent: [250, 196, 104],
  },
  {
    name: 'snow',
    words: [
      'snow',
      'winter',
      'ice',
      'white',
      'cold',
      'christmas',
      'arctic',
      'mountain',
      'mountains',
      'penguin',
    ],
    dark: false,
    sky: [
      [112, 148, 196],
      [192, 212, 234],
      [252, 240, 236],
    ],
    light: [255, 250, 240],
    far: [154, 178, 212],
    near: [70, 96, 142],
    accent: [232, 96, 104],
  },
  {
    name: 'rose',
    words: [
      'rose',
      'pink',
      'flower',
      'flowers',
      'cherry',
      'blossom',
      'heart',
      'candy',
      'cute',
      'cat',
      'kitten',
    ],
    dark: false,
    sky: [
      [148, 108, 180],
      [242, 158, 182],
      [255, 222, 206],
    ],
    light: [255, 246, 232],
    far: [196, 116, 160],
    near: [88, 42, 96],
    accent: [255, 248, 180],
  },
  {
    name: 'desert',
    words: [
      'desert',
      'sand',
      'dune',
      'dunes',
      'gold',
      'golden',
      'cactus',
      'camel',
      'west',
      'western',
      'cowboy',
      'mars',
    ],
    dark: false,
    sky: [
      [74, 134, 170],
      [240, 200, 148],
      [254, 228, 184],
    ],
    light: [255, 246, 206],
    far: [218, 150, 96],
    near: [116, 58, 44],
    accent: [60, 126, 110],
  },
];

/** The palette whose words the prompt uses most, otherwise one chosen by chance. */
export function choosePalette(words: readonly string[], random: Random): Palette {
  let best = random.pick(palettes);
  let bestScore = 0;
  for (const palette of palettes) {
    const score = words.filter((word) => palette.words.includes(word)).length;
    if (score > bestScore) {
      best = palette;
      bestScore = score;
    }
  }
  return best;
}
