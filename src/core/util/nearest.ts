import { distance } from 'fastest-levenshtein';

/** The closest name, if at most a third of its letters differ, and at most three. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const lowerCase = typed.toLowerCase();
  const [best] = names
    .map((name) => ({ name, edits: distance(lowerCase, name.toLowerCase()) }))
    .sort((left, right) => left.edits - right.edits);
  if (best === undefined) return undefined;
  return best.edits <= Math.min(3, Math.max(1, Math.ceil(best.name.length / 3))) ? best.name : undefined;
}
