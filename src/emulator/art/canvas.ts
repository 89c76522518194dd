/** A colour as red, green and blue, each 0 to 255. */
export type Colour = readonly [number, number, number];
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** An opaque picture: width times height pixels of four bytes, red, green, blue and 255. */
export interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array<ArrayBuffer>;
}

export function createCanvas(width: number, height: number): Canvas {
  return { width, height, pixels: new Uint8Array(width * height * 4).fill(255) };
}

export function mix(from: Colour, to: Colour, amount: number): Colour {
  const part = Math.min(1, Math.max(0, amount));
  return [
    from[0] + (to[0] - from[0]) * part,
    from[1] + (to[1] - from[1]) * part,
    from[2] + (to[2] - from[2]) * part,
  ];
}

/** Lays a colour over one pixel; does nothing outside the picture. */
function blend(canvas: Canvas, x: number, y: number, colour: Colour, opacity: number): void {
  if (x < 0 || y < 0 || x >= canvas.width || y >= canvas.height) return;
  const at = (y * canvas.width + x) * 4;
  const { pixels } = canvas;
  for (let channel = 0; channel < 3; channel++) {
    const below = pixels[at + channel] ?? 0;
    pixels[at + channel] = below + ((colour[channel] ?? 0) - below) * opacity + 0.5;
  }
}

/** Fills the picture from top to bottom through the given colours. */
export function fillSky(canvas: Canvas, colours: readonly Colour[]): void {
  const { width, height, pixels } = canvas;
  for (let y = 0; y < height; y++) {
    const place = (y / Math.max(1, height - 1)) * (colours.length - 1);
    const index = Math.min(colours.length - 2, Math.floor(place));
    const colour = mix(colours[index] ?? [0, 0, 0], colours[index + 1] ?? [0, 0, 0], place - index);
    const from = y * width * 4;
    for (let at = from; at < from + width * 4; at += 4) {
      pixels[at] = colour[0] + 0.5;
      pixels[at + 1] = colour[1] + 0.5;
      pixels[at + 2] = colour[2] + 0.5;
    }
  }
}

/** A disc with a smooth edge. */
export function fillDisc(canvas: Canvas, centre: Point, radius: number, colour: Colour, opacity = 1): void {
  const reach = Math.ceil(radius + 1);
  for (let y = Math.floor(centre.y - reach); y <= centre.y + reach; y++) {
    if (y < 0 || y >= canvas.height) continue;
    for (let x = Math.floor(centre.x - reach); x <= centre.x + reach; x++) {
      const distance = Math.hypot(x - centre.x, y - centre.y);
      const cover = radius - distance + 0.5;
      if (cover > 0) blend(canvas, x, y, colour, opacity * Math.min(1, cover));
    }
  }
}

/** A soft light that fades to nothing at its radius. */
export function glow(canvas: Canvas, centre: Point, radius: number, colour: Colour, strength: number): void {
  const squared = radius * radius;
  for (
    let y = Math.max(0, Math.floor(centre.y - radius));
    y < Math.min(canvas.height, centre.y + radius);
    y++
  ) {
    for (
      let x = Math.max(0, Math.floor(centre.x - radius));
      x < Math.min(canvas.width, centre.x + radius);
      x++
    ) {
      const distance = (x - centre.x) ** 2 + (y - centre.y) ** 2;
      if (distance >= squared) continue;
      const light = 1 - distance / squared;
      blend(canvas, x, y, colour, strength * light * light);
    }
  }
}

/** Fills everything below a skyline, darkening towards the bottom colour. */
export function fillBelow(
  canvas: Canvas,
  heightAt: (x: number) => number,
  top: Colour,
  bottom: Colour,
): void {
  const { width, height } = canvas;
  for (let x = 0; x < width; x++) {
    const edge = heightAt(x);
    const first = Math.max(0, Math.floor(edge));
    for (let y = first; y < height; y++) {
      const cover = Math.min(1, y + 1 - edge);
      blend(canvas, x, y, mix(top, bottom, (y - edge) / Math.max(1, height - edge)), cover);
    }
  }
}

/** A polygon, filled where an odd number of edges lies to the left, with edges smoothed by four lines a pixel. */
export function fillPolygon(canvas: Canvas, points: readonly Point[], colour: Colour, opacity = 1): void {
  const ys = points.map((point) => point.y);
  const from = Math.max(0, Math.floor(Math.min(...ys)));
  const to = Math.min(canvas.height - 1, Math.ceil(Math.max(...ys)));
  const cover = new Float32Array(canvas.width + 1);
  for (let y = from; y <= to; y++) {
    cover.fill(0);
    for (let line = 0; line < 4; line++) {
      const level = y + (line + 0.5) / 4;
      const crossings = crossingsAt(points, level);
      for (let index = 0; index + 1 < crossings.length; index += 2) {
        const left = Math.max(0, crossings[index] ?? 0);
        const right = Math.min(canvas.width, crossings[index + 1] ?? 0);
        for (let x = Math.floor(left); x < right; x++) {
          cover[x] = (cover[x] ?? 0) + 0.25 * (Math.min(right, x + 1) - Math.max(left, x));
        }
      }
    }
    for (let x = 0; x < canvas.width; x++) {
      const amount = cover[x] ?? 0;
      if (amount > 0) blend(canvas, x, y, colour, opacity * Math.min(1, amount));
    }
  }
}

function crossingsAt(points: readonly Point[], y: number): number[] {
  const crossings: number[] = [];
  points.forEach((point, index) => {
    const next = points[(index + 1) % points.length] ?? point;
    if (point.y <= y === next.y <= y) return;
    crossings.push(point.x + ((y - point.y) / (next.y - point.y)) * (next.x - point.x));
  });
  return crossings.sort((left, right) => left - right);
}

/** A straight line of a given thickness. */
export function drawLine(
  canvas: Canvas,
  from: Point,
  to: Point,
  thickness: number,
  colour: Colour,
  opacity = 1,
): void {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const acrossX = (-(to.y - from.y) / length) * (thickness / 2);
  const acrossY = ((to.x - from.x) / length) * (thickness / 2);
  fillPolygon(
    canvas,
    [
      { x: from.x + acrossX, y: from.y + acrossY },
      { x: to.x + acrossX, y: to.y + acrossY },
      { x: to.x - acrossX, y: to.y - acrossY },
      { x: from.x - acrossX, y: from.y - acrossY },
    ],
    colour,
    opacity,
  );
}
