/** The flags of `npm run emulator`. */
import { parseArgs } from 'node:util';
import type { EmulatorOptions } from './options.ts';

export const usage = `npm run emulator -- [flags]

  --host <address>         Address to listen on. Default: 127.0.0.1.
  --port <number>          Port to listen on. 0 picks a free one. Default: 8787.
  --key <text>             API key that clients must send. Default: emulator-key.
  --public-url <url>       Base of file URLs. Default: the address it listens on.
  --speed <number>         Scales every delay. 0 removes delays. Default: 1.
  --song-seconds <n>       Length of songs in seconds. Default: 14.
  --video-url-seconds <n>  Lifetime of a video URL in seconds. Default: 86400.
  --help                   Show this help.

See docs/emulator.md for the routes and models.
`;

/** An invalid flag. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Returns undefined for `--help`. Throws UsageError, and errors of `parseArgs`. */
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

function readNumber(flag: string, text: string, minimum: number, maximum: number): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= minimum && value <= maximum)) {
    throw new UsageError(`--${flag} must be a number from ${minimum} to ${maximum}`);
  }
  return value;
}
