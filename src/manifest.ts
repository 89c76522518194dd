/** `npm run manifest [-- --url https://bot.example]`: prints the Slack app manifest as JSON. */
import { parseArgs } from 'node:util';
import { commands } from '../commands/index.ts';
import { createManifest } from './platforms/slack/manifest.ts';

const USAGE = 'Usage: npm run manifest [-- --url https://bot.example]';

/** The manifest as JSON, or a sentence for the operator. */
export function manifest(
  args: readonly string[],
): { output: string; error?: undefined } | { output?: undefined; error: string } {
  let url: string | undefined;
  try {
    url = parseArgs({ args: [...args], options: { url: { type: 'string' } } }).values.url;
  } catch (error) {
    return { error: `${error instanceof Error ? error.message : String(error)}\n${USAGE}` };
  }
  if (url !== undefined && (!URL.canParse(url) || new URL(url).protocol !== 'https:')) {
    return { error: `--url has to be an https:// address that Slack can reach, not “${url}”.\n${USAGE}` };
  }
  return {
    output: `${JSON.stringify(createManifest(commands, url === undefined ? {} : { url }), null, 2)}\n`,
  };
}

if (import.meta.main) {
  const result = manifest(process.argv.slice(2));
  if (result.error === undefined) process.stdout.write(result.output);
  else {
    process.stderr.write(`${result.error}\n`);
    process.exitCode = 1;
  }
}
