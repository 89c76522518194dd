/** The flags of `npm run emulator`. */
import { parseArgs } from 'node:util';
import type { EmulatorOptions } from './options.ts';

export const usage = `npm run emulator -- [flags]

  --host <address>         address to listen on (127.0.0.1)
  --port <number>          port to listen on, 0 for any free port (8787)
  --key <text>             API key that clients must send (emulator-key)
  --public-url <url>       base of file URLs (the address it listens on)
  --speed <number>         scales every delay, 0 removes delays (1)
  --song-seconds <n>       length of songs in seconds (14)
  --video-url-seconds <n>  lifetime of a video URL in seconds (86400)
  --help                   show this help

See docs/emulator.md for the routes and models.
`;

/** A flag that cannot be read. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Undefined where help is asked for. Throws UsageError, and what `parseArgs` throws. */
export function readFlags(args: readonly string[]): EmulatorOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '8787' },
      key: { type: 'string', default: 'emulator-key' },
      'public-url': { type: 'string' },
      speed: { type: 'string', default: '1' },
      'song-seconds': { type: 'string', default: '14' },
      'video-url-seconds': { type: 'string', default: '86400' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const publicUrl = values['public-url'];
  if (publicUrl !== undefined && !URL.canParse(publicUrl))
    throw new UsageError('--public-url must be a URL, such as http://emulator:8787');
  return {
    host: values.host,
    port: readNumber('port', values.port, 0, 65_535),
    apiKey: values.key,
    speed: readNumber('speed', values.speed, 0, 100),
    songSeconds: readNumber('song-seconds', values['song-seconds'], 2, 60),
    videoUrlSeconds: readNumber('video-url-seconds', values['video-url-seconds'], 1, 1e9),
    ...(publicUrl === undefined ? {} : { publicUrl: publicUrl.replace(/(?<!\/)\/+$/, '') }),
  };
}

function readNumber(flag: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= least && value <= most)) {
    throw new UsageError(`--${flag} must be a number from ${least} to ${most}`);
  }
  return value;
}
