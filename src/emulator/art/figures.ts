import type { Canvas, Colour, Point } from './canvas.ts';
import { fillDisc, fillPolygon, mix } from './canvas.ts';

/** A figure drawn with its feet on a point, about one unit high and wide; `time` in seconds moves it. */
type Figure = (canvas: Canvas, foot: Point, unit: number, body: Colour, accent: Colour, time: number) => void;

function polygon(
  canvas: Canvas,
  foot: Point,
  unit: number,
  shape: readonly (readonly [number, number])[],
  colour: Colour,
): void {
  fillPolygon(
    canvas,
    shape.map(([x, y]) => ({ x: foot.x + x * unit, y: foot.y - y * unit })),
    colour,
  );
}

function disc(
  canvas: Canvas,
  foot: Point,
  unit: number,
  x: number,
  y: number,
  radius: number,
  colour: Colour,
): void {
  fillDisc(canvas, { x: foot.x + x * unit, y: foot.y - y * unit }, radius * unit, colour);
}

const cat: Figure = (canvas, foot, unit, body, accent, time) => {
  const sway = 0.06 * Math.sin(time * 2.2);
  for (let step = 0; step <= 24; step++) {
    const part = step / 24;
    const bend = Math.sin(part * 2.6) * 0.22 + sway * part * 2;
    disc(canvas, foot, unit, 0.24 + bend, 0.06 + part * 0.5, 0.045, body);
  }
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.26, 0],
      [-0.2, 0.42],
      [-0.08, 0.56],
      [0.08, 0.56],
      [0.2, 0.42],
      [0.28, 0],
    ],
    body,
  );
  disc(canvas, foot, unit, 0, 0.68, 0.2, body);
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.19, 0.7],
      [-0.17, 0.98],
      [-0.02, 0.84],
    ],
    body,
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [0.19, 0.7],
      [0.17, 0.98],
      [0.02, 0.84],
    ],
    body,
  );
  const open = Math.sin(time * 1.3) > -0.96 ? 0.035 : 0.008;
  disc(canvas, foot, unit, -0.08, 0.7, open, accent);
  disc(canvas, foot, unit, 0.08, 0.7, open, accent);
};

const dog: Figure = (canvas, foot, unit, body, accent, time) => {
  const wag = 0.08 * Math.sin(time * 9);
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.42, 0.42],
      [-0.6, 0.7 + wag],
      [-0.54, 0.72 + wag],
      [-0.34, 0.5],
    ],
    body,
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.44, 0.2],
      [-0.44, 0.5],
      [0.24, 0.5],
      [0.3, 0.2],
    ],
    body,
  );
  for (const x of [-0.42, -0.26, 0.1, 0.2])
    polygon(
      canvas,
      foot,
      unit,
      [
        [x, 0],
        [x, 0.25],
        [x + 0.1, 0.25],
        [x + 0.1, 0],
      ],
      body,
    );
  disc(canvas, foot, unit, 0.3, 0.62, 0.17, body);
  polygon(
    canvas,
    foot,
    unit,
    [
      [0.34, 0.66],
      [0.58, 0.6],
      [0.58, 0.5],
      [0.34, 0.48],
    ],
    body,
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [0.16, 0.72],
      [0.2, 0.42],
      [0.3, 0.7],
    ],
    mix(body, [0, 0, 0], 0.35),
  );
  disc(canvas, foot, unit, 0.36, 0.67, 0.03, accent);
};

const tree: Figure = (canvas, foot, unit, body, accent, time) => {
  const sway = 0.02 * Math.sin(time * 1.1 + foot.x);
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.05, 0],
      [-0.03, 0.5],
      [0.03, 0.5],
      [0.05, 0],
    ],
    mix(body, [60, 34, 20], 0.5),
  );
  for (const [x, y, radius] of [
    [-0.16, 0.6, 0.2],
    [0.16, 0.58, 0.2],
    [0, 0.78, 0.24],
    [0, 0.58, 0.22],
  ] as const) {
    disc(canvas, foot, unit, x + sway, y, radius, mix(body, accent, y * 0.35));
  }
};

const pine: Figure = (canvas, foot, unit, body) => {
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.04, 0],
      [-0.04, 0.2],
      [0.04, 0.2],
      [0.04, 0],
    ],
    body,
  );
  for (const [low, width] of [
    [0.14, 0.3],
    [0.38, 0.24],
    [0.62, 0.17],
  ] as const) {
    polygon(
      canvas,
      foot,
      unit,
      [
        [-width, low],
        [0, low + 0.42],
        [width, low],
      ],
      mix(body, [255, 255, 255], low * 0.12),
    );
  }
};

const house: Figure = (canvas, foot, unit, body, accent) => {
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.34, 0],
      [-0.34, 0.44],
      [0.34, 0.44],
      [0.34, 0],
    ],
    body,
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.44, 0.42],
      [0, 0.84],
      [0.44, 0.42],
    ],
    mix(body, accent, 0.3),
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [0.18, 0.6],
      [0.18, 0.86],
      [0.27, 0.86],
      [0.27, 0.55],
    ],
    body,
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.24, 0.18],
      [-0.24, 0.34],
      [-0.08, 0.34],
      [-0.08, 0.18],
    ],
    accent,
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [0.06, 0],
      [0.06, 0.3],
      [0.2, 0.3],
      [0.2, 0],
    ],
    mix(body, [0, 0, 0], 0.4),
  );
};

const boat: Figure = (canvas, foot, unit, body, accent, time) => {
  const ride: Point = { x: foot.x, y: foot.y + unit * 0.04 * Math.sin(time * 1.7) };
  polygon(
    canvas,
    ride,
    unit,
    [
      [-0.5, 0.16],
      [-0.34, -0.06],
      [0.34, -0.06],
      [0.5, 0.16],
    ],
    body,
  );
  polygon(
    canvas,
    ride,
    unit,
    [
      [-0.015, 0.14],
      [-0.015, 0.96],
      [0.015, 0.96],
      [0.015, 0.14],
    ],
    body,
  );
  polygon(
    canvas,
    ride,
    unit,
    [
      [0.04, 0.22],
      [0.04, 0.92],
      [0.4, 0.24],
    ],
    accent,
  );
  polygon(
    canvas,
    ride,
    unit,
    [
      [-0.05, 0.24],
      [-0.05, 0.8],
      [-0.32, 0.26],
    ],
    mix(accent, [255, 255, 255], 0.45),
  );
};

const fish: Figure = (canvas, foot, unit, body, accent, time) => {
  const leap: Point = { x: foot.x, y: foot.y - unit * (0.3 + 0.1 * Math.sin(time * 2)) };
  for (let step = -10; step <= 10; step++) {
    const part = step / 10;
    disc(canvas, leap, unit, part * 0.28, 0.2, 0.17 * Math.sqrt(1.04 - part * part), accent);
  }
  const flap = 0.05 * Math.sin(time * 8);
  polygon(
    canvas,
    leap,
    unit,
    [
      [-0.24, 0.2],
      [-0.48, 0.38 + flap],
      [-0.42, 0.2],
      [-0.48, 0.02 + flap],
    ],
    mix(accent, body, 0.3),
  );
  disc(canvas, leap, unit, 0.2, 0.24, 0.03, body);
};

const flower: Figure = (canvas, foot, unit, body, accent, time) => {
  const lean = 0.03 * Math.sin(time * 1.4 + foot.x);
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.015, 0],
      [lean - 0.012, 0.6],
      [lean + 0.012, 0.6],
      [0.015, 0],
    ],
    body,
  );
  for (let petal = 0; petal < 6; petal++) {
    const angle = (petal * Math.PI) / 3 + 0.2 * Math.sin(time * 0.7);
    disc(canvas, foot, unit, lean + 0.14 * Math.cos(angle), 0.68 + 0.14 * Math.sin(angle), 0.1, accent);
  }
  disc(canvas, foot, unit, lean, 0.68, 0.09, mix(accent, [255, 220, 90], 0.8));
};

const heart: Figure = (canvas, foot, unit, _body, accent, time) => {
  const beat = 1 + 0.06 * Math.sin(time * 5);
  const shape = Array.from({ length: 48 }, (_, index): readonly [number, number] => {
    const angle = (index * Math.PI) / 24;
    const x = 16 * Math.sin(angle) ** 3;
    const y = 13 * Math.cos(angle) - 5 * Math.cos(2 * angle) - 2 * Math.cos(3 * angle) - Math.cos(4 * angle);
    return [(x / 34) * beat, (y / 34) * beat + 0.6];
  });
  polygon(canvas, foot, unit, shape, accent);
};

const rocket: Figure = (canvas, foot, unit, body, accent, time) => {
  const rise: Point = { x: foot.x, y: foot.y - unit * (0.4 + 0.08 * time) };
  const flame = 0.16 + 0.05 * Math.sin(time * 30);
  polygon(
    canvas,
    rise,
    unit,
    [
      [-0.08, 0.04],
      [0, -flame],
      [0.08, 0.04],
    ],
    [255, 200, 90],
  );
  polygon(
    canvas,
    rise,
    unit,
    [
      [-0.13, 0.06],
      [-0.26, -0.06],
      [-0.12, 0.34],
    ],
    accent,
  );
  polygon(
    canvas,
    rise,
    unit,
    [
      [0.13, 0.06],
      [0.26, -0.06],
      [0.12, 0.34],
    ],
    accent,
  );
  polygon(
    canvas,
    rise,
    unit,
    [
      [-0.13, 0.04],
      [-0.14, 0.56],
      [0, 0.92],
      [0.14, 0.56],
      [0.13, 0.04],
    ],
    mix(body, [255, 255, 255], 0.85),
  );
  disc(canvas, rise, unit, 0, 0.56, 0.07, accent);
};

const robot: Figure = (canvas, foot, unit, body, accent, time) => {
  const metal = mix(body, [190, 200, 216], 0.6);
  const wave = 0.1 * Math.sin(time * 3);
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.2, 0],
      [-0.2, 0.14],
      [-0.06, 0.14],
      [-0.06, 0],
    ],
    body,
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [0.06, 0],
      [0.06, 0.14],
      [0.2, 0.14],
      [0.2, 0],
    ],
    body,
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.25, 0.12],
      [-0.25, 0.52],
      [0.25, 0.52],
      [0.25, 0.12],
    ],
    metal,
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [0.25, 0.5],
      [0.25, 0.4],
      [0.44, 0.52 + wave],
      [0.44, 0.62 + wave],
    ],
    metal,
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.25, 0.5],
      [-0.25, 0.4],
      [-0.42, 0.2],
      [-0.42, 0.3],
    ],
    metal,
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.2, 0.56],
      [-0.2, 0.86],
      [0.2, 0.86],
      [0.2, 0.56],
    ],
    metal,
  );
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.01, 0.86],
      [-0.01, 0.98],
      [0.01, 0.98],
      [0.01, 0.86],
    ],
    body,
  );
  for (const x of [-0.09, 0.09]) disc(canvas, foot, unit, x, 0.73, 0.055, accent);
  disc(canvas, foot, unit, 0, 1, 0.035, accent);
};

const mushroom: Figure = (canvas, foot, unit, body, accent) => {
  polygon(
    canvas,
    foot,
    unit,
    [
      [-0.1, 0],
      [-0.07, 0.45],
      [0.07, 0.45],
      [0.1, 0],
    ],
    mix(body, [255, 244, 222], 0.9),
  );
  const cap = Array.from({ length: 21 }, (_, index): readonly [number, number] => [
    -0.34 * Math.cos((index * Math.PI) / 20),
    0.4 + 0.36 * Math.sin((index * Math.PI) / 20),
  ]);
  polygon(canvas, foot, unit, cap, accent);
  for (const [x, y] of [
    [-0.16, 0.54],
    [0.02, 0.64],
    [0.17, 0.5],
  ] as const)
    disc(canvas, foot, unit, x, y, 0.045, [255, 250, 240]);
};

const bird: Figure = (canvas, foot, unit, body, _accent, time) => {
  for (const [x, y, size, offset] of [
    [-0.3, 1.7, 0.3, 0],
    [0.15, 1.95, 0.22, 1],
    [0.45, 1.6, 0.18, 2],
  ] as const) {
    const flap = 0.16 * Math.sin(time * 6 + offset);
    const here: Point = { x: foot.x + x * unit + time * unit * 0.05, y: foot.y - y * unit };
    polygon(
      canvas,
      here,
      unit * size,
      [
        [-1, 0.2 + flap],
        [-0.45, 0.42 + flap],
        [0, 0],
        [0.45, 0.42 + flap],
        [1, 0.2 + flap],
        [0.4, 0.24 + flap],
        [0, -0.14],
        [-0.4, 0.24 + flap],
      ],
      body,
    );
  }
};

const figures: readonly { words: readonly string[]; draw: Figure }[] = [
  { words: ['cat', 'cats', 'kitten', 'kittens', 'lion', 'tiger'], draw: cat },
  { words: ['dog', 'dogs', 'puppy', 'wolf', 'fox', 'horse'], draw: dog },
  { words: ['tree', 'trees', 'forest', 'park', 'jungle', 'oak'], draw: tree },
  { words: ['pine', 'winter', 'christmas', 'mountain', 'mountains', 'snow'], draw: pine },
  { words: ['house', 'home', 'cottage', 'village', 'cabin', 'castle', 'barn'], draw: house },
  { words: ['boat', 'ship', 'sail', 'sailing', 'pirate', 'sailor', 'harbour', 'harbor'], draw: boat },
  { words: ['fish', 'whale', 'dolphin', 'shark', 'goldfish', 'octopus'], draw: fish },
  { words: ['flower', 'flowers', 'rose', 'tulip', 'garden', 'spring', 'meadow', 'blossom'], draw: flower },
  { words: ['heart', 'love', 'valentine', 'romance', 'kiss'], draw: heart },
  { words: ['rocket', 'space', 'spaceship', 'astronaut', 'mars'], draw: rocket },
  { words: ['robot', 'robots', 'android', 'machine', 'ai'], draw: robot },
  { words: ['mushroom', 'mushrooms', 'frog', 'fairy', 'gnome', 'elf'], draw: mushroom },
  { words: ['bird', 'birds', 'dragon', 'eagle', 'owl', 'gull', 'seagull', 'raven'], draw: bird },
];

/** The figures that a prompt names, in its order and at most three, each once. */
export function figuresNamed(words: readonly string[]): Figure[] {
  const named = new Set<Figure>();
  for (const word of words) {
    for (const figure of figures) if (figure.words.includes(word)) named.add(figure.draw);
  }
  return [...named].slice(0, 3);
}
