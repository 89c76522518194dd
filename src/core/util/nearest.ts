import { distance } from 'fastest-levenshtein';

/** The name that was probably meant: at most a third of its letters is wrong, and never more than three. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase();
  const [best] = names
    .map((name) => ({ name, wrong: distance(wanted, name.toLowerCase()) }))
    .sort((left, right) => left.wrong - right.wrong);
  if (best === undefined) return undefined;
  return best.wrong <= Math.min(3, Math.max(1, Math.ceil(best.name.length / 3))) ? best.name : undefined;
}
