/** Compares two heap snapshots. https://v8.dev/docs/memory-leaks */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const snapshotSchema = z.object({
  snapshot: z.object({
    meta: z.object({
      node_fields: z.array(z.string()),
      node_types: z.tuple([z.array(z.string())], z.unknown()),
    }),
  }),
  nodes: z.custom<readonly number[]>((value) => Array.isArray(value)),
  strings: z.custom<readonly string[]>((value) => Array.isArray(value)),
});

interface Kind {
  readonly count: number;
  readonly bytes: number;
}

export interface Growth extends Kind {
  /** The constructor, or V8's name. */
  readonly kind: string;
}

/** Returns the kinds of objects that grew, the largest growth first. */
export async function growthBetween(earlier: string, later: string, most: number): Promise<Growth[]> {
  const before = await kindsIn(earlier);
  return [...(await kindsIn(later))]
    .map(([kind, { count, bytes }]) => {
      const { count: counted = 0, bytes: taken = 0 } = before.get(kind) ?? {};
      return { kind, count: count - counted, bytes: bytes - taken };
    })
    .filter(({ bytes }) => bytes > 0)
    .toSorted((one, other) => other.bytes - one.bytes)
    .slice(0, most);
}

async function kindsIn(path: string): Promise<Map<string, Kind>> {
  const { snapshot, nodes, strings } = snapshotSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field));
  if (type === undefined || name === undefined || size === undefined) throw new TypeError('No heap snapshot');
  const kinds = new Map<string, Kind>();
  for (let node = 0; node < nodes.length; node += fields.length) {
    const typed = types[0][nodes[node + type] ?? 0] ?? '';
    const isNamed = typed === 'object' || typed === 'closure' || typed === 'native';
    const kind = isNamed ? `${typed} ${strings[nodes[node + name] ?? 0]?.slice(0, 60)}` : typed;
    const { count = 0, bytes = 0 } = kinds.get(kind) ?? {};
    kinds.set(kind, { count: count + 1, bytes: bytes + (nodes[node + size] ?? 0) });
  }
  return kinds;
}
