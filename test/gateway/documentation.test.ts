import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type GatewayRoute, ROUTES } from '../../src/gateway/routes.ts';

const folder = new URL('../../src/gateway/', import.meta.url);
const files = globSync('**/*.ts', { cwd: fileURLToPath(folder) });
const tests = globSync('**/*.ts', { cwd: fileURLToPath(new URL('.', import.meta.url)) });
const page = readFileSync(new URL('../../docs/gateway.md', import.meta.url), 'utf8');

/** Returns the cells of the table under a heading, without its header. */
function rowsUnder(heading: string): string[][] {
  const section = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) => row.split('|').slice(1, -1));
}

describe('docs/gateway.md', () => {
  it('has a row for every route', () => {
    const named = rowsUnder('Routes').map(([route = '']) => route);
    const routes: readonly GatewayRoute[] = Object.values(ROUTES);
    for (const { method, gateway } of routes) {
      if (gateway === undefined) continue;
      const { path } = gateway;
      const word = path.split(/\/|\{\w+\}/).findLast((part) => part !== '') ?? path;
      const rows = named.filter((row) => row.includes(`${method} /`) && row.includes(word));
      expect(rows, `${method} ${path}`).not.toEqual([]);
    }
  });

  it('names existing files of code and tests', () => {
    for (const [route = '', , named = '', , besides = ''] of rowsUnder('Routes')) {
      for (const [, file = ''] of named.matchAll(/`([\w/-]+\.ts)`/g)) expect(files, route).toContain(file);
      for (const [, test = ''] of besides.matchAll(/`([\w/-]+)`/g))
        expect(tests, route).toContain(`${test}.test.ts`);
    }
  });

  it('has valid links for every table of the contract', () => {
    const places = rowsUnder("The contract's tables in the code").flatMap(([section, , where = '']) =>
      [...where.matchAll(/`([\w/-]+\.ts)`(?: \(([^)]*)\))?/g)].map(([, file = '', names = '']) => ({
        section,
        file,
        names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
      })),
    );
    expect(places.length).toBeGreaterThan(20);
    for (const { section, file, names } of places) {
      const text = readFileSync(new URL(file, folder), 'utf8');
      for (const name of names) expect(text, `${section}: ${file}`).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });
});
