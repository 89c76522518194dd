/** Models as people name them: an id, or an id after its route, as in `msg:some-id`. */
import type { Family } from './family.ts';

/** Routes that may precede an id. */
export const MODEL_ROUTES = {
  song: [],
  ask: ['chat', 'msg', 'gen'],
  image: ['gen'],
  video: [],
} as const satisfies Record<Family, readonly string[]>;

type RouteOf<Name extends Family> = (typeof MODEL_ROUTES)[Name][number];

/** The id, which may not be typed yet, and the route before it. */
export function parseModelName<Name extends Family>(
  family: Name,
  name: string,
): { readonly route?: RouteOf<Name>; readonly id: string } {
  const text = name.trim();
  const routes: readonly RouteOf<Name>[] = MODEL_ROUTES[family];
  const route = routes.find((one) => text.startsWith(`${one}:`));
  return route === undefined ? { id: text } : { route, id: text.slice(route.length + 1).trim() };
}
