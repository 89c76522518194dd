import { parseArgs } from 'node:util';
import { UnknownFaultError } from './faults/faults.ts';
import { type EmulatorOptions, shapes } from './options.ts';
import { startEmulator } from './server.ts';
import { MissingPackagesError } from './studio/studio.ts';

const usage = `npm run emulator -- [flags]

  --host <address>       where to listen (127.0.0.1)
  --port <number>        port to listen on (8787; 0 for any)
  --key <text>           the API key that clients present (emulator-key)
  --public-url <url>     base of the URLs of generated files (where it listens)
  --speed <number>       scales every delay; 0 for none (1)
  --shape <name>         ${shapes.join(', ')} (sunoapi)
  --song-seconds <n>     length of songs (14)
  --video-url-seconds <n> how long a video's URL works (86400)
  --fault <fault>        something that goes wrong, such as status=503 or music/generate:callback=none; repeatable
  --help                 this text

docs/emulator.md describes routes, shapes and faults.
`;

/** A flag that cannot be read. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '8787' },
      key: { type: 'string', default: 'emulator-key' },
      'public-url': { type: 'string' },
      speed: { type: 'string', default: '1' },
      shape: { type: 'string', default: 'sunoapi' },
      'song-seconds': { type: 'string', default: '14' },
      'video-url-seconds': { type: 'string', default: '86400' },
      fault: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const shape = shapes.find((name) => name === values.shape);
  if (shape === undefined) throw new UsageError(`--shape must be one of ${shapes.join(', ')}`);
  const publicUrl = values['public-url'];
  if (publicUrl !== undefined && !URL.canParse(publicUrl))
    throw new UsageError('--public-url must be an address, such as http://emulator:8787');
  const options: EmulatorOptions = {
    host: values.host,
    port: readNumber('port', values.port, 0, 65_535),
    apiKey: values.key,
    speed: readNumber('speed', values.speed, 0, 100),
    songSeconds: readNumber('song-seconds', values['song-seconds'], 2, 60),
    videoUrlSeconds: readNumber('video-url-seconds', values['video-url-seconds'], 1, 1e9),
    shape,
    faults: values.fault.map(readFault),
    ...(publicUrl === undefined ? {} : { publicUrl: publicUrl.replace(/(?<!\/)\/+$/, '') }),
  };
  const emulator = await startEmulator(options);
  process.stdout.write(
    `The gateway emulator listens.\n\n  url  ${emulator.url}\n  key  ${emulator.apiKey}\n\n`,
  );
  // A bot fetches files from addresses that are not public only where its operator says so.
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

function readNumber(flag: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= least && value <= most)) {
    throw new UsageError(`--${flag} must be a number from ${least} to ${most}`);
  }
  return value;
}

/** `path:fault` or only `fault`. A path may hold colons; a fault's own colon comes after its equals sign. */
function readFault(text: string): { fault: string; path?: string } {
  const [, path, fault = text] = /^([^=]+):([^=:]+(?:=.*)?)$/.exec(text) ?? [];
  return path === undefined ? { fault } : { path, fault };
}

try {
  await main();
} catch (error) {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isMistake =
    error instanceof UsageError || error instanceof UnknownFaultError || code.startsWith('ERR_PARSE_ARGS');
  const isExpected = error instanceof MissingPackagesError || code === 'EADDRINUSE' || code === 'EACCES';
  if (!(error instanceof Error) || !(isMistake || isExpected)) throw error;
  process.stderr.write(`${error.message}\n${isMistake ? `\n${usage}` : ''}`);
  process.exitCode = 2;
}
