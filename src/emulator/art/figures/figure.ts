import type { Canvas, Colour, Point } from '../canvas.ts';
import { fillDisc, fillPolygon } from '../canvas.ts';

/** A figure drawn with its feet on a point, about one unit high and wide; `time` in seconds moves it. */
export type Figure = (
  canvas: Canvas,
  foot: Point,
  unit: number,
  body: Colour,
  accent: Colour,
  time: number,
) => void;

/** A polygon in units from a figure's foot, upwards. */
export function polygon(
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

/** A disc in units from a figure's foot, upwards. */
export function disc(
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
