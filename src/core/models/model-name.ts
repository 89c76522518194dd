/** Model names as people type them: an id, optionally with a route, as in `msg:some-id`. */
import type { Family } from './family.ts';

/** Routes allowed before an id. */
export const MODEL_ROUTES = {
  song: [],
  ask: ['chat', 'msg', 'gen'],
  image: ['gen'],
  video: [],
} as const satisfies Record<Family, readonly string[]>;

type RouteOf<Name extends Family> = (typeof MODEL_ROUTES)[Name][number];

/** Models in one choice. */
export const MOST_MODELS = 5;

/** Splits a choice of models for questions, such as `first,msg:second`. The later ones are fallbacks. */
export function modelNames(choice: string): string[] {
  const names = choice.split(',').map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

export function joinModelNames(names: readonly string[]): string {
  return names.join(', ');
}

/** Splits a name into route and id. The id is empty if only the route is typed. */
export function parseModelName<Name extends Family>(
  family: Name,
  name: string,
): { readonly route?: RouteOf<Name>; readonly id: string } {
  const text = name.trim();
  const routes: readonly RouteOf<Name>[] = MODEL_ROUTES[family];
  const route = routes.find((name) => text.startsWith(`${name}:`));
  return route === undefined ? { id: text } : { route, id: text.slice(route.length + 1).trim() };
}
