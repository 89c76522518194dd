/** `npx minstrel <program>`: every program of the npm package. */
import manifest from '../../package.json' with { type: 'json' };
import { fail } from '../app/process.ts';
import { nearest } from '../core/util/nearest.ts';
import { own } from '../core/util/own.ts';

type Run = (args: readonly string[]) => Promise<void>;

/** Loaded when needed, because most programs load many modules. */
const PROGRAMS = {
  start: async () => (await import('../main.ts')).runStart,
  demo: async () => (await import('./demo.ts')).runDemo,
  setup: async () => (await import('./setup.ts')).runSetup,
  doctor: async () => (await import('./doctor.ts')).runDoctor,
  register: async () => (await import('./register.ts')).runRegister,
  manifest: async () => (await import('./manifest.ts')).runManifest,
  emulator: async () => (await import('./emulator.ts')).runEmulator,
  backup: async () => (await import('./backup.ts')).runBackup,
  restore: async () => (await import('./restore.ts')).runRestore,
  export: async () => (await import('./export.ts')).runExport,
  import: async () => (await import('./import.ts')).runImport,
  forget: async () => (await import('./forget.ts')).runForget,
} as const satisfies Record<string, () => Promise<Run>>;

const SUMMARIES = {
  start: 'start the bot, or a playground in the browser without Discord or Slack (default)',
  demo: 'run every command once on the built-in emulator',
  setup: 'ask for the settings and write them to .env',
  doctor: 'check the setup and explain how to fix problems',
  register: 'register the commands with Discord',
  manifest: 'print the manifest of the Slack app',
  emulator: 'run only the emulator of the gateway',
  backup: 'copy jobs, settings and media',
  restore: 'restore a backup',
  export: 'write all data to a file',
  import: 'import such a file',
  forget: 'delete the data of a person who left',
} as const satisfies Record<keyof typeof PROGRAMS, string>;

const usage = `Usage: npx minstrel [program] [options]
${manifest.description}

${Object.entries(SUMMARIES)
  .map(([name, summary]) => `  ${name.padEnd(8)}  ${summary}`)
  .join('\n')}

  --help     describe a program, such as npx minstrel backup --help
  --version  print the version
`;

/** Runs the program that the first argument names. */
export async function runByName([name = 'start', ...args]: readonly string[]): Promise<void> {
  const load = own<() => Promise<Run>>(PROGRAMS, name);
  if (load) return (await load())(args);
  if (name === '--help' || name === '-h') process.stdout.write(usage);
  else if (name === '--version' || name === '-v') process.stdout.write(`${manifest.version}\n`);
  else {
    const similar = nearest(name, Object.keys(PROGRAMS));
    const advice = similar
      ? `Did you mean npx minstrel ${similar}?`
      : 'npx minstrel --help lists all programs.';
    fail(`There is no program “${name}”. ${advice}`);
  }
}
