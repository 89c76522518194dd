/** Checks alerts and dashboard against the metrics of a running bot. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { SERIES } from '../src/core/telemetry/series.ts';
import { createMetrics } from '../src/http/metrics.ts';
import { temporaryFolder } from './media/helpers.ts';

const rules = readFileSync('deploy/prometheus/rules.yaml', 'utf8');
const dashboard = z
  .object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).default([]) })) })
  .parse(JSON.parse(readFileSync('deploy/grafana/minstrel.json', 'utf8')));
const dashboardQueries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const queries = [
  ...[...rules.matchAll(/expr: (?:>\n)?((?:.|\n {10})*)/g)].map(([, query = '']) => query),
  ...dashboardQueries,
];
const noPromtool = spawnSync('promtool', ['--version']).status !== 0;

/** Returns the series in a query, with the labels it selects or groups by. */
function readQuery(query: string): { names: string[]; labels: string[] } {
  const names = [...query.matchAll(/\b(?:minstrel|process|nodejs)_\w+/g)].map(([name]) => name);
  const selected = [...query.matchAll(/\{([^}]*)\}/g)].flatMap(([, inside = '']) =>
    [...inside.matchAll(/(\w+)\s*(?:=~|!=|=)/g)].map(([, label = '']) => label),
  );
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/\s*,\s*/));
  return { names, labels: [...selected, ...grouped] };
}

/** Labels added by Prometheus, and those of histograms. */
const GENERAL = new Set(['job', 'instance', 'le']);

test('every query uses existing series and labels', async () => {
  expect(queries.length).toBeGreaterThan(40);
  const exposition = await createMetrics().render();
  const knownSeries = new Set([...exposition.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name));
  const problems = queries.flatMap((query) => {
    const { names, labels } = readQuery(query);
    const base = (name: string) => (knownSeries.has(name) ? name : name.replace(/_(bucket|count|sum)$/, ''));
    const unknown = names.filter((name) => !knownSeries.has(base(name)));
    const declared = new Set<string>(
      names.flatMap((name) =>
        Object.entries(SERIES).flatMap(([key, { labels }]) => (key === base(name) ? [...labels] : [])),
      ),
    );
    return [...unknown, ...labels.filter((label) => !declared.has(label) && !GENERAL.has(label))].map(
      (what) => `${what} in ${query}`,
    );
  });
  expect(problems).toEqual([]);
});

test('every alert is in the runbook and in the tests of the rules', () => {
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  const runbook = [
    ...readFileSync('docs/operating/troubleshooting.md', 'utf8').matchAll(/^\| `(Minstrel\w+)`/gm),
  ].map(([, name]) => name);
  expect(runbook).toEqual(alerts);
  const cases = readFileSync('deploy/prometheus/rules.test.yaml', 'utf8');
  for (const alert of alerts) expect(cases.split(`alertname: ${alert}`).length).toBeGreaterThanOrEqual(3);
});

test('every alert links to the runbook in the repository of package.json', () => {
  const { homepage } = z
    .object({ homepage: z.string() })
    .parse(JSON.parse(readFileSync('package.json', 'utf8')));
  const links = [...rules.matchAll(/^ +runbook_url: (.+)$/gm)].map(([, link]) => link);
  expect(links).toHaveLength(rules.split('- alert: ').length - 1);
  const runbook = 'docs/operating/troubleshooting.md#when-an-alert-fires';
  expect(new Set(links)).toEqual(new Set([`${homepage}/blob/main/${runbook}`]));
});

test('every series is measured and shown on the dashboard', () => {
  const shownNames = dashboardQueries.join('\n');
  expect(Object.keys(SERIES).filter((name) => !shownNames.includes(name))).toEqual([]);
});

// CI has promtool.
test.skipIf(noPromtool)('Prometheus can parse every query of the dashboard', async () => {
  // Checked as rules, because promtool cannot check single queries. Grafana inserts the interval.
  const asRules = dashboardQueries.map((query, index) => ({
    record: `board:query${index}`,
    expr: query.replaceAll('$__rate_interval', '5m'),
  }));
  const file = join(await temporaryFolder(), 'board.yaml');
  await writeFile(file, JSON.stringify({ groups: [{ name: 'board', rules: asRules }] }));
  const { stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).toContain(`${dashboardQueries.length} rules found`);
});
