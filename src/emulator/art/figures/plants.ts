import { mix } from '../canvas.ts';
import { disc, type Figure, polygon } from './figure.ts';

export const tree: Figure = (canvas, foot, unit, body, accent, time) => {
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

export const pine: Figure = (canvas, foot, unit, body) => {
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

export const flower: Figure = (canvas, foot, unit, body, accent, time) => {
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

export const mushroom: Figure = (canvas, foot, unit, body, accent) => {
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
