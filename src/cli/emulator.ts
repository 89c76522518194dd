/** `npm run emulator`: runs only the emulator of the gateway, for any client. */
import { type Arguments, ArgumentsError, runProgram } from '../app/process.ts';
import { OperatorError, systemErrorCode } from '../core/errors.ts';
import { commandLine, docsPage } from '../core/util/installation.ts';
import type { EmulatorOptions } from '../emulator/options.ts';
import { startEmulator } from '../emulator/server.ts';

const usage = `Usage: ${commandLine('emulator', '[options]')}
Runs only the emulator of the gateway, for any client. ${docsPage('emulator.md')} lists its routes and models.
  --host <address>         address to listen on (default: 127.0.0.1)
  --port <number>          port to listen on; 0 picks a free one (default: 8787)
  --key <text>             API key that clients must send (default: emulator-key)
  --public-url <url>       base of file URLs (default: the address it listens on)
  --speed <number>         scales every delay; 0 removes delays (default: 1)
  --song-seconds <n>       length of songs in seconds (default: 14)
  --video-url-seconds <n>  lifetime of a video URL in seconds (default: 86400)`;

const OPTIONS = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '8787' },
  key: { type: 'string', default: 'emulator-key' },
  'public-url': { type: 'string' },
  speed: { type: 'string', default: '1' },
  'song-seconds': { type: 'string', default: '14' },
  'video-url-seconds': { type: 'string', default: '86400' },
} as const;

type Flags = Arguments<typeof OPTIONS>['values'];

/** Throws ArgumentsError. */
function emulatorOptions(flags: Flags): EmulatorOptions {
  const publicUrl = flags['public-url'];
  if (publicUrl !== undefined && !URL.canParse(publicUrl))
    throw new ArgumentsError(`--public-url must be a URL, such as http://emulator:8787\n${usage}`);
  return {
    host: flags.host,
    port: readNumber('port', flags, 0, 65_535),
    apiKey: flags.key,
    speed: readNumber('speed', flags, 0, 100),
    songSeconds: readNumber('song-seconds', flags, 2, 60),
    videoUrlSeconds: readNumber('video-url-seconds', flags, 1, 1e9),
    ...(publicUrl === undefined ? {} : { publicUrl: publicUrl.replace(/(?<!\/)\/+$/, '') }),
  };
}

function readNumber(
  name: keyof Flags,
  { [name]: text = '' }: Flags,
  minimum: number,
  maximum: number,
): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= minimum && value <= maximum))
    throw new ArgumentsError(`--${name} must be a number from ${minimum} to ${maximum}\n${usage}`);
  return value;
}

async function main({ values }: Arguments<typeof OPTIONS>): Promise<void> {
  const options = emulatorOptions(values);
  const emulator = await startEmulator(options).catch((error: unknown) => {
    const isExpected = ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL'].includes(systemErrorCode(error) ?? '');
    throw isExpected && error instanceof Error ? new OperatorError(error.message) : error;
  });
  // The bot fetches files from private addresses only if they are allowed.
  const files = new URL(options.publicUrl ?? emulator.url).host;
  const settings = `GATEWAY_BASE_URL=${emulator.url} GATEWAY_API_KEY=${emulator.apiKey} MEDIA_ALLOWED_HOSTS=${files}`;
  process.stdout.write(
    `The gateway emulator is running.\n\n  url  ${emulator.url}\n  key  ${emulator.apiKey}\n\n  ${settings} ${commandLine('start')}\n`,
  );
  const stop = (): void => {
    void emulator.close();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

export const runEmulator = (args: readonly string[]) => runProgram({ usage, options: OPTIONS }, main, args);
