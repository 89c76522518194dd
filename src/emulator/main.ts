import { readFlags, UsageError, usage } from './flags.ts';
import { startEmulator } from './server.ts';
import { MissingPackagesError } from './studio/studio.ts';

async function main(): Promise<void> {
  const options = readFlags(process.argv.slice(2));
  if (!options) {
    process.stdout.write(usage);
    return;
  }
  const emulator = await startEmulator(options);
  process.stdout.write(
    `The gateway emulator is running.\n\n  url  ${emulator.url}\n  key  ${emulator.apiKey}\n\n`,
  );
  // The bot fetches files from private addresses only if they are allowed.
  const files = new URL(options.publicUrl ?? emulator.url).host;
  process.stdout.write(
    `  GATEWAY_BASE_URL=${emulator.url} GATEWAY_API_KEY=${emulator.apiKey} MEDIA_ALLOWED_HOSTS=${files} npm start\n`,
  );
  const stop = (): void => {
    void emulator.close();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

try {
  await main();
} catch (error) {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isMistake = error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS');
  const isExpected = error instanceof MissingPackagesError || code === 'EADDRINUSE' || code === 'EACCES';
  if (!(error instanceof Error) || !(isMistake || isExpected)) throw error;
  process.stderr.write(`${error.message}\n${isMistake ? `\n${usage}` : ''}`);
  process.exitCode = 2;
}
