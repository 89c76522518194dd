/** `npm run settings`: writes `.env.example`, and the tables of settings and metrics in docs/operating/. */
import { readFile, writeFile } from 'node:fs/promises';
import { environmentSchema, TITLES, VARIABLES, type Variable } from '../src/app/config/schema.ts';
import { runProgram } from '../src/app/process.ts';
import { SERIES } from '../src/core/telemetry/series.ts';

export const EXAMPLE_FILE = '.env.example';
export const SETTINGS_PAGE = 'docs/operating/settings.md';
export const METRICS_PAGE = 'docs/operating/monitoring.md';

const COLUMNS = 117;

const HEAD = `# Copy this file to .env and fill in the settings you need. \`npm start\` and \`docker compose\` read .env.
# Lines that start with # are off and show the default or an example. docs/operating/settings.md lists all settings.`;

/** The text of `.env.example`. */
export function exampleFile(): string {
  const entries = VARIABLES.map((variable) => {
    const { description = '', example, standard = '' } = textsOf(variable);
    const title = TITLES[variable];
    return [
      ...(title ? [`# --- ${title} `.padEnd(COLUMNS, '-'), ''] : []),
      ...wrapped(description),
      `#${variable}=${example ?? standard}`,
    ].join('\n');
  });
  return `${[HEAD, ...entries].join('\n\n')}\n`;
}

/** Replaces the page's table of settings with one generated from the schema. */
export function withSettingsTable(page: string): string {
  const rows = VARIABLES.map((variable) => {
    const { description = '', standard, otherwise = standard ? `\`${standard}\`` : '' } = textsOf(variable);
    return `| \`${variable}\` | ${inMarkdown(description)} | ${otherwise} |`;
  });
  const table = ['| variable | meaning | default |', '|---|---|---|', ...rows, ''].join('\n');
  return page.replace(/^\| variable \|.*\n(?:\|.*\n)*/m, () => table);
}

/** Replaces the page's table of metrics with one generated from their declarations. */
export function withMetricsTable(page: string): string {
  const rows = Object.entries(SERIES).map(
    ([name, { type, help, labels }]) =>
      `| \`${name}\` | ${type} | ${inMarkdown(help)} | ${labels.map((label) => `\`${label}\``).join(', ')} |`,
  );
  const processMetrics =
    '| `process_*`, `nodejs_*` | | Process metrics: memory, event loop and garbage collection. | |';
  const table = [
    '| metric | type | meaning | labels |',
    '|---|---|---|---|',
    ...rows,
    processMetrics,
    '',
  ].join('\n');
  return page.replace(/^\| metric \|.*\n(?:\|.*\n)*/m, () => table);
}

/** `standard`: the default as an operator would write it. */
function textsOf(variable: Variable) {
  const schema = environmentSchema.shape[variable];
  const standard = schema.type === 'prefault' ? schema.def.defaultValue : undefined;
  return { ...schema.meta(), standard };
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = '#';
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

const SETTING = new RegExp(`\\b(${VARIABLES.join('|')})\\b`, 'g');

/** Settings as code, documents as links. */
function inMarkdown(text: string): string {
  return text.replace(SETTING, '`$1`').replace(/\bdocs\/([\w.]+\.md)\b/g, '[$1](../$1)');
}

async function main(): Promise<void> {
  await writeFile(EXAMPLE_FILE, exampleFile());
  await writeFile(SETTINGS_PAGE, withSettingsTable(await readFile(SETTINGS_PAGE, 'utf8')));
  await writeFile(METRICS_PAGE, withMetricsTable(await readFile(METRICS_PAGE, 'utf8')));
  process.stdout.write(`Wrote ${EXAMPLE_FILE}, and the tables in ${SETTINGS_PAGE} and ${METRICS_PAGE}.\n`);
}

if (import.meta.main) {
  const usage = `Usage: npm run settings
Writes ${EXAMPLE_FILE}, and the tables in ${SETTINGS_PAGE} and ${METRICS_PAGE}.`;
  await runProgram({ usage }, main);
}
