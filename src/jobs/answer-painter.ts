/** Milliseconds. Tokens come faster than anybody reads, and far faster than any platform takes edits. */
const PAINT_EVERY_MS = 100;

export interface Painter extends Disposable {
  /** Paints now, or as soon as the last time is long enough ago. */
  soon(): void;
}

export function createPainter(paint: () => void): Painter {
  let timer: NodeJS.Timeout | undefined;
  let isWanted = false;
  const run = (): void => {
    isWanted = false;
    timer = setTimeout(() => {
      timer = undefined;
      if (isWanted) run();
    }, PAINT_EVERY_MS);
    paint();
  };
  return {
    soon() {
      isWanted = true;
      if (!timer) run();
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
    },
  };
}
