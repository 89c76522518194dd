import { mix, type Point } from '../canvas.ts';
import { type Figure, polygon } from './figure.ts';

export const house: Figure = (canvas, foot, unit, body, accent) => {
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

export const boat: Figure = (canvas, foot, unit, body, accent, time) => {
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

export const heart: Figure = (canvas, foot, unit, _body, accent, time) => {
  const beat = 1 + 0.06 * Math.sin(time * 5);
  const shape = Array.from({ length: 48 }, (_, index): readonly [number, number] => {
    const angle = (index * Math.PI) / 24;
    const x = 16 * Math.sin(angle) ** 3;
    const y = 13 * Math.cos(angle) - 5 * Math.cos(2 * angle) - 2 * Math.cos(3 * angle) - Math.cos(4 * angle);
    return [(x / 34) * beat, (y / 34) * beat + 0.6];
  });
  polygon(canvas, foot, unit, shape, accent);
};
