import { mix, type Point } from '../canvas.ts';
import { disc, type Figure, polygon } from './figure.ts';

export const cat: Figure = (canvas, foot, unit, body, accent, time) => {
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

export const dog: Figure = (canvas, foot, unit, body, accent, time) => {
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

export const fish: Figure = (canvas, foot, unit, body, accent, time) => {
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

export const bird: Figure = (canvas, foot, unit, body, _accent, time) => {
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
