/** `npm run manifest [-- --url https://bot.example --oauth --socket --threads]`: prints the Slack app manifest as JSON. */
import { parseArgs } from 'node:util';
import { commands } from '../../commands/index.ts';
import { fail } from '../app/process.ts';
import { createManifest, type ManifestOptions } from '../platforms/slack/manifest.ts';

const USAGE = `Usage: npm run manifest [-- options]
  --url https://bot.example  Slack sends requests to this URL (default: Socket Mode)
  --oauth                    let many workspaces install the app at this URL
  --socket                   use Socket Mode even with a URL
  --threads                  answer in the bot's threads without a mention`;

const OPTIONS = {
  url: { type: 'string' },
  oauth: { type: 'boolean' },
  socket: { type: 'boolean' },
  threads: { type: 'boolean' },
} as const;

/** Returns the manifest as JSON, or an error message for the operator. */
export function manifest(
  args: readonly string[],
): { output: string; error?: undefined } | { output?: undefined; error: string } {
  let options: ManifestOptions;
  try {
    options = parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    return { error: `${error instanceof Error ? error.message : String(error)}\n${USAGE}` };
  }
  const { url } = options;
  if (url !== undefined && (!URL.canParse(url) || new URL(url).protocol !== 'https:')) {
    return { error: `--url must be an https:// URL that Slack can reach, not “${url}”.\n${USAGE}` };
  }
  if (options.oauth && url === undefined)
    return { error: `--oauth needs --url: workspaces install the app in a browser.\n${USAGE}` };
  return { output: `${JSON.stringify(createManifest(commands, options), null, 2)}\n` };
}

if (import.meta.main) {
  const { output, error } = manifest(process.argv.slice(2));
  if (error === undefined) process.stdout.write(output);
  else fail(error);
}
