import { distance } from 'fastest-levenshtein';

/** The name that was probably meant: at most a third of it is wrong, and never more than three letters. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase();
  const ranked = names
    .map((name) => ({ name, wrong: distance(wanted, name.toLowerCase()) }))
    .sort((left, right) => left.wrong - right.wrong);
  const [best] = ranked;
  if (best === undefined) return undefined;
  return best.wrong <= Math.min(3, Math.max(1, Math.ceil(best.name.length / 3))) ? best.name : undefined;
}
