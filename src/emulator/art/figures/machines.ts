import { mix, type Point } from '../canvas.ts';
import { disc, type Figure, polygon } from './figure.ts';

export const rocket: Figure = (canvas, foot, unit, body, accent, time) => {
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

export const robot: Figure = (canvas, foot, unit, body, accent, time) => {
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
