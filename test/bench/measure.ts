/** Measuring side by side: one line of the table, candidates in alternation, medians. */

/** One line of the table: the product next to one peer or limit. */
export interface Comparison {
  /** What is compared, as `chat stream`. */
  readonly what: string;
  readonly unit: string;
  readonly product: number;
  /** A library that others would use, a script that does only what cannot be avoided, or a fixed limit. */
  readonly peer: string;
  readonly theirs: number;
  /** Of the product's figure to the peer's; none beside a limit that only shows where a distance comes from. */
  readonly goal?: { readonly atLeast: number } | { readonly atMost: number };
}

export interface Extent {
  /** As little as catches a relapse of twice the cost. */
  readonly short: boolean;
}

/** A row of the table. It measures when it is called, never when it is imported. */
export interface BenchRow {
  /** As people name it: `npm run bench -- p1`. */
  readonly id: string;
  readonly title: string;
  measure(extent: Extent): Promise<Comparison[]>;
}

/**
 * Medians of `rounds` rounds, in which each candidate is measured once: what else the machine does befalls them alike. A candidate
 * resolves to its figures, the same in every round.
 */
export async function figuresInAlternation<Name extends string, Figure extends string>(
  rounds: number,
  candidates: Readonly<Record<Name, () => Promise<Readonly<Record<Figure, number>>>>>,
): Promise<Record<Name, Record<Figure, number>>> {
  // Sound: the keys are the candidates' own.
  const names = Object.keys(candidates) as Name[];
  const found = new Map<Name, Readonly<Record<Figure, number>>[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    // Rotated, so that none is always the first.
    for (let index = 0; index < names.length; index += 1) {
      const name = names[(round + index) % names.length];
      if (name !== undefined) found.get(name)?.push(await candidates[name]());
    }
  }
  const medians = (all: readonly Readonly<Record<Figure, number>>[]) =>
    // Sound: the keys are those of the figures.
    Object.fromEntries(
      (Object.keys(all[0] ?? {}) as Figure[]).map((figure) => [
        figure,
        median(all.map((one) => one[figure])),
      ]),
    ) as Record<Figure, number>;
  // Sound: one entry for each name.
  return Object.fromEntries(names.map((name) => [name, medians(found.get(name) ?? [])])) as Record<
    Name,
    Record<Figure, number>
  >;
}

/** {@link figuresInAlternation} of candidates with one figure each. */
export async function inAlternation<Name extends string>(
  rounds: number,
  candidates: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number>> {
  // Sound: the keys are the candidates' own.
  const named = Object.entries<() => Promise<number>>(candidates) as [Name, () => Promise<number>][];
  const measured = named.map(([name, measure]) => [name, async () => ({ figure: await measure() })]);
  const figures: Record<Name, { figure: number }> = await figuresInAlternation(
    rounds,
    Object.fromEntries(measured) as Record<Name, () => Promise<{ figure: number }>>,
  );
  return Object.fromEntries(named.map(([name]) => [name, figures[name].figure])) as Record<Name, number>;
}

/** NaN for no values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which this part of all lies, as `0.99`; NaN for no values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** CPU seconds of this process, user and system, since `before`. */
export function cpuSeconds(before?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000_000;
}
