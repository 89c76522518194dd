/** `npx minstrel <program>`, and the npm scripts of a checkout: all programs by their names. */
import manifest from '../../package.json' with { type: 'json' };
import { fail } from '../app/process.ts';
import { nearest } from '../core/util/nearest.ts';
import { own } from '../core/util/own.ts';

interface Program {
  readonly summary: string;
  /** Loads the program when it is needed, because most load many modules. */
  readonly load: () => Promise<(args: readonly string[]) => Promise<void>>;
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  start: {
    summary: 'start the bot; without Discord or Slack, the playground (default)',
    load: async () => (await import('../main.ts')).runStart,
  },
  demo: {
    summary: 'run every command once on the built-in emulator',
    load: async () => (await import('./demo.ts')).runDemo,
  },
  setup: {
    summary: 'ask for the settings and write them to .env',
    load: async () => (await import('./setup.ts')).runSetup,
  },
  doctor: {
    summary: 'check the setup and explain how to fix problems',
    load: async () => (await import('./doctor.ts')).runDoctor,
  },
  register: {
    summary: 'register the commands with Discord',
    load: async () => (await import('./register.ts')).runRegister,
  },
  manifest: {
    summary: 'print the manifest of the Slack app',
    load: async () => (await import('./manifest.ts')).runManifest,
  },
  emulator: {
    summary: 'run only the emulator of the gateway',
    load: async () => (await import('./emulator.ts')).runEmulator,
  },
  backup: {
    summary: 'copy jobs, settings and media',
    load: async () => (await import('./backup.ts')).runBackup,
  },
  restore: { summary: 'restore a backup', load: async () => (await import('./restore.ts')).runRestore },
  export: { summary: 'write all data to a file', load: async () => (await import('./export.ts')).runExport },
  import: {
    summary: 'import a file that export wrote',
    load: async () => (await import('./import.ts')).runImport,
  },
  forget: {
    summary: 'delete the data of a person who left',
    load: async () => (await import('./forget.ts')).runForget,
  },
};

const usage = `Usage: npx minstrel [command] [options]
${manifest.description}

${Object.entries(PROGRAMS)
  .map(([name, { summary }]) => `  ${name.padEnd(8)}  ${summary}`)
  .join('\n')}

  --help     describe a command, such as npx minstrel backup --help
  --version  print the version
`;

/** Runs the program that the first argument names. */
export async function runByName([name = 'start', ...args]: readonly string[]): Promise<void> {
  const program = own(PROGRAMS, name);
  if (program) return (await program.load())(args);
  if (name === '--help' || name === '-h') process.stdout.write(usage);
  else if (name === '--version' || name === '-v') process.stdout.write(`${manifest.version}\n`);
  else {
    const similar = nearest(name, Object.keys(PROGRAMS));
    const advice = similar
      ? `Did you mean npx minstrel ${similar}?`
      : 'npx minstrel --help lists all commands.';
    fail(`There is no command “${name}”. ${advice}`);
  }
}
